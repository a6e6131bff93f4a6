/**
 * Followed tables: the rows of a table of the user's are the entries of a feed, and are numbered in one of its columns.
 *
 * Invariant: code that changes a row sets its sync column to null in the same statement or transaction. A deleted row
 * leaves no number: its tombstone, if one was written, is one of the feed's own entries, and counts while there is no row
 * with its key.
 */

import type { EntityTarget, ObjectLiteral } from 'typeorm'
import type { Engine, Reader, Row } from '../../database/engine'
import type { Table } from '../../database/user-tables/table'
import type { TableColumn } from '../../database/user-tables/table-parts'
import { ENTRY } from '../../fields/answers-feeds'
import { faultsOf, optionRules } from '../../fields/field'
import { option } from '../../fields/options'
import { nameFault, SIGNAL } from '../../fields/rules'
import { invalidInput, RecentnError } from '../../shared/errors'
import type { Entry, ValueOptions } from '../../shared/feed-types'
import { JsonText } from '../../shared/json'
import { jsonFault } from '../../shared/json-faults'
import type { Running } from '../../shared/running'
import { MAX_KEYS, rowsAmong } from '../chunks'
import type { FeedRows } from './publish'
import { type RawChange, readEntry } from './rows'

export interface FollowedTable {
  feed: string
  source: FeedRows
  key: string
  /** SQL that reads it in a form no driver rounds. */
  keyText(engine: Engine): string
  /** Those of the keys that can be compared with the column: a text that is not a number would count as 0. */
  comparable(keys: readonly string[]): string[]
  columns: string
  textOf(row: Row): string
}

/** The rows with numbers greater than `after`, in the order of their numbers. */
export async function rowsAfter(
  reader: Reader,
  { source, keyText, columns, textOf }: FollowedTable,
  after: bigint,
  limit: number,
): Promise<RawChange[]> {
  const { table, sync, index } = source
  const { engine } = reader
  const rows = await reader.rows(
    `SELECT ${columns}, ${engine.bigint(`${table}.${sync}`)} AS recentn_sync_id, ${keyText(engine)} AS recentn_key ` +
      `FROM ${table}${engine.useIndex(index)} WHERE ${table}.${sync} > ? ORDER BY ${table}.${sync} LIMIT ${limit}`,
    [after],
  )
  return rows.map(({ recentn_sync_id, recentn_key, ...row }) => {
    const syncId = BigInt(recentn_sync_id as string)
    try {
      return { syncId, key: String(recentn_key), version: null, deleted: false, text: textOf(row) }
    } catch (cause) {
      // With the sync id, so that a reader can go past it.
      const detail = `The value of ${JSON.stringify(String(recentn_key))}, sync id ${syncId}, cannot be made: ${String(cause)}`
      throw new RecentnError('internal', detail, { cause })
    }
  })
}

/** The greatest number of a row; 0 where no row has one. */
export async function greatestSyncId(reader: Reader, { source }: FollowedTable): Promise<bigint> {
  const { table, sync } = source
  const [row] = await reader.rows(`SELECT ${reader.engine.bigint(`MAX(${sync})`)} AS greatest FROM ${table}`)
  return BigInt((row?.greatest as string | null) ?? 0)
}

/** The row with this key as an entry; where there is no row its tombstone, or null. */
export async function followedEntry(
  reader: Reader,
  { feed, source, key, keyText, comparable, columns, textOf }: FollowedTable,
  text: string,
  options: ValueOptions,
): Promise<Entry | null> {
  const { table, sync } = source
  const [row] =
    comparable([text]).length === 0
      ? []
      : await reader.rows(
          `SELECT ${columns}, ${reader.engine.bigint(`${table}.${sync}`)} AS recentn_sync_id, ` +
            `${keyText(reader.engine)} AS recentn_key FROM ${table} WHERE ${table}.${key} = ?`,
          [text],
        )
  // The column's collation may take another text for the same.
  if (!row || String(row.recentn_key) !== text) return readEntry(reader, feed, text, options)
  const { recentn_sync_id, recentn_key: _, ...raw } = row
  const value = new JsonText(textOf(raw))
  return ENTRY.of({
    key: text,
    value: options.values === 'text' ? value : value.parse(),
    version: null,
    syncId: recentn_sync_id === null ? null : BigInt(recentn_sync_id as string),
    deleted: false,
    updatedAt: null,
  })
}

/** Those of the keys that have a row, so that their tombstones do not count. */
export async function keysWithRow(
  reader: Reader,
  { source, key, keyText, comparable }: FollowedTable,
  keys: readonly string[],
): Promise<Set<string>> {
  const select = `SELECT ${keyText(reader.engine)} AS recentn_key FROM ${source.table} WHERE ${key} IN`
  const rows = await rowsAmong(reader, comparable(keys), MAX_KEYS, (some) => `${select} ${some}`)
  return new Set(rows.map((row) => String(row.recentn_key)))
}

const checkedWithTheTable = option(() => null)
const FOLLOW_RULES = optionRules<FollowOptions>({
  feed: checkedWithTheTable,
  syncColumn: checkedWithTheTable,
  key: checkedWithTheTable,
  value: checkedWithTheTable,
  signal: SIGNAL,
})

const TRIGGER_RULES = optionRules<Pick<FollowOptions, 'syncColumn'>>({ syncColumn: checkedWithTheTable })

/**
 * SQL: a trigger that clears the sync column with each UPDATE. Publishers give numbers to rows that have none, and to no
 * others: those updates it leaves alone. Throws `invalid_input`.
 */
export function followTrigger(table: Table, options: Pick<FollowOptions, 'syncColumn'>): string {
  const faults = faultsOf(options, TRIGGER_RULES)
  const sync = table.columns.find(({ property }) => property === options?.syncColumn)
  if (!sync) faults.push({ pointer: '/syncColumn', detail: `is not a column of ${table.name}` })
  if (table.primaryKey.length === 0) faults.push({ pointer: '', detail: `${table.name} has no primary key` })
  if (faults.length > 0 || !sync) throw invalidInput(faults)
  return table.clearingTrigger(`${table.name}_changed`, sync.name)
}

/** A table of the user's as a feed. Throws `invalid_input` with every fault. */
export function followedTable(table: Table, options: FollowOptions): FollowedTable {
  const faults = faultsOf(options, FOLLOW_RULES)
  const { feed = table.name, syncColumn, key, value }: Partial<FollowOptions> = options ?? {}
  const fault = (pointer: string, detail: string | null) => {
    if (detail !== null) faults.push({ pointer, detail })
  }
  const columnOf = (pointer: string, property: unknown): TableColumn | undefined => {
    const column = table.columns.find((one) => one.property === property)
    if (!column) fault(pointer, `is not a column of ${table.name}`)
    return column
  }
  fault('/feed', nameFault(feed))
  const sync = columnOf('/syncColumn', syncColumn)
  const keyColumn = columnOf('/key', key)
  // SQLite's INTEGER is a BIGINT.
  const isBigint = sync?.type === 'bigint' || sync?.type === 'integer'
  if (sync && !(sync.isNullable && isBigint)) fault('/syncColumn', 'must be a nullable BIGINT')
  if (Array.isArray(value)) for (const [index, one] of value.entries()) columnOf(`/value/${index}`, one)
  else if (typeof value === 'string') columnOf('/value', value)
  else if (value !== undefined && typeof value !== 'function')
    fault('/value', 'must be a column, columns or a function')
  if (table.primaryKey.length === 0) fault('', `${table.name} has no primary key`)
  if (faults.length > 0) throw invalidInput(faults)
  return {
    feed,
    ...built(table, sync as TableColumn, keyColumn as TableColumn, feed),
    ...valuesOf(table, sync as TableColumn, value),
  }
}

function built(table: Table, sync: TableColumn, key: TableColumn, feed: string) {
  const index = table.indexes.find(({ walked }) => walked[0] === sync.name)
  if (!index) {
    const statement = `CREATE INDEX ${table.escape(`${table.name}_${sync.name}`)} ON ${table.path} (${table.escape(sync.name)})`
    throw invalidInput([{ pointer: '/syncColumn', detail: `has no index: ${statement}` }])
  }
  const order = [...index.walked.slice(1), ...table.primaryKey.filter((column) => !index.walked.includes(column))]
  const source: FeedRows = {
    feed,
    isOwn: false,
    table: table.path,
    keys: table.primaryKey.map(table.escape),
    sync: table.escape(sync.name),
    none: 'IS NULL',
    kept: table.columns.filter(({ isUpdateTime }) => isUpdateTime).map(({ name }) => table.escape(name)),
    where: '',
    parameters: [],
    index: table.escape(index.name),
    order: order.map(table.escape),
  }
  const isNumber = /int|decimal|numeric/.test(key.type)
  const comparable = (keys: readonly string[]) => keys.filter((text) => !isNumber || /^-?\d{1,65}(\.\d+)?$/.test(text))
  const column = `${table.path}.${table.escape(key.name)}`
  const keyText = ({ bigint }: Engine) => (isNumber ? bigint(column) : column)
  return { source, key: table.escape(key.name), keyText, comparable }
}

function valuesOf(table: Table, sync: TableColumn, value: FollowOptions['value']) {
  const named = new Set(Array.isArray(value) ? value : [value])
  // A column that an entity does not load, such as a password's hash, is published only where it is named.
  const chosen = table.columns.filter(({ property, isSelected }) => isSelected || named.has(property))
  const columns = chosen.map(({ name }) => `${table.path}.${table.escape(name)}`).join(', ')
  const all = chosen.map(({ property }) => property).filter((property) => property !== sync.property)
  const textOf = (raw: Row): string => {
    const row = table.rowOf(raw)
    const made = valueFrom(row, value ?? all)
    if (made instanceof Promise) throw new RecentnError('invalid_input', `${table.name}: the value is a promise`)
    // A bigint becomes its decimal digits, as everywhere in recentn's JSON.
    const text = JSON.stringify(made, (_, part) => (typeof part === 'bigint' ? part.toString() : part)) ?? 'null'
    const detail = jsonFault(JSON.parse(text))
    if (detail !== null) throw new RecentnError('invalid_input', `A row of ${table.name}: the value ${detail}`)
    return text
  }
  return { columns, textOf }
}

function valueFrom(row: Record<string, unknown>, value: FollowOptions['value']): unknown {
  if (typeof value === 'function') return value(row)
  if (typeof value === 'string') return propertyOf(row, value)
  const properties = (value ?? []) as readonly string[]
  return Object.fromEntries(properties.map((property) => [property, propertyOf(row, property)]))
}

/** Also that of an embedded entity: `name.first`. */
function propertyOf(row: Record<string, unknown>, path: string): unknown {
  if (path in row) return row[path]
  return path.split('.').reduce<unknown>((part, name) => (part as Record<string, unknown> | null)?.[name], row)
}

export type FollowedRow = ObjectLiteral

/** An entity of the store's DataSource, or the name of a table. */
export type FollowTarget<Row extends FollowedRow> = EntityTarget<Row>

/** Which key and value a row of a followed table has as an entry. */
export interface FollowOptions<Row extends FollowedRow = FollowedRow> {
  /** The feed. Default: the name of the table. */
  feed?: string | undefined
  /**
   * The nullable BIGINT property (of an entity) or column (of a table given by name) that gets the sync id. The user's own
   * code sets it to null with every change of a row. An index must begin with it.
   */
  syncColumn: string
  /** The property or column with the key of the entry: a unique text or whole number. */
  key: string
  /** The value: one property or column, several as an object, or the function's result. Default: all of them. */
  value?: string | readonly string[] | ((row: Row) => unknown) | undefined
  /** Stops it when it is aborted, as `stop()`. */
  signal?: AbortSignal | undefined
}

/** A followed table. `stop` ends publishing and serving it in this process. */
export interface Followed extends Running {
  readonly feed: string
}
