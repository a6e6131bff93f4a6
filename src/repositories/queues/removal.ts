/**
 * Removing many messages, state by state, in small transactions. Each continues after the place where the one before has ended:
 * from the start, a server would pass over all removed index entries that it has not purged yet.
 */
import type { Reader, Row, Session, Tx } from '../../database/engine'
import { writeAmong } from '../chunks'
import type { DeadChoice } from './dead/dead-choice'
import { countDead, withDead } from './dead/dead-messages'
import { changePlaces, makeNextReady, movesOf } from './groups/places'
import { lastMessageId, readHeadById, requireHead } from './heads'
import { forgetKeys } from './keys/key-locks'
import type { QueueMemory } from './memory'
import { archivePage, type MessagePlace, pageAfter, pagesOf } from './pages'
import { MAX_IDS, STATE } from './rows'
import { type LockedRow, lockedColumns, lockedOf } from './settle/transitions'

const BATCH = 500

/** Messages that are one range of the claims index, or of the archive's primary key. */
type Removable = { queueId: bigint; state: number } | { queueId: bigint; archived: true }

/**
 * Time makes delayed messages ready, perhaps in front of a place that was passed, and so do ends of other messages of their groups
 * to those that are blocked. So the ready ones come last. A blocked one that gets the turn of one that is removed waits for it,
 * delayed.
 */
const WAITING = [STATE.delayed, STATE.blocked, STATE.delayed, STATE.ready]

/** Drops dead messages, or those that are ready or delayed when the call arrives. Resolves to how many, or how many it would be. */
export function purgeQueue(
  session: Session,
  memory: QueueMemory,
  queue: string,
  { isDead, ...choice }: DeadChoice & { isDead: boolean },
): Promise<number> {
  const { limit, dryRun } = choice
  if (isDead) return dryRun ? countDead(session, queue, choice) : purgeDead(session, memory, queue, choice)
  return dryRun
    ? session.read((reader) => countPurgeable(reader, queue, limit))
    : purgeWaiting(session, memory, queue, limit)
}

function purgeWaiting(session: Session, memory: QueueMemory, queue: string, limit: number): Promise<number> {
  return session.whole(async (whole) => {
    const [{ id: queueId }, last] = await whole.read(async (reader) => {
      return [await requireHead(reader, queue), await lastMessageId(reader)]
    })
    let deleted = 0
    for (const state of WAITING) {
      deleted += await removeRange(whole, { queueId, state }, { last, memory, limit: limit - deleted })
    }
    return deleted
  })
}

async function countPurgeable(reader: Reader, queue: string, limit: number): Promise<number> {
  const { id } = await requireHead(reader, queue)
  const [row] = await reader.rows(
    `SELECT COUNT(*) AS messages FROM ${reader.tables.queueMessages}${reader.engine.useIndex(reader.tables.index.messagesClaim)} ` +
      `WHERE queue_id = ? AND state IN (${WAITING.join(', ')})`,
    [id],
  )
  return Math.min(limit, Number(row?.messages))
}

function purgeDead(session: Session, memory: QueueMemory, queue: string, choice: DeadChoice): Promise<number> {
  return withDead(session, queue, choice, async (tx, { head }, rows) => {
    await leavePlaces(tx, memory, head.id, rows)
    await removeRows(tx, rows, tx.tables.queueMessages)
    return rows.length
  })
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
  limit: number
}

/** Resolves to how many were removed; without bounds all are, of a queue that is dropped. */
async function removeRange(session: Session, range: Removable, purge: PurgeBounds | null): Promise<number> {
  let removed = 0
  const removePage = (after: MessagePlace | null): Promise<Row[]> => {
    const most = purge === null ? BATCH : Math.min(BATCH, purge.limit - removed)
    if (most === 0) return Promise.resolve([])
    return session.write(async (tx) => {
      const found = await lockAfter(tx, range, purge?.last ?? null, after, most)
      if (purge) await leavePlaces(tx, purge.memory, range.queueId, found.map(lockedOf))
      await removeRows(tx, found, 'archived' in range ? tx.tables.queueArchive : tx.tables.queueMessages)
      return found
    })
  }
  for await (const rows of pagesOf(removePage)) removed += rows.length
  return removed
}

/** Ends messages in their groups and with their keys, before they are removed. */
async function leavePlaces(tx: Tx, memory: QueueMemory, queueId: bigint, rows: readonly LockedRow[]): Promise<void> {
  await forgetKeys(tx, rows)
  if (rows.every(({ groupPlace }) => groupPlace === null)) return
  const head = await readHeadById(tx, queueId, tx.engine.forShare)
  if (head === null) return
  const given = await changePlaces(tx, movesOf(rows, head, null))
  await makeNextReady(tx, given, memory)
}

function lockAfter(
  tx: Tx,
  range: Removable,
  last: bigint | null,
  after: MessagePlace | null,
  limit: number,
): Promise<Row[]> {
  const { engine } = tx
  const id = `${engine.bigint('id')} AS id`
  if ('archived' in range) {
    return archivePage(tx, { columns: id, queueId: range.queueId, lock: engine.forUpdate, limit }, after)
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
      limit,
    },
    after,
  )
}

export function removeRows(tx: Tx, rows: readonly { id?: unknown }[], table: string): Promise<void> {
  const ids = rows.map(({ id }) => BigInt(id as string | bigint))
  return writeAmong(tx, ids, MAX_IDS, (some) => `DELETE FROM ${table} WHERE id IN ${some}`)
}
