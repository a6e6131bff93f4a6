/**
 * Which items of a group are in its window: the rule for writes, streams and member pages. `read.ts` says the same in SQL.
 * No statements, no locks.
 */

import type { Settings } from '../../shared/group-types'
import { byRank, type Occupant } from './rows'

/**
 * The occupants that `settings` show, in the order of pages. `history`: those with the last `capacity` ids. `distinct`: the newest
 * of each member, of the `capacity` members seen last; items without a member are not shown. `top`: the one with the highest
 * score of each member, and the `capacity` best of these. Expired ones are left out first, and take no place.
 */
export function visible<T extends Occupant>(
  occupants: readonly T[],
  settings: Settings,
  lastId: bigint,
  nowMs: number,
): T[] {
  const alive = occupants.filter((occupant) => !expired(occupant, settings, nowMs))
  return keepers(alive, settings, lastId)
}

/** The same, whether expired or not: the items that a change of capacity or mode keeps. */
export function keepers<T extends Occupant>(occupants: readonly T[], settings: Settings, lastId: bigint): T[] {
  const isTop = settings.mode === 'top'
  const sorted = [...occupants].sort(isTop ? byRank : (a, b) => (a.id < b.id ? 1 : -1))
  if (settings.mode === 'history') {
    const firstId = firstIdOf(settings, lastId)
    return sorted.filter(({ id }) => id >= firstId)
  }
  const members = new Set<string>()
  return sorted.filter(({ member, score }) => {
    if (isTop && score === null) return false
    if (member === null || members.has(member) || members.size === settings.capacity) return false
    members.add(member)
    return true
  })
}

/** The oldest id that a `history` window may show. */
export function firstIdOf({ capacity }: Settings, lastId: bigint): bigint {
  return lastId - BigInt(capacity) + 1n
}

export function expired(occupant: { createdAtMs: number }, settings: Settings, nowMs: number): boolean {
  return settings.ttlSeconds !== null && occupant.createdAtMs <= nowMs - settings.ttlSeconds * 1000
}

/** The slot of an id in a `history` ring. */
export function slotOf(id: bigint, capacity: number): number {
  return Number(id % BigInt(capacity))
}
