/** Sending dead messages back to where they came from, in small transactions. */
import type { Session, Tx } from '../../../database/engine'
import { groupedBy } from '../../chunks'
import { type DeadChoice, LETTERS, OWN } from '../dead/dead-choice'
import { countDead, withDead } from '../dead/dead-messages'
import { movesOf } from '../groups/places'
import { type QueueHead, type ReadHead, readHeadById } from '../heads'
import { lockKeys } from '../keys/key-locks'
import { KeyTurns, moving } from '../keys/key-turns'
import type { QueueMemory } from '../memory'
import { STATE } from '../rows'
import { NO_RECEIPT } from './receipts'
import { type LockedRow, makeReady, updateRows } from './transitions'

/**
 * Resolves to how many were moved, or to how many would be. Messages whose queue is gone stay where they are. Those of them that
 * are dead become the queue's own, and go back after all others.
 */
export function redriveQueue(
  session: Session,
  memory: QueueMemory,
  queue: string,
  choice: DeadChoice,
): Promise<number> {
  if (choice.dryRun) return countDead(session, queue, choice, ({ state, isGone }) => state === STATE.dead || !isGone)
  return withDead(session, queue, choice, (tx, held, rows) => moveBack(tx, memory, held, rows), [...LETTERS, OWN])
}

/** Messages that go back to a queue. */
interface Returning {
  target: QueueHead
  group: LockedRow[]
}

/** Resolves to how many go back, or give way to newer ones with their keys. */
async function moveBack(
  tx: Tx,
  memory: QueueMemory,
  { head, nowMs }: ReadHead,
  rows: readonly LockedRow[],
): Promise<number> {
  const alive = 'source_queue_id = NULL, dead_receive_count = NULL, dead_at_ms = NULL'
  const back = `, receive_count = 0, receipt = '${NO_RECEIPT}', ${alive}, visible_at_ms = ${nowMs}`
  const returning: Returning[] = []
  for (const [source, group] of groupedBy(rows, ({ sourceQueueId }) => sourceQueueId)) {
    const target = source === null ? head : await readHeadById(tx, source, tx.engine.forShare)
    if (target === null) {
      // They can't go back any more, and are this queue's own from now on; their own limit and key do not apply here.
      await updateRows(tx, 'source_queue_id = NULL, max_receives = NULL, message_key = NULL', group)
    } else returning.push({ target, group })
  }
  const turns = await keyTurns(tx, returning)
  const waiting = returning.map(({ target, group }) => {
    // The newest first: it is the one that waits.
    const newest = [...group].sort((a, b) => (a.id < b.id ? 1 : -1))
    const kept = new Set(turns.again(target, newest, head))
    return { target, group: group.filter((row) => kept.has(row)) }
  })
  const moves = waiting.flatMap(({ target, group }) => movesOf(group, head, target))
  await moving(tx, memory, { nowMs, turns, back }, moves, async (given) => {
    for (const { target, group } of waiting) await makeReady(tx, target, group, back, memory, given)
  })
  return returning.reduce((sum, { group }) => sum + group.length, 0)
}

/** Dead messages are in no row of a key: whoever holds one waits for nothing that they hold. */
async function keyTurns(tx: Tx, returning: readonly Returning[]): Promise<KeyTurns> {
  const names = returning.flatMap(({ target, group }) =>
    group.flatMap(({ messageKey }) => (messageKey === null ? [] : [{ head: target, key: messageKey }])),
  )
  return new KeyTurns(await lockKeys(tx, names, { adds: true }))
}
