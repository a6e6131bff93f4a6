/**
 * The places of message groups, in queues with a `groupConcurrency` or a `groupRateLimit`. A message of a group is ready or in flight, or waits for
 * its next try, only while it has one of the group's places. The others are blocked, which no claim sees, and get the places
 * that become free in the order in which they were sent.
 *
 * With a `groupRateLimit` a place comes with a turn (`turns.ts`), until the message is received: one whose turn comes later is
 * delayed until then. Without a `groupConcurrency` its place ends with its turn.
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
import { groupedBy } from '../../chunks'
import { GROUP_PHASE, givenPlace, isLimited, type QueueHead } from '../heads'
import type { QueueMemory } from '../memory'
import type { MessageToSend } from '../rows'
import { type LockedRow, makeReady, type NotReady } from '../settle/transitions'
import {
  groupIn,
  keyOf,
  type LockedGroup,
  type LockedGroups,
  lockedElsewhere,
  lockGroups,
  saveGroups,
} from './group-locks'
import type { Turn } from './turns'

/** A message that comes to a queue, leaves one, or both; one that stays in its queue becomes ready again. */
export interface MessageMove {
  /** Of messages that are not sent yet, their order. */
  id: bigint
  messageGroup: string | null
  groupPlace: number | null
  from: QueueHead | null
  to: QueueHead | null
}

export interface GivenPlaces extends NotReady {
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

export const movesOf = (rows: readonly LockedRow[], from: QueueHead, to: QueueHead | null): MessageMove[] =>
  rows.map((row) => moveOf(row, from, to))

export type Placed = Pick<MessageMove, 'messageGroup' | 'groupPlace'>

/** Whether the message has a place in the queue that is not void. */
export function hasPlace({ messageGroup, groupPlace }: Placed, head: QueueHead | null): head is QueueHead {
  return isLimited(head) && messageGroup !== null && Math.abs(groupPlace ?? 0) === head.groupLimitId
}

/** Whether it has a turn, too: it was not received since it got its place. */
export function hasTurn(placed: Placed, head: QueueHead | null): boolean {
  return hasPlace(placed, head) && head.groupRateLimit !== null && placed.groupPlace === givenPlace(head)
}

function keepsPlace(move: MessageMove): boolean {
  const { from, to } = move
  const isThere = from?.id === to?.id && hasPlace(move, to) && to.groupPhase !== GROUP_PHASE.blocking
  return isThere && (to?.groupRateLimit === null || hasTurn(move, to))
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
  for (const move of moves) {
    const [left, entered] = [leaves(move), enters(move)]
    if (left) {
      const one = groupIn(groups, left, move.messageGroup as string)
      one.leaving++
      if (hasTurn(move, left)) one.done++
    }
    if (entered) groupIn(groups, entered, move.messageGroup as string)
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

/** Whether one more message of the group gets a place, and a turn. */
export function hasRoom({ head, taken, turns }: LockedGroup): boolean {
  return (head.groupConcurrency === 0 || taken < head.groupConcurrency) && turns?.nextMs !== null
}

/**
 * Gives the places of the locked groups: first to messages that are blocked already, then to those that come, by their ids. One
 * that comes back to its group for another turn is among the first.
 */
export async function givePlaces(tx: Tx, moves: readonly MessageMove[], groups: LockedGroups): Promise<GivenPlaces> {
  const blocked = new Set<bigint>()
  const later = new Map<bigint, Turn>()
  const next = new Map<QueueHead, LockedRow[]>()
  if (groups.size === 0) return { blocked, later, next }
  const place = (one: LockedGroup, id: bigint) => {
    one.taken++
    if (one.turns === null) return
    const atMs = one.turns.nextMs ?? 0
    one.turns.waiting++
    if (atMs > one.turns.nowMs) later.set(id, { atMs, inMs: atMs - one.turns.nowMs })
  }
  const back = groupedBy(moves.filter(comesBack), (move) => keyOf(move.to as QueueHead, move.messageGroup as string))
  const full = new Set<LockedGroup>()
  for (const [key, one] of groups) {
    one.taken -= one.leaving
    if (one.turns !== null) one.turns.waiting -= one.done
    const isBlocking = one.head.groupPhase === GROUP_PHASE.blocking
    const given: LockedRow[] = []
    for (const row of [...one.blocked, ...(back.get(key) ?? [])].sort((a, b) => (a.id < b.id ? -1 : 1))) {
      const hasPlaceNow = !isBlocking && hasRoom(one)
      if (hasPlaceNow) place(one, row.id)
      if ('to' in row) {
        if (!hasPlaceNow) blocked.add(row.id)
      } else if (hasPlaceNow) given.push(row)
    }
    if (given.length > 0) next.set(one.head, [...(next.get(one.head) ?? []), ...given])
    const mayLeaveSome = one.asked > 0 && one.blocked.length === one.asked
    if (isBlocking || mayLeaveSome) full.add(one)
  }
  for (const move of [...moves].sort((a, b) => (a.id < b.id ? -1 : 1))) {
    const head = enters(move)
    if (head === null || comesBack(move)) continue
    const one = groups.get(keyOf(head, move.messageGroup as string)) as LockedGroup
    if (full.has(one) || !hasRoom(one)) blocked.add(move.id)
    else place(one, move.id)
  }
  await saveGroups(tx, groups)
  return { blocked, later, next }
}

/** To its group, where a rate makes it wait for another turn. */
function comesBack(move: MessageMove): boolean {
  const head = enters(move)
  return head !== null && head.groupRateLimit !== null && move.from?.id === head.id
}

/**
 * Places for messages that are sent; a delayed one asks for a place when its time has come. Their ids: below 0, the last one's
 * is -1. `leaving`: messages that give up places.
 */
export function enterGroups(
  tx: Tx,
  toInsert: readonly { head: QueueHead; row: MessageToSend; isBehind: boolean }[],
  leaving: readonly MessageMove[],
): Promise<GivenPlaces> {
  const moves = toInsert.flatMap(({ head, row: { messageGroup, delayMs }, isBehind }, index) =>
    isLimited(head) && messageGroup !== null && delayMs === 0 && !isBehind
      ? [{ id: BigInt(index - toInsert.length), messageGroup, groupPlace: null, from: null, to: head }]
      : [],
  )
  return changePlaces(tx, [...moves, ...leaving])
}

export async function changePlaces(tx: Tx, moves: readonly MessageMove[]): Promise<GivenPlaces> {
  return givePlaces(tx, moves, await lockPlaces(tx, moves))
}

export async function makeNextReady(tx: Tx, given: GivenPlaces, memory: QueueMemory): Promise<void> {
  for (const [head, rows] of given.next) await makeReady(tx, head, rows, '', memory, given)
}

/** The groups, of those that the moves change, that another transaction has locked; it waits for none. */
export function busyGroups(tx: Tx, moves: readonly MessageMove[]): Promise<ReadonlySet<string>> {
  return lockedElsewhere(tx, groupsOf(moves))
}

export function isAmong(move: MessageMove, keys: ReadonlySet<string>): boolean {
  return [leaves(move), enters(move)].some(
    (head) => head !== null && keys.has(keyOf(head, move.messageGroup as string)),
  )
}
