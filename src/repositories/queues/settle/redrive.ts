/** Sending dead messages back to where they came from, in small transactions. */
import type { Session, Tx } from '../../../database/engine'
import { groupedBy } from '../../chunks'
import { type DeadChoice, LETTERS, OWN } from '../dead/dead-choice'
import { countDead, withDead } from '../dead/dead-messages'
import { changePlaces, makeNextReady, moveOf } from '../groups/places'
import { type QueueHead, type ReadHead, readHeadById } from '../heads'
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

/** Resolves to how many go back. */
async function moveBack(
  tx: Tx,
  memory: QueueMemory,
  { head, nowMs }: ReadHead,
  rows: readonly LockedRow[],
): Promise<number> {
  const alive = 'source_queue_id = NULL, dead_receive_count = NULL, dead_at_ms = NULL'
  const back = `, receive_count = 0, receipt = '${NO_RECEIPT}', ${alive}, visible_at_ms = ${nowMs}`
  const returning: { target: QueueHead; group: LockedRow[] }[] = []
  for (const [source, group] of groupedBy(rows, ({ sourceQueueId }) => sourceQueueId)) {
    const target = source === null ? head : ((await readHeadById(tx, source, tx.engine.forShare))?.head ?? null)
    if (target === null) {
      // They can't go back any more, and are this queue's own from now on; their own limit still does not apply here.
      await updateRows(tx, 'source_queue_id = NULL, max_receives = NULL', group)
    } else returning.push({ target, group })
  }
  const moves = returning.flatMap(({ target, group }) => group.map((row) => moveOf(row, head, target)))
  const given = await changePlaces(tx, moves)
  for (const { target, group } of returning) await makeReady(tx, target, group, back, memory, given)
  await makeNextReady(tx, given, memory)
  return moves.length
}
