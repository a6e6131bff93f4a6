/**
 * Going through a line of the index of claims, page by page. Each page is looked up from where the one before has ended:
 * conditions joined by OR would make a server read the line from its start.
 */
import type { Parameter, Reader, Row } from '../../database/engine'
import { inLine } from './rows'

export interface Position {
  major: bigint
  minor: bigint
  id: bigint
}

export interface LineQuery {
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

/** The place of a row of such a page. */
export function positionOf({ major, minor, id }: Row): Position {
  return { major: BigInt(major as string), minor: BigInt(minor as string), id: BigInt(id as string) }
}

/** Up to `limit` rows behind the place, in the order of the line. */
export async function linePage(reader: Reader, query: LineQuery, after: Position | null): Promise<Row[]> {
  if (after === null) return part(reader, query, '', [], query.limit)
  const { major, minor, id } = after
  const alike = ' AND sort_major = ? AND sort_minor >= ? AND (sort_minor > ? OR id > ?)'
  const rows = await part(reader, query, alike, [major, minor, minor, id], query.limit)
  if (rows.length === query.limit) return rows
  return [...rows, ...(await part(reader, query, ' AND sort_major > ?', [major], query.limit - rows.length))]
}

function part(
  { engine, tables, rows }: Reader,
  { columns, queueId, state, where, lock }: LineQuery,
  behind: string,
  parameters: Parameter[],
  limit: number,
): Promise<Row[]> {
  return rows(
    `SELECT ${columns}, ${engine.bigint('sort_major')} AS major, ${engine.bigint('sort_minor')} AS minor ` +
      `FROM ${tables.queueMessages}${engine.useIndex(tables.index.messagesClaim)} WHERE queue_id = ? AND state = ?${behind}${where} ` +
      `ORDER BY ${inLine(tables)} LIMIT ${limit}${lock}`,
    [queueId, state, ...parameters],
  )
}
