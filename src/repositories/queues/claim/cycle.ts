/**
 * Receiving in a cycle (Quassnoi, "Endless loops", 2009): the next ready messages after a stored cursor by id, wrapping to
 * the start. The index recentn_queue_messages_cycle has only ready messages of queues that are received in cycles.
 *
 * Invariant: the cursor's row is the lock of its cycle, so that its receivers get batch after batch, each once a round.
 */
import { placeholders, type Session, type Tx } from '../../../database/engine'
import { CYCLED, holdHead, type QueueHead } from '../heads'
import type { QueueMemory } from '../memory'
import { type MessagePlace, pageAfter, placeOf } from '../pages'
import { type ClaimedMessages, type ClaimedRow, claimedColumns, claimedOf, STATE } from '../rows'
import { promoteDue } from '../settle/promote'
import { QUEUE_OF_IDS } from '../settle/receipts'
import { updateRows } from '../settle/transitions'
import { claimSets, lookSeconds } from './claim-statements'

const PAGE = 500
/** Running it twice has the effect of running it once. */
const REPEATABLE = { arrived: async () => false }

/** Puts all ready messages of a queue into the cycle, at its first receive in a cycle. */
async function beginCycle(session: Session, head: QueueHead): Promise<void> {
  // Waits for senders that hold the head: they do not put their messages into the cycle.
  await session.write((tx) => setCycled(tx, head.id, CYCLED.begun), REPEATABLE)
  let after: MessagePlace | null = null
  do {
    const before: MessagePlace | null = after
    after = await session.write<MessagePlace | null>((tx) => enterPage(tx, head.id, before), REPEATABLE)
  } while (after !== null)
  await session.write((tx) => setCycled(tx, head.id, CYCLED.wholly), REPEATABLE)
}

function setCycled(tx: Tx, queueId: bigint, cycled: number): Promise<number> {
  return tx.run(`UPDATE ${tx.tables.queues} SET cycled = ?, version = version + 1 WHERE id = ? AND cycled < ?`, [
    cycled,
    queueId,
    cycled,
  ])
}

async function enterPage(tx: Tx, queueId: bigint, after: MessagePlace | null): Promise<MessagePlace | null> {
  const columns = `${tx.engine.bigint('id')} AS id`
  const range = { columns, queueId, state: STATE.ready, where: '', lock: tx.engine.forShare, limit: PAGE }
  const rows = await pageAfter(tx, range, after)
  const last = rows.at(-1)
  if (last === undefined) return null
  const ids = rows.map(({ id }) => BigInt(id as string))
  await tx.later(
    `UPDATE ${tx.tables.queueMessages} SET cycle_queue_id = ? WHERE id IN (${placeholders(ids.length)}) AND ${QUEUE_OF_IDS} = ? AND state = ?`,
    [queueId, ...ids, queueId, STATE.ready],
  )
  return placeOf(last)
}

export interface CycleRequest {
  queue: string
  cursor: string
  limit: number
  visibilityTimeoutSeconds: number | undefined
}

/** Receives the next messages behind the cursor. */
export async function claimNext(
  session: Session,
  memory: QueueMemory,
  request: CycleRequest,
): Promise<ClaimedMessages> {
  const { queue } = request
  await promoteDue(session, memory, queue, request.limit)
  for (;;) {
    const claimNumber = memory.receiver.newClaimNumber()
    const claimed = await session.write((tx) => claimOnce(tx, memory, request, claimNumber), {
      arrived: async (tx) => {
        const [row] = await tx.rows(
          `SELECT id FROM ${tx.tables.queueMessages} WHERE queue_id = (SELECT id FROM ${tx.tables.queues} WHERE queue = ?) AND state = ? ` +
            `AND sort_minor = ? LIMIT 1${tx.engine.forUpdate}`,
          [queue, STATE.inFlight, claimNumber],
        )
        return row !== undefined
      },
    })
    if (claimed !== null) {
      memory.learn(claimed.head)
      return claimed
    }
    await beginCycle(session, await session.read((reader) => memory.refresh(reader, queue)))
  }
}

/** Claims the next messages and moves the cursor behind them; null while not all ready messages are in the cycle. */
async function claimOnce(
  tx: Tx,
  memory: QueueMemory,
  request: CycleRequest,
  claimNumber: bigint,
): Promise<ClaimedMessages | null> {
  const { limit, cursor, visibilityTimeoutSeconds } = request
  const { head } = await holdHead(tx, request.queue)
  if (head.paused || head.heldMs > 0) return { head, rows: [] }
  if (head.cycled !== CYCLED.wholly) return null
  const last = await lockCursor(tx, head.id, cursor)
  const ids = await nextIds(tx, head, `id > ${last}`, limit)
  if (ids.length < limit) {
    for (const id of await nextIds(tx, head, `id <= ${last}`, limit - ids.length)) ids.push(id)
  }
  if (ids.length === 0) return { head, rows: [] }
  const sets = claimSets(tx.engine, tx.now, head, visibilityTimeoutSeconds, claimNumber)
  const chosen = ids.map((id) => ({ id }))
  await updateRows(tx, sets.sql, chosen, sets.parameters)
  await memory.reminders.remind(tx, head.id, lookSeconds(head, visibilityTimeoutSeconds) * 1000)
  await tx.later(`UPDATE ${tx.tables.queueCursors} SET last_id = ? WHERE queue_id = ? AND cursor_name = ?`, [
    ids.at(-1) as bigint,
    head.id,
    cursor,
  ])
  return { head, rows: await readRows(tx, ids) }
}

/** The id before the first of the next batch. */
async function lockCursor(tx: Tx, queueId: bigint, cursor: string): Promise<bigint> {
  const columns = ['queue_id', 'cursor_name', 'last_id']
  const read = async () => {
    const [row] = await tx.rows(
      `SELECT ${tx.engine.bigint('last_id')} AS last_id FROM ${tx.tables.queueCursors} WHERE queue_id = ? AND cursor_name = ?${tx.engine.forUpdate}`,
      [queueId, cursor],
    )
    return row ? BigInt(row.last_id as string) : null
  }
  const known = await read()
  if (known !== null) return known
  const key = 'queue_id, cursor_name'
  await tx.later(tx.engine.upsert(tx.tables.queueCursors, key, columns, ['queue_id'], [[queueId, cursor, 0]]))
  return (await read()) ?? 0n
}

async function nextIds(tx: Tx, { id, groupsHeldMs }: QueueHead, where: string, limit: number): Promise<bigint[]> {
  const { engine, now, tables } = tx
  const held =
    `EXISTS (SELECT 1 FROM ${tables.queueTurns} t WHERE t.queue_id = ${id} ` +
    `AND t.message_group = ${tables.queueMessages}.message_group AND t.held_until_ms > ${now})`
  const rows = await tx.rows(
    `SELECT ${engine.bigint('id')} AS id FROM ${tables.queueMessages}${engine.useIndex(tables.index.messagesCycle)} ` +
      `WHERE cycle_queue_id = ? AND ${where}${groupsHeldMs > 0 ? ` AND NOT ${held}` : ''} ` +
      `ORDER BY ${tables.queueMessages}.id LIMIT ${limit}${engine.forNext}`,
    [id],
  )
  return rows.map(({ id }) => BigInt(id as string))
}

async function readRows(tx: Tx, ids: readonly bigint[]): Promise<ClaimedRow[]> {
  const rows = await tx.rows(
    `SELECT ${claimedColumns(tx)} FROM ${tx.tables.queueMessages} WHERE id IN (${placeholders(ids.length)})`,
    ids,
  )
  const byId = new Map(rows.map(claimedOf).map((row) => [row.id, row]))
  return ids.flatMap((id) => byId.get(id) ?? [])
}
