/** Places and turns that are given other than to messages that move: while a limit is applied, and by receives. */
import type { Tx } from '../../../database/engine'
import { GROUP_PHASE, type QueueHead } from '../heads'
import type { QueueMemory } from '../memory'
import { type LockedRow, updateRows } from '../settle/transitions'
import { groupIn, type LockedGroup, lockGroups, saveGroups } from './group-locks'
import { givePlaces, hasPlace, hasRoom, hasTurn, makeNextReady, type Placed } from './places'

/** Gives a place to each of the messages, also beyond the limit: they are in flight, or wait for their next try. */
export async function givePlacesTo(tx: Tx, head: QueueHead, rows: readonly LockedRow[]): Promise<void> {
  const without = rows.filter((row) => row.messageGroup !== null && !hasPlace(row, head))
  if (head.groupConcurrency === 0 || without.length === 0) return
  const groups = new Map<string, LockedGroup>()
  for (const { messageGroup } of without) groupIn(groups, head, messageGroup as string)
  await lockGroups(tx, groups)
  for (const { messageGroup } of without) groupIn(groups, head, messageGroup as string).taken++
  await saveGroups(tx, groups)
  await updateRows(tx, 'group_place = ?', without, [head.groupLimitId])
}

/** Blocked messages of a group that get places together. */
const MOST = 1000

/** Makes blocked messages ready, as far as their groups have free places. */
export async function fillPlaces(tx: Tx, memory: QueueMemory, head: QueueHead, names: Iterable<string>): Promise<void> {
  const asked = Math.min(MOST, Math.max(head.groupConcurrency, head.groupRateLimit?.messages ?? 0))
  for (let left = [...names]; left.length > 0; ) {
    const groups = new Map<string, LockedGroup>()
    for (const group of left) groupIn(groups, head, group).asked = asked
    await lockGroups(tx, groups)
    await makeNextReady(tx, await givePlaces(tx, [], groups), memory)
    const mayTakeMore = (one: LockedGroup) => one.blocked.length === asked && hasRoom(one)
    left = left.filter((group) => mayTakeMore(groupIn(groups, head, group)))
  }
}

/**
 * These messages of the queue are received: their turns, and without a `groupConcurrency` their places, go to the next ones of
 * their groups.
 */
export async function passTurns(
  tx: Tx,
  memory: QueueMemory,
  head: QueueHead,
  rows: readonly Placed[],
  atMs: number,
): Promise<void> {
  const groups = new Map<string, LockedGroup>()
  for (const row of rows) {
    if (!hasTurn(row, head)) continue
    const one = groupIn(groups, head, row.messageGroup as string)
    one.done++
    if (head.groupConcurrency === 0) one.leaving++
    if (head.groupPhase !== GROUP_PHASE.blocking) one.asked++
  }
  await lockGroups(tx, groups)
  for (const { turns, done } of groups.values()) turns?.received(atMs, done)
  await makeNextReady(tx, await givePlaces(tx, [], groups), memory)
}
