import { sessionOf } from '../../../src/database/attached/attach'
import { bounded, maxBytesOf } from '../../../src/fields/options'
import type { Item, Recent, RecentOptions } from '../../../src/index'
import { GroupMemory } from '../../../src/repositories/recent/memory'
import { openGroups } from '../../../src/store/groups'
import { type Context, idsOf, refusal } from '../context'
import { statementsOf } from '../statements'

/** Reads of many callers share statements; no caller may notice it except by the time it takes. */
export function describeMergedReads(context: Context): void {
  const groups = () => context.store.groups

  async function filled(count: number, settings = {}): Promise<string> {
    const group = context.unique()
    await groups().put(group, settings)
    for (let from = 0; from < count; from += 1000) {
      const items = Array.from({ length: Math.min(1000, count - from) }, (_, n) => ({
        group,
        member: (from + n) % 4 === 3 && !('mode' in settings) ? null : `m${(from + n) % 23}`,
        payload: { n: from + n, text: 'a\nb' },
        occurredAt: n % 2 ? new Date(1_700_000_000_000 + n) : null,
        eventId: n % 3 ? null : `e${from + n}`,
      }))
      await groups().appendMany(items)
    }
    return group
  }

  async function withGaps(group: string, ids: number[]): Promise<string> {
    for (const id of ids) await groups().remove(group, BigInt(id))
    return group
  }

  async function expiring(capacity: number, first: number, later: number): Promise<string> {
    const group = await filled(first, { capacity, ttlSeconds: 600 })
    context.clock.offsetMs += 400_000
    await groups().appendMany(Array.from({ length: later }, () => ({ group, payload: 'later' })))
    context.clock.offsetMs += 400_000
    return group
  }

  /** The database's clock was set back, so that the newest items expire before older ones. */
  async function withClockSetBack(): Promise<string> {
    const group = await filled(60, { capacity: 100, ttlSeconds: 600 })
    const late = await context.open({ clockOffsetMs: () => context.clock.offsetMs - 700_000 })
    await late.groups.appendMany(Array.from({ length: 3 }, () => ({ group })))
    return group
  }

  /** Groups of every kind that a read may meet. */
  async function everyKind(): Promise<string[]> {
    const emptied = await filled(5)
    await groups().clear(emptied)
    const longer = await filled(20, { capacity: 40 })
    await groups().put(longer, { capacity: 400 })
    return [
      await filled(0),
      await filled(1),
      await filled(9),
      await filled(25),
      await filled(23, { mode: 'distinct' }),
      await filled(70, { capacity: 20, mode: 'distinct' }),
      await filled(45, { capacity: 50 }),
      await filled(130, { capacity: 64 }),
      await filled(700, { capacity: 300 }),
      await filled(90, { capacity: 300 }),
      await filled(7, { capacity: 10_000 }),
      await filled(120, { capacity: 100, mode: 'distinct' }),
      await withGaps(await filled(12), [3, 11]),
      await withGaps(await filled(250, { capacity: 200 }), [249, 240, 100]),
      await expiring(10, 6, 5),
      await expiring(100, 60, 3),
      await expiring(100, 5, 90),
      await withClockSetBack(),
      emptied,
      longer,
      context.unique('unknown'),
    ]
  }

  function randomOptions(random: (below: number) => number): RecentOptions {
    const options: RecentOptions = {
      ...(random(4) ? { limit: [1, 2, 10, 15, 16, 17, 50, 64, 65, 100][random(10)] } : {}),
      ...(random(4) ? {} : { before: BigInt(random(300)) }),
      ...(random(4) ? {} : { exclude: [`m${random(23)}`, 'm1'] }),
      ...(random(2) ? {} : { payloads: 'text' as const }),
    }
    return random(3) ? options : bounded(options, [200, 100_000, 4 * 1024 * 1024][random(3)] as number)
  }

  /** The items of a page by the rows of the table: sorted and cut here, where no statement of the store has a part. */
  function expectedItems(all: readonly Item[], { limit = 10, before, exclude = [] }: RecentOptions): bigint[] {
    return all
      .filter(
        ({ id, member }) => (before === undefined || id < before) && !(member !== null && exclude.includes(member)),
      )
      .slice(0, limit)
      .map(({ id }) => id)
  }

  describe('reads of many callers at once', () => {
    it('answer what each gets by itself', async () => {
      const names = await everyKind()
      let seed = 20_261_121
      const random = (below: number) => {
        seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31
        return Math.floor((seed / 2 ** 31) * below)
      }
      const whole = new Map<string, Item[]>()
      for (const name of names) whole.set(name, (await groups().recent(name, { limit: 10_000 })).items)
      for (let round = 0; round < 3; round++) {
        const asked = Array.from({ length: 150 }, () => ({
          name: names[random(names.length)] as string,
          options: randomOptions(random),
        }))
        const answers = await Promise.all(asked.map(({ name, options }) => groups().recent(name, options)))
        await context.store.transaction(async (tx) => {
          for (const [n, { name, options }] of asked.entries()) {
            expect([options, answers[n]]).toEqual([options, await tx.groups.recent(name, options)])
            if (maxBytesOf(options) === Number.POSITIVE_INFINITY) {
              expect(idsOf(answers[n] as Recent)).toEqual(expectedItems(whole.get(name) ?? [], options))
            }
          }
        })
      }
    })

    it('share statements', async () => {
      const names: string[] = []
      for (let n = 0; n < 60; n++) names.push(await filled(3))
      const { store, statements } = await statementsOf(context)
      const pages = await Promise.all([...names, ...names].map((name) => store.groups.recent(name)))
      expect(pages.map(({ group }) => group)).toEqual([...names, ...names])
      expect(pages.every((page) => page.totalAppended === 3n && page.items.length === 3)).toBe(true)
      expect(statements.filter((sql) => sql.includes('recentn_items')).length).toBeLessThanOrEqual(5)
      expect(pages[0]).toEqual(pages[60])
      expect(pages[0]?.items).not.toBe(pages[60]?.items)
    })

    it('read the policies once when all need them', async () => {
      const names = await Promise.all(Array.from({ length: 12 }, () => filled(3)))
      const { store, statements } = await statementsOf(context)
      await Promise.all(names.map((name) => store.groups.recent(name, { limit: 10_000 })))
      expect(statements.filter((sql) => sql.includes('recentn_items'))).toHaveLength(12)
      expect(statements.filter((sql) => sql.includes('recentn_policy_epoch'))).toHaveLength(1)
    })

    it('fail alone for what is wrong with one', async () => {
      const names = await Promise.all(Array.from({ length: 30 }, () => filled(3)))
      const broken = names[13] as string
      await context.store.dataSource.query('UPDATE recentn_items SET payload = ? WHERE group_key = ?', ['{', broken])
      const outcomes = await Promise.allSettled(names.map((name) => groups().recent(name)))
      expect(outcomes.flatMap(({ status }, n) => (status === 'rejected' ? [n] : []))).toEqual([13])
      await groups().drop(broken)
    })

    it('are refused as overloaded beyond the bound, and taken again after', async () => {
      const group = await filled(3)
      const { groups: batched } = openGroups(sessionOf(context.store.dataSource), new GroupMemory(), {
        readsAtOnce: 1,
        longReadsAtOnce: 1,
        maxPendingReads: 1000,
      })
      const call = () => batched.recent(group)
      const outcomes = await Promise.allSettled(Array.from({ length: 1100 }, call))
      const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []))
      expect(refused).toHaveLength(100)
      for (const error of refused) expect(error).toMatchObject({ code: 'overloaded', retryAfterSeconds: 1 })
      expect((await call()).totalAppended).toBe(3n)
    })

    it('count each group that they wait for', async () => {
      const group = await filled(3)
      const { groups: batched } = openGroups(sessionOf(context.store.dataSource), new GroupMemory(), {
        readsAtOnce: 1,
        longReadsAtOnce: 1,
        maxPendingReads: 7,
      })
      const many = batched.recentMany([group, group, group, group])
      const one = batched.recent(group)
      expect(await refusal(batched.recentMany([group, group, group]))).toMatchObject({ code: 'overloaded' })
      expect([(await one).totalAppended, (await many).length]).toEqual([3n, 4])
      // One that is larger than the bound is taken when nothing else waits.
      expect(await batched.recentMany(Array(9).fill(group))).toHaveLength(9)
    })

    it('are all answered when the store closes, and refused from then on', async () => {
      const small = await filled(3)
      const large = await filled(100, { capacity: 100, mode: 'distinct' })
      const store = await context.open()
      const reads = Array.from({ length: 300 }, (_, n) => store.groups.recent(n % 3 ? small : large))
      const closing = store.close()
      expect((await Promise.all(reads)).map(({ totalAppended }) => totalAppended)).toEqual(
        reads.map((_, n) => (n % 3 ? 3n : 100n)),
      )
      await closing
      expect(await refusal(store.groups.recent(small))).toMatchObject({ code: 'closed' })
    })

    it('do not wait behind the others inside of a transaction', async () => {
      const group = await filled(3)
      const signal = { open: () => {}, go: () => {} }
      const open = new Promise<void>((resolve) => (signal.open = resolve))
      const go = new Promise<void>((resolve) => (signal.go = resolve))
      const transaction = context.store.transaction(async (tx) => {
        await tx.groups.append(context.unique())
        signal.open()
        await go
        return groups()
          .recent(group)
          .catch((error: unknown) => error)
      })
      await open
      const others = [groups().recent(group), groups().recent(group, { limit: 5 })]
      signal.go()
      const outcome = await transaction
      expect((await Promise.all(others)).map(({ totalAppended }) => totalAppended)).toEqual([3n, 3n])
      expect(outcome).toMatchObject({ code: 'misuse' })
    })
  })
}
