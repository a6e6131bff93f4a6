/** Which columns tell the rows of a poll apart: those that are named, which must do so surely, or a key of the table. */
import type { TableColumn } from '../../database/table-parts'
import type { TableReading } from './shape-parts'

const FLOAT = /^(float|double|real)$/

/** Null: nothing tells them apart. */
export function keyOf(given: string | readonly string[] | undefined, reading: TableReading): TableColumn[] | null {
  const names = given === undefined ? keyOfTable(reading) : typeof given === 'string' ? [given] : given
  if (names === null) return null
  const columns = names.flatMap((name) => reading.find('/key', name) ?? [])
  const float = columns.find(({ type }) => FLOAT.test(type))
  if (float) reading.fault('/key', `the column ${float.name}, ${float.type}, is not exact: it tells no rows apart`)
  const changing = columns.find(({ name }) => reading.changing.has(name))
  if (changing) reading.fault('/key', `the column ${changing.name} is changed by the poll: it names no row`)
  if (given !== undefined && columns.length === names.length) checkGiven(columns, reading)
  return columns
}

function checkGiven(columns: readonly TableColumn[], { known: { table }, changing, fault }: TableReading): void {
  const nullable = columns.find(({ isNullable }) => isNullable)
  if (nullable) fault('/key', `the column ${nullable.name} must not take NULL: such rows could not be told apart`)
  const names = new Set(columns.map(({ name }) => name))
  // A key of the table that has the status in it can't be named whole; that its other columns are unique is the caller's word.
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
