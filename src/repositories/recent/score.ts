/**
 * Scores, and the order of the items of a `top` group. No statements, no locks.
 *
 * Invariant: a score is a finite double, stored as the whole number whose order is that of the doubles: the bits of it, with all
 * but the sign turned round below zero. So three engines sort alike, and none writes a score as a text that rounds it.
 */
import { MAX_ID } from '../../fields/rules'

interface Ranked {
  id: bigint
  score: number | null
}

const view = new DataView(new ArrayBuffer(8))

export function storedScore(score: number): bigint {
  view.setFloat64(0, plain(score))
  return turned(view.getBigInt64(0))
}

export function scoreOf(stored: bigint): number {
  view.setBigInt64(0, turned(stored))
  return view.getFloat64(0)
}

/** Zero has one form: minus zero is equal to it, and would be stored as less. */
export const plain = (score: number): number => score + 0

const turned = (bits: bigint): bigint => (bits < 0n ? bits ^ MAX_ID : bits)

/** Sorts the highest score first, and of equal ones the oldest. */
export function byRank(a: Ranked, b: Ranked): number {
  const [one, other] = [a.score ?? Number.NEGATIVE_INFINITY, b.score ?? Number.NEGATIVE_INFINITY]
  if (one !== other) return one > other ? -1 : 1
  return a.id < b.id ? -1 : 1
}
