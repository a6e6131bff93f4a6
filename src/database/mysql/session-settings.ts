/**
 * The settings of sessions of MySQL and MariaDB that our statements rely on: connections of our own set them once, when they are
 * made. Owns the list of them.
 *
 * Invariant: every connection of the user's is checked when it is first used, and again when the driver assumes another
 * character set than it did then. Our statements are ASCII, whatever texts they contain, so a wrong character set cannot
 * change what they do. But it can lose texts: the driver encodes a statement by the character set that it assumes, the server
 * decodes it by the session's, and answers in a third.
 */
import { RecentnError } from '../../shared/errors'
import type { Connection, DriverConnection } from '../connection'
import { driverError, type Row } from '../engine'

interface SessionVariable {
  name: string
  value: string
  isLeast?: true
}

/** With other values our statements fail, or do something else in silence. */
const RELIED_ON: readonly SessionVariable[] = [
  { name: 'autocommit', value: '1' }, // otherwise what is outside of a transaction is never committed
  { name: 'completion_type', value: "'NO_CHAIN'" }, // CHAIN: what follows a COMMIT is never committed
  { name: 'sql_select_limit', value: '18446744073709551615' }, // less: rows are left out
  { name: 'sql_safe_updates', value: '0' },
  { name: 'sql_big_selects', value: '1' }, // 0: max_join_size applies
  { name: 'sql_auto_is_null', value: '0' }, // 1: IS NULL finds the last id
  { name: 'unique_checks', value: '1' },
  { name: 'div_precision_increment', value: '4', isLeast: true }, // less: times are rounded to seconds
]

const LOCK_SECONDS = 5
/** MySQL looks once a second whether a wait for a lock has ended: the error of one must come before the limit of its statement. */
const LOCK_LATE_SECONDS = 2

export function lockSeconds(statementSeconds: number, asked = LOCK_SECONDS): number {
  return Math.max(1, Math.min(asked, statementSeconds - LOCK_LATE_SECONDS))
}

export const OWN_ZONE = '+00:00'

/** The statements that set up our own connection, the last with its largest packet; `statementSeconds` is the limit of a statement. */
export function ownSettings(statementSeconds: number): string {
  return [
    // The server may have set another character set by init_connect, by which the driver would then encode.
    'SET NAMES utf8mb4',
    'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED',
    // The comment is for MariaDB alone: the locks of a process that has vanished end, though its connection stands.
    `SET SESSION /*M! idle_transaction_timeout = 120, */ innodb_lock_wait_timeout = ${lockSeconds(statementSeconds)}, sql_mode = 'STRICT_TRANS_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION', time_zone = '${OWN_ZONE}', timestamp = DEFAULT, ${RELIED_ON.map(({ name, value }) => `${name} = ${value}`).join(', ')}`,
    'SELECT @@SESSION.max_allowed_packet AS largest',
  ].join('; ')
}

/** SQL: those of the settings that are others, in words; an empty text if none is. */
export function otherSettings(scope: 'SESSION' | 'GLOBAL'): string {
  const others = RELIED_ON.map(({ name, value, isLeast }) => {
    const found = `@@${scope}.${name}`
    const words = `CONCAT('${name} ', ${found}, ' (recentn needs ', ${value}, ')')`
    return `IF(${found} ${isLeast ? '>=' : '='} ${value}, NULL, ${words})`
  })
  return `CONCAT_WS(', ', ${others.join(', ')})`
}

/** Characters of one, two, three and four bytes. None of them becomes a quote in any encoding of the driver. */
const SAMPLE = 'aé語😀z'

const LOOK =
  'SELECT @@SESSION.character_set_client AS client, @@SESSION.character_set_connection AS connection, ' +
  '@@SESSION.character_set_results AS results, @@SESSION.sql_mode AS modes, ' +
  `HEX(CONVERT('${SAMPLE}' USING utf8mb4)) AS sent, _utf8mb4 x'${hexOf(SAMPLE)}' AS received, ` +
  // SYSDATE() is the clock's time, whatever the session's timestamp. The machine may be suspended between the two.
  `ABS(TIMESTAMPDIFF(SECOND, NOW(), SYSDATE())) > 5 AS fixed, ${otherSettings('SESSION')} AS settings, ` +
  'CONNECTION_ID() AS connection_id'

/** Modes in which an empty text is NULL, or SQL has another syntax. */
const REFUSED_MODES = ['EMPTY_STRING_IS_NULL', 'ORACLE']

interface SessionLook {
  client: string
  connection: string
  /** Null: the server answers in the character sets of the columns. */
  results: string | null
  modes: string
  sent: string
  received: string
  /** True if the session has its own timestamp, in place of the time. */
  fixed: number | string
  settings: string | null
  /** Of the server; the name also shows whether names of columns come as they are. */
  connection_id: number | string | bigint
}

/** A variable with two names. Uncommitted rows that are read may be remembered, and be shown when they are gone. */
const ISOLATION = "SHOW SESSION VARIABLES WHERE Variable_name IN ('transaction_isolation', 'tx_isolation')"
const READS_TOO_MUCH =
  'The connections of the DataSource have transaction_isolation READ-UNCOMMITTED (recentn needs READ-COMMITTED or stricter)'

/** Connections that passed the check, and the driver's charset then. */
const right = new WeakMap<DriverConnection, number | undefined>()

/** Throws `database_refused`, which names what is wrong, unless the session is set as our statements need. Asks once. */
export async function requireSettings(
  connection: Pick<Connection, 'rows'> & { driver: DriverConnection | null },
): Promise<void> {
  const { driver } = connection
  const charset = driver?.config?.charsetNumber
  if (driver && right.has(driver) && right.get(driver) === charset) return
  await requireSettingsOn((sql) => connection.rows(sql, []), 'of the DataSource')
  const [isolation] = await connection.rows(ISOLATION, [])
  if (isolation?.Value === 'READ-UNCOMMITTED') throw new RecentnError('database_refused', READS_TOO_MUCH)
  if (driver) right.set(driver, charset)
}

/** The same on any connection, each time. Resolves to the server's number of the connection. */
export async function requireSettingsOn(query: (sql: string) => Promise<Row[]>, which: string): Promise<string> {
  const session = await settingsOf(query)
  const faults = faultsOf(session)
  if (faults.length > 0) throw new RecentnError('database_refused', `The connections ${which} ${faults.join('; ')}`)
  return String(session?.connection_id)
}

/** Null if the server did not understand what the driver sent, or the driver cannot encode it. */
async function settingsOf(query: (sql: string) => Promise<Row[]>): Promise<SessionLook | null> {
  try {
    const [session] = await query(LOOK)
    return session as unknown as SessionLook
  } catch (error) {
    const { errno, message } = driverError(error)
    if (MISREAD.has(errno ?? 0) || UNKNOWN.test(message ?? '')) return null
    throw error
  }
}

/** A syntax error, an unknown column or variable, an invalid text. */
const MISREAD = new Set([1064, 1054, 1193, 1300])

/** mysql2's error for a character set that it cannot encode; it then closes the connection. */
const UNKNOWN = /^Encoding not recognized/

function faultsOf(session: SessionLook | null): string[] {
  if (session === null) return [`use a character set that the driver or the server can't read: ${ADVICE}`]
  const faults: string[] = []
  const sets = { client: session.client, connection: session.connection, results: session.results ?? UTF8 }
  const lossy = Object.entries(sets).filter(([, charset]) => String(charset) !== UTF8)
  for (const charset of new Set(lossy.map(([, one]) => String(one)))) {
    const variables = lossy.filter(([, one]) => String(one) === charset).map(([name]) => `character_set_${name}`)
    faults.push(`use the character set ${charset} (${variables.join(', ')}), which loses texts: ${ADVICE}`)
  }
  if (lossy.length === 0 && (String(session.sent) !== hexOf(SAMPLE) || session.received !== SAMPLE)) {
    faults.push(`encode texts otherwise than the server reads them: ${ADVICE}`)
  }
  const modes = String(session.modes).split(',')
  for (const mode of REFUSED_MODES.filter((one) => modes.includes(one))) {
    faults.push(`have ${mode} in their sql_mode, which recentn does not work with: take it out`)
  }
  if (session.settings) faults.push(`have ${session.settings}`)
  if (Number(session.fixed) === 1) faults.push('have a fixed timestamp (recentn needs DEFAULT)')
  return faults
}

const UTF8 = 'utf8mb4'
const ADVICE = "set charset: 'utf8mb4' in their options, and let no init_connect or hook set another"

function hexOf(text: string): string {
  return Buffer.from(text, 'utf8').toString('hex').toUpperCase()
}
