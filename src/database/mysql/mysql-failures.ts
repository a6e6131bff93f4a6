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

const NUMBERS: Readonly<Record<number, NumberMeaning>> = {
  1020: 'conflict', // MariaDB, innodb_snapshot_isolation: the row has changed since the last read. Seen.
  1205: 'conflict', // Lock wait timeout. Seen.
  1213: 'conflict', // Deadlock; on Galera also: another node has changed the same rows. Seen.
  1412: 'conflict', // The definition of the table has changed during the transaction.
  1614: 'conflict', // Deadlock in a branch of an XA transaction.
  3101: 'leaving', // Group Replication: another member has changed the same rows, or this member is leaving. Seen.
  3572: 'conflict', // NOWAIT, which only transactions of users have.

  1040: 'away', // Too many connections. Seen.
  1042: 'lost', // The server cannot resolve the address of this host.
  1043: 'lost', // Bad handshake: what a proxy answers while its server is away.
  1047: 'away', // Galera: this node has no quorum, or is not ready yet. It looks before each statement, COMMIT too. Seen.
  1053: 'lost', // The server shuts down. Seen.
  1077: 'lost', // The server has shut down.
  1079: 'lost', // The server has shut down.
  1129: 'lost', // This host is blocked after many connection errors.
  1135: 'lost', // The server cannot start a thread for the connection.
  1152: 'lost', // Aborted connection.
  1154: 'lost', // 1154 to 1161: the server could not read the statement, or not write its answer.
  1155: 'lost',
  1156: 'lost',
  1157: 'lost',
  1158: 'lost',
  1159: 'lost',
  1160: 'lost',
  1161: 'lost',
  1180: 'lost', // An error during COMMIT: its outcome is in doubt. With 149 it is a deadlock, see below. Seen on Galera.
  1184: 'lost', // Aborted connection.
  1203: 'away', // This account has max_user_connections. Seen.
  1226: 'away', // This account has used up a resource, such as max_user_connections or max_queries_per_hour. Seen.
  1290: 'away', // read_only: the server has become a replica, or is one; another connection may lead to another one. Seen.
  // Before a COMMIT both servers look again, and roll back.
  1792: 'away', // A transaction that was begun on a server with read_only, or with transaction_read_only. Seen.
  1836: 'away', // innodb_read_only.
  1874: 'away', // InnoDB is read only.
  1927: 'lost', // MariaDB: the connection was killed. Seen.
  2002: 'lost', // 2002 to 2055: the errors of clients, which proxies pass on.
  2003: 'lost',
  2005: 'lost',
  2006: 'lost',
  2013: 'lost',
  2055: 'lost',
  3032: 'lost', // offline_mode.
  3100: 'lost', // Group Replication: this member cannot take part in the vote on the COMMIT.
  3168: 'lost', // The server is not available.
  3169: 'lost', // MySQL: the session was killed.
  4081: 'lost', // MySQL: the memory of all connections has a limit, and this one was closed.
  4082: 'lost', // MySQL: the same of one connection.
  4031: 'away', // MySQL: the server has closed an idle connection, and hears no statement on it any more. Seen.
  9001: 'lost', // ProxySQL: no server of the host group has answered in time.

  1015: 'unable', // A file is locked.
  1016: 'unable', // A file could not be opened, for example because too many are.
  1017: 'unable', // A file is not there.
  1021: 'unable', // Disk full.
  1023: 'unable', // A file could not be closed.
  1024: 'unable', // A file could not be read.
  1026: 'unable', // A file could not be written, such as the binary log.
  1028: 'unable', // A sort was stopped, for want of space for its file.
  1030: 'unable', // An error of the storage engine; 28 is a full disk.
  1032: 'unable', // A row of an index is not in its table.
  1033: 'unable', // A damaged table.
  1034: 'unable', // A damaged table.
  1036: 'unable', // A table is read only.
  1037: 'unable', // Out of memory.
  1038: 'unable', // Out of memory for a sort.
  1041: 'unable', // Out of memory.
  1105: 'unable', // MySQL, when a claim is killed. Seen.
  1114: 'unable', // The table is full: InnoDB has found no room on the disk. Seen.
  1194: 'unable', // A damaged table.
  1195: 'unable', // A damaged table.
  1197: 'unable', // max_binlog_cache_size.
  1206: 'unable', // The locks need more memory than the server has for them.
  1296: 'unable', // An error of the storage engine.
  1317: 'unable', // The statement was killed, not the connection. Seen.
  1436: 'unable', // thread_stack.
  1534: 'unable', // The binary log could not be written.
  1593: 'unable', // The same.
  1637: 'unable', // InnoDB has no free undo slot for one more transaction.
  1689: 'unable', // A wait for a lock was ended for another statement.
  1705: 'unable', // max_binlog_stmt_cache_size.
  1712: 'unable', // A damaged index.
  1812: 'unable', // A file of a table is not there.
  1814: 'unable', // The same.
  1878: 'unable', // A temporary file could not be written.
  1969: 'unable', // MariaDB: max_statement_time. Seen.
  3015: 'unable', // Out of memory.
  3019: 'unable', // InnoDB has no room for undo.
  3024: 'unable', // MySQL: max_execution_time. Seen.
  3170: 'unable', // MySQL: a limit of memory.
  3186: 'unable', // MySQL: parser_max_mem_size.
  3231: 'unable', // Group Replication: the transaction is larger than its limit.
  3510: 'unable', // A file of a table is not there.
  3675: 'unable', // Disk full.
  3781: 'unable', // Group Replication: this member has no majority.
  3782: 'unable', // The same.
  3797: 'unable', // Group Replication: 3797 to 3799: this member cannot catch up with the others.
  3798: 'unable',
  3799: 'unable',
  3985: 'unable', // Out of memory for locks of tables.
  3989: 'unable', // MySQL: the database is read only.
  4139: 'unable', // MariaDB: an index is full.
  4145: 'unable', // MariaDB: a backup keeps statements waiting.

  1044: 'refused', // The account has no right to this database. Seen.
  1045: 'refused', // A wrong password. Seen.
  1049: 'refused', // No such database. Seen.
  1130: 'refused', // The account may not connect from this host.
  1142: 'refused', // The account has no right to this table. Seen.
  1143: 'refused', // The account has no right to this column.
  1153: 'refused', // max_allowed_packet. Seen.
  1227: 'refused', // The account lacks a privilege. Seen.
  1251: 'refused', // The server does not know the client's way to log in.
  1370: 'refused', // The account has no right to this routine.
  1419: 'refused', // log_bin_trust_function_creators: a trigger needs a right.
  1598: 'refused', // binlog_format. Seen.
  1665: 'refused', // binlog_format. Seen.
  1698: 'refused', // A wrong password.
  1785: 'refused', // enforce_gtid_consistency.
  1820: 'refused', // The password has expired.
  1862: 'refused', // The password has expired.
  3098: 'refused', // Group Replication does not take such a transaction, for example at SERIALIZABLE.
  3118: 'refused', // MySQL: the account is locked. Seen.
  3159: 'refused', // require_secure_transport.
  3164: 'refused', // A plugin of the server does not allow it.
  3879: 'refused', // The account has no right to this database.
  3955: 'refused', // MySQL: the account is locked after wrong passwords.
  4150: 'refused', // MariaDB: the same.
  4151: 'refused', // MariaDB: the account is locked. Seen.

  1146: 'no-table',
}

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
  return NUMBERS[errno] ?? (errno > 0 && errno < 1000 ? 'unable' : undefined)
}

/** A sentence for an error that only a change of the server's settings can fix; undefined for any other. */
export function mysqlRefusal(error: unknown): string | undefined {
  const { errno = 0, code, message } = driverError(error)
  if (code !== undefined && TLS_CODES.has(code)) return `No connection by the ssl-mode that was asked for: ${message}`
  if (NUMBERS[errno] !== 'refused') return undefined
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
  const meaning = NUMBERS[errno]
  if (meaning === 'leaving') return true
  return meaning !== 'away' && !NOT_SENT.test(message ?? '') && mysqlFailure(error) === 'lost'
}
