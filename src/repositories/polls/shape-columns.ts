/**
 * The columns of a poll's shape: which tell its rows apart, whether the status can hold what is written there, and what
 * else a table must be. See `shapeOf`.
 */
import type { Reader, Session } from '../../database/engine'
import type { TableColumn } from '../../database/table-parts'
import { invalidInput } from '../../errors'
import { CLAIM_KEY_LENGTH, type Shape, type Status, type TableReading } from './shape-parts'
import type { PollShape, PollStatus } from './types'

const FLOAT = /^(float|double|real)$/

/** Null: nothing tells them apart. */
export function keyOf(given: string | readonly string[] | undefined, reading: TableReading): TableColumn[] | null {
  const names = given === undefined ? keyOfTable(reading) : typeof given === 'string' ? [given] : given
  if (names === null) return null
  const columns = names.flatMap((name) => reading.find('/key', name) ?? [])
  const float = columns.find(({ type }) => FLOAT.test(type))
  if (float)
    reading.fault('/key', `the column ${float.name}, ${float.type}, is not exact: it does not distinguish rows`)
  const changing = columns.find(({ name }) => reading.changing.has(name))
  if (changing) reading.fault('/key', `the column ${changing.name} is changed by the poll: it cannot identify a row`)
  if (given !== undefined && columns.length === names.length) checkGiven(columns, reading)
  return columns
}

function checkGiven(columns: readonly TableColumn[], { known: { table }, changing, fault }: TableReading): void {
  const nullable = columns.find(({ isNullable }) => isNullable)
  if (nullable) fault('/key', `the column ${nullable.name} must not take NULL: such rows could not be distinguished`)
  const names = new Set(columns.map(({ name }) => name))
  // A key of the table that includes the status can't be named whole: the caller guarantees that its other columns are unique.
  const vouched = new Set([...names, ...changing])
  const unique = [table.primaryKey, ...table.indexes.filter(({ isUnique }) => isUnique).map((index) => index.columns)]
  if (unique.some((key) => key.length > 0 && key.every((name) => vouched.has(name)))) return
  fault('/key', `no primary key and no unique index of ${table.name} lies within ${[...names].join(', ')}`)
}

function keyOfTable({ known: { table }, changing }: TableReading): readonly string[] | null {
  const { primaryKey, indexes, columns } = table
  const usable = (names: readonly string[]) => !names.some((name) => changing.has(name))
  if (primaryKey.length > 0 && usable(primaryKey)) return primaryKey
  const nullable = new Set(columns.filter(({ isNullable }) => isNullable).map(({ name }) => name))
  const whole = indexes.find(
    (one) => one.isUnique && usable(one.columns) && !one.columns.some((name) => nullable.has(name)),
  )
  return whole?.columns ?? null
}

const TEXT = /char|text/
const MEASURED = /^(char|varchar)$/
const WORDS = /char|text|enum|set|clob/
const NUMBERS = /int|decimal|numeric|year|float|double|real|^bit$/

export function statusOf(given: PollStatus, options: PollShape, reading: TableReading): Status {
  const { column: name, claimed } = given
  const sql = reading.changed('/status', name)
  const column = reading.find('/status', name)
  if (column && claimed === undefined && options.claim === undefined) {
    const otherwise =
      ", or say in status.claimed which value a claimed row has, or name the table's own columns in claim"
    mustHoldKeys('/status', column, otherwise, reading)
  }
  const word = (what: 'ready' | 'claimed' | 'done' | 'error', value: string | number) => {
    const typed = column ? typedAs(column, value, !reading.known.engine.rowFacts.typedColumns) : value
    if (column) checkWord(`/status/${what}`, column, typed, reading)
    return typed
  }
  const ready = given.ready === null ? null : word('ready', given.ready ?? 'ready')
  if (ready === null && column?.isNullable === false) {
    reading.fault('/status/ready', `the column ${column.name} takes no NULL`)
  }
  const status = {
    column: sql,
    ready,
    isReady: ready === null ? { sql: `${sql} IS NULL`, parameters: [] } : { sql: `${sql} = ?`, parameters: [ready] },
    claimed: claimed === undefined ? null : word('claimed', claimed),
    // Words that are never written need not be there.
    done: options.onDone === 'delete' ? null : word('done', given.done ?? 'done'),
    error: options.onFailed === 'delete' ? null : word('error', given.error ?? 'error'),
  }
  const words = wordsOf(status)
  if (new Set(words).size < words.length) reading.fault('/status', 'must have values that all differ')
  return status
}

function wordsOf({ ready, claimed, done, error }: Status): (string | number)[] {
  return [ready, claimed, done, error].filter((word) => word !== null) as (string | number)[]
}

/** A column of texts must be compared with texts: the servers would take every text for the number 0. */
function typedAs({ type }: TableColumn, value: string | number, isFree: boolean): string | number {
  if (WORDS.test(type)) return type === 'char' && !isFree ? String(value).trimEnd() : String(value)
  return NUMBERS.test(type) && typeof value === 'string' && /^-?\d{1,15}$/.test(value) ? Number(value) : value
}

function checkWord(pointer: string, column: TableColumn, value: string | number, { known, fault }: TableReading): void {
  if (column.values?.includes(String(value).toLowerCase()) === false) {
    fault(pointer, `${value} is not one of the values of the column ${column.name}`)
  }
  if (typeof value !== 'string') return
  if (column.length && value.length > column.length) {
    fault(pointer, `has more than the ${column.length} characters of the column ${column.name}`)
  }
  if (known.engine.rowFacts.typedColumns && NUMBERS.test(column.type)) {
    fault(pointer, `${value} is no number, which the column ${column.name}, ${column.type}, has`)
  }
}

export function mustHoldKeys(
  pointer: string,
  { name, type, length }: TableColumn,
  otherwise: string,
  { known, fault }: TableReading,
): void {
  const isListed = known.listed.has(name)
  const isFree = !known.engine.rowFacts.typedColumns
  const fits = isFree || (MEASURED.test(type) ? (length ?? 0) >= CLAIM_KEY_LENGTH : TEXT.test(type))
  if (fits && !isListed) return
  const said = isListed ? 'a list of values' : length === null ? type : `${type}(${length})`
  fault(
    pointer,
    `the column ${name}, ${said}, can't hold a batch key: make it VARCHAR(${CLAIM_KEY_LENGTH}) or longer${otherwise}`,
  )
}

/** Throws `invalid_input` for words that are equal by the collation of the column. */
export async function checkWords(session: Session, { status, table }: Shape): Promise<void> {
  if (!status) return
  const words = wordsOf(status)
  const column = `SELECT ${status.column} AS word FROM ${table.path} WHERE 1 = 0`
  const union = [column, ...words.map(() => 'SELECT ?')].join(' UNION ALL ')
  const [row] = await session.read((reader) =>
    reader.rows(`SELECT COUNT(DISTINCT w.word) AS words FROM (${union}) w`, words),
  )
  if (Number(row?.words) === words.length) return
  const detail = `must have values that all differ: the column takes some of ${words.join(', ')} for the same`
  throw invalidInput([{ pointer: '/status', detail }])
}

/** A cursor is compared as a literal: it must pass exactly the rows before it, and none that only compares equal. */
export function checkCursor(cursor: TableColumn, { known, fault }: TableReading): void {
  const { name, type, collation, isNullable } = cursor
  if (isNullable) fault('/sequence', `the column ${name} must not take NULL: a cursor never comes to such rows`)
  if (known.engine.rowFacts.ordersWhole(type, collation)) return
  const said = collation === null ? type : `${type}, ${collation}`
  fault(
    '/sequence',
    `the column ${name}, ${said}, is no place for a cursor, which would pass rows that only compare alike: it must be a ` +
      'number, a time, binary, or a text of a binary collation',
  )
}

/** `pointer`: of the option by which rows are changed. */
export function checkChanges(pointer: string, hasKey: boolean, { known: { table }, fault }: TableReading): void {
  if (!table.isUpdatable) {
    fault(pointer, `rows of ${table.name}, which is a view, can't be changed: poll the table behind it`)
  } else if (!hasKey && !table.hasRowIds) {
    fault('/key', `${table.name} is WITHOUT ROWID: say which other columns tell its rows apart`)
  }
}

const DAY_SECONDS = 86_400
/** Number of times in the year to come at which the zone's offset is checked. */
const LOOKS = 25

/**
 * Throws `invalid_input` if the times of claims would be written in a time zone with summer time: the hour that comes
 * twice is ambiguous, and a claim in it could be over when it begins.
 */
export async function checkZone(session: Session, { own }: Shape): Promise<void> {
  if (own === null || !/^(datetime|timestamp)$/.test(own.timeType)) return
  const offsets = await session.read(offsetsOf)
  if (new Set(offsets).size <= 1) return
  const detail =
    `a ${own.timeType.toUpperCase()} can't say when a claim ends, for the time zone of the connection has summer time, and ` +
    "an hour of each autumn twice: use a BIGINT, or SET time_zone = '+00:00' on each connection"
  throw invalidInput([{ pointer: '/claim/nextTime', detail }])
}

async function offsetsOf({ engine, rows }: Reader): Promise<number[]> {
  const { offsetAt } = engine.rowFacts
  if (offsetAt === null) return []
  const now = Math.floor(Date.now() / 1000)
  const times = Array.from({ length: LOOKS }, (_, at) => now + at * 15 * DAY_SECONDS)
  const [row] = await rows(`SELECT ${times.map((time, at) => `${offsetAt(time)} AS offset_${at}`).join(', ')}`)
  return Object.values(row ?? {}).flatMap((offset) => (offset === null ? [] : [Number(offset)]))
}
