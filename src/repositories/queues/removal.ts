/**
 * Removing many messages, state by state, in small transactions. Each continues after the place where the one before has ended:
 * from the start, a server would pass over all removed index entries that it has not purged yet.
 */
import { placeholders, type Reader, type Row, type Session, type Tx } from '../../database/engine'
import { chunksOf } from '../chunks'
import { changePlaces, makeNextReady, moveOf } from './groups/places'
import { lastMessageId, readHeadById, requireHead } from './heads'
import type { QueueMemory } from './memory'
import { type MessagePlace, pageAfter, placeOf } from './pages'
import { MAX_IDS, STATE } from './rows'
import { type LockedRow, lockedColumns, lockedOf } from './settle/transitions'

const BATCH = 500

/** Messages that are one range of the claims index, or of the archive's primary key. */
type Removable = { queueId: bigint; state: number } | { queueId: bigint; archived: true }

/**
 * Time makes delayed messages ready, perhaps in front of a place that was passed, and so do ends of other messages of their groups
 * to those that are blocked: so the ready ones come last.
 */
const WAITING = [STATE.delayed, STATE.blocked, STATE.ready]

/** Drops the messages that are ready or delayed when the call arrives. */
export function purgeQueue(session: Session, memory: QueueMemory, queue: string): Promise<number> {
  return session.whole(async (whole) => {
    const [{ id: queueId }, last] = await whole.read(async (reader) => {
      return [await requireHead(reader, queue), await lastMessageId(reader)]
    })
    let deleted = 0
    for (const state of WAITING) deleted += await removeRange(whole, { queueId, state }, { last, memory })
    return deleted
  })
}

/** How many messages a purge would drop now. */
export async function countPurgeable(reader: Reader, queue: string): Promise<number> {
  const { id } = await requireHead(reader, queue)
  const [row] = await reader.rows(
    `SELECT COUNT(*) AS messages FROM ${reader.tables.queueMessages}${reader.engine.useIndex(reader.tables.index.messagesClaim)} ` +
      `WHERE queue_id = ? AND state IN (${WAITING.join(', ')})`,
    [id],
  )
  return Number(row?.messages)
}

export async function clearDropped(session: Session, queueId: bigint): Promise<void> {
  for (const state of Object.values(STATE)) await removeRange(session, { queueId, state }, null)
  await removeRange(session, { queueId, archived: true }, null)
  await session.write(async (tx) => {
    await tx.later(`DELETE FROM ${tx.tables.queueDedups} WHERE queue_id = ?`, [queueId])
    await tx.later(`DELETE FROM ${tx.tables.queueDrops} WHERE queue_id = ?`, [queueId])
  })
}

/** The states that a purge removes of a queue that stays. */
interface PurgeBounds {
  /** The greatest id. */
  last: bigint
  memory: QueueMemory
}

/** Resolves to how many were removed; without bounds all are, of a queue that is dropped. */
async function removeRange(session: Session, range: Removable, purge: PurgeBounds | null): Promise<number> {
  let removed = 0
  let after: MessagePlace | null = null
  for (;;) {
    const place: MessagePlace | null = after
    const rows = await session.write(async (tx) => {
      const found = await lockAfter(tx, range, purge?.last ?? null, place)
      if (purge) await leavePlaces(tx, purge.memory, range.queueId, found.map(lockedOf))
      await removeRows(tx, found, 'archived' in range ? tx.tables.queueArchive : tx.tables.queueMessages)
      return found
    })
    removed += rows.length
    const end = rows.at(-1)
    if (end === undefined) return removed
    after = placeOf(end)
  }
}

/** Ends messages in their groups, before they are removed. */
async function leavePlaces(tx: Tx, memory: QueueMemory, queueId: bigint, rows: readonly LockedRow[]): Promise<void> {
  if (rows.every(({ groupPlace }) => groupPlace === null)) return
  const held = await readHeadById(tx, queueId, tx.engine.forShare)
  if (held === null) return
  const given = await changePlaces(
    tx,
    rows.map((row) => moveOf(row, held.head, null)),
  )
  await makeNextReady(tx, given, memory)
}

function lockAfter(tx: Tx, range: Removable, last: bigint | null, after: MessagePlace | null): Promise<Row[]> {
  const { engine } = tx
  const id = `${engine.bigint('id')} AS id`
  if ('archived' in range) {
    const behind = after ? ' AND (archived_at_ms > ? OR (archived_at_ms = ? AND id > ?))' : ''
    return tx.rows(
      `SELECT ${id}, ${engine.bigint('archived_at_ms')} AS major, 0 AS minor FROM ${tx.tables.queueArchive} ` +
        `WHERE queue_id = ?${behind} ORDER BY archived_at_ms, ${tx.tables.queueArchive}.id LIMIT ${BATCH}${engine.forUpdate}`,
      after ? [range.queueId, after.major, after.major, after.id] : [range.queueId],
    )
  }
  return pageAfter(
    tx,
    {
      columns: last === null ? id : lockedColumns(tx),
      queueId: range.queueId,
      state: range.state,
      where: last === null ? '' : ` AND id <= ${last}`,
      // No message of a dropped queue may be skipped: no process would come for it.
      lock: last === null ? engine.forUpdate : engine.forNext,
      limit: BATCH,
    },
    after,
  )
}

export async function removeRows(tx: Tx, rows: readonly Row[], table: string): Promise<void> {
  const ids = rows.map(({ id }) => BigInt(id as string))
  for (const chunk of chunksOf(ids, MAX_IDS)) {
    await tx.later(`DELETE FROM ${table} WHERE id IN (${placeholders(chunk.length)})`, chunk)
  }
}
