/** Ending claims as if they had not been made. */
import type { Session, Tx } from '../../../database/engine'
import { changePlaces, makeNextReady, moveOf } from '../groups/places'
import type { QueueMemory } from '../memory'
import { STATE } from '../rows'
import { NO_RECEIPT, type Receipt } from './receipts'
import { receiptsOf, type SettledReceipts, untilSettled } from './settle'
import { holdWithMessages, makeBlocked, makeLater, placeSet, updateRows } from './transitions'

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
  const held = await holdWithMessages(tx, queue, receipts)
  const { head } = held
  const rows = held.rows.filter(({ state }) => state === STATE.inFlight)
  const cycle = head.cycled === 0 ? 0 : head.id
  const given = await changePlaces(
    tx,
    rows.map((row) => moveOf(row, head, head)),
  )
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
  await makeNextReady(tx, given, memory)
  memory.becameReady(
    tx,
    ready.map(({ priority }) => ({ head, priority, start: Number.NEGATIVE_INFINITY })),
  )
  return receiptsOf(rows)
}
