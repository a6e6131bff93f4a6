/**
 * The differences between the engines, as facts and a few primitives. Code outside of `database/` uses the facts and
 * never asks which engine it has. A feature that an engine lacks is an empty string or false, with the reason beside it.
 */
import type { EntityManager } from 'typeorm'
import type { RowFacts } from './dialect/row-facts'
import type { Tables } from './tables'

export type Row = Record<string, unknown>
export type Parameter = string | number | bigint | null

export type FailureKind =
  /** Deadlock, lock timeout, changed snapshot: the transaction was rolled back; run it again as a whole. */
  | 'conflict'
  /** The connection or the server is gone, or was never there. */
  | 'lost'
  /** The database answers, but cannot do this at present: a full disk, a damaged file, a statement that it stopped. */
  | 'unable'
  | 'no-table'
  | 'other'

/** SQL, whole or a part, and the values of its placeholders. */
export interface Statement {
  sql: string
  parameters: Parameter[]
}

/** The values of the rows of an insert, which is run once for each, in their order. Only SQLite gets them. */
export class RowParameters {
  constructor(
    readonly rows: readonly (readonly Parameter[])[],
    /** The same insert for several rows at once, where that costs less. It answers with no rows. */
    readonly block: { sql: string; size: number } | null,
  ) {}
}

export type StatementValues = readonly Parameter[] | RowParameters

export interface Insert {
  sql: string
  parameters: StatementValues
}

/** Which rows get numbers, and which numbers. Names and conditions are SQL. */
export interface Numbering {
  table: string
  keys: readonly string[]
  column: string
  /** Further settings, each after a comma. */
  more: string
  index: string
  where: string
  /** Of `where`. */
  parameters: readonly Parameter[]
  /** Along the index. */
  order: readonly string[]
  limit: number
  /** The number before the first. */
  last: bigint
}

/** The facts of engines that differ on a node of a cluster. */
interface NodeFacts {
  /**
   * Locks the next rows to work on: skips locked rows where that is safe. On a node of a Galera cluster it waits for them,
   * because nodes crash there when SKIP LOCKED meets a row that another node changes.
   */
  readonly forNext: string
  /**
   * True where a statement may commit by itself. On a node of a Galera cluster it must not: if its commit is replayed, the
   * answer with its rows is lost. Nor may a packet hold several statements with an effect there (`packets.ts`).
   */
  readonly commitsAlone: boolean
  /** SQL: between these two, reads wait until the server has applied what the cluster committed before; null on one server. */
  readonly caughtUp: { readonly begin: readonly string[]; readonly end: string } | null
  /** SQL: the members of its group; empty for a server that is in none. */
  readonly members: string
  /** True where the step between ids may change between two statements, so that an INSERT must return its ids. */
  readonly returnsIds: boolean
}

export interface Engine extends NodeFacts {
  /** For `database/` only. */
  readonly family: 'mysql' | 'sqlite'
  /** True where all calls of a store share one connection. */
  readonly oneConnection: boolean
  /** SQL: the database's time at the start of the statement, in milliseconds since 1970, as an integer. */
  readonly nowMs: string
  /** Appended to a SELECT: locks the rows that it reads until the transaction ends. */
  readonly forUpdate: string
  /** The same, but skips rows that another transaction has locked. */
  readonly forUpdateSkipLocked: string
  /** Appended to a SELECT: other transactions cannot change the rows that it reads until this one ends. */
  readonly forShare: string
  /** The same, but skips rows that another transaction has locked for update. */
  readonly forShareSkipLocked: string
  /** SQL that reads a BIGINT column in a form that no driver rounds. */
  bigint(column: string): string
  /** SQL that names the index a table reference must use. */
  useIndex(index: string): string
  /** True where a write can return the rows that it wrote (INSERT … RETURNING): one statement locks, counts and reads. */
  readonly returning: boolean
  readonly updateReturning: boolean
  /** True where the connection may be lost during a commit, so that its outcome is unknown. */
  readonly losesCommits: boolean
  /** SQL: 128 random bits in hexadecimal, different ones for each row. */
  readonly randomHex: string
  /** True where an UPDATE can return a number that it computed (`remembered`), in place of an insert's id. */
  readonly remembers: boolean
  /** SQL: the value of the expression, which the UPDATE returns. */
  remembered(expression: string): string
  /** SQL: what the last statement of the connection has remembered. */
  readonly lastRemembered: string
  /** An UPDATE of the rows whose ids a SELECT chooses, which may lock them. */
  updateChosen(table: string, choose: Statement, sets: Statement): Statement
  /** An UPDATE that numbers the next rows along an index, without those that others have locked. */
  numberFree(numbering: Numbering): Statement
  /**
   * The same in half of the time, for a table without triggers: it fails with a conflict where a row is locked. The statement
   * before must have remembered `last`, and this one returns the last number. Null where an UPDATE can't refuse to wait.
   */
  readonly numberAtOnce: ((numbering: Numbering) => Statement) | null
  /** SQL: the difference between the ids of consecutive rows of one INSERT. */
  readonly idStride: string
  /** The id of the first row of an INSERT, from the id that the driver returns. */
  firstId(insertId: bigint, rows: number): bigint
  /** Values with commas between them, in the form that is cheapest for this engine's driver. */
  list(values: readonly Parameter[]): Statement
  /** The rows of a VALUES list, in the same form. */
  values(rows: readonly (readonly Parameter[])[]): Statement
  /**
   * An insert of rows, with `sql` around its VALUES list. The servers get one text. SQLite is part of the process, where a
   * prepared statement that is run for each row costs half as much. If a row fails, the operation must fail with it, which
   * undoes the rows before it. `constants`: SQL after the values of each row.
   */
  insert(sql: (values: string) => string, rows: readonly (readonly Parameter[])[], constants?: string): Insert
  /** SQL between the VALUES of an INSERT and the `column = value` that it sets in existing rows with the same `key`. */
  onDuplicate(key: string): string
  /** SQL: in such a setting, the value that the INSERT has for the column. */
  proposed(column: string): string
  /** Inserts the rows, or sets the `updated` columns of existing rows with the same `key`. */
  upsert(
    table: string,
    key: string,
    columns: readonly string[],
    updated: readonly string[],
    rows: readonly (readonly Parameter[])[],
  ): Insert
  /**
   * SQL: a join that reads what is named before it first. Where most groups have few items, MariaDB would otherwise read the whole
   * windows of large groups, and only then look which slots are wanted.
   */
  readonly joinNext: string
  /** SQL: one result of several SELECTs, each of which may have its own ORDER BY and LIMIT. */
  unionAll(selects: readonly string[]): string
  /** A statement in the form that the driver gets. */
  bound(sql: string, parameters: StatementValues): readonly [sql: string, parameters: StatementValues | null]
  /** The number of placeholders in SQL of the user's; null if a quote or comment may be open, or if a semicolon ends it. */
  placeholders(sql: string): number | null
  readonly rowFacts: RowFacts
  /** The kind of an error of the driver, or of TypeORM around it. */
  failure(error: unknown): FailureKind
  /**
   * True if a COMMIT, or a statement that commits by itself, may have taken effect although it failed with this error, which
   * is `lost` or a `conflict`. A server that says what it refuses has done nothing.
   */
  leavesDoubt(error: unknown): boolean
  isDiskFull(error: unknown): boolean
  /** A sentence for an error that only a change of the server's settings can fix; undefined for any other. */
  refusal(error: unknown): string | undefined
}

/** Runs statements outside of all transactions of the store. */
export interface Reader {
  readonly engine: Engine
  readonly tables: Tables
  /** SQL of the current time, which tests may move. */
  readonly now: string
  rows(sql: string, parameters?: StatementValues): Promise<Row[]>
}

/** The answer to a statement: its rows, how many it changed, and the id that the driver returns. */
export interface StatementAnswer {
  rows: Row[]
  affected: number
  insertId: bigint
}

export interface Statements extends Reader {
  /** True where each statement commits by itself. Otherwise all are rolled back before they run again. */
  readonly separate: boolean
  run(sql: string, parameters?: StatementValues): Promise<number>
  execute(sql: string, parameters?: StatementValues): Promise<StatementAnswer>
  /** True where statements that are run together take one round trip: on our own connections (`packets.ts`). */
  readonly gathers: boolean
  together(statements: readonly Insert[]): Promise<StatementAnswer[]>
}

declare const inTransaction: unique symbol

/** An open transaction. Functions that lock take a `Tx`, so that locking outside of a transaction does not compile. */
export interface Tx extends Statements {
  readonly [inTransaction]: true
  readonly manager: EntityManager
  /** True where the caller has begun it, perhaps at an isolation level at which a read that finds no row locks the gap. */
  readonly isCallers: boolean
  /**
   * Runs a statement whose answer is not needed. On our own connections to MySQL and MariaDB it waits, and goes with the
   * next statement or the commit, which then reports its error. Do not use it for a statement whose error the caller handles.
   */
  later(sql: string | Insert, parameters?: StatementValues): Promise<void>
  /** Runs the listener once this transaction has committed, and never after a rollback (`transaction-guard.ts`). */
  afterCommit(listener: () => void): void
  /** The same transaction, for a part of it: statements are refused once the part has ended. */
  part(isOpen: () => boolean): Tx
}

export interface WriteOptions {
  /**
   * Finds out whether the commit arrived when the connection was lost during it. Runs in its own transaction, and
   * must wait by a lock until the lost transaction has ended. Without it such a write is `outcome_unknown`.
   */
  arrived?: ((tx: Tx) => Promise<boolean>) | undefined
  /** No retry begins later than this after the first try. Default: 30,000. */
  retryMs?: number | undefined
  /** Waits for a lock so long at most, on our own connections to servers, and then not again. */
  lockSeconds?: number | undefined
  /** The last one before the store closes: a server that hangs is waited for a moment, and it does not run again. */
  closing?: boolean | undefined
}

/** Runs a repository's statements: on a database with its own transactions, or inside one open transaction. */
export interface Session {
  readonly tables: Tables
  /** True inside an open transaction, which may see an old snapshot: what it reads must not be cached. */
  readonly inTransaction: boolean
  read<T>(work: (reader: Reader) => Promise<T>): Promise<T>
  write<T>(work: (tx: Tx) => Promise<T>, options?: WriteOptions): Promise<T>
  /**
   * Runs statements that each commit by themselves, so that none keeps a lock while this process does something else. With only
   * one connection they run in one transaction, and inside a caller's transaction in that. `work` runs again as a whole after a
   * deadlock or a lost connection: it must be able to see what its first statement did.
   */
  separately<T>(work: (statements: Statements) => Promise<T>, options?: { retryMs?: number | undefined }): Promise<T>
  /** Runs the listener once what the session has written is committed: outside of a transaction at once. */
  afterCommit(listener: () => void): Promise<void>
  /** Runs several reads and writes as one operation: closing the store waits for all of it. */
  whole<T>(work: (session: Session) => Promise<T>): Promise<T>
}

/** `?, ?, ?` */
export function placeholders(count: number): string {
  return Array(count).fill('?').join(', ')
}

/** The driver's own error under whatever TypeORM wrapped around it. */
export function driverError(error: unknown): { errno?: number; code?: string; fatal?: boolean; message?: string } {
  return ((error as { driverError?: object } | null)?.driverError ?? error ?? {}) as object
}

/** As every engine's index: by code points. UTF-16 units have the same order except for the surrogates, above U+FFFF. */
export function compareNames(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let index = 0; index < length; index++) {
    const unitA = a.charCodeAt(index)
    const unitB = b.charCodeAt(index)
    if (unitA === unitB) continue
    return isSurrogate(unitA) === isSurrogate(unitB) ? unitA - unitB : isSurrogate(unitA) ? 1 : -1
  }
  return a.length - b.length
}

/** Sorts the names themselves by `compareNames`. Without surrogates that is the order that strings have anyway. */
export function sortNames(names: string[]): string[] {
  return names.some((name) => /[\ud800-\udfff]/.test(name)) ? names.sort(compareNames) : names.sort()
}

const isSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdfff
