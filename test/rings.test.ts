/** Appends to `distinct` and `top` groups, and the stored form of scores: all without a database. */
import fc from 'fast-check'
import { type NewItemRow, Ring } from '../src/repositories/recent/ring'
import type { Head, ItemRow, Occupant } from '../src/repositories/recent/rows'
import { byRank, scoreOf, storedScore } from '../src/repositories/recent/rows'
import { visible } from '../src/repositories/recent/window'

const score = fc.double({ noNaN: true, noDefaultInfinity: true }).map((each) => each + 0)

describe('a score', () => {
  it('comes back as it was stored', () => {
    fc.assert(fc.property(score, (each) => Object.is(scoreOf(storedScore(each)), each)))
    for (const each of [0, 5e-324, -5e-324, Number.MAX_VALUE, -Number.MAX_VALUE, 2 ** 53, 2 ** 53 - 1, 0.1 + 0.2]) {
      expect(scoreOf(storedScore(each))).toBe(each)
    }
  })

  it('is sorted as it is stored', () => {
    const orderOf = (a: number | bigint, b: number | bigint) => (a < b ? -1 : a > b ? 1 : 0)
    const isSortedAlike = (a: number, b: number) => orderOf(a, b) === orderOf(storedScore(a), storedScore(b))
    fc.assert(fc.property(score, score, isSortedAlike))
    expect(storedScore(-0)).toBe(0n)
  })
})

interface Append {
  member: string
  score: number
  keep: 'latest' | null
}

const append: fc.Arbitrary<Append> = fc.record({
  member: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
  score: fc.constantFrom(-1, 0, 0, 0.5, 1, 2, 3),
  keep: fc.constantFrom(null, null, null, 'latest' as const),
})

function headOf(capacity: number, ttlSeconds: number | null): Head {
  const settings = { capacity, mode: 'top' as const, ttlSeconds, forgetEmptySeconds: null }
  const numbers = { incarnation: 1n, version: 1n, lastId: -1n, policyEpoch: 1n, sweepAtMs: null, createdAtMs: 0 }
  return { group: 'g', own: {}, ...settings, ...numbers }
}

const rowOf = (given: Append): NewItemRow => ({
  group: 'g',
  ...given,
  payload: null,
  occurredAtMs: null,
  eventId: null,
})

/** The rows of the table: a ring for each append, or one for all, as in a batch. */
function play(appends: readonly Append[], capacity: number, isBatch: boolean) {
  const head = headOf(capacity, null)
  const table = new Map<number, ItemRow>()
  let ring = new Ring(head, [], 0)
  const answers = appends.map((one) => {
    if (!isBatch) ring = new Ring(head, [...table.values()], 0)
    const standing = ring.standing(rowOf(one))
    const row = standing ?? ring.append(rowOf(one))
    if (!isBatch) for (const written of ring.writes) table.set(written.slot, written)
    return { id: row.id, appended: standing === null }
  })
  if (isBatch) for (const written of ring.writes) table.set(written.slot, written)
  return { answers, rows: [...table.values()].sort(byRank), lastId: head.lastId }
}

describe('a distinct ring', () => {
  const member = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f')

  /** The rows by their slots, after batches of these members. */
  function rowsAfter(batches: readonly (readonly string[])[], capacity: number) {
    const head: Head = { ...headOf(capacity, null), mode: 'distinct' }
    const table = new Map<number, ItemRow>()
    for (const batch of batches) {
      const ring = new Ring(head, visible([...table.values()], head, head.lastId, 0), 0)
      for (const one of batch) ring.append(rowOf({ member: one, score: 0, keep: null }))
      for (const written of ring.writes) table.set(written.slot, written)
    }
    return [...table.values()].sort((a, b) => a.slot - b.slot)
  }

  it('has the members seen last, and does in batches what it does one by one', () => {
    const batches = fc.array(fc.array(member, { maxLength: 12 }), { maxLength: 5 })
    fc.assert(
      fc.property(batches, fc.integer({ min: 1, max: 7 }), (given, capacity) => {
        const rows = rowsAfter(given, capacity)
        const last = [...new Set(given.flat().reverse())].slice(0, capacity)
        expect(new Set(rows.map((row) => row.member))).toEqual(new Set(last))
        expect(rows).toHaveLength(last.length)
        const oneByOne = given.flat().map((one) => [one])
        expect(rows).toEqual(rowsAfter(oneByOne, capacity))
      }),
      { numRuns: 1000 },
    )
  })
})

describe('a top ring', () => {
  it('holds the best of all appends, each member once, where no score is to be replaced', () => {
    fc.assert(
      fc.property(fc.array(append, { maxLength: 40 }), fc.integer({ min: 1, max: 7 }), (given, capacity) => {
        const appends = given.map((one) => ({ ...one, keep: null }))
        const { rows } = play(appends, capacity, false)
        const best = new Map<string, number>()
        for (const one of appends) best.set(one.member, Math.max(one.score, best.get(one.member) ?? one.score))
        const scores = [...best.values()].sort((a, b) => b - a).slice(0, capacity)
        expect(rows.map((row) => row.score)).toEqual(scores)
        for (const row of rows) expect(best.get(row.member as string)).toBe(row.score)
        expect(new Set(rows.map(({ slot }) => slot)).size).toBe(rows.length)
      }),
    )
  })

  it('does in a batch what it does one by one', () => {
    fc.assert(
      fc.property(fc.array(append, { maxLength: 40 }), fc.integer({ min: 1, max: 7 }), (appends, capacity) => {
        const withoutSlots = ({ rows, ...rest }: ReturnType<typeof play>) => ({
          ...rest,
          rows: rows.map(({ slot: _, ...row }) => row),
        })
        expect(withoutSlots(play(appends, capacity, true))).toEqual(withoutSlots(play(appends, capacity, false)))
      }),
    )
  })

  it('gives no id to an item that it does not take', () => {
    const { answers, lastId } = play(
      [
        { member: 'a', score: 5, keep: null },
        { member: 'b', score: 5, keep: null },
        { member: 'a', score: 5, keep: null },
        { member: 'a', score: 1, keep: 'latest' },
      ],
      1,
      false,
    )
    expect(answers).toEqual([
      { id: 0n, appended: true },
      { id: 0n, appended: false },
      { id: 0n, appended: false },
      { id: 1n, appended: true },
    ])
    expect(lastId).toBe(1n)
  })

  it('gives the place of what has expired to any other', () => {
    const head = headOf(2, 10)
    const old: Occupant = { slot: 0, id: 0n, member: 'old', eventId: null, score: 100, createdAtMs: 0 }
    const fresh: Occupant = { ...old, slot: 1, id: 1n, member: 'fresh', score: 5, createdAtMs: 15_000 }
    const ring = new Ring(head, [old, fresh], 20_000)
    expect(ring.standing(rowOf({ member: 'new', score: 1, keep: null }))).toBeNull()
    expect(ring.append(rowOf({ member: 'new', score: 1, keep: null }))).toMatchObject({ slot: 0 })
    expect(ring.standing(rowOf({ member: 'next', score: 1, keep: null }))).toMatchObject({ member: 'new' })
    expect(visible([old, fresh], head, 1n, 20_000)).toEqual([fresh])
  })
})
