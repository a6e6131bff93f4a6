/**
 * Pages of the messages of one queue and state, in the order of the claims index. Each page is looked up from where the one
 * before has ended: with conditions joined by OR a server would read the range from its start.
 */
import type { Parameter, Reader, Row } from '../../database/engine'
import { claimOrder } from './rows'

/** The place of a message among those of its queue and state. */
export interface MessagePlace {
  major: bigint
  minor: bigint
  id: bigint
}

/** Where the last full claim of a queue ended: the messages that are left come later. */
export interface ClaimPlace {
  major: number
  minor: number
}

export function isBefore(a: ClaimPlace, b: ClaimPlace): boolean {
  return a.major < b.major || (a.major === b.major && a.minor < b.minor)
}

interface MessageRange {
  /** With `id` among them. */
  columns: string
  queueId: bigint
  state: number
  /** Beginning with AND, or empty. */
  where: string
  /** How the rows are locked, or empty. */
  lock: string
  limit: number
}

export function placeOf({ major, minor, id }: Row): MessagePlace {
  return { major: BigInt(major as string), minor: BigInt(minor as string), id: BigInt(id as string) }
}

export async function pageAfter(reader: Reader, range: MessageRange, after: MessagePlace | null): Promise<Row[]> {
  if (after === null) return part(reader, range, '', [], range.limit)
  const { major, minor, id } = after
  const alike = ' AND sort_major = ? AND sort_minor >= ? AND (sort_minor > ? OR id > ?)'
  const rows = await part(reader, range, alike, [major, minor, minor, id], range.limit)
  if (rows.length === range.limit) return rows
  return [...rows, ...(await part(reader, range, ' AND sort_major > ?', [major], range.limit - rows.length))]
}

function part(
  { engine, tables, rows }: Reader,
  { columns, queueId, state, where, lock }: MessageRange,
  behind: string,
  parameters: Parameter[],
  limit: number,
): Promise<Row[]> {
  return rows(
    `SELECT ${columns}, ${engine.bigint('sort_major')} AS major, ${engine.bigint('sort_minor')} AS minor ` +
      `FROM ${tables.queueMessages}${engine.useIndex(tables.index.messagesClaim)} WHERE queue_id = ? AND state = ?${behind}${where} ` +
      `ORDER BY ${claimOrder(tables)} LIMIT ${limit}${lock}`,
    [queueId, state, ...parameters],
  )
}

/** The same for archived messages, in the order of their times. */
export function archivePage(
  { engine, tables, rows }: Reader,
  { columns, queueId, lock, limit }: Omit<MessageRange, 'state' | 'where'>,
  after: MessagePlace | null,
): Promise<Row[]> {
  const behind = after ? ' AND (archived_at_ms > ? OR (archived_at_ms = ? AND id > ?))' : ''
  return rows(
    `SELECT ${columns}, ${engine.bigint('archived_at_ms')} AS major, 0 AS minor FROM ${tables.queueArchive} ` +
      `WHERE queue_id = ?${behind} ORDER BY archived_at_ms, ${tables.queueArchive}.id LIMIT ${limit}${lock}`,
    after ? [queueId, after.major, after.major, after.id] : [queueId],
  )
}

/** Page after page, until one is empty. `read` gets where the page before has ended. */
export async function* pagesOf(read: (after: MessagePlace | null) => Promise<Row[]>): AsyncGenerator<Row[]> {
  for (let after: MessagePlace | null = null; ; ) {
    const rows: Row[] = await read(after)
    const end = rows.at(-1)
    if (end === undefined) return
    after = placeOf(end)
    yield rows
  }
}
