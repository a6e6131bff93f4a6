/**
 * Statements on a better-sqlite3 connection, which is in this process. There a statement that is prepared once and run for
 * each row costs half of one long text with all rows. Owns the connection's prepared statements, by their texts.
 *
 * Invariant: nothing waits between the rows of one insert, so no other statement of the connection runs between them. If
 * one row fails, those before it stay until the transaction, or the savepoint of the operation, is rolled back.
 */
import type BetterSqlite3 from 'better-sqlite3'
import { type Row, RowParameters } from '../engine'

/** The most texts of which a connection keeps the statement; the one that was used longest ago goes first. */
const MAX_KEPT = 200

const kept = new WeakMap<BetterSqlite3.Database, Map<string, PreparedStatement>>()

/** A list of columns with a `*` in it: their names may change while the statement is kept. */
const STAR = /(?:\b(?:SELECT|DISTINCT|ALL|RETURNING)|[,.])\s*\*/i

class PreparedStatement {
  readonly reader: boolean
  readonly run: BetterSqlite3.Statement['run']
  readonly all: (...parameters: unknown[]) => Row[]

  constructor(connection: BetterSqlite3.Database, sql: string) {
    const statement = connection.prepare(sql)
    this.reader = statement.reader
    this.run = (...parameters) => statement.run(...parameters)
    // better-sqlite3 takes twice as long to make objects as this process takes to make them of values.
    const names = statement.reader && !STAR.test(sql) ? statement.columns().map(({ name }) => name) : []
    const [only] = names
    if (only === undefined) this.all = (...parameters) => statement.all(...parameters) as Row[]
    else if (names.length === 1) {
      statement.pluck()
      this.all = (...parameters) => statement.all(...parameters).map((value) => ({ [only]: value }))
    } else {
      statement.raw()
      this.all = (...parameters) => statement.all(...parameters).map((values) => rowOf(names, values as unknown[]))
    }
  }
}

function rowOf(names: readonly string[], values: readonly unknown[]): Row {
  const row: Row = {}
  for (let index = 0; index < names.length; index++) row[names[index] as string] = values[index]
  return row
}

/** The effect of a statement, as TypeORM's runners resolve to it; `raw` is the last row's id, or the rows of the answer. */
export interface PreparedResult {
  raw: unknown
  records: Row[]
  affected: number
}

/** Runs the statement; one that answers with rows, for many rows of parameters, answers with the rows of all. */
export function runPrepared(
  connection: BetterSqlite3.Database,
  sql: string,
  parameters: readonly unknown[] | RowParameters,
): PreparedResult {
  if (!(parameters instanceof RowParameters)) return runAll(preparedOn(connection, sql), [parameters])
  const { rows, block } = parameters
  if (block === null) return runAll(preparedOn(connection, sql), rows)
  const left = rows.length % block.size
  const blocks: unknown[][] = []
  for (let from = 0; from < rows.length - left; from += block.size)
    blocks.push(rows.slice(from, from + block.size).flat())
  const result = runAll(preparedOn(connection, block.sql), blocks)
  if (left === 0) return result
  const last = runAll(preparedOn(connection, sql), rows.slice(-left))
  return { ...last, affected: result.affected + last.affected }
}

function runAll(statement: PreparedStatement, sets: readonly (readonly unknown[])[]): PreparedResult {
  if (statement.reader) {
    const [first = [], ...others] = sets
    const records = statement.all(...first)
    for (const set of others) for (const row of statement.all(...set)) records.push(row)
    return { raw: records, records, affected: 0 }
  }
  let affected = 0
  let raw: number | bigint = 0
  for (const set of sets) {
    const { changes, lastInsertRowid } = statement.run(...set)
    affected += changes
    raw = lastInsertRowid
  }
  return { raw, records: [], affected }
}

function preparedOn(connection: BetterSqlite3.Database, sql: string): PreparedStatement {
  let statements = kept.get(connection)
  if (!statements) {
    statements = new Map()
    kept.set(connection, statements)
  }
  const known = statements.get(sql)
  if (known && statements.size < MAX_KEPT) return known
  const statement = known ?? new PreparedStatement(connection, sql)
  // Once the map is full, each use makes a statement the last in its order.
  statements.delete(sql)
  statements.set(sql, statement)
  if (statements.size > MAX_KEPT) {
    const [oldest] = statements.keys()
    statements.delete(oldest as string)
  }
  return statement
}
