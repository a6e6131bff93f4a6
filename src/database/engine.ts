/**
 * What differs between the engines, as facts and a few primitives. Nothing outside `database/` asks which engine it
 * is talking to; what an engine lacks is an empty string here, with the reason beside it.
 */
import type { EntityManager } from 'typeorm'
import type { RowFacts } from './row-facts'
import type { Tables } from './tables'

export type Row = Record<string, unknown>
export type Parameter = string | number | bigint | null

/** What went wrong, by what can be done about it. */
export type Failure =
  /** Deadlock, lock timeout, changed snapshot: the transaction is gone, run it again as a whole. */
  | 'conflict'
  /** The connection or the server is gone, or never was there. */
  | 'lost'
  /** The table is not there. */
  | 'no-table'
  | 'other'

/** SQL, whole or a part, and the values of its placeholders. */
export interface Statement {
  sql: string
  parameters: Parameter[]
}

export interface Engine {
  readonly family: 'mysql' | 'sqlite'
  /** SQL: the database's time, in milliseconds since 1970, as an integer; taken when the statement starts. */
  readonly nowMs: string
  /** Appended to a SELECT: lock the rows it reads until the transaction ends. */
  readonly forUpdate: string
  /** The same, passing over rows that another transaction has locked. */
  readonly forUpdateSkipLocked: string
  /** Appended to a SELECT: nobody changes the rows it reads until the transaction ends. */
  readonly forShare: string
  /** The same, passing over rows that another transaction has locked otherwise. */
  readonly forShareSkipLocked: string
  /** SQL that reads a BIGINT column in a form no driver rounds. */
  bigint(column: string): string
  /** SQL that names the index a table reference must use. */
  useIndex(index: string): string
  /** True where a write can answer with the rows it wrote (INSERT … RETURNING): one statement locks, counts and reads. */
  readonly returning: boolean
  /** True where the connection may be lost while a commit is on its way, so that nobody can say whether it arrived. */
  readonly losesCommits: boolean
  /** SQL: 128 random bits in hexadecimal, others for each row. */
  readonly randomHex: string
  /** True where an UPDATE can give back a number that it computed (`remembered`), as if it were an insert's id. */
  readonly remembers: boolean
  /** SQL: the value of the expression, which is given back. */
  remembered(expression: string): string
  /** An UPDATE of the rows whose ids a SELECT chooses, which may lock them. */
  updateChosen(table: string, choose: string, sets: string): string
  /** An UPDATE of the rows whose primary keys a SELECT chooses, which is `chosen`; `sets` may use its columns. */
  updateFrom(table: string, choose: string, on: string, sets: string): string
  /** SQL: by how much the ids of the rows of one INSERT grow. */
  readonly idStride: string
  /** The id of the first row of an INSERT, of what the driver says of it. */
  firstId(insertId: bigint, rows: number): bigint
  /** The rows of a VALUES list, in the form that costs this engine's driver least. */
  values(rows: readonly (readonly Parameter[])[]): Statement
  /** SQL between the VALUES of an INSERT and what it sets, as `column = value`, in those rows whose `key` is there. */
  onDuplicate(key: string): string
  /** SQL: in such a setting, what the INSERT has for the column. */
  proposed(column: string): string
  /** Insert the rows, or set the `updated` columns of those whose `key` is there. */
  upsert(
    table: string,
    key: string,
    columns: readonly string[],
    updated: readonly string[],
    rows: readonly (readonly Parameter[])[],
  ): Statement
  /** SQL: one result of several SELECTs, each of which may have its own ORDER BY and LIMIT. */
  unionAll(selects: readonly string[]): string
  /** A statement as the driver is given it. */
  bound(sql: string, parameters: readonly Parameter[]): readonly [sql: string, parameters: Parameter[] | null]
  /** How many placeholders a text of the user's has; null where a quote or comment in it is open, or may be. */
  placeholders(sql: string): number | null
  /** How it speaks of rows of tables that are not ours. */
  readonly rowFacts: RowFacts
  /** Sorts an error of the driver, or of TypeORM around it. */
  failure(error: unknown): Failure
  /** A sentence for an error that a setting of the server causes, whatever is tried; undefined for any other. */
  refusal(error: unknown): string | undefined
}

/** Runs statements outside of any transaction of ours. */
export interface Reader {
  readonly engine: Engine
  readonly tables: Tables
  /** SQL of the time that decides, tests may have moved it. */
  readonly now: string
  rows(sql: string, parameters?: readonly Parameter[]): Promise<Row[]>
}

/** What a statement did: how many rows it changed, and the id that the driver reports. */
export interface Ran {
  affected: number
  insertId: bigint
}

/** Runs statements that change rows. */
export interface Statements extends Reader {
  /** True where each commits by itself; otherwise nothing is left of them when they run again. */
  readonly separate: boolean
  /** Resolves to how many rows it changed. */
  run(sql: string, parameters?: readonly Parameter[]): Promise<number>
  execute(sql: string, parameters?: readonly Parameter[]): Promise<Ran>
}

declare const inTransaction: unique symbol

/** A transaction that is open. What takes a lock asks for one, so that locking outside of it does not compile. */
export interface Tx extends Statements {
  readonly [inTransaction]: true
  readonly manager: EntityManager
  /**
   * Runs the listener once this transaction has committed, and never after a rollback (`after-commit.ts` says which commits
   * of a caller's own transaction are seen).
   */
  afterCommit(listener: () => void): void
}

export interface WriteOptions {
  /**
   * Asked in a transaction of its own when the connection was lost while committing: whether the commit arrived. Must
   * wait, by a lock, until the lost transaction has ended. Without it such a write is `outcome_unknown`.
   */
  arrived?: ((tx: Tx) => Promise<boolean>) | undefined
  /** No retry begins later than this after the first try. Default: 30,000. */
  retryMs?: number | undefined
}

/** Where a repository's statements go: a database with its own transactions, or one transaction of somebody. */
export interface Session {
  readonly tables: Tables
  /** True for a session of one open transaction: it may see an old snapshot, and what it reads must not be remembered. */
  readonly inTransaction: boolean
  read<T>(work: (reader: Reader) => Promise<T>): Promise<T>
  write<T>(work: (tx: Tx) => Promise<T>, options?: WriteOptions): Promise<T>
  /**
   * Statements that each commit by themselves, so that none keeps a lock while this process does something else; in one
   * transaction where there is only one connection, and in the caller's inside of one. `work` runs again after a
   * deadlock or a lost connection, as a whole: it must know what its first statement did.
   */
  separately<T>(work: (statements: Statements) => Promise<T>, options?: { retryMs?: number | undefined }): Promise<T>
  /** An operation of several reads and writes, which closing the store waits for as one. */
  whole<T>(work: (session: Session) => Promise<T>): Promise<T>
}

/** `?, ?, ?` */
export function placeholders(count: number): string {
  return Array(count).fill('?').join(', ')
}

/** `(?, ?), (?, ?)` */
export function rowPlaceholders(rows: number, columns: number): string {
  return Array(rows)
    .fill(`(${placeholders(columns)})`)
    .join(', ')
}

/** The driver's own error under whatever TypeORM wrapped around it. */
export function driverError(error: unknown): { errno?: number; code?: string; fatal?: boolean; message?: string } {
  const wrapped = error as { driverError?: object } | null
  return (wrapped?.driverError ?? wrapped ?? {}) as object
}

/**
 * Orders names as every engine's index does: by their UTF-8 bytes, which is by code points. UTF-16 units have the same
 * order except for surrogates, which encode code points beyond U+FFFF.
 */
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

function isSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdfff
}

/** The first name after every name that starts with `prefix`, in byte order; null when there is none. */
export function afterPrefix(prefix: string): string | null {
  const points = Array.from(prefix, (character) => character.codePointAt(0) as number)
  for (let last = points.pop(); last !== undefined; last = points.pop()) {
    if (last === 0x10ffff) continue
    // U+D800 to U+DFFF are no characters.
    const next = last === 0xd7ff ? 0xe000 : last + 1
    return String.fromCodePoint(...points, next)
  }
  return null
}
