/**
 * Settling by receipt: nack, extend and giving back (ack is in `ack.ts`). The messages of many calls are
 * settled together, and each call learns which of its receipts counted.
 *
 * Order of the locks: the queue's head (shared), keys, the messages by their ids, the head of the dead-letter queue, places, flows.
 * Invariant: a settled message has another receipt or none, so that settling again, by a late receiver or after a lost
 * connection, changes nothing. An extension keeps the receipt, and is the same when it is repeated.
 */
import type { Session, Tx, WriteOptions } from '../../../database/engine'
import { RecentnError } from '../../../shared/errors'
import type { FailedReceipt } from '../../../shared/queue-types'
import { merging } from '../../runners'
import { givePlacesTo } from '../groups/passing'
import { movesOf } from '../groups/places'
import { deadLetterQueueOf, GROUP_PHASE, type QueueHead } from '../heads'
import { holdWithKeys, moving } from '../keys/key-turns'
import type { QueueMemory } from '../memory'
import { STATE } from '../rows'
import { addFailure, NO_RECEIPT, type Receipt, receiptOf } from './receipts'
import {
  holdWithMessages,
  isOutOfReceives,
  type LockedRow,
  lockHeld,
  makeBlocked,
  makeDead,
  makeDelayed,
  makeLater,
  makeReady,
  placeSet,
  updateRows,
} from './transitions'

/** The receipts that counted: a call may name a message by an old receipt, too. */
export type SettledReceipts = Set<string>

export interface SettleRequest {
  queue: string
  receipts: readonly Receipt[]
}

export interface Nack {
  delayMs: number
  error: string | null
  dead: boolean
}

export interface NackRequest extends SettleRequest {
  nack: Nack
}

interface ExtendRequest extends SettleRequest {
  visibilityMs: number
}

/** The receipts that the handles name, each handle once; null for a text that is not a handle of this queue. */
export async function readHandles(
  session: Session,
  memory: QueueMemory,
  queue: string,
  handles: readonly string[],
): Promise<Map<string, Receipt | null>> {
  const read = ({ id }: QueueHead) => new Map(handles.map((handle) => [handle, receiptOf(id, handle)]))
  const known = memory.known(queue)
  const named = known && read(known)
  if (named && ![...named.values()].includes(null)) return named
  // The queue may have been dropped and created again since.
  return read(await session.read((reader) => memory.refresh(reader, queue)))
}

/** The handles whose receipts counted, by a word of the call's, and why the others did not. */
export type SettleOutcome<Done extends string> = Record<Done, string[]> & { failed: FailedReceipt[] }

export function outcomeOf<Done extends string>(
  handles: ReadonlyMap<string, Receipt | null>,
  settled: SettledReceipts,
  done: Done,
): SettleOutcome<Done> {
  const counted: string[] = []
  const failed: FailedReceipt[] = []
  for (const [handle, receipt] of handles) {
    if (receipt !== null && settled.has(receipt.receipt)) counted.push(handle)
    else failed.push({ receiptHandle: handle, code: receipt === null ? 'invalid_receipt' : 'stale_receipt' })
  }
  return { [done]: counted, failed } as SettleOutcome<Done>
}

/** Throws why the one handle of a call had no effect. */
export function refuseFailed({ failed: [failed] }: { failed: readonly FailedReceipt[] }): void {
  if (failed !== undefined) throw new RecentnError(failed.code)
}

export function validOf(handles: ReadonlyMap<string, Receipt | null>): Receipt[] {
  return [...handles.values()].filter((receipt) => receipt !== null)
}

/** Ids of one DELETE, which commits by itself: the more there are, the less the commit costs for each. */
export const MAX_REMOVED = 500

/** An operation that settles what receipts hold. Requests of one kind go together, and each learns which of its receipts counted. */
export function settling<Request extends SettleRequest>(
  kindOf: (request: Request) => string,
  run: (session: Session, memory: QueueMemory, all: Request) => Promise<SettledReceipts>,
) {
  return merging<QueueMemory, Request, SettledReceipts>({
    what: 'receipts',
    kindOf,
    sizeOf: ({ receipts }) => receipts.length,
    // Never more than one DELETE takes: a failure is reported only to the calls that it has met.
    maxBatchSize: MAX_REMOVED,
    idsOf: ({ receipts }) => receipts.map(({ receipt }) => receipt), // so that a receipt counts for one call
    run: async (session, memory, requests) => {
      const [first] = requests as [Request]
      if (requests.length === 1) return [await run(session, memory, first)]
      const settled = await run(session, memory, { ...first, receipts: requests.flatMap(({ receipts }) => receipts) })
      return requests.map(({ receipts }) => {
        return new Set(receipts.map(({ receipt }) => receipt).filter((receipt) => settled.has(receipt)))
      })
    },
  })
}

export const NACKS = settling<NackRequest>(({ queue, nack }) => JSON.stringify([queue, nack]), nackTogether)

export const EXTENDS = settling<ExtendRequest>(({ queue, visibilityMs }) => `${visibilityMs} ${queue}`, extendTogether)

async function nackTogether(
  session: Session,
  memory: QueueMemory,
  { queue, nack, receipts }: NackRequest,
): Promise<SettledReceipts> {
  const nackThem = (tx: Tx) => nackAll(tx, memory, queue, receipts, nack)
  const settled = await session.write(nackThem, untilSettled(memory, queue, receipts))
  await session.afterCommit(memory.counting('messagesNacked', settled.size, queue, 'failed'))
  return settled
}

async function nackAll(
  tx: Tx,
  memory: QueueMemory,
  queue: string,
  receipts: readonly Receipt[],
  { delayMs, error, dead }: Nack,
): Promise<SettledReceipts> {
  const held = await holdWithKeys(tx, memory, queue, receipts)
  const { head, nowMs, rows, turns } = held
  if (error !== null) {
    const failure = addFailure(nowMs, error)
    await updateRows(tx, `last_error = ?, ${failure.sql}`, rows, [error, ...failure.parameters])
  }
  const dying = rows.filter((row) => dead || isOutOfReceives(row, head))
  turns.end(head, dying)
  const living = rows.filter((row) => !dying.includes(row))
  const again = turns.again(head, living)
  const deadLetterQueue = dying.length === 0 ? null : await deadLetterQueueOf(tx, head, tx.engine.forShare)
  const [later, ready] = delayMs > 0 ? [again, []] : [[], again]
  const moves = [...movesOf(dying, head, deadLetterQueue), ...movesOf(ready, head, head)]
  await moving(tx, memory, held, moves, async (given) => {
    await makeDead(tx, deadLetterQueue, dying, nowMs, memory, given)
    await makeDelayed(tx, later, nowMs + delayMs)
    if (later.length > 0) await memory.reminders.remind(tx, head.id, delayMs)
    await makeReady(tx, head, ready, `, visible_at_ms = ${nowMs}, receipt = '${NO_RECEIPT}'`, memory, given)
  })
  return receiptsOf(rows)
}

async function extendTogether(
  session: Session,
  memory: QueueMemory,
  { queue, visibilityMs, receipts }: ExtendRequest,
): Promise<SettledReceipts> {
  const settled = await session.write(
    async (tx) => {
      const { head, nowMs, rows } = await holdWithMessages(tx, queue, receipts)
      // A pass over the messages in flight could miss them: their time may be earlier now.
      if (head.groupPhase === GROUP_PHASE.blocking) await givePlacesTo(tx, head, rows)
      const until = nowMs + visibilityMs
      const sets = `state = ${STATE.inFlight}, sort_major = ?, cycle_queue_id = 0, visible_at_ms = ?`
      await updateRows(tx, sets, rows, [until, until])
      if (rows.length > 0) await memory.reminders.remind(tx, head.id, visibilityMs)
      return receiptsOf(rows)
    },
    {
      // To be repeated, but not before the first try has ended.
      arrived: async (tx) => {
        await lockHeld(tx, (await memory.headOf(tx, queue)).id, receipts)
        return false
      },
    },
  )
  await session.afterCommit(memory.counting('messagesExtended', settled.size))
  return settled
}

export function receiptsOf(rows: readonly LockedRow[]): SettledReceipts {
  return new Set(rows.map(({ receipt }) => receipt))
}

/** A transaction whose connection was lost has arrived when no message has these receipts any more. */
export function untilSettled(memory: QueueMemory, queue: string, receipts: readonly Receipt[]): WriteOptions {
  return {
    arrived: async (tx) => (await lockHeld(tx, (await memory.headOf(tx, queue)).id, receipts)).length === 0,
  }
}

/** Ends claims as if they had not been made: the messages are ready where they stood, with one receive less. */
export function giveBack(
  session: Session,
  memory: QueueMemory,
  queue: string,
  receipts: readonly Receipt[],
): Promise<SettledReceipts> {
  return session.write((tx) => giveAllBack(tx, memory, queue, receipts), untilSettled(memory, queue, receipts))
}

export async function giveAllBack(
  tx: Tx,
  memory: QueueMemory,
  queue: string,
  receipts: readonly Receipt[],
): Promise<SettledReceipts> {
  const held = await holdWithKeys(tx, memory, queue, receipts)
  const { head } = held
  const claimed = held.rows.filter(({ state }) => state === STATE.inFlight)
  const rows = held.turns.again(head, claimed)
  const cycle = head.cycled === 0 ? 0 : head.id
  const uncounted = 'receive_count = receive_count - 1'
  let ready: LockedRow[] = []
  await moving(tx, memory, held, movesOf(rows, head, head), async (given) => {
    ready = rows.filter(({ id }) => !given.blocked.has(id) && !given.later.has(id))
    await updateRows(
      tx,
      `state = ${STATE.ready}, sort_major = -priority, sort_minor = virtual_start, cycle_queue_id = ${cycle}, ` +
        `${uncounted}, receipt = '${NO_RECEIPT}'${placeSet(head)}`,
      ready,
    )
    await makeLater(tx, head, rows, given.later, `, ${uncounted}`, memory)
    const waiting = rows.filter(({ id }) => given.blocked.has(id))
    await makeBlocked(tx, head, waiting, `, ${uncounted}`)
  })
  const places = ready.map(({ priority }) => ({ head, priority }))
  memory.becameReady(tx, places)
  return receiptsOf(claimed)
}
