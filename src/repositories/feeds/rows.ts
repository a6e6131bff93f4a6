/** Rows of `recentn_feed_entries` as entries and changes, and the column lists that read them. */
import type { Engine, Reader, Row } from '../../database/engine'
import { CHANGE, ENTRY } from '../../fields/answers-feeds'
import type { Change, ChangeBase, ValueOptions, WrittenEntry } from '../../shared/feed-types'
import { JsonText } from '../../shared/json'
import { column, shaped } from '../row-shape'

/** The column has 0 for "no number": with null, the row would grow when it gets one. */
export function syncIdOf(row: Row): bigint | null {
  const syncId = BigInt(row.sync_id as string)
  return syncId === 0n ? null : syncId
}

export function entryColumns({ bigint }: Engine): string {
  return `e.entry_key AS entry_key, ${bigint('e.sync_id')} AS sync_id, e.version AS version, e.deleted AS deleted, e.updated_at_ms AS updated_at_ms, e.value AS value`
}

export function entryOf(row: Row, { values }: ValueOptions = {}): WrittenEntry {
  const isDeleted = Number(row.deleted) === 1
  return ENTRY.of({
    key: row.entry_key as string,
    value: isDeleted ? null : valueFrom(row.value as string, values),
    version: Number(row.version),
    syncId: syncIdOf(row),
    deleted: isDeleted,
    updatedAt: new Date(Number(row.updated_at_ms)),
  })
}

/** The entry, or tombstone, of a key; null when there is none. */
export async function readEntry(
  reader: Reader,
  feed: string,
  key: string,
  options?: ValueOptions,
): Promise<WrittenEntry | null> {
  const [row] = await reader.rows(
    `SELECT ${entryColumns(reader.engine)} FROM ${reader.tables.feeds} f JOIN ${reader.tables.feedEntries} e ON e.feed_id = f.id ` +
      'WHERE f.feed = ? AND e.entry_key = ?',
    [feed, key],
  )
  return row ? entryOf(row, options) : null
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
