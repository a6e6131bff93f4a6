/**
 * The meaning of the errors of MySQL and MariaDB. Owns the one table of their numbers.
 *
 * Invariant: a number whose statement or COMMIT may have taken effect is `lost` or `leaving`, so that the outcome is found
 * out. It is `away` only if the server says it before it does anything, or has rolled the transaction back.
 * "Seen" means on a real server, by a test or by hand; the others are from the servers' reference of error messages.
 */
import { driverError, type FailureKind } from '../engine'

/**
 * A kind of failure, or a more exact word for one:
 * - `refused`: only a change of the server's settings, its grants or its account helps;
 * - `away`: lost, and neither the statement nor the COMMIT has done anything;
 * - `leaving`: a conflict, but a server that is just leaving its cluster says the same of a COMMIT that may be in effect.
 */
type NumberMeaning = Exclude<FailureKind, 'other'> | 'refused' | 'away' | 'leaving'

/** By meaning, and with those of one cause together. */
const BY_MEANING: readonly (readonly [NumberMeaning, readonly number[]])[] = [
  // Lock wait timeout; deadlock, on Galera also a row that another node has changed; MariaDB's innodb_snapshot_isolation. Seen.
  ['conflict', [1205, 1213, 1020]],
  // The definition of the table has changed; a branch of an XA transaction; NOWAIT, which only transactions of users have.
  ['conflict', [1412, 1614, 3572]],
  // Group Replication: another member has changed the same rows, or this member is leaving. Seen.
  ['leaving', [3101]],

  // Too many connections: of the server, of the account; a resource of the account is used up. Seen.
  ['away', [1040, 1203, 1226]],
  // Galera: this node has no quorum, or is not ready yet. It looks before each statement, COMMIT too. Seen.
  ['away', [1047]],
  // Read only: the server has become a replica. Before a COMMIT both servers look again, and roll back. Seen: 1290, 1792.
  ['away', [1290, 1792, 1836, 1874]],
  // MySQL: the server has closed an idle connection, and hears no statement on it any more. Seen.
  ['away', [4031]],
  // The server shuts down (seen: 1053), is not available, or is in offline_mode.
  ['lost', [1053, 1077, 1079, 3032, 3168]],
  // The connection was not made, was aborted, was killed (seen: 1927), or closed for want of memory.
  ['lost', [1042, 1043, 1129, 1135, 1152, 1184, 1927, 3169, 4081, 4082]],
  // The server could not read the statement, or not write its answer.
  ['lost', [1154, 1155, 1156, 1157, 1158, 1159, 1160, 1161]],
  // An error during COMMIT: its outcome is in doubt. With 149 it is a deadlock, see below. Seen on Galera.
  ['lost', [1180]],
  // Group Replication: this member cannot take part in the vote on the COMMIT.
  ['lost', [3100]],
  // The errors of clients, which proxies pass on; ProxySQL: no server of the host group has answered in time.
  ['lost', [2002, 2003, 2005, 2006, 2013, 2055, 9001]],

  // The disk, a file or an index is full (seen: 1114), or could not be read or written.
  [
    'unable',
    [1015, 1016, 1017, 1021, 1023, 1024, 1026, 1028, 1114, 1534, 1593, 1812, 1814, 1878, 3019, 3510, 3675, 4139],
  ],
  // A damaged table or index, or one that is read only; an error of the storage engine, where 28 is a full disk.
  ['unable', [1030, 1032, 1033, 1034, 1036, 1194, 1195, 1296, 1712]],
  // Out of memory, or beyond a limit of it.
  ['unable', [1037, 1038, 1041, 1197, 1206, 1436, 1637, 1705, 3015, 3170, 3186, 3985]],
  // The statement was stopped: killed, MySQL's 1105 when it claims, max_statement_time, max_execution_time (all seen), a lock.
  ['unable', [1105, 1317, 1689, 1969, 3024]],
  // Group Replication: the transaction is too large; this member has no majority, or cannot catch up with the others.
  ['unable', [3231, 3781, 3782, 3797, 3798, 3799]],
  // MySQL: the database is read only; MariaDB: a backup keeps statements waiting.
  ['unable', [3989, 4145]],

  // The account may not do this: seen 1044, 1142, 1227.
  ['refused', [1044, 1142, 1143, 1227, 1370, 1419, 3164, 3879]],
  // The account may not log in: a password, a host, a lock, a way to log in. Seen: 1045, 3118, 4151.
  ['refused', [1045, 1130, 1251, 1698, 1820, 1862, 3118, 3159, 3955, 4150, 4151]],
  // No such database; max_allowed_packet; binlog_format. Seen.
  ['refused', [1049, 1153, 1598, 1665]],
  // enforce_gtid_consistency; Group Replication does not take such a transaction, for example at SERIALIZABLE.
  ['refused', [1785, 3098]],

  ['no-table', [1146]],
]

const NUMBERS: ReadonlyMap<number, NumberMeaning> = new Map(
  BY_MEANING.flatMap(([meaning, numbers]) => numbers.map((number) => [number, meaning] as const)),
)

const BINARY_LOG =
  "The server's binlog_format is STATEMENT, which cannot log what READ COMMITTED writes: set it to ROW or MIXED"

/** The refusals that need more words than the server's own. */
const SENTENCES: Readonly<Record<number, string>> = {
  1153: "A statement was larger than the server's max_allowed_packet: recentn needs 1 MiB at least",
  1598: BINARY_LOG,
  1665: BINARY_LOG,
}

/** An error during a commit, with the storage engine's own number in its text: 149 is a deadlock. */
const ERROR_DURING_COMMIT = 1180
const DEADLOCK = /\b149\b/ // the words are in the server's language

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

/** The certificate is not trusted, or the server cannot encrypt the connection. */
const TLS_CODES = new Set(['HANDSHAKE_SSL_ERROR', 'HANDSHAKE_NO_SSL_SUPPORT'])

/** Below 1000 are errors of files and memory. */
function meaningOf(errno: number): NumberMeaning | undefined {
  return NUMBERS.get(errno) ?? (errno > 0 && errno < 1000 ? 'unable' : undefined)
}

/** A sentence for an error that only a change of the server's settings can fix; undefined for any other. */
export function mysqlRefusal(error: unknown): string | undefined {
  const { errno = 0, code, message } = driverError(error)
  if (code !== undefined && TLS_CODES.has(code)) return `No connection by the ssl-mode that was asked for: ${message}`
  if (NUMBERS.get(errno) !== 'refused') return undefined
  return SENTENCES[errno] ?? `The database server refuses this: ${message}`
}

export function mysqlFailure(error: unknown): FailureKind {
  const { errno = 0, code, fatal, message } = driverError(error)
  const meaning = meaningOf(errno)
  if (meaning === 'refused' || (code !== undefined && TLS_CODES.has(code))) return 'other'
  if (errno === ERROR_DURING_COMMIT && DEADLOCK.test(message ?? '')) return 'conflict'
  if (meaning === 'away') return 'lost'
  if (meaning === 'leaving') return 'conflict'
  if (meaning !== undefined) return meaning
  if (code !== undefined && LOST_CODES.has(code)) return 'lost'
  // mysql2 has no code for a statement on a connection that is already closed (`NOT_SENT`).
  if (fatal || /closed state|connection (is )?closed|Pool is closed/i.test(message ?? '')) return 'lost'
  return 'other'
}

/** Numbers that mean a full disk by themselves. Others of files and engines give the system's number, 28, in their text. */
const DISK_FULL = new Set([1021, 1114, 3675])
const NO_SPACE = /\b28\b/ // the words are in the server's language

export function isDiskFull(error: unknown): boolean {
  const { errno = 0, message } = driverError(error)
  return DISK_FULL.has(errno) || (meaningOf(errno) === 'unable' && NO_SPACE.test(message ?? ''))
}

/** The error of mysql2 for a statement on a connection that it has closed before: the server never gets it. */
const NOT_SENT = /when connection is in closed state/

/** Whether a COMMIT, or a statement that commits by itself, may have taken effect although it failed with this error. */
export function mysqlLeavesDoubt(error: unknown): boolean {
  const { errno = 0, message } = driverError(error)
  const meaning = NUMBERS.get(errno)
  if (meaning === 'leaving') return true
  return meaning !== 'away' && !NOT_SENT.test(message ?? '') && mysqlFailure(error) === 'lost'
}
