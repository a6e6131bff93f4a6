/** Ending claims as if they had not been made. */
import type { Session, Tx } from '../../../database/engine'
import { changePlaces, makeNextReady, moveOf } from '../groups/places'
import { holdWithKeys } from '../keys/held'
import type { QueueMemory } from '../memory'
import { STATE } from '../rows'
import { NO_RECEIPT, type Receipt } from './receipts'
import { receiptsOf, type SettledReceipts, untilSettled } from './settle'
import { makeBlocked, makeLater, placeSet, updateRows } from './transitions'

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
  const { head, nowMs, rows: held, turns } = await holdWithKeys(tx, memory, queue, receipts)
  const claimed = held.filter(({ state }) => state === STATE.inFlight)
  const rows = turns.again(head, claimed)
  const cycle = head.cycled === 0 ? 0 : head.id
  const given = await changePlaces(tx, [...rows.map((row) => moveOf(row, head, head)), ...turns.moves(nowMs)])
  const ready = rows.filter(({ id }) => !given.blocked.has(id) && !given.later.has(id))
  const uncounted = 'receive_count = receive_count - 1'
  await updateRows(
    tx,
    `state = ${STATE.ready}, sort_major = -priority, sort_minor = virtual_start, cycle_queue_id = ${cycle}, ` +
      `${uncounted}, receipt = '${NO_RECEIPT}'${placeSet(head)}`,
    ready,
  )
  await makeLater(tx, head, rows, given.later, `, ${uncounted}`, memory)
  await makeBlocked(
    tx,
    head,
    rows.filter(({ id }) => given.blocked.has(id)),
    `, ${uncounted}`,
  )
  await turns.finish(tx, memory, nowMs, given)
  await makeNextReady(tx, given, memory)
  memory.becameReady(
    tx,
    ready.map(({ priority }) => ({ head, priority, start: Number.NEGATIVE_INFINITY })),
  )
  return receiptsOf(claimed)
}
