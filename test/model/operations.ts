/** The random operations: on few names, so that they meet, and with small capacities, so that things are pushed out. */
import fc from 'fast-check'
import type { OwnSettings } from '../../src/index'

export const GROUPS = ['a', 'a1', 'a2', 'b'] as const
export const MEMBERS = ['m', 'M', 'm ', 'é', 'e\u0301', 'n'] as const
export const PREFIXES = ['', 'a', 'a1'] as const

export interface ItemShape {
  group: string
  member: string | null
  eventId: string | null
  score: number | null
  keep: 'highest' | 'latest' | null
}

export type Operation =
  | { kind: 'append'; item: ItemShape }
  | { kind: 'appendMany'; items: ItemShape[] }
  | { kind: 'transact'; items: ItemShape[]; group: string; isUndone: boolean }
  | { kind: 'remove'; group: string; back: number }
  | { kind: 'changeScore'; group: string; member: string; by: number }
  | { kind: 'clear'; group: string }
  | { kind: 'put'; group: string; own: OwnSettings }
  | { kind: 'delete'; group: string }
  | {
      kind: 'putPolicy'
      prefix: string
      capacity: number
      mode: 'history' | 'distinct' | 'top'
      forgetEmptySeconds: number | null
    }
  | { kind: 'dropPolicy'; prefix: string }
  | { kind: 'erase'; member: string }
  | { kind: 'read'; group: string; limit: number; back: number | null; exclude: string[] }
  | { kind: 'readMany'; groups: string[]; limit: number; exclude: string[] }
  | { kind: 'memberItems'; member: string; limit: number }
  | { kind: 'list'; limit: number }
  | { kind: 'pass'; seconds: number }
  | { kind: 'sweep' }

const group = fc.constantFrom(...GROUPS)
const member = fc.constantFrom(...MEMBERS)
const capacity = fc.oneof(fc.integer({ min: 1, max: 5 }), fc.constantFrom(8, 13))
const mode = fc.constantFrom('history' as const, 'distinct' as const, 'top' as const)
const exclude = fc.uniqueArray(member, { maxLength: 2 })

/** Seldom one: groups of the other modes refuse it. */
const keepOf = (weight: number) =>
  fc.oneof(
    { weight, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: fc.constantFrom('highest' as const, 'latest' as const) },
  )
const itemOf = (of: fc.Arbitrary<string>, noKeep: number): fc.Arbitrary<ItemShape> =>
  fc.record({
    group: of,
    // Rarely none: one of those in a batch is enough for a distinct group to refuse it.
    member: fc.option(member, { freq: 25 }),
    eventId: fc.option(fc.constantFrom('e1', 'e2', 'E1'), { freq: 2 }),
    // Few, so that some are equal.
    score: fc.option(fc.constantFrom(-1.5, -1, 0, 0.1, 1, 2, 2 ** 53), { freq: 25 }),
    keep: keepOf(noKeep),
  })
const item = itemOf(group, 6)
const batchOf = (of: fc.Arbitrary<string>) => fc.array(itemOf(of, 60), { minLength: 1, maxLength: 14, size: 'max' })
/** To many groups, or a good part of a ring of one. */
const batch = fc.oneof(
  batchOf(group),
  group.chain((one) => batchOf(fc.constant(one))),
)

// The sums of 600 and 1,100 keep 100 s away from every one of these times, which is more than a run takes.
const forgetEmptySeconds = fc.constantFrom(null, 500, 1500)
const own: fc.Arbitrary<OwnSettings> = fc.record(
  { capacity, mode, ttlSeconds: fc.constantFrom(null, 1000, 2000), forgetEmptySeconds },
  { requiredKeys: [] },
)

const operation: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('append' as const), item }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('appendMany' as const),
      items: batch,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('transact' as const), items: batch, group, isUndone: fc.boolean() }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('remove' as const), group, back: fc.integer({ min: -1, max: 9 }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('clear' as const), group }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('changeScore' as const),
      group,
      member,
      by: fc.constantFrom(-2, -0.1, 0, 1, 3),
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('put' as const), group, own }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete' as const), group }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('putPolicy' as const),
      prefix: fc.constantFrom(...PREFIXES),
      capacity,
      mode,
      forgetEmptySeconds,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('dropPolicy' as const), prefix: fc.constantFrom(...PREFIXES) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('erase' as const), member }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('read' as const),
      group,
      limit: fc.integer({ min: 1, max: 6 }),
      back: fc.option(fc.integer({ min: -1, max: 9 })),
      exclude,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('readMany' as const),
      groups: fc.array(group, { minLength: 1, maxLength: 5 }),
      limit: fc.integer({ min: 1, max: 6 }),
      exclude,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('memberItems' as const),
      member,
      limit: fc.integer({ min: 1, max: 5 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('list' as const), limit: fc.integer({ min: 1, max: 5 }) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('pass' as const), seconds: fc.constantFrom(600, 1100) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('sweep' as const) }) },
)

/** How many stores take turns. */
export const STORES = 3

/** The operation of one of the stores, and which of them read afterwards: one that does not remembers what was. */
export interface Step {
  by: number
  operation: Operation
  looking: number[]
}

const ALL = Array.from({ length: STORES }, (_, at) => at)

export const step: fc.Arbitrary<Step> = fc.record({
  by: fc.constantFrom(...ALL),
  operation,
  looking: fc.subarray(ALL),
})
