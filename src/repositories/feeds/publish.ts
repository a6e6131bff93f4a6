/**
 * Publishing: which feeds and tables have rows without a sync id, and how these get the next numbers of the feed's sequence.
 *
 * Invariant: the sequence's row is locked first and held to the commit, so publishers take turns, no number is given twice,
 * and no number is seen before a smaller one. MAX(sync_id) + 1 in its place would use the number of a republished last
 * entry again, which a consumer has already read (traviscj.com, "feed sequences"). Rows that a writer holds are skipped:
 * they are numbered after its commit. So only a writer of the very row that is being numbered waits for a publisher.
 */
import type { Engine, Numbering, Parameter, Reader, Session, Tx } from '../../database/engine'
import { RecentnError } from '../../shared/errors'
import { MAX_KEYS, rowsAmong } from '../chunks'
import { REMINDED, type Reminders, type Subjects } from '../reminders'
import { readSequence, setSequence } from '../sequences'
import { FEED } from './heads'

export interface FeedRows {
  feed: string
  /** They are in the feed's own table, which has no triggers. */
  isOwn: boolean
  /** SQL. */
  table: string
  keys: readonly string[]
  sync: string
  /** SQL: what that column has in a row without a number. */
  none: string
  /** SQL: columns that the database sets by itself in an UPDATE that does not name them. */
  kept: readonly string[]
  /** SQL: which rows of the table belong to the feed. */
  where: string
  parameters: readonly Parameter[]
  /** The index that begins with `where` and the sync column, and SQL of its further columns. */
  index: string
  order: readonly string[]
}

/** Tells the rows of feeds apart, also those of a dropped feed from those of a new one with its name. */
export function rowsKey({ feed, table, parameters }: FeedRows): string {
  return `${table} ${parameters.join(' ')} ${feed}`
}

function ownRows({ tables }: Pick<Reader, 'tables'>, { id, feed }: Record<string, unknown>): FeedRows {
  return {
    feed: feed as string,
    isOwn: true,
    table: tables.feedEntries,
    keys: ['feed_id', 'entry_key'],
    sync: 'sync_id',
    none: '= 0',
    kept: [],
    where: 'feed_id = ? AND ',
    parameters: [BigInt(id as string)],
    index: tables.index.entriesSync,
    order: ['unpublished_since_ms', 'deleted', 'entry_key'],
  }
}

const BATCH = 1000

export interface Published {
  count: number
  /** There is more, or another publisher holds the sequence. */
  more: boolean
  /** Where to continue: numbered rows are in the index until they are purged, and expensive to read. Null: at the beginning. */
  place: Parameter
}

interface PublishOptions {
  batches: number
  place?: Parameter
  /** Do nothing while another transaction holds the sequence, to publish or to drop the feed. */
  skip?: boolean
}

/** Numbers rows that have no number, in short transactions. */
export async function publishRows(
  session: Session,
  rows: FeedRows,
  { batches, place = null, skip = false }: PublishOptions,
): Promise<Published> {
  let count = 0
  let from = place
  // In a backlog of entries of the feed's own: those that writers have locked come behind it, as a rule.
  let isQuick = rows.isOwn
  for (let left = batches; left > 0; left--) {
    const start = from
    const how = { from: start, skip }
    const quick = isQuick && start !== null ? await quickBatch(session, rows, how) : null
    if (quick === null && start !== null) isQuick = false
    const batch: NumberedBatch | 'in_use' = quick ?? (await session.write((tx) => publishBatch(tx, rows, how)))
    if (batch === 'in_use') return { count, more: true, place: start }
    count += batch.count
    if (batch.count < BATCH && start === null) return { count, more: false, place: null }
    from = batch.count < BATCH ? null : batch.place
  }
  return { count, more: true, place: from }
}

/** Null where a row is locked. */
async function quickBatch(
  session: Session,
  rows: FeedRows,
  how: NumberingStart,
): Promise<NumberedBatch | 'in_use' | null> {
  return session
    .write((tx) => publishBatch(tx, rows, how, tx.engine.numberAtOnce), { retryMs: 0 })
    .catch((error: unknown) => {
      if (error instanceof RecentnError && error.code === 'conflict') return null
      throw error
    })
}

interface NumberingStart {
  from: Parameter
  skip: boolean
}

interface NumberedBatch {
  count: number
  /** Where the last row of a full batch is in the index. */
  place: Parameter
}

async function publishBatch(
  tx: Tx,
  rows: FeedRows,
  { from, skip }: NumberingStart,
  numberAtOnce: Engine['numberAtOnce'] = null,
): Promise<NumberedBatch | 'in_use'> {
  const { forUpdate, forNext, remembered } = tx.engine
  const nothing = { count: 0, place: null }
  const lock = skip ? forNext : forUpdate
  const sequence = await readSequence(tx, FEED, rows.feed, lock, remembered('value'))
  if (sequence === null) return skip && (await readSequence(tx, FEED, rows.feed)) !== null ? 'in_use' : nothing
  const numbering = numberingOf(rows, sequence.value, from)
  const { sql, parameters } = numberAtOnce?.(numbering) ?? tx.engine.numberFree(numbering)
  const { affected: count, insertId } = await tx.execute(sql, parameters)
  if (count === 0) return nothing
  const value = sequence.value + BigInt(count)
  if (numberAtOnce && insertId !== value) throw doesNotKeep(rows)
  const place = count < BATCH ? null : await placeOf(tx, rows, value)
  await setSequence(tx, FEED, rows.feed, { value })
  return { count, place }
}

function numberingOf(
  { table, keys, sync, none, kept, where, parameters, index, order }: FeedRows,
  last: bigint,
  from: Parameter,
): Numbering {
  return {
    table,
    keys,
    column: sync,
    more: setKept({ table, kept }),
    index,
    where: `${where}${sync} ${none}${from === null ? '' : ` AND ${order[0]} >= ?`}`,
    parameters: [...parameters, ...(from === null ? [] : [from])],
    order,
    limit: BATCH,
    last,
  }
}

/** SQL: keeps columns that the database would set to the time of this UPDATE: the user has not changed the row. */
export function setKept({ table, kept }: Pick<FeedRows, 'table' | 'kept'>): string {
  return kept.map((column) => `, ${table}.${column} = ${table}.${column}`).join('')
}

/** Where the row with this number is; null where no parameter can express it. */
async function placeOf(tx: Tx, rows: FeedRows, value: bigint): Promise<Parameter> {
  const { table, sync, where, parameters, index, order } = rows
  const [row] = await tx.rows(
    `SELECT ${order[0]} AS place FROM ${table}${tx.engine.useIndex(index)} WHERE ${where}${sync} = ?`,
    [...parameters, value],
  )
  if (!row) throw doesNotKeep(rows)
  const { place } = row
  return typeof place === 'string' || typeof place === 'number' || typeof place === 'bigint' ? place : null
}

function doesNotKeep({ table }: FeedRows): RecentnError {
  return new RecentnError('internal', `${table}: a row that was given a number does not keep it (a trigger?)`)
}

const isUnpublishedSql = ({ engine, tables }: Pick<Reader, 'engine' | 'tables'>, feedId: string) =>
  `EXISTS (SELECT 1 FROM ${tables.feedEntries} e${engine.useIndex(tables.index.entriesSync)} WHERE e.feed_id = ${feedId} AND e.sync_id = 0)`

/** A feed has work while its own entries have no number. */
export const REMINDED_FEEDS: Subjects = {
  kind: REMINDED.feed,
  table: ({ tables }) => tables.feeds,
  hasWork: (words) => isUnpublishedSql(words, 'subject.id'),
  page: 2,
}

const feedsSql = ({ engine, tables }: Pick<Reader, 'engine' | 'tables'>, where: string) =>
  `SELECT ${engine.bigint('f.id')} AS id, f.feed AS feed FROM ${tables.feeds} f WHERE ${where}`

/** The feeds that have reminders, or that are next on the way round: each with its rows where some have no number. */
export async function remindedRows(reader: Reader, reminders: Reminders) {
  const { subjects, more } = await reminders.due(reader)
  const ids = subjects.map(({ id }) => id)
  const isPending = isUnpublishedSql(reader, 'f.id')
  const found = await rowsAmong(reader, ids, MAX_KEYS, (some) => feedsSql(reader, `f.id IN ${some} AND ${isPending}`))
  const rows = new Map(found.map((row) => [BigInt(row.id as string), ownRows(reader, row)]))
  return { feeds: subjects.map((one) => ({ ...one, rows: rows.get(one.id) ?? null })), more }
}

/** The feeds, of these or of all, whose own entries include some without a number. */
export async function unpublishedRows(reader: Reader, feeds: ReadonlySet<string> | null): Promise<FeedRows[]> {
  if (feeds === null) {
    const pending = await reader.rows(feedsSql(reader, isUnpublishedSql(reader, 'f.id')))
    return pending.map((row) => ownRows(reader, row))
  }
  const found = await rowsAmong(reader, [...feeds], MAX_KEYS, (some) => feedsSql(reader, `f.feed IN ${some}`))
  const pending: FeedRows[] = []
  for (const rows of found.map((row) => ownRows(reader, row))) {
    if (await hasUnpublished(reader, rows)) pending.push(rows)
  }
  return pending
}

export async function hasUnpublished(
  reader: Reader,
  { table, sync, none, where, parameters, index }: FeedRows,
): Promise<boolean> {
  const rows = await reader.rows(
    `SELECT 1 AS pending FROM ${table}${reader.engine.useIndex(index)} WHERE ${where}${sync} ${none} LIMIT 1`,
    parameters,
  )
  return rows.length > 0
}
