/**
 * The places of message groups, in queues with a `groupConcurrency`. A message of a group is ready or in flight, or waits for
 * its next try, only while it has one of the group's places. The others are blocked, which no claim sees, and get the places
 * that become free in the order in which they were sent.
 *
 * It owns the column group_place. Invariant: `taken` of a group's row is the number of its messages that have a place,
 * and while messages of the group are blocked, all places are taken. The row is the lock of both: whoever sends a message of
 * the group, or ends one, holds it to the end of the transaction. While a changed limit is applied (`group-limit.ts`), there may
 * be free places. A place that was given under another limit is void.
 *
 * Order of the locks: messages that are not blocked, groups (sorted), blocked messages, flows. A transaction that locks a blocked message
 * without its group (a purge, say) waits for nothing after that.
 */
import type { Tx } from '../../../database/engine'
import { GROUP_PHASE, isLimited, type QueueHead } from '../heads'
import type { QueueMemory } from '../memory'
import type { MessageToSend } from '../rows'
import { type LockedRow, makeReady, updateRows } from '../settle/transitions'
import { keyOf, type LockedGroup, type LockedGroups, lockedElsewhere, lockGroups, saveGroups } from './group-locks'

/** A message that comes to a queue, leaves one, or both; one that stays in its queue becomes ready again. */
export interface MessageMove {
  /** Of messages that are not sent yet, their order. */
  id: bigint
  messageGroup: string | null
  groupPlace: number | null
  from: QueueHead | null
  to: QueueHead | null
}

export interface GivenPlaces {
  blocked: ReadonlySet<bigint>
  /** Messages that were blocked and have a place now, by queue: to be made ready. */
  next: ReadonlyMap<QueueHead, readonly LockedRow[]>
}

/** Blocked messages beyond those that have to be looked for, while a changed limit is applied. */
const FURTHER = 10

export function moveOf(
  { id, messageGroup, groupPlace }: LockedRow,
  from: QueueHead,
  to: QueueHead | null,
): MessageMove {
  return { id, messageGroup, groupPlace, from, to }
}

/** Whether the message has a place in the queue that is not void. */
function hasPlace(
  { messageGroup, groupPlace }: Pick<MessageMove, 'messageGroup' | 'groupPlace'>,
  head: QueueHead | null,
) {
  return isLimited(head) && messageGroup !== null && groupPlace === head.groupLimitId
}

function keepsPlace(move: MessageMove): boolean {
  const { from, to } = move
  return from?.id === to?.id && hasPlace(move, to) && to?.groupPhase !== GROUP_PHASE.blocking
}

/** The queue whose group loses a message; null if it has no place there, or keeps it. */
function leaves(move: MessageMove): QueueHead | null {
  return hasPlace(move, move.from) && !keepsPlace(move) ? move.from : null
}

function enters(move: MessageMove): QueueHead | null {
  return isLimited(move.to) && move.messageGroup !== null && !keepsPlace(move) ? move.to : null
}

function groupsOf(moves: readonly MessageMove[]): Map<string, LockedGroup> {
  const groups = new Map<string, LockedGroup>()
  const groupOf = (head: QueueHead, group: string) => {
    const key = keyOf(head, group)
    const known = groups.get(key) ?? { head, group, leaving: 0, asked: 0, taken: 0, blocked: [] }
    groups.set(key, known)
    return known
  }
  for (const move of moves) {
    const [left, entered] = [leaves(move), enters(move)]
    if (left) groupOf(left, move.messageGroup as string).leaving++
    if (entered) groupOf(entered, move.messageGroup as string)
  }
  for (const one of groups.values()) {
    const { groupPhase } = one.head
    if (groupPhase === GROUP_PHASE.blocking) continue
    one.asked = one.leaving + (groupPhase === GROUP_PHASE.giving ? FURTHER : 0)
  }
  return groups
}

/** Locks the groups that the moves change, and the blocked messages that may get their places. */
export async function lockPlaces(tx: Tx, moves: readonly MessageMove[]): Promise<LockedGroups> {
  const groups = groupsOf(moves)
  await lockGroups(tx, groups)
  return groups
}

/** Gives the places of the locked groups: first to messages that are blocked already, then to those that come, by their ids. */
export async function givePlaces(tx: Tx, moves: readonly MessageMove[], groups: LockedGroups): Promise<GivenPlaces> {
  const blocked = new Set<bigint>()
  const next = new Map<QueueHead, LockedRow[]>()
  if (groups.size === 0) return { blocked, next }
  const full = new Set<LockedGroup>()
  for (const one of groups.values()) {
    one.taken -= one.leaving
    const { groupConcurrency, groupPhase } = one.head
    const free = Math.max(0, groupConcurrency - one.taken)
    const given = one.blocked.slice(0, free)
    one.taken += given.length
    if (given.length > 0) next.set(one.head, [...(next.get(one.head) ?? []), ...given])
    const mayLeaveSome = one.asked > 0 && one.blocked.length === one.asked
    if (groupPhase === GROUP_PHASE.blocking || mayLeaveSome) full.add(one)
  }
  for (const move of [...moves].sort((a, b) => (a.id < b.id ? -1 : 1))) {
    const head = enters(move)
    if (head === null) continue
    const one = groups.get(keyOf(head, move.messageGroup as string)) as LockedGroup
    if (full.has(one) || one.taken >= head.groupConcurrency) blocked.add(move.id)
    else one.taken++
  }
  await saveGroups(tx, groups)
  return { blocked, next }
}

/**
 * Places for messages that are sent; a delayed one asks for a place when its time has come. The ids are their indexes.
 * `leaving`: messages that give up places.
 */
export function enterGroups(
  tx: Tx,
  toInsert: readonly { head: QueueHead; row: MessageToSend; isBehind: boolean }[],
  leaving: readonly MessageMove[],
): Promise<GivenPlaces> {
  const moves = toInsert.flatMap(({ head, row: { messageGroup, delayMs }, isBehind }, index) =>
    isLimited(head) && messageGroup !== null && delayMs === 0 && !isBehind
      ? [{ id: BigInt(index), messageGroup, groupPlace: null, from: null, to: head }]
      : [],
  )
  return changePlaces(tx, [...moves, ...leaving])
}

/** Both at once. */
export async function changePlaces(tx: Tx, moves: readonly MessageMove[]): Promise<GivenPlaces> {
  return givePlaces(tx, moves, await lockPlaces(tx, moves))
}

/** Makes the messages ready that have places now. */
export async function makeNextReady(tx: Tx, { next }: GivenPlaces, memory: QueueMemory): Promise<void> {
  for (const [head, rows] of next) await makeReady(tx, head, rows, '', memory)
}

/** Gives a place to each of the messages, also beyond the limit: they are in flight, or wait for their next try. */
export async function givePlacesTo(tx: Tx, head: QueueHead, rows: readonly LockedRow[]): Promise<void> {
  const without = rows.filter((row) => isLimited(head) && row.messageGroup !== null && !hasPlace(row, head))
  if (without.length === 0) return
  const groups = new Map<string, LockedGroup>()
  for (const { messageGroup } of without) {
    const group = messageGroup as string
    groups.set(keyOf(head, group), { head, group, leaving: 0, asked: 0, taken: 0, blocked: [] })
  }
  await lockGroups(tx, groups)
  for (const { messageGroup } of without) {
    const one = groups.get(keyOf(head, messageGroup as string)) as LockedGroup
    one.taken++
  }
  await saveGroups(tx, groups)
  await updateRows(tx, 'group_place = ?', without, [head.groupLimitId])
}

/** Gives the free places of the groups to blocked messages, which are to be made ready. */
export async function fillPlaces(tx: Tx, head: QueueHead, names: Iterable<string>): Promise<readonly LockedRow[]> {
  const asked = head.groupConcurrency
  const groups = new Map<string, LockedGroup>()
  for (const group of names) groups.set(keyOf(head, group), { head, group, leaving: 0, asked, taken: 0, blocked: [] })
  await lockGroups(tx, groups)
  const { next } = await givePlaces(tx, [], groups)
  return next.get(head) ?? []
}

/** The groups, of those that the moves change, that another transaction has locked; it waits for none. */
export function busyGroups(tx: Tx, moves: readonly MessageMove[]): Promise<ReadonlySet<string>> {
  return lockedElsewhere(tx, groupsOf(moves))
}

/** Whether the move changes one of these groups. */
export function isAmong(move: MessageMove, keys: ReadonlySet<string>): boolean {
  return [leaves(move), enters(move)].some(
    (head) => head !== null && keys.has(keyOf(head, move.messageGroup as string)),
  )
}
