/** Rows of `recentn_feed_entries` as entries and changes, and the column lists that read them. */
import type { Reader, Row } from '../../database/engine'
import { CHANGE, ENTRY } from '../../fields/answers-feeds'
import type { Change, ChangeBase, ValueOptions, WrittenEntry } from '../../shared/feed-types'
import { JsonText } from '../../shared/json'
import { column, shaped } from '../row-shape'

const ENTRY_ROW = shaped({
  key: column.text.of('e.entry_key'),
  value: column.text.of('e.value'),
  version: column.number.of('e.version'),
  /** 0 for "no number": with null, the row would grow when it gets one. */
  syncId: column.big.of('e.sync_id'),
  deleted: column.flag.of('e.deleted'),
  updatedAt: column.time.of('e.updated_at_ms'),
})

/** The entry, or tombstone, of a key; null when there is none. */
export async function readEntry(
  reader: Reader,
  feed: string,
  key: string,
  options?: ValueOptions,
): Promise<WrittenEntry | null> {
  const [row] = await reader.rows(
    `SELECT ${ENTRY_ROW.columns(reader)} FROM ${reader.tables.feeds} f JOIN ${reader.tables.feedEntries} e ON e.feed_id = f.id ` +
      'WHERE f.feed = ? AND e.entry_key = ?',
    [feed, key],
  )
  if (row === undefined) return null
  const entry = ENTRY_ROW.of(row)
  const value = entry.deleted ? null : valueFrom(entry.value, options?.values)
  return ENTRY.of({ ...entry, value, syncId: entry.syncId === 0n ? null : entry.syncId })
}

const CHANGE_ROW = shaped({
  syncId: column.big.of('e.sync_id'),
  key: column.text.of('e.entry_key'),
  version: column.number.of('e.version'),
  deleted: column.flag.of('e.deleted'),
  text: column.text.orNull('e.value'),
})

export const changeColumns = CHANGE_ROW.columns

export interface RawChange extends ChangeBase {
  deleted: boolean
  text: string | null
}

export function rawChangeOf(row: Row): RawChange {
  const change = CHANGE_ROW.of(row)
  return change.deleted ? { ...change, text: null } : change
}

export function changeOf({ syncId, key, version, deleted, text }: RawChange, { values }: ValueOptions): Change {
  const value = text === null ? null : valueFrom(text, values)
  return CHANGE.make({ syncId, key, value, version, deleted }) as Change
}

function valueFrom(text: string, values: ValueOptions['values']): unknown {
  return values === 'text' ? new JsonText(text) : JSON.parse(text)
}
