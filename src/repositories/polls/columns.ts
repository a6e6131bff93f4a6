/** The columns that the options of a poll name: which tell its rows apart, what `where` compares, and the values of a status. */
import { type Engine, type Parameter, placeholders, type Statement } from '../../database/engine'
import type { Table } from '../../database/user-tables/table'
import type { TableColumn } from '../../database/user-tables/table-parts'
import type { Fault } from '../../shared/errors'
import type { PollCondition, PollMatch, PollShape, PollStatus } from '../../shared/poll-types'
import { allOf, part } from './rows'

/** A table, and what is known of it beside its catalogue. */
export interface KnownTable {
  engine: Engine
  table: Table
  /** Columns whose values the entity lists. */
  listed: ReadonlySet<string>
  /** Conditions of the rows that TypeORM would find for the entity: not deleted, and of its class. */
  always: readonly Statement[]
}

/** One reading of the options beside the table. It continues after a missing column, to report all faults. */
export class TableReading {
  readonly faults: Fault[] = []
  readonly changing = new Set<string>()

  constructor(readonly known: KnownTable) {}

  fault(pointer: string, detail: string): void {
    this.faults.push({ pointer, detail })
  }

  find(pointer: string, name: string): TableColumn | null {
    const { columns, name: table } = this.known.table
    const column = columns.find(({ property }) => property === name) ?? columns.find((one) => one.name === name)
    if (!column && !this.faults.some((fault) => fault.pointer === pointer)) {
      this.fault(pointer, `the table ${table} has no column ${name}`)
    }
    return column ?? null
  }

  changed(pointer: string, name: string): string {
    const column = this.find(pointer, name)
    if (column) this.changing.add(column.name)
    if (column?.isGenerated) this.fault(pointer, `the column ${column.name} is computed by the database`)
    return this.known.table.escape(column?.name ?? name)
  }
}

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

function checkGiven(columns: readonly TableColumn[], reading: TableReading): void {
  const { changing } = reading
  const { table } = reading.known
  const nullable = columns.find(({ isNullable }) => isNullable)
  if (nullable)
    reading.fault('/key', `the column ${nullable.name} must not take NULL: such rows could not be distinguished`)
  const names = new Set(columns.map(({ name }) => name))
  // A key of the table that includes the status can't be named whole: the caller guarantees that its other columns are unique.
  const vouched = new Set([...names, ...changing])
  const unique = [table.primaryKey, ...table.indexes.filter(({ isUnique }) => isUnique).map((index) => index.columns)]
  if (unique.some((key) => key.length > 0 && key.every((name) => vouched.has(name)))) return
  reading.fault('/key', `no primary key and no unique index of ${table.name} lies within ${[...names].join(', ')}`)
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

const NOTHING = part('1 = 0')

/** `where` as SQL: a text, a text with parameters, or values of columns. After a fault the condition is not to be used. */
export function conditionOf(where: NonNullable<PollShape['where']>, reading: TableReading): Statement {
  if (typeof where === 'string') return textOf(where, [], '/where', reading)
  const isPlain = typeof where === 'object' && where !== null && Object.getPrototypeOf(where) === Object.prototype
  if (!isPlain) {
    reading.fault('/where', 'must be a text, { sql, parameters }, or { column: value }')
    return NOTHING
  }
  if (isCondition(where)) {
    const parameters: readonly unknown[] = where.parameters ?? []
    if (!Array.isArray(parameters)) {
      reading.fault('/where/parameters', 'must be a list')
      return NOTHING
    }
    for (const [index, value] of parameters.entries()) {
      if (value !== null) checkValue(value, `/where/parameters/${index}`, reading)
    }
    return textOf(where.sql, parameters as Parameter[], '/where/sql', reading)
  }
  const parts = Object.entries(where).map(([name, value]) => {
    const found = reading.find(`/where/${name}`, name)
    const column = found ? reading.known.table.escape(found.name) : 'NULL'
    if (value === null) return part(`${column} IS NULL`)
    const list: readonly unknown[] = Array.isArray(value) ? value : [value]
    for (const one of list) checkValue(one, `/where/${name}`, reading)
    const values = (list as (Parameter | boolean)[]).map((one) => (typeof one === 'boolean' ? Number(one) : one))
    return values.length === 0 ? NOTHING : part(`${column} IN (${placeholders(values.length)})`, ...values)
  })
  return allOf(...parts)
}

/** The line ends before the bracket closes: a comment may stand last. */
function textOf(sql: string, parameters: Parameter[], pointer: string, reading: TableReading): Statement {
  const count = reading.known.engine.placeholders(sql)
  if (count === null) {
    const backslash = 'has a backslash before a quote (write the quote twice)'
    reading.fault(pointer, `leaves a quote or a comment open, ${backslash}, or has a semicolon outside of quotes`)
  } else if (count !== parameters.length) {
    const at = pointer === '/where' ? pointer : '/where/parameters'
    reading.fault(at, `must have one parameter for each ? in the text: ${count}, not ${parameters.length}`)
  } else return { sql: `(${sql}\n)`, parameters }
  return NOTHING
}

/** Anything but these values would be taken as SQL, or would be an error of the database. */
function checkValue(value: unknown, pointer: string, reading: TableReading): void {
  const isValue =
    typeof value === 'string' || typeof value === 'bigint' || typeof value === 'boolean' || Number.isFinite(value)
  if (!isValue) reading.fault(pointer, 'must be a text, a finite number, a bigint, true, false, or a list of these')
}

function isCondition(where: PollCondition | PollMatch): where is PollCondition {
  return typeof where.sql === 'string' && Object.keys(where).every((key) => key === 'sql' || key === 'parameters')
}

/** A batch key: 128 random bits in base64url. */
const CLAIM_KEY_LENGTH = 22

/** `column` is SQL. */
export interface Status {
  column: string
  /** Null: rows without a status are ready. */
  ready: Parameter
  isReady: Statement
  /** Null: the batch key. */
  claimed: Parameter
  /** Null: done rows are deleted, or their handlers say which of `results`. */
  done: Parameter
  /** The value that is written for each word that a handler may resolve to; null: `done` for all. */
  results: ReadonlyMap<unknown, string | number> | null
  /** Null: failed rows are deleted. */
  error: Parameter
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
  const word = (what: string, value: string | number) => {
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
    isReady: ready === null ? part(`${sql} IS NULL`) : part(`${sql} = ?`, ready),
    claimed: claimed === undefined ? null : word('claimed', claimed),
    // Words that are never written need not be there.
    done: options.onDone === 'delete' || given.results ? null : word('done', given.done ?? 'done'),
    results: given.results ? new Map(given.results.map((value, at) => [value, word(`results/${at}`, value)])) : null,
    error: options.onFailed === 'delete' ? null : word('error', given.error ?? 'error'),
  }
  if (given.results && (given.done !== undefined || options.onDone === 'delete')) {
    reading.fault('/status/results', 'are written in place of `done`: leave out `done` and `onDone`')
  }
  const words = wordsOf(status)
  if (new Set(words).size < words.length) reading.fault('/status', 'must have values that all differ')
  return status
}

export function wordsOf({ ready, claimed, error, ...status }: Status): (string | number)[] {
  return [ready, claimed, error, ...doneWords(status)].filter((word) => word !== null) as (string | number)[]
}

export function doneWords({ done, results }: Pick<Status, 'done' | 'results'>): Parameter[] {
  return results ? [...results.values()] : [done]
}

/** A column of texts must be compared with texts: the servers would take every text for the number 0. */
function typedAs({ type }: TableColumn, value: string | number, isFree: boolean): string | number {
  if (WORDS.test(type)) return type === 'char' && !isFree ? String(value).trimEnd() : String(value)
  return NUMBERS.test(type) && typeof value === 'string' && /^-?\d{1,15}$/.test(value) ? Number(value) : value
}

function checkWord(pointer: string, column: TableColumn, value: string | number, reading: TableReading): void {
  if (column.values?.includes(String(value).toLowerCase()) === false) {
    reading.fault(pointer, `${value} is not one of the values of the column ${column.name}`)
  }
  if (typeof value !== 'string') return
  if (column.length && value.length > column.length) {
    reading.fault(pointer, `has more than the ${column.length} characters of the column ${column.name}`)
  }
  if (reading.known.engine.rowFacts.typedColumns && NUMBERS.test(column.type)) {
    reading.fault(pointer, `${value} is no number, which the column ${column.name}, ${column.type}, has`)
  }
}

export function mustHoldKeys(
  pointer: string,
  { name, type, length }: TableColumn,
  otherwise: string,
  reading: TableReading,
): void {
  const { known } = reading
  const isListed = known.listed.has(name)
  const isFree = !known.engine.rowFacts.typedColumns
  const fits = isFree || (MEASURED.test(type) ? (length ?? 0) >= CLAIM_KEY_LENGTH : TEXT.test(type))
  if (fits && !isListed) return
  const said = isListed ? 'a list of values' : length === null ? type : `${type}(${length})`
  reading.fault(
    pointer,
    `the column ${name}, ${said}, can't hold a batch key: make it VARCHAR(${CLAIM_KEY_LENGTH}) or longer${otherwise}`,
  )
}
