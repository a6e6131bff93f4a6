/** Sending dead messages back to where they came from, in small transactions. */
import { placeholders, type Reader, type Row, type Session, type Tx } from '../../../database/engine'
import { groupedBy } from '../../chunks'
import { changePlaces, makeNextReady, moveOf } from '../groups/places'
import { holdHead, lastMessageId, type QueueHead, type ReadHead, readHeadById, requireHead } from '../heads'
import type { QueueMemory } from '../memory'
import { claimOrder, STATE } from '../rows'
import { NO_RECEIPT } from './receipts'
import { type LockedRow, lockChosen, lockedColumns, lockedOf, makeReady, updateRows } from './transitions'

const BATCH = 200

/**
 * Messages that may be redriven: the queue's own dead, and dead letters of other queues. Delayed ones come first: time makes
 * them ready, and a redrive that began with the ready ones would miss those.
 */
const REDRIVEN = [STATE.delayed, STATE.blocked, STATE.ready, STATE.dead]
const MAY_MOVE = `(state = ${STATE.dead} OR (source_queue_id IS NOT NULL AND state IN (${REDRIVEN.join(', ')})))`
const OWN = { state: STATE.dead, where: '' }
const LETTERS = REDRIVEN.map((state) => ({
  state,
  where: ' AND source_queue_id IS NOT NULL',
}))

/** `ids`: only these messages. */
export interface RedriveLimits {
  limit: number
  prefix: string
  ids: readonly bigint[] | null
}

/**
 * Resolves to how many were moved. Messages whose queue is gone stay where they are, and so do messages that came from a
 * queue whose name does not begin with the prefix.
 */
export async function redriveQueue(
  session: Session,
  memory: QueueMemory,
  queue: string,
  { limit, prefix, ids }: RedriveLimits,
): Promise<number> {
  if (ids !== null) return session.write((tx) => redriveChosen(tx, memory, queue, ids.slice(0, limit), prefix))
  return session.whole(async (whole) => {
    const { last, holdsDeadLetters } = await whole.read(async (reader) => {
      const { holdsDeadLetters } = await requireHead(reader, queue)
      return { last: await lastMessageId(reader), holdsDeadLetters }
    })
    let moved = 0
    const outside = new Set<bigint>()
    for (const range of holdsDeadLetters ? [...LETTERS, OWN] : [OWN]) {
      for (let found = 1; found > 0 && moved < limit; ) {
        const step = { queue, ...range, last, limit: Math.min(BATCH, limit - moved), prefix, outside }
        const batch = await whole.write((tx) => redriveBatch(tx, memory, step))
        moved += batch.moved
        found = batch.found
      }
    }
    return moved
  })
}

/** Those of the messages that may be redriven, in one transaction. */
async function redriveChosen(
  tx: Tx,
  memory: QueueMemory,
  queue: string,
  ids: readonly bigint[],
  prefix: string,
): Promise<number> {
  const held = await holdHead(tx, queue)
  const rows = await lockChosen(tx, held.head, ids, MAY_MOVE)
  return moveBack(tx, memory, held, rows, { prefix, outside: new Set() })
}

/** How many messages a redrive would move now. */
export async function countRedrivable(
  reader: Reader,
  queue: string,
  { limit, prefix, ids }: RedriveLimits,
): Promise<number> {
  const { id } = await requireHead(reader, queue)
  const { engine, tables } = reader
  const rows = await reader.rows(
    'SELECT m.state AS state, source.queue AS source, COUNT(*) AS messages ' +
      `FROM ${tables.queueMessages} m${ids === null ? engine.useIndex(tables.index.messagesClaim) : ''} ` +
      `LEFT JOIN ${tables.queues} source ON source.id = m.source_queue_id ` +
      `WHERE m.queue_id = ? AND m.state IN (${REDRIVEN.join(', ')})${ids === null ? '' : ` AND m.id IN (${placeholders(ids.length)})`} ` +
      'GROUP BY m.state, source.queue',
    [id, ...(ids ?? [])],
  )
  // Dead messages of a queue that is gone are this queue's own.
  const moves = ({ state, source }: Row) =>
    source === null ? Number(state) === STATE.dead : (source as string).startsWith(prefix)
  const found = rows.filter(moves).reduce((sum, { messages }) => sum + Number(messages), 0)
  return Math.min(limit, found)
}

interface RedriveStep {
  queue: string
  state: number
  where: string
  last: bigint
  limit: number
  prefix: string
  /** Queues that are known to be outside of the prefix: their messages are skipped. Each batch adds to it. */
  outside: Set<bigint>
}

async function redriveBatch(
  tx: Tx,
  memory: QueueMemory,
  { queue, state, where, last, limit, prefix, outside }: RedriveStep,
): Promise<{ moved: number; found: number }> {
  const { engine } = tx
  const held = await holdHead(tx, queue)
  const found = await tx.rows(
    `SELECT ${lockedColumns(tx)} FROM ${tx.tables.queueMessages}${engine.useIndex(tx.tables.index.messagesClaim)} ` +
      `WHERE queue_id = ? AND state = ?${where}${skipping(outside)} AND id <= ? ORDER BY ${claimOrder(tx.tables)} LIMIT ${limit}` +
      engine.forNext,
    [held.head.id, state, last],
  )
  const rows = found.map(lockedOf)
  return { moved: await moveBack(tx, memory, held, rows, { prefix, outside }), found: rows.length }
}

/** Resolves to how many go back. */
async function moveBack(
  tx: Tx,
  memory: QueueMemory,
  { head, nowMs }: ReadHead,
  rows: readonly LockedRow[],
  { prefix, outside }: Pick<RedriveStep, 'prefix' | 'outside'>,
): Promise<number> {
  const alive = 'source_queue_id = NULL, dead_receive_count = NULL, dead_at_ms = NULL'
  const back = `, receive_count = 0, receipt = '${NO_RECEIPT}', ${alive}, visible_at_ms = ${nowMs}`
  const returning: { target: QueueHead; group: LockedRow[] }[] = []
  for (const [source, group] of groupedBy(rows, ({ sourceQueueId }) => sourceQueueId)) {
    const target = source === null ? head : ((await readHeadById(tx, source, tx.engine.forShare))?.head ?? null)
    if (target === null) {
      // They can't go back any more, and are this queue's own from now on; their own limit still does not apply here.
      await updateRows(tx, 'source_queue_id = NULL, max_receives = NULL', group)
    } else if (source !== null && !target.queue.startsWith(prefix)) outside.add(source)
    else returning.push({ target, group })
  }
  const moves = returning.flatMap(({ target, group }) => group.map((row) => moveOf(row, head, target)))
  const given = await changePlaces(tx, moves)
  for (const { target, group } of returning) await makeReady(tx, target, group, back, memory, given.blocked)
  await makeNextReady(tx, given, memory)
  return moves.length
}

function skipping(queues: ReadonlySet<bigint>): string {
  return queues.size === 0 ? '' : ` AND (source_queue_id IS NULL OR source_queue_id NOT IN (${[...queues].join(', ')}))`
}
