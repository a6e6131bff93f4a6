/** Removing the message that waits with a key. */
import type { Tx } from '../../../database/engine'
import { changePlaces, makeNextReady, moveOf } from '../groups/places'
import { holdHead } from '../heads'
import type { QueueMemory } from '../memory'
import { removeRows } from '../removal'
import { lockKeys } from './key-locks'
import { KeyTurns } from './key-turns'

/** False where none waits. Throws `queue_not_found`. */
export async function cancelWaiting(tx: Tx, memory: QueueMemory, queue: string, key: string): Promise<boolean> {
  const { head, nowMs } = await holdHead(tx, queue)
  if (!head.isKeyed) return false
  const keys = await lockKeys(tx, [{ head, key }])
  const rows = [...keys.values()].flatMap(({ waiting }) => waiting ?? [])
  const turns = new KeyTurns(keys)
  turns.end(head, rows)
  const given = await changePlaces(
    tx,
    rows.map((row) => moveOf(row, head, null)),
  )
  await removeRows(tx, rows, tx.tables.queueMessages)
  await turns.finish(tx, memory, nowMs, given)
  await makeNextReady(tx, given, memory)
  return rows.length > 0
}
