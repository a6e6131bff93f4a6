/** MySQL and MariaDB. Only MariaDB has RETURNING; a shared lock that skips rows has different words. */
import type { Connection } from 'mysql2'
import { RecentnError } from '../../shared/errors'
import { chosenFree, upsert } from '../dialect/numbering'
import { countPlaceholders, filled, holdsSeparator, MYSQL_SPELLING } from '../dialect/placeholders'
import { mysqlRows } from '../dialect/row-facts'
import type { Engine, Parameter } from '../engine'
import { isDiskFull, mysqlFailure, mysqlLeavesDoubt, mysqlRefusal } from './mysql-failures'

/**
 * A value as SQL, always in ASCII. mysql2 writes values into the statement too, but not safely. It escapes quotes with
 * a backslash, which has no effect in a session with NO_BACKSLASH_ESCAPES. And it then encodes the statement by a
 * character set that the session may change at any time, in which other characters may become a quote. Here a quote is
 * doubled, which means the same everywhere, and a text with a backslash or with more than ASCII is written in
 * hexadecimal.
 */
export function literal(value: Parameter): string {
  if (typeof value === 'string') {
    // The fastest way to find text beyond ASCII: a regular expression takes four times as long.
    const isAscii = Buffer.byteLength(value, 'utf8') === value.length
    if (!isAscii || value.includes('\\')) return `_utf8mb4 x'${Buffer.from(value, 'utf8').toString('hex')}'`
    return value.includes("'") ? `'${value.replaceAll("'", "''")}'` : `'${value}'`
  }
  return value === null ? 'NULL' : String(value)
}

/** A loop, not map and join: a batch has thousands of values. */
function listOf(rows: readonly (readonly Parameter[])[], constants = ''): string {
  let sql = ''
  for (const row of rows) {
    let start = sql === '' ? '(' : ', ('
    for (const value of row) {
      sql += start + literal(value)
      start = ', '
    }
    sql += `${constants})`
  }
  return sql
}

const insert: Engine['insert'] = (sql, rows, constants) => ({ sql: sql(listOf(rows, constants)), parameters: [] })

export const mysqlEngine: Engine = {
  family: 'mysql',
  oneConnection: false,
  // UNIX_TIMESTAMP(NOW()) would go through the session's time zone, which is ambiguous for an hour each autumn.
  nowMs: "(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000)",
  forUpdate: ' FOR UPDATE',
  forUpdateSkipLocked: ' FOR UPDATE SKIP LOCKED',
  forNext: ' FOR UPDATE SKIP LOCKED',
  forShare: ' LOCK IN SHARE MODE', // MariaDB has no FOR SHARE
  forShareSkipLocked: ' FOR SHARE SKIP LOCKED',
  // TypeORM reads BIGINTs as strings by default, but the options of a user's own DataSource may change that.
  bigint: (column) => `CAST(${column} AS CHAR)`,
  useIndex: (index) => ` FORCE INDEX (${index})`,
  insert,
  onDuplicate: () => 'ON DUPLICATE KEY UPDATE',
  // VALUES() is deprecated in MySQL, but its successor (AS new) is a syntax error in MariaDB.
  proposed: (column) => `VALUES(${column})`,
  upsert,
  list: (some) => ({ sql: some.map(literal).join(', '), parameters: [] }),
  values: (rows) => ({ sql: listOf(rows), parameters: [] }),
  randomHex: 'HEX(RANDOM_BYTES(16))',
  remembers: true,
  remembered: (expression) => `LAST_INSERT_ID(${expression})`,
  lastRemembered: 'LAST_INSERT_ID()',
  // With the choice in WHERE … IN the servers scan the whole table, and neither allows LIMIT there. STRAIGHT_JOIN keeps
  // the order: otherwise they scan all rows of a small table, and wait for those that others have locked.
  updateChosen: (table, choose, sets) => ({
    sql: `UPDATE (${choose.sql}) chosen STRAIGHT_JOIN ${table} FORCE INDEX (PRIMARY) USING (id) SET ${sets.sql}`,
    parameters: [...choose.parameters, ...sets.parameters],
  }),
  numberFree(numbering) {
    const { table, column, more, last } = numbering
    const { sql, on, parameters } = chosenFree(numbering, ` FORCE INDEX (${numbering.index})`, this.forNext)
    const sets = `${column} = ${last} + chosen.recentn_number${more}`
    return {
      sql: `UPDATE (${sql}) chosen STRAIGHT_JOIN ${table} FORCE INDEX (PRIMARY) ON ${on} SET ${sets}`,
      parameters,
    }
  },
  numberAtOnce: null,
  idStride: '@@SESSION.auto_increment_increment',
  returnsIds: false,
  firstId: (insertId) => insertId,
  returning: false,
  updateReturning: false,
  losesCommits: true,
  commitsAlone: true,
  caughtUp: null,
  members: '',
  // With any list of values mysql2 scans the whole statement for placeholders.
  bound: (sql, parameters) => {
    const values = parameters as readonly Parameter[]
    let used = 0
    return [values.length === 0 ? sql : filled(sql, MYSQL_SPELLING, () => literal(values[used++] as Parameter)), null]
  },
  placeholders: (sql) => countPlaceholders(sql, MYSQL_SPELLING),
  joinNext: 'STRAIGHT_JOIN',
  unionAll: (selects) => selects.map((select) => `(${select})`).join('\nUNION ALL\n'),
  rowFacts: mysqlRows,
  failure: mysqlFailure,
  leavesDoubt: mysqlLeavesDoubt,
  isDiskFull,
  refusal: mysqlRefusal,
}

/** The engine of SQL that both servers understand, until the server has said which one it is. */
export const commonEngine: Engine = { ...mysqlEngine, forShareSkipLocked: mysqlEngine.forShare }

export const mariadbEngine: Engine = {
  ...mysqlEngine,
  forShareSkipLocked: `${mysqlEngine.forShare} SKIP LOCKED`,
  returning: true,
  // One walk along the index and one look-up for each row. In MySQL a statement waits for a lock for a second at least.
  numberAtOnce: ({ table, column, more, index, where, parameters, order, limit }) => ({
    sql:
      `SET STATEMENT innodb_lock_wait_timeout = 0 FOR UPDATE ${table} FORCE INDEX (${index}) ` +
      `SET ${column} = LAST_INSERT_ID(LAST_INSERT_ID() + 1)${more} WHERE ${where} ORDER BY ${order.join(', ')} LIMIT ${limit}`,
    parameters: [...parameters],
  }),
}

/** Their bodies may hold statements; the server takes such a definition as one. */
const DEFINITION = /^\s*CREATE\b/i

/** The user's statement with its values. Throws `invalid_input` for several: elsewhere the server refuses them, too. */
export function oneStatement(connection: Connection, sql: string, parameters: unknown[]): string {
  if (sql.includes(';') && !DEFINITION.test(sql) && holdsSeparator(sql, MYSQL_SPELLING)) {
    throw new RecentnError('invalid_input', 'A query takes one SQL statement: run each with its own query')
  }
  if (parameters.length === 0) return sql
  const text = connection.format(sql, parameters)
  // In a session with NO_BACKSLASH_ESCAPES a text that the driver escapes with backslashes may end early, and then the statement.
  return text.includes(';') ? connection.format(sql, parameters.map(withoutEscapes)) : text
}

function withoutEscapes(value: unknown): unknown {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the driver escapes these
  const isEscaped = typeof value === 'string' && /[\u0000-\u001f\u007f'"\\]/.test(value)
  if (isEscaped) return { toSqlString: () => literal(value) }
  if (Array.isArray(value)) return value.map(withoutEscapes)
  const isPlain = typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
  return isPlain ? Object.fromEntries(Object.entries(value).map(([key, one]) => [key, withoutEscapes(one)])) : value
}
