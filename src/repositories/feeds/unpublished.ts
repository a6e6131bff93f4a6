/** Which feeds and tables have rows without a number. */
import { placeholders, type Reader } from '../../database/engine'
import { chunksOf, MAX_KEYS } from '../chunks'
import { type DueSubject, REMINDED, type Reminders, type Subjects } from '../reminders'
import { type FeedRows, ownRows } from './publish'

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
export async function remindedRows(reader: Reader, reminders: Reminders): Promise<RemindedFeeds> {
  const { subjects, more } = await reminders.due(reader)
  const rows = new Map<bigint, FeedRows>()
  for (const chunk of chunksOf(subjects, MAX_KEYS)) {
    const where = `f.id IN (${placeholders(chunk.length)}) AND ${isUnpublishedSql(reader, 'f.id')}`
    const ids = chunk.map(({ id }) => id)
    const found = await reader.rows(feedsSql(reader, where), ids)
    for (const row of found) rows.set(BigInt(row.id as string), ownRows(reader, row))
  }
  return { feeds: subjects.map((one) => ({ ...one, rows: rows.get(one.id) ?? null })), more }
}

export interface RemindedFeeds {
  feeds: (DueSubject & { rows: FeedRows | null })[]
  more: boolean
}

/** The feeds, of these or of all, whose own entries include some without a number. */
export async function unpublishedRows(reader: Reader, feeds: ReadonlySet<string> | null): Promise<FeedRows[]> {
  if (feeds === null) {
    const pending = await reader.rows(feedsSql(reader, isUnpublishedSql(reader, 'f.id')))
    return pending.map((row) => ownRows(reader, row))
  }
  const pending: FeedRows[] = []
  for (const names of chunksOf([...feeds], MAX_KEYS)) {
    const found = await reader.rows(feedsSql(reader, `f.feed IN (${placeholders(names.length)})`), names)
    for (const row of found) {
      const rows = ownRows(reader, row)
      if (await hasUnpublished(reader, rows)) pending.push(rows)
    }
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
