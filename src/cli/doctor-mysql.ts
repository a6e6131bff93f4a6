/** The checks of `recentn doctor` on MySQL and MariaDB. */
import type { DataSource } from 'typeorm'
import { OF_A_PROXY, otherSettings, refusedServer, serverName, sharedSessions, skipsLocked } from '../store/open'
import type { Store } from '../store/types'
import { type Check, type CheckResult, type SqlRow, tableOf, variablesOf } from './doctor-work'

/** MariaDB has had RANDOM_BYTES, which draws receipts, since 10.10. */
const OLDEST = { MySQL: [8, 0], MariaDB: [10, 10] } as const
const CLOCK_LIMIT_MS = 1000
const LONG_LOCK_SECONDS = 5

async function serverOf(database: DataSource): Promise<{ name: keyof typeof OLDEST; version: string }> {
  const [row] = await database.query('SELECT VERSION() AS version')
  const version = String(row.version)
  return { name: /mariadb/i.test(version) ? 'MariaDB' : 'MySQL', version }
}

async function version({ dataSource: database }: Store): Promise<CheckResult> {
  const server = await serverOf(database)
  const [major = 0, minor = 0] = server.version.split('.').map((part) => Number.parseInt(part, 10))
  const [oldMajor, oldMinor] = OLDEST[server.name]
  const found = `${server.name} ${server.version}`
  if (major > oldMajor || (major === oldMajor && minor >= oldMinor)) return { state: 'ok', found }
  return { state: 'wrong', found, fix: `upgrade to ${server.name} ${oldMajor}.${oldMinor} or later` }
}

/** MySQL 8 and MariaDB 11.1 renamed the variable: both names are queried. */
async function isolation({ dataSource: database }: Store): Promise<CheckResult> {
  const find = async (scope: string): Promise<string> => {
    const [value] = (
      await variablesOf(database, `${scope} VARIABLES`, ['transaction_isolation', 'tx_isolation'])
    ).values()
    return String(value)
  }
  const [server, own] = [await find('GLOBAL'), await find('SESSION')]
  const found = `the server's default is ${server}; recentn's own connections use ${own}`
  if (own !== 'READ-COMMITTED') {
    return { state: 'wrong', found, fix: OF_A_PROXY }
  }
  if (server === own) return { state: 'ok', found }
  return { state: 'ok', found: `${found} (prefer that for your own transactions that you give to store.within())` }
}

/** READ COMMITTED cannot be replicated by statement: every write would fail (error 1665). */
async function binaryLog({ dataSource: database }: Store): Promise<CheckResult> {
  const names = ['log_bin', 'binlog_format', 'sync_binlog', 'innodb_flush_log_at_trx_commit']
  const set = await variablesOf(database, 'GLOBAL VARIABLES', names)
  const logs = set.get('log_bin') === 'ON'
  const flush = set.get('innodb_flush_log_at_trx_commit')
  const found = `innodb_flush_log_at_trx_commit ${flush}, binary log ${logs ? `on (${set.get('binlog_format') ?? 'ROW'}, sync_binlog ${set.get('sync_binlog')})` : 'off'}`
  if (logs && set.get('binlog_format') === 'STATEMENT') {
    return { state: 'wrong', found, fix: 'set binlog_format = ROW (or MIXED): READ COMMITTED needs it' }
  }
  if (flush === '1') return { state: 'ok', found }
  const fix = 'set innodb_flush_log_at_trx_commit = 1, unless losing the last second of commits in a crash is fine'
  return { state: 'warning', found, fix }
}

/** The variables that forbid writes. Each server has some of them. */
const READ_ONLY = ['read_only', 'super_read_only', 'innodb_read_only', 'transaction_read_only']
const PACKET = 'max_allowed_packet'
const LEAST_PACKET = 1024 ** 2

async function writes({ dataSource: database }: Store): Promise<CheckResult> {
  const closed = [...(await variablesOf(database, 'GLOBAL VARIABLES', READ_ONLY))].filter(([, value]) => isSet(value))
  if (closed.length > 0) {
    const found = `the server takes no writes (${closed.map(([name]) => name).join(', ')})`
    return { state: 'wrong', found, fix: "use the address of the server that does: of a cluster, the writer's" }
  }
  const packet = Number((await variablesOf(database, 'GLOBAL VARIABLES', [PACKET])).get(PACKET))
  const found = `taken; max_allowed_packet is ${packet} bytes`
  if (packet >= LEAST_PACKET) return { state: 'ok', found }
  return { state: 'wrong', found, fix: `set max_allowed_packet to ${LEAST_PACKET} or more` }
}

const isSet = (value: string) => !['OFF', '0', 'NO_LOCK'].includes(value)

async function skipLocked({ dataSource: database }: Store): Promise<CheckResult> {
  try {
    const name = await serverName(database)
    const skips = await skipsLocked(database, tableOf(database, 'RecentnSchema'))
    if (skips === false || (skips === null && /tidb/i.test(name))) {
      return { state: 'wrong', found: refusedServer(name).message, fix: 'use MySQL 8.0.17 or MariaDB 10.10, or later' }
    }
    if (skips === null) return { state: 'ok', found: 'not tried out, which takes two connections at once' }
    return { state: 'ok', found: 'rows that another transaction has locked are passed over' }
  } catch (error) {
    if ((error as { errno?: number }).errno !== 1064) throw error
    return { state: 'wrong', found: 'not understood', fix: 'upgrade the server: MySQL 8.0 or MariaDB 10.10' }
  }
}

/** The character sets of the session, and those of new sessions, which matter for an attached DataSource. */
async function texts({ dataSource: database }: Store): Promise<CheckResult> {
  const [row] = await database.query(
    'SELECT @@SESSION.character_set_client AS client, @@SESSION.character_set_connection AS connection, ' +
      '@@SESSION.character_set_results AS results, @@GLOBAL.init_connect AS init',
  )
  const own = [...new Set([row.client, row.connection, row.results].map(String))].join(', ')
  const found = `recentn's own connections use ${own}`
  if (own !== 'utf8mb4') {
    return { state: 'wrong', found, fix: OF_A_PROXY }
  }
  const init = String(row.init ?? '')
  const others = init.match(SETS_CHARSET)?.filter((one) => !/utf8mb4$/i.test(one)) ?? []
  if (others.length === 0) return { state: 'ok', found }
  return {
    state: 'warning',
    found: `${found}; init_connect sets others for everybody else: ${init}`,
    fix: 'a DataSource that is given to attachStore is refused: have init_connect set utf8mb4, or nothing',
  }
}

const SETS_CHARSET =
  /(?:\bnames|\bcharacter\s+set|\bcharset|character_set_(?:client|connection|results))[\s:]*=?[\s'"]*\w+/gi

/** The check of a session's settings, for our own connections and for new ones. */
async function settings({ dataSource: database }: Store): Promise<CheckResult> {
  const sql = `SELECT ${otherSettings('SESSION')} AS own, ${otherSettings('GLOBAL')} AS server`
  const [{ own, server }] = await database.query(sql)
  if (own) return { state: 'wrong', found: `recentn's own connections have ${own}`, fix: OF_A_PROXY }
  if (!server) return { state: 'ok', found: 'as recentn needs them' }
  const found = `right on recentn's own connections; the server gives others ${server}`
  return { state: 'warning', found, fix: 'a DataSource that is given to attachStore is refused: set them there' }
}

async function sessions({ dataSource: database }: Store): Promise<CheckResult> {
  const fault = await sharedSessions(database)
  if (fault === null) return { state: 'ok', found: 'each connection has its own' }
  return { state: 'wrong', found: fault, fix: OF_A_PROXY }
}

async function clock({ dataSource: database }: Store): Promise<CheckResult> {
  const before = Date.now()
  const [row] = await database.query("SELECT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000 AS ms")
  const after = Date.now()
  const differs = Math.round(Number(row.ms) - (before + after) / 2)
  const found = `the database is ${Math.abs(differs)} ms ${differs < 0 ? 'behind' : 'ahead of'} this machine (round trip ${after - before} ms)`
  if (Math.abs(differs) - (after - before) <= CLOCK_LIMIT_MS) return { state: 'ok', found }
  const fix = "keep both machines' clocks by NTP; the database's decides what expires when"
  return { state: 'warning', found, fix }
}

/** MariaDB stores the start of a transaction in the time zone of its machine, not in that of the session. */
const HELD_SECONDS = "TIMESTAMPDIFF(SECOND, t.trx_started, CONVERT_TZ(UTC_TIMESTAMP(), '+00:00', 'SYSTEM'))"

/** MySQL cannot read the same tables of information_schema while a statement with an emoji runs on any connection. */
const mysqlLocks = (tables: readonly string[]) => `
  SELECT t.PROCESSLIST_ID AS thread, t.PROCESSLIST_USER AS user, t.PROCESSLIST_HOST AS host,
    COALESCE(FLOOR(MAX(e.TIMER_WAIT) / 1e12), MAX(t.PROCESSLIST_TIME)) AS seconds,
    l.OBJECT_NAME AS what, COUNT(*) AS locks, SUM(l.LOCK_STATUS = 'WAITING') AS waiting
  FROM performance_schema.data_locks l
  JOIN performance_schema.threads t ON t.THREAD_ID = l.THREAD_ID
  LEFT JOIN performance_schema.events_transactions_current e ON e.THREAD_ID = l.THREAD_ID
  WHERE l.OBJECT_SCHEMA = DATABASE() AND l.OBJECT_NAME IN (${tables.map((table) => `'${table}'`).join(', ')}) AND l.LOCK_TYPE = 'RECORD'
  GROUP BY t.PROCESSLIST_ID, t.PROCESSLIST_USER, t.PROCESSLIST_HOST, l.OBJECT_NAME
  ORDER BY seconds DESC, thread LIMIT 20`

/** MariaDB names the table only if a transaction waits for the lock. For others it has the number of rows of a transaction. */
const mariadbLocks = (tables: readonly string[]) => `
  SELECT t.trx_mysql_thread_id AS thread, p.USER AS user, p.HOST AS host, ${HELD_SECONDS} AS seconds,
    MAX(l.lock_table) AS what, MAX(t.trx_rows_locked) AS locks, MAX(t.trx_state = 'LOCK WAIT') AS waiting
  FROM information_schema.innodb_trx t
  LEFT JOIN information_schema.innodb_locks l ON l.lock_trx_id = t.trx_id
  LEFT JOIN information_schema.processlist p ON p.ID = t.trx_mysql_thread_id
  WHERE t.trx_rows_locked > 0
  GROUP BY t.trx_mysql_thread_id, p.USER, p.HOST, t.trx_started
  HAVING what IS NULL OR what IN (${tables.map((table) => `CONCAT('\`', DATABASE(), '\`.\`${table}\`')`).join(', ')})
  ORDER BY seconds DESC, thread LIMIT 20`

async function locks({ dataSource: database }: Store): Promise<CheckResult> {
  const { name } = await serverOf(database)
  const tables = database.entityMetadatas.map(({ tableName }) => tableName)
  const locksSql = name === 'MySQL' ? mysqlLocks : mariadbLocks
  const rows: SqlRow[] = await database.query(locksSql(tables))
  if (rows.length === 0) return { state: 'ok', found: 'nobody holds a lock on our rows' }
  const found = rows.map(lockText).join('\n')
  const long = rows.filter((row) => Number(row.seconds) >= LONG_LOCK_SECONDS && Number(row.waiting) === 0)
  if (long.length === 0) return { state: 'ok', found }
  const fix = `find out why it does not end, or end it with KILL ${long.map((row) => row.thread).join(', KILL ')}`
  return { state: 'warning', found, fix }
}

function lockText({ thread, user, host, seconds, what, locks: all, waiting }: SqlRow): string {
  const who = `connection ${thread} (${user ?? 'unknown'}@${host ?? 'unknown'}), in its transaction for ${seconds} s`
  const where = what === null ? 'in which tables MariaDB does not tell' : `in ${String(what).replace(/`/g, '')}`
  const waits = Number(waiting) > 0 ? ', waits for a lock' : ''
  return `${who}: ${Number(all) - Number(waiting)} rows locked, ${where}${waits}`
}

export const MYSQL_CHECKS: Check[] = [
  ['version', version],
  ['isolation', isolation],
  ['texts', texts],
  ['settings', settings],
  ['sessions', sessions],
  ['SKIP LOCKED', skipLocked],
  ['durability', binaryLog],
  ['writes', writes],
  ['clock', clock],
  ['locks', locks],
]
