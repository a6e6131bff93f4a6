/** MySQL and MariaDB. Recentn's statements differ in one thing: only MariaDB has RETURNING. */
import { driverError, type Engine, type Failure, type Parameter } from './engine'
import { countPlaceholders, MYSQL_SPELLING, nextPlaceholder } from './placeholders'
import { mysqlRows } from './row-facts'

/**
 * Deadlock, lock wait timeout, MariaDB's "record has changed since last read" (innodb_snapshot_isolation), and what group
 * replication says when another member has changed the same rows: it has rolled back in place of committing.
 */
const CONFLICTS = new Set([1213, 1205, 1020, 3101])

/** An error of the engine while committing, which it tells by a number of its own: 149 is a deadlock. */
const ERROR_DURING_COMMIT = 1180
const DEADLOCK = /\berror 149\b/

/** Too many connections, shutdown, read-only during a failover, connection killed, idle connection closed by the server. */
const LOST_NUMBERS = new Set([1040, 1042, 1047, 1053, 1077, 1129, 1203, 1226, 1290, 1792, 1836, 1927, 2006, 2013, 4031])

const LOST_CODES = new Set([
  'PROTOCOL_CONNECTION_LOST',
  'PROTOCOL_SEQUENCE_TIMEOUT',
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENOENT', // a unix socket that is not there
])

const NO_SUCH_TABLE = 1146

const BINARY_LOG =
  "The server's binlog_format is STATEMENT, which cannot log what READ COMMITTED writes: set it to ROW or MIXED"

/** What a setting of the server forbids, which no retry fixes. */
const REFUSALS = new Map([
  [1153, "A statement was larger than the server's max_allowed_packet: recentn needs 1 MiB at least"],
  [1598, BINARY_LOG],
  [1665, BINARY_LOG],
])

/** A certificate that is not trusted, or a server that encrypts nothing, though we asked for it. */
const TLS_CODES = new Set(['HANDSHAKE_SSL_ERROR', 'HANDSHAKE_NO_SSL_SUPPORT'])

function refusal(error: unknown): string | undefined {
  const { errno, code, message } = driverError(error)
  if (code !== undefined && TLS_CODES.has(code)) return `No connection by the ssl-mode that was asked for: ${message}`
  return REFUSALS.get(errno ?? 0)
}

function failure(error: unknown): Failure {
  const { errno, code, fatal, message } = driverError(error)
  if (refusal(error) !== undefined) return 'other'
  if (errno !== undefined && CONFLICTS.has(errno)) return 'conflict'
  if (errno === ERROR_DURING_COMMIT && DEADLOCK.test(message ?? '')) return 'conflict'
  if (errno !== undefined && LOST_NUMBERS.has(errno)) return 'lost'
  if (code !== undefined && LOST_CODES.has(code)) return 'lost'
  if (errno === NO_SUCH_TABLE) return 'no-table'
  // mysql2 has no code for a statement on a connection that is already closed.
  if (fatal || /closed state|connection (is )?closed|Pool is closed/i.test(message ?? '')) return 'lost'
  return 'other'
}

/**
 * A value as SQL, always in ASCII. mysql2 would write values into the statement too, but escapes with a backslash, which
 * ends no quote where the session has NO_BACKSLASH_ESCAPES; and it encodes the whole statement afterwards, by a character
 * set that the session may change at any time, in which other letters than a quote become one. A quote is doubled here,
 * which means the same everywhere; a text with a backslash, or with more than ASCII, goes in hexadecimal.
 */
function literal(value: Parameter): string {
  if (typeof value === 'string') {
    // Of the ways to find what is not ASCII this is the fastest: by a regular expression it takes four times as long.
    const isAscii = Buffer.byteLength(value, 'utf8') === value.length
    if (!isAscii || value.includes('\\')) return `_utf8mb4 x'${Buffer.from(value, 'utf8').toString('hex')}'`
    return value.includes("'") ? `'${value.replaceAll("'", "''")}'` : `'${value}'`
  }
  return value === null ? 'NULL' : String(value)
}

/** The statement with its values in place of the placeholders. */
function withValues(sql: string, parameters: readonly Parameter[]): string {
  let whole = ''
  let start = 0
  let used = 0
  let at = nextPlaceholder(sql, 0, MYSQL_SPELLING)
  for (; at >= 0; at = nextPlaceholder(sql, start, MYSQL_SPELLING)) {
    whole += sql.slice(start, at) + literal(parameters[used++] as Parameter)
    start = at + 1
  }
  return whole + sql.slice(start)
}

/** A loop, not map and join: a batch has thousands of values. */
const values: Engine['values'] = (rows) => {
  let sql = ''
  for (const row of rows) {
    let start = sql === '' ? '(' : ', ('
    for (const value of row) {
      sql += start + literal(value)
      start = ', '
    }
    sql += ')'
  }
  return { sql, parameters: [] }
}

export const mysqlEngine: Engine = {
  family: 'mysql',
  // UNIX_TIMESTAMP(NOW()) would go through the session's time zone, which is ambiguous for an hour each autumn.
  nowMs: "(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000)",
  forUpdate: ' FOR UPDATE',
  forUpdateSkipLocked: ' FOR UPDATE SKIP LOCKED',
  forShare: ' LOCK IN SHARE MODE', // MariaDB has no FOR SHARE
  forShareSkipLocked: ' FOR SHARE SKIP LOCKED',
  // TypeORM has BIGINTs come as strings, but the options of a user's own DataSource may say otherwise.
  bigint: (column) => `CAST(${column} AS CHAR)`,
  useIndex: (index) => ` FORCE INDEX (${index})`,
  onDuplicate: () => 'ON DUPLICATE KEY UPDATE',
  // VALUES() is deprecated in MySQL, its successor (AS new) is a syntax error in MariaDB.
  proposed: (column) => `VALUES(${column})`,
  upsert: (table, _key, columns, updated, rows) => {
    const { sql, parameters } = values(rows)
    const sets = updated.map((column) => `${column} = VALUES(${column})`).join(', ')
    return {
      sql: `INSERT INTO ${table} (${columns.join(', ')}) VALUES ${sql} ON DUPLICATE KEY UPDATE ${sets}`,
      parameters,
    }
  },
  values,
  randomHex: 'HEX(RANDOM_BYTES(16))',
  remembers: true,
  remembered: (expression) => `LAST_INSERT_ID(${expression})`,
  // With the choice in WHERE ... IN the servers would go through the whole table; and neither has LIMIT in there.
  // Joined in this order, or they go through all of a small one, and wait for whatever somebody holds there.
  updateChosen: (table, choose, sets) =>
    `UPDATE (${choose}) chosen STRAIGHT_JOIN ${table} FORCE INDEX (PRIMARY) USING (id) SET ${sets}`,
  updateFrom: (table, choose, on, sets) =>
    `UPDATE (${choose}) chosen STRAIGHT_JOIN ${table} FORCE INDEX (PRIMARY) ON ${on} SET ${sets}`,
  idStride: '@@SESSION.auto_increment_increment',
  firstId: (insertId) => insertId,
  returning: false,
  losesCommits: true,
  // Given any list, mysql2 looks through the whole statement for placeholders.
  bound: (sql, parameters) => [parameters.length === 0 ? sql : withValues(sql, parameters), null],
  placeholders: (sql) => countPlaceholders(sql, MYSQL_SPELLING),
  unionAll: (selects) => selects.map((select) => `(${select})`).join('\nUNION ALL\n'),
  rowFacts: mysqlRows,
  failure,
  refusal,
}

/** What both have in common, while the server has not said which one it is: neither knows the other's words. */
export const commonEngine: Engine = { ...mysqlEngine, forShareSkipLocked: mysqlEngine.forShare }

export const mariadbEngine: Engine = {
  ...mysqlEngine,
  forShareSkipLocked: `${mysqlEngine.forShare} SKIP LOCKED`,
  returning: true,
}

/** What each of our own connections is set to, once. */
export const MYSQL_SESSION = [
  // The server may have set another by init_connect, and the driver then encodes by it.
  'SET NAMES utf8mb4',
  'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED',
  "SET SESSION autocommit = 1, innodb_lock_wait_timeout = 5, sql_mode = 'STRICT_TRANS_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION', time_zone = '+00:00'",
] as const
