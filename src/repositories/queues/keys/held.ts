/** Holding messages by their receipts, in a queue that may have keys: the keys first, as far as they are known. */
import type { Tx } from '../../../database/engine'
import { holdHead, type QueueHead, type ReadHead } from '../heads'
import type { QueueMemory } from '../memory'
import type { Receipt } from '../settle/receipts'
import { holdWithMessages, type LockedRow, lockHeld } from '../settle/transitions'
import { heldKey, type KeyName, keysBefore, type LockedKeys, lockKeys, nameOfKey } from './key-locks'
import { KeyTurns, NO_KEYS } from './key-turns'

export interface HeldWithKeys extends ReadHead {
  rows: LockedRow[]
  turns: KeyTurns
}

/** The queue's head, held, the messages that the receipts hold in it, and their keys, locked. Throws `queue_not_found`. */
export async function holdWithKeys(
  tx: Tx,
  memory: QueueMemory,
  queue: string,
  receipts: readonly Receipt[],
): Promise<HeldWithKeys> {
  if (memory.seen(queue)?.isKeyed !== true) {
    const held = await holdWithMessages(tx, queue, receipts)
    const { head, rows } = held
    return { ...held, turns: head.isKeyed ? await turnsOf(tx, head, rows, NO_KEYS) : new KeyTurns(NO_KEYS) }
  }
  const { head, nowMs } = await holdHead(tx, queue)
  const ids = receipts.map(({ id }) => id)
  const keys = await lockKeys(tx, await keysBefore(tx, head, ids))
  const rows = await lockHeld(tx, head.id, receipts)
  return { head, nowMs, rows, turns: await turnsOf(tx, head, rows, keys) }
}

/** With the keys that were not seen before: in an old snapshot, or because the queue's first key was new. */
async function turnsOf(tx: Tx, head: QueueHead, rows: readonly LockedRow[], known: LockedKeys): Promise<KeyTurns> {
  const missing = namesOf(head, rows).filter(({ key }) => !known.has(nameOfKey(head, key)))
  return new KeyTurns(missing.length === 0 ? known : new Map([...known, ...(await lockKeys(tx, missing))]))
}

/** The keys that the messages of the queue hold. */
export function namesOf(head: QueueHead, rows: readonly LockedRow[]): KeyName[] {
  return rows.flatMap((row) => {
    const key = heldKey(row)
    return key === null ? [] : [{ head, key }]
  })
}
