/** Places and turns that are given other than to messages that move: while a limit is applied, and by receives. */
import type { Tx } from '../../../database/engine'
import { GROUP_PHASE, type QueueHead } from '../heads'
import type { QueueMemory } from '../memory'
import { type LockedRow, updateRows } from '../settle/transitions'
import { keyOf, type LockedGroup, lockable, lockGroups, saveGroups } from './group-locks'
import { givePlaces, hasPlace, hasRoom, hasTurn, makeNextReady, type Placed } from './places'

/** Gives a place to each of the messages, also beyond the limit: they are in flight, or wait for their next try. */
export async function givePlacesTo(tx: Tx, head: QueueHead, rows: readonly LockedRow[]): Promise<void> {
  const without = rows.filter((row) => row.messageGroup !== null && !hasPlace(row, head))
  if (head.groupConcurrency === 0 || without.length === 0) return
  const groups = new Map<string, LockedGroup>()
  for (const { messageGroup } of without) {
    const group = messageGroup as string
    groups.set(keyOf(head, group), lockable(head, group))
  }
  await lockGroups(tx, groups)
  for (const { messageGroup } of without) {
    const one = groups.get(keyOf(head, messageGroup as string)) as LockedGroup
    one.taken++
  }
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
    for (const group of left) groups.set(keyOf(head, group), { ...lockable(head, group), asked })
    await lockGroups(tx, groups)
    await makeNextReady(tx, await givePlaces(tx, [], groups), memory)
    left = left.filter((group) => {
      const one = groups.get(keyOf(head, group)) as LockedGroup
      return one.blocked.length === asked && hasRoom(one)
    })
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
    const group = row.messageGroup as string
    const one = groups.get(keyOf(head, group)) ?? lockable(head, group)
    groups.set(keyOf(head, group), one)
    one.done++
    if (head.groupConcurrency === 0) one.leaving++
    if (head.groupPhase !== GROUP_PHASE.blocking) one.asked++
  }
  await lockGroups(tx, groups)
  for (const { turns, done } of groups.values()) turns?.received(atMs, done)
  await makeNextReady(tx, await givePlaces(tx, [], groups), memory)
}
