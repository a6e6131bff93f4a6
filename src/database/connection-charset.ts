/**
 * Checks that a connection of the user's keeps texts as they are, and commits what is outside of transactions. The driver
 * encodes a statement by the character set that it assumes, the server decodes it by the session's, and answers in a third.
 *
 * Our statements are ASCII, whatever texts they contain, so a wrong character set cannot change what they do. But it
 * can lose texts. So every connection of the user's is checked when it is first used, and again when the driver assumes
 * another character set than it did then.
 */
import type { QueryRunner } from 'typeorm'
import { RecentnError } from '../errors'
import { driverError, type Row } from './engine'

/** Characters of one, two, three and four bytes. None of them becomes a quote in any encoding of the driver. */
const SAMPLE = 'aé語😀z'

const LOOK =
  'SELECT @@SESSION.character_set_client AS client, @@SESSION.character_set_connection AS connection, ' +
  '@@SESSION.character_set_results AS results, @@SESSION.sql_mode AS modes, ' +
  `HEX(CONVERT('${SAMPLE}' USING utf8mb4)) AS sent, _utf8mb4 x'${hexOf(SAMPLE)}' AS received`

/** Modes in which an empty text is NULL, or SQL has another syntax. */
const REFUSED_MODES = ['EMPTY_STRING_IS_NULL', 'ORACLE']

interface TextSettings {
  client: string
  connection: string
  /** Null: the server answers in the character sets of the columns. */
  results: string | null
  modes: string
  sent: string
  received: string
}

/** The part of mysql2's connection that is read: the charset by which it encodes what it sends. */
interface DriverConnection {
  config?: { charsetNumber?: number }
}

/** Connections that passed the check, and the driver's charset then. */
const right = new WeakMap<DriverConnection, number | undefined>()

/**
 * Throws `database_refused`, which names what is wrong, unless the runner's connection keeps every text. Asks the
 * server once for each connection.
 */
export async function requireTexts(runner: QueryRunner): Promise<void> {
  const connection: DriverConnection = await runner.connect()
  const charset = connection.config?.charsetNumber
  if (right.has(connection) && right.get(connection) === charset) return
  const faults = faultsOf(await textSettingsOf(runner))
  if (faults.length > 0)
    throw new RecentnError('database_refused', `The connections of the DataSource ${faults.join('; ')}`)
  right.set(connection, charset)
}

/** Null if the server did not understand what the driver sent, or the driver cannot encode it. */
async function textSettingsOf(runner: QueryRunner): Promise<TextSettings | null> {
  try {
    const [session] = await runner.query(LOOK)
    return session
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

function faultsOf(session: TextSettings | null): string[] {
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
  return faults
}

const UTF8 = 'utf8mb4'
const ADVICE = "set charset: 'utf8mb4' in the options of the DataSource, and let no init_connect or hook set another"

function hexOf(text: string): string {
  return Buffer.from(text, 'utf8').toString('hex').toUpperCase()
}

/**
 * Without autocommit, statements outside of a transaction would silently never be committed. Resolves to how long a
 * statement waits for a lock, in seconds.
 */
export async function requireAutocommit(ask: (sql: string) => Promise<Row[]>): Promise<number> {
  const settings = '@@SESSION.autocommit AS autocommit, @@SESSION.innodb_lock_wait_timeout AS lockSeconds'
  const [row] = await ask(`SELECT ${settings}`)
  if (Number(row?.autocommit) === 1) return Number(row?.lockSeconds)
  throw new RecentnError(
    'database_refused',
    'The connections of the DataSource have autocommit off: recentn needs it on',
  )
}
