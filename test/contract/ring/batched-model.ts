import fc from 'fast-check'
import { type AppendedItem, type Groups, type OwnSettings, openStore, type Store } from '../../../src/index'
import { RecentRepository } from '../../../src/typeorm'
import type { Context } from '../context'
import { outcomesOf } from './batched'

interface ItemShape {
  group: string
  member: string | null
  eventId: string | null
}

/** Requests that are begun at once, after the settings were put and the policy. */
interface Round {
  put: { group: string; own: OwnSettings } | null
  policy: { capacity: number; mode: 'history' | 'distinct' } | null
  requests: ItemShape[][]
}

const NAMES = ['a', 'b', 'p1', 'p2'] as const

/** The appends of many callers at once come out as if each had waited for the one before. */
export function describeBatchedModel(context: Context): void {
  const capacity = fc.oneof(fc.integer({ min: 1, max: 6 }), fc.constant(15))
  const mode = fc.constantFrom('history' as const, 'distinct' as const)
  const itemOf = (group: fc.Arbitrary<string>): fc.Arbitrary<ItemShape> =>
    fc.record({
      group,
      member: fc.option(fc.constantFrom('m', 'M', 'n', 'o', 'é', "o'\\"), { freq: 20 }),
      eventId: fc.option(fc.constantFrom('e1', 'e2', 'e3', 'E1'), { freq: 2 }),
    })
  const requestOf = (group: fc.Arbitrary<string>) => fc.array(itemOf(group), { minLength: 1, maxLength: 8 })
  const anyGroup = fc.constantFrom(...NAMES)
  const roundOf = (request: fc.Arbitrary<ItemShape[]>): fc.Arbitrary<Round> =>
    fc.record({
      put: fc.option(fc.record({ group: anyGroup, own: fc.record({ capacity, mode }, { requiredKeys: [] }) }), {
        freq: 2,
      }),
      policy: fc.option(fc.record({ capacity, mode }), { freq: 3 }),
      requests: fc.array(request, { minLength: 1, maxLength: 25, size: 'max' }),
    })
  const roundsOf = (request: fc.Arbitrary<ItemShape[]>) => fc.array(roundOf(request), { minLength: 1, maxLength: 4 })
  // With more lanes than one there is an order within each group only.
  const everyGroup = roundsOf(requestOf(anyGroup))
  const oneGroup = roundsOf(anyGroup.chain((group) => requestOf(fc.constant(group))))

  describe('appends of many callers, against one after the other', () => {
    let reference: Store
    let oneByOne: RecentRepository
    beforeAll(async () => {
      reference = await openStore({ url: 'sqlite::memory:', sweep: false })
      oneByOne = new RecentRepository(reference.dataSource)
    })
    afterAll(() => reference.close())

    it.each([
      { lanes: 1, rounds: everyGroup },
      { lanes: 3, rounds: oneGroup },
    ])('are the same in $lanes lane(s)', async ({ lanes, rounds }) => {
      const store = await context.open({ batching: { lanes } })
      await fc.assert(
        fc.asyncProperty(rounds, async (all) => {
          const run = context.unique('run')
          try {
            for (const [n, round] of all.entries()) await expectSame(store, oneByOne, round, run, n)
          } finally {
            for (const { policies } of [store, oneByOne]) await policies.drop(`${run}p`)
          }
        }),
        { numRuns: 20, interruptAfterTimeLimit: 20_000 },
      )
    })
  })
}

async function expectSame(store: Store, single: RecentRepository, round: Round, run: string, n: number): Promise<void> {
  const batched = store.groups
  for (const [groups, policies] of [
    [batched, store.policies],
    [single, single.policies],
  ] as const) {
    if (round.policy) await policies.put(`${run}p`, round.policy)
    if (round.put) await groups.put(run + round.put.group, round.put.own)
  }
  const append = (groups: Groups, request: readonly ItemShape[], at: number): Promise<AppendedItem[]> => {
    const items = request.map((item, index) => ({ ...item, group: run + item.group, payload: [n, at, index] }))
    const [first] = items
    if (items.length > 1 || !first) return groups.appendMany(items)
    const { group, ...item } = first
    return groups.append(group, item).then((item) => [item])
  }
  const got = await outcomesOf(round.requests.map((request, at) => append(batched, request, at)))
  for (const [at, request] of round.requests.entries()) {
    const [expected] = await outcomesOf([append(single, request, at)])
    expect(shown(got[at])).toEqual(shown(expected))
  }
  const names = NAMES.map((name) => run + name)
  const [pages, expected] = [
    await batched.recentMany(names, { limit: 100 }),
    await single.recentMany(names, { limit: 100 }),
  ]
  for (const [at, page] of pages.entries()) {
    const { tag: _, ...rest } = page
    const { tag: __, ...other } = expected[at] as typeof page
    expect({ ...rest, items: shown(rest.items) }).toEqual({ ...other, items: shown(other.items) })
  }
  for (const name of names) expect((await batched.get(name)) === null).toBe((await single.get(name)) === null)
}

/** Without the times, which are two databases'. */
function shown(outcome: unknown): unknown {
  if (!Array.isArray(outcome)) return { ...(outcome as { code: string; faults: unknown }) }
  return outcome.map(({ createdAt: _, ...item }) => item)
}
