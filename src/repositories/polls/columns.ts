/** The columns that the options of a poll name: which tell its rows apart, and what `where` compares. */
import { type Engine, type Parameter, placeholders, type Statement } from '../../database/engine'
import type { Table } from '../../database/user-tables/table'
import type { TableColumn } from '../../database/user-tables/table-parts'
import type { Fault } from '../../shared/errors'
import type { PollCondition, PollMatch, PollShape } from '../../shared/poll-types'
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
    const values = (list as (string | number | bigint | boolean)[]).map(parameterOf)
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

function parameterOf(value: string | number | bigint | boolean): Parameter {
  return typeof value === 'boolean' ? Number(value) : value
}
