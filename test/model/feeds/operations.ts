/** The random operations: on two feeds and a followed table, with few keys, so that they meet. */
import fc from 'fast-check'

/** Two feeds with their own entries, and one of a followed table. */
export const FEEDS = ['a', 'b', 'kv'] as const
export type FeedName = (typeof FEEDS)[number]
export const KEYS = ['k', 'k1', 'l'] as const
/** Each feed has one that keeps its cursor itself, and two whose cursors are stored. */
export const READERS = ['plain', 'stored', 'other'] as const
export type ReaderName = (typeof READERS)[number]

/** An operation that may run by itself, or with others in a transaction. */
export type Write =
  | { kind: 'put'; feed: 'a' | 'b'; key: string }
  | { kind: 'putMany'; feed: 'a' | 'b'; keys: string[] }
  | { kind: 'delete'; feed: 'a' | 'b' | 'kv'; key: string }
  | { kind: 'republish'; feed: FeedName; keys: string[] }
  | { kind: 'republishPrefix'; feed: FeedName; prefix: string }
  | { kind: 'row'; key: string }
  | { kind: 'removeRow'; key: string; isToldFirst: boolean }
  | { kind: 'next'; name: string; count: number }
  | { kind: 'drop'; feed: 'a' | 'b' }
  | { kind: 'refused'; what: Refused; key: string; at: number }

/** Invalid input, alone or in a batch. */
export const REFUSED = [
  ...['key of many', 'value of many', 'field of many', 'too many', 'republished key', 'both', 'no value'],
  ...['put in rows', 'drop of rows', 'beyond the last'],
] as const
export type Refused = (typeof REFUSED)[number]

export type Read = {
  kind: 'read'
  feed: FeedName
  who: ReaderName
  limit: number
  maxBytes: number | null
  isKept: boolean
  /** In a transaction with the work that is done, which may be rolled back. */
  inside: 'committed' | 'rolled back' | null
}

export type Operation =
  | Write
  | Read
  | { kind: 'keep'; feed: FeedName; who: ReaderName }
  | { kind: 'set'; feed: FeedName; who: ReaderName; back: number | null; isForced: boolean }
  | { kind: 'forget'; feed: FeedName; who: ReaderName }
  | { kind: 'peek'; feed: FeedName; back: number; limit: number }
  | { kind: 'publish'; feed: FeedName | null }
  | { kind: 'sweep' }
  | { kind: 'pass'; seconds: number; isSwept: boolean }
  | { kind: 'begin'; slot: 0 | 1; writes: Write[]; isCommitted: boolean }
  | { kind: 'end'; slot: 0 | 1 }
  | { kind: 'followAgain'; isDropped: boolean }

const key = fc.constantFrom(...KEYS)
const keys = fc.array(key, { minLength: 1, maxLength: 5, size: 'max' })
const who = fc.constantFrom(...READERS)
const slot = fc.constantFrom(0 as const, 1 as const)
const limit = fc.oneof(fc.integer({ min: 1, max: 3 }), fc.constant(1000))
const of = <K extends string, T extends object>(kind: K, rest: { [P in keyof T]: fc.Arbitrary<T[P]> }) =>
  fc.record({ kind: fc.constant(kind), ...rest }, { noNullPrototype: true }) as unknown as fc.Arbitrary<{ kind: K } & T>
const weighted = <T>(weight: number, arbitrary: fc.Arbitrary<T>) => ({ weight, arbitrary })

/** The most of it on one feed. */
function writeTo(focus: FeedName): fc.Arbitrary<Write> {
  const feed = feedNear(focus)
  const [inOwn, inRows] = focus === 'kv' ? [1, 4] : [4, 1]
  const own = fc.constantFrom('a' as const, 'a' as const, 'a' as const, 'b' as const)
  return fc.oneof(
    weighted(3 * inOwn, of('put', { feed: own, key })),
    weighted(1 * inOwn, of('putMany', { feed: own, keys })),
    weighted(3 * inOwn, of('delete', { feed: own, key })),
    weighted(2, of('republish', { feed, keys })),
    weighted(1, of('republishPrefix', { feed, prefix: fc.constantFrom('', 'k', 'l', 'x') })),
    weighted(3 * inRows, of('row', { key })),
    weighted(3 * inRows, of('removeRow', { key, isToldFirst: fc.boolean() })),
    weighted(1 * inRows, of('delete', { feed: fc.constant('kv' as const), key })),
    weighted(1, of('next', { name: fc.constantFrom('s', 't'), count: fc.integer({ min: 1, max: 5 }) })),
    weighted(1, of('drop', { feed: own })),
    weighted(1, of('refused', { what: fc.constantFrom(...REFUSED), key, at: fc.nat(3) })),
  ) as fc.Arbitrary<Write>
}

function feedNear(focus: FeedName): fc.Arbitrary<FeedName> {
  return fc.oneof(weighted(6, fc.constant(focus)), weighted(1, fc.constantFrom(...FEEDS)))
}

/** The sums of 600 and 1,100 keep 100 s away from the 1,000 that tombstones are kept. */
const seconds = fc.constantFrom(600, 1100, 1100)

function operationOn(focus: FeedName): fc.Arbitrary<Operation> {
  const feed = feedNear(focus)
  const write = writeTo(focus)
  const inside = fc.option(fc.constantFrom('committed' as const, 'rolled back' as const), { freq: 2 })
  const maxBytes = fc.option(fc.integer({ min: 1, max: 30 }), { freq: 4 })
  const writes = fc.array(write, { minLength: 1, maxLength: 4, size: 'max' })
  return fc.oneof(
    weighted(26, write),
    weighted(24, of('read', { feed, who, limit, maxBytes, isKept: fc.boolean(), inside })),
    weighted(6, of('keep', { feed, who })),
    weighted(3, of('set', { feed, who, back: fc.option(fc.nat(4)), isForced: fc.boolean() })),
    weighted(1, of('forget', { feed, who })),
    weighted(2, of('peek', { feed, back: fc.nat(6), limit })),
    weighted(12, of('publish', { feed: fc.option(feed, { freq: 2 }) })),
    weighted(8, of('pass', { seconds, isSwept: fc.boolean() })),
    weighted(4, of('sweep', {})),
    weighted(4, of('begin', { slot, writes, isCommitted: fc.boolean() })),
    weighted(4, of('end', { slot })),
    weighted(1, of('followAgain', { isDropped: fc.boolean() })),
  ) as fc.Arbitrary<Operation>
}

export const operations: fc.Arbitrary<Operation[]> = fc
  .constantFrom('a' as const, 'kv' as const)
  .chain((focus) => fc.array(operationOn(focus), { minLength: 1, maxLength: 60, size: 'max' }))
