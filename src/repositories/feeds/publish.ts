/**
 * Publishing: giving numbers to what has none, from the feed's row in `recentn_sequences`.
 *
 * The row is locked first and held to the commit, so that publishers take turns, no number is given twice, and none is
 * seen before a smaller one. MAX(sync_id) + 1 in its place would use the number of a republished last entry again, which
 * a consumer has read already (traviscj.com, "feed sequences"). Rows that a writer holds are passed over: they are
 * numbered after its commit. So nobody waits for a publisher but who writes the very row that is being numbered.
 */
import { type Parameter, placeholders, type Reader, type Session, type Statement, type Tx } from '../../database/engine'
import { RecentnError } from '../../errors'
import { chunksOf } from '../chunks'
import { readSequence, setSequence } from '../sequence-rows'
import { FEED } from './heads'

/** The rows of one feed in one table. */
export interface Source {
  feed: string
  /** SQL. */
  table: string
  /** SQL: the columns of the primary key. */
  keys: readonly string[]
  /** SQL: the column that gets the number. */
  sync: string
  /** SQL: what stands there in a row that has no number. */
  none: string
  /** SQL: columns that the database sets by itself in an UPDATE that does not name them. */
  kept: readonly string[]
  /** SQL: which of the table's rows are of the feed, beside those without number. */
  where: string
  parameters: readonly Parameter[]
  /** The index that begins with `where` and the sync column, and SQL of what it has behind them. */
  index: string
  order: readonly string[]
}

/** Tells sources apart, a feed too from one of its name that was dropped. */
export function sourceKey({ feed, table, parameters }: Source): string {
  return `${table} ${parameters.join(' ')} ${feed}`
}

/** Rows of one transaction. */
const BATCH = 1000

/** What a publishing did, and what is left to do. */
export interface Published {
  count: number
  /** There is more, or another publisher is at it. */
  more: boolean
  /** Where to go on: what was numbered stays in the index until the server has purged it. Null: from the start. */
  place: Parameter
}

/**
 * Numbers rows that have no number, in up to `batches` short transactions, going on at `place`. `skip`: does nothing
 * while somebody else holds the sequence, who is publishing the feed or dropping it.
 */
export async function publishSource(
  session: Session,
  source: Source,
  { batches, place = null, skip = false }: { batches: number; place?: Parameter; skip?: boolean },
): Promise<Published> {
  let count = 0
  let from = place
  for (let left = batches; left > 0; left--) {
    const start = from
    const batch: Batch | null = await session.write((tx) => publishBatch(tx, source, start, skip))
    if (batch === null) return { count, more: true, place: start }
    count += batch.count
    if (batch.count < BATCH && start === null) return { count, more: false, place: null }
    from = batch.count < BATCH ? null : batch.last
  }
  return { count, more: true, place: from }
}

interface Batch {
  count: number
  /** Where the last row of a full batch stood. */
  last: Parameter
}

const NOTHING: Batch = { count: 0, last: null }

/** Null when somebody else holds the sequence. */
async function publishBatch(tx: Tx, source: Source, from: Parameter, skip: boolean): Promise<Batch | null> {
  const { forUpdate, forUpdateSkipLocked } = tx.engine
  const row = await readSequence(tx, FEED, source.feed, skip ? forUpdateSkipLocked : forUpdate)
  if (row === null) return skip && (await readSequence(tx, FEED, source.feed)) !== null ? null : NOTHING
  const { sql, parameters } = numberSql(tx, source, row.value, from)
  const count = await tx.run(sql, parameters)
  if (count === 0) return NOTHING
  const value = row.value + BigInt(count)
  const last = count < BATCH ? null : await placeOf(tx, source, value)
  await setSequence(tx, FEED, source.feed, { value })
  return { count, last }
}

/** The UPDATE that numbers the next rows along the index. */
export function numberSql(
  { engine }: Pick<Tx, 'engine'>,
  { table, keys, sync, none, kept, where, parameters, index, order }: Source,
  value: bigint,
  from: Parameter,
): Statement {
  const after = from === null ? '' : ` AND ${order[0]} >= ?`
  const columns = [...new Set([...keys, ...order])].join(', ')
  const picked =
    `SELECT ${columns} FROM ${table}${engine.useIndex(index)} WHERE ${where}${sync} ${none}${after} ` +
    `ORDER BY ${order.join(', ')} LIMIT ${BATCH}${engine.forUpdateSkipLocked}`
  const chosen = `SELECT ${keys.join(', ')}, ROW_NUMBER() OVER (ORDER BY ${order.join(', ')}) AS recentn_number FROM (${picked}) picked`
  const on = keys.map((key) => `${table}.${key} = chosen.${key}`).join(' AND ')
  return {
    sql: engine.updateFrom(table, chosen, on, `${sync} = ${value} + chosen.recentn_number${setKept({ table, kept })}`),
    parameters: [...parameters, ...(from === null ? [] : [from])],
  }
}

/** SQL: columns that the database would set to the time of this UPDATE, which is no change of the user's. */
export function setKept({ table, kept }: Pick<Source, 'table' | 'kept'>): string {
  return kept.map((column) => `, ${table}.${column} = ${table}.${column}`).join('')
}

/** Where the row with this number stands; null where that can't be said by a parameter. */
async function placeOf(
  tx: Tx,
  { table, sync, where, parameters, index, order }: Source,
  value: bigint,
): Promise<Parameter> {
  const [row] = await tx.rows(
    `SELECT ${order[0]} AS place FROM ${table}${tx.engine.useIndex(index)} WHERE ${where}${sync} = ?`,
    [...parameters, value],
  )
  if (!row) throw new RecentnError('internal', `${table}: a row that was given a number does not keep it (a trigger?)`)
  const { place } = row
  return typeof place === 'string' || typeof place === 'number' || typeof place === 'bigint' ? place : null
}

/** SQL: the feeds whose own table has rows without number. */
export const pendingFeedsSql = ({ engine, tables }: Pick<Reader, 'engine' | 'tables'>) =>
  `SELECT ${engine.bigint('f.id')} AS id, f.feed AS feed FROM ${tables.feeds} f WHERE EXISTS (SELECT 1 FROM ${tables.feedEntries} e` +
  `${engine.useIndex(tables.index.entriesSync)} WHERE e.feed_id = f.id AND e.sync_id = 0)`

export function entriesSource({ tables }: Pick<Session, 'tables'>, feed: string, id: bigint): Source {
  return {
    feed,
    table: tables.feedEntries,
    keys: ['feed_id', 'entry_key'],
    sync: 'sync_id',
    none: '= 0',
    kept: [],
    where: 'feed_id = ? AND ',
    parameters: [id],
    index: tables.index.entriesSync,
    order: ['unpublished_since_ms', 'deleted', 'entry_key'],
  }
}

/** What has rows without number among the feeds' own entries, of these feeds or of all. */
export function pendingSources(reader: Reader, feeds: ReadonlySet<string> | null): Promise<Source[]> {
  return feeds === null ? pendingFeeds(reader) : ownSources(reader, [...feeds])
}

/** The feeds that have something to number in their own table. */
async function pendingFeeds(reader: Reader): Promise<Source[]> {
  const rows = await reader.rows(pendingFeedsSql(reader))
  return rows.map(({ id, feed }) => entriesSource(reader, feed as string, BigInt(id as string)))
}

/** Names of one list: a longer one may turn into a scan. */
const MAX_NAMES = 250

async function ownSources(reader: Reader, feeds: readonly string[]): Promise<Source[]> {
  const sources: Source[] = []
  for (const names of chunksOf(feeds, MAX_NAMES)) {
    const rows = await reader.rows(
      `SELECT ${reader.engine.bigint('f.id')} AS id, f.feed AS feed FROM ${reader.tables.feeds} f WHERE f.feed IN (${placeholders(names.length)})`,
      names,
    )
    const own = rows.map(({ id, feed }) => entriesSource(reader, feed as string, BigInt(id as string)))
    for (const source of own) if (await hasPending(reader, source)) sources.push(source)
  }
  return sources
}

export async function hasPending(
  reader: Reader,
  { table, sync, none, where, parameters, index }: Source,
): Promise<boolean> {
  const rows = await reader.rows(
    `SELECT 1 AS pending FROM ${table}${reader.engine.useIndex(index)} WHERE ${where}${sync} ${none} LIMIT 1`,
    parameters,
  )
  return rows.length > 0
}
