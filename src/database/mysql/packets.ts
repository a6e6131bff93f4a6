/**
 * Gathers the statements of our own connections to MySQL and MariaDB: one whose answer is not needed yet waits, and goes
 * in one packet with the next statement that is awaited, or with the COMMIT. So a transaction takes as many round trips as
 * it has answers to wait for. Owns the statements of one runner that wait.
 *
 * Invariants: the server gets the statements in the order in which they were given, and runs none after the first one that
 * fails. After the failure of a statement that had waited, the runner sends nothing until a ROLLBACK: the statements that
 * depended on it would otherwise run without it. A packet holds statements of ours, which are ASCII with values written by
 * `mysql-engine.ts`, and at its end at most one of the user's, which cannot hold a second one.
 * Once somebody has got the connection itself, by TypeORM's `connect()`, nothing waits: what they send on it follows what was
 * given before, and is in the transaction.
 * On a node of a Galera cluster it holds less (`galera-packets.ts`).
 */
import type { Connection, QueryError } from 'mysql2'
import {
  type DataSource,
  QueryFailedError,
  QueryResult,
  type QueryRunner,
  QueryRunnerAlreadyReleasedError,
  type ReplicationMode,
} from 'typeorm'
import { MysqlQueryRunner } from 'typeorm/driver/mysql/MysqlQueryRunner'
import { mustPart, requireTransaction, WITNESS } from './galera-packets'
import { oneStatement } from './mysql-engine'

/** A packet of more than one statement has no more characters than this; the least max_allowed_packet is 1 MiB. */
const PACKET_UNITS = 512 * 1024
const SEPARATOR = ';\n'

const BEGIN = 'START TRANSACTION'
/** Statements that cannot fail, and have no effect without others: TypeORM's, and those of `operations.ts`. */
const MARKER = /^(START TRANSACTION|(RELEASE )?SAVEPOINT (recentn_operation|typeorm_\d+))$/
const ROLLBACK_TO = /^\s*ROLLBACK(\s+WORK)?\s+TO\b/i

/** The answer to a statement that waits, once it has been sent. */
export interface Later {
  result: QueryResult | null
}

interface WaitingStatement extends Later {
  sql: string
}

/** Errors of statements that were followed by others in their packet. */
const earlier = new WeakSet<object>()

/** Notes that a statement failed which others were to follow. Returns the error. */
export function failedEarlier(error: unknown): unknown {
  if (typeof error === 'object' && error !== null) earlier.add(error)
  return error
}

/**
 * True if the statement whose promise rejected with this error was not run, because one before it in the packet failed, or
 * because the connection was closed before.
 */
export function hasFailedEarlier(error: unknown): boolean {
  return typeof error === 'object' && error !== null && earlier.has(error)
}

export class GatheringQueryRunner extends MysqlQueryRunner {
  #waiting: WaitingStatement[] = []
  #units = 0
  #failure: { error: unknown } | null = null
  #isHeld = false

  override async connect(): ReturnType<MysqlQueryRunner['connect']> {
    this.#isHeld = true
    const connection: Connection = await this.unheld()
    if (this.#waiting.length > 0) await this.#sendFirst(connection, this.#take())
    return connection
  }

  /** The connection, for code that sends nothing on it. */
  unheld(): ReturnType<MysqlQueryRunner['connect']> {
    return super.connect()
  }

  /**
   * Runs a statement, together with those that wait. With `null` as its parameters it is one of ours. `later`: it waits
   * for the next one, and the promise resolves to its `Later`.
   */
  // biome-ignore lint/suspicious/noExplicitAny: the signature is TypeORM's
  override async query(sql: string, parameters?: any, how: boolean | 'later' = false): Promise<any> {
    if (this.isReleased) throw new QueryRunnerAlreadyReleasedError()
    const connection: Connection = this.databaseConnection ?? (await this.unheld())
    if (sql === 'ROLLBACK' && !this.#forget()) return undefined
    if (ROLLBACK_TO.test(sql)) this.#forgetAllButMarkers()
    if (this.#failure) throw this.#failure.error
    if (sql === 'COMMIT' && this.#waiting[0]?.sql === BEGIN && this.#hasOnlyMarkers) {
      this.#forget()
      return undefined
    }
    if (how === 'later') return this.#wait(connection, sql)
    // After statements of others a RELEASE is sent at once: what they fail with is their operation's.
    if (!this.#isHeld && MARKER.test(sql) && this.#hasOnlyMarkers) {
      this.#add({ sql, result: null })
      return undefined
    }
    const isOurs = parameters === null
    const result = await this.#run(connection, isOurs ? sql : oneStatement(connection, sql, parameters ?? []))
    return how ? result : result.raw
  }

  /** True where a subscriber of the user's follows transactions, or this one is inside of another. */
  get #isTypeorms(): boolean {
    return this.transactionDepth > 1 || this.connection.subscribers.length > 0
  }

  /** Transactions of ours go without the events of TypeORM's runner. */
  override async startTransaction(...[isolation]: Parameters<MysqlQueryRunner['startTransaction']>): Promise<void> {
    if (this.isTransactionActive || this.#isTypeorms || isolation) return super.startTransaction(isolation)
    this.isTransactionActive = true
    await this.query(BEGIN)
    this.transactionDepth = 1
  }

  override async commitTransaction(): Promise<void> {
    if (!this.isTransactionActive || this.#isTypeorms) return super.commitTransaction()
    await this.query('COMMIT')
    this.isTransactionActive = false
    this.transactionDepth = 0
  }

  get #hasOnlyMarkers(): boolean {
    return this.#waiting.every(({ sql }) => MARKER.test(sql))
  }

  /** Drops what waits; false if the transaction has not even begun on the server. */
  #forget(): boolean {
    const [first] = this.#take()
    this.#failure = null
    return first?.sql !== BEGIN
  }

  #forgetAllButMarkers(): void {
    this.#failure = null
    for (const one of this.#take()) if (MARKER.test(one.sql)) this.#add(one)
  }

  #take(): WaitingStatement[] {
    const taken = this.#waiting
    this.#waiting = []
    this.#units = 0
    return taken
  }

  #add(one: WaitingStatement): void {
    this.#waiting.push(one)
    this.#units += one.sql.length
  }

  async #wait(connection: Connection, sql: string): Promise<Later> {
    const one: WaitingStatement = { sql, result: null }
    if (this.#isHeld) {
      await this.#send(connection, [one])
      return one
    }
    const isParted = this.#mustPart && !sql.startsWith('SELECT ')
    const before = isParted || this.#units + sql.length > PACKET_UNITS ? this.#take() : []
    this.#add(one)
    if (isParted) await this.#sendFirst(connection, before)
    else if (before.length > 0) await this.#send(connection, before)
    return one
  }

  /** True if what waits has to be answered before another statement may run. */
  get #mustPart(): boolean {
    if (this.#waiting.length === 0 || !mustPart(this.driver)) return false
    return this.#waiting[0]?.sql !== BEGIN || !this.#hasOnlyMarkers
  }

  /** Sends statements that the next ones depend on. */
  async #sendFirst(connection: Connection, statements: readonly WaitingStatement[]): Promise<void> {
    await this.#send(connection, statements).catch((error: unknown) => {
      this.#failure = { error }
      throw failedEarlier(error)
    })
  }

  async #run(connection: Connection, sql: string): Promise<QueryResult> {
    const isParted = this.#mustPart
    const waiting = this.#take()
    const witness: WaitingStatement | null = isParted && sql === 'COMMIT' ? { sql: WITNESS, result: null } : null
    if (witness) waiting.push(witness)
    else if (isParted) await this.#sendFirst(connection, waiting.splice(0))
    if (waiting.length > 0 && Buffer.byteLength(sql) + lengthOf(waiting) > PACKET_UNITS) {
      await this.#send(connection, waiting.splice(0))
    }
    const one: WaitingStatement = { sql, result: null }
    waiting.push(one)
    await this.#send(connection, waiting)
    if (witness) requireTransaction(witness.result?.raw)
    return one.result as unknown as QueryResult
  }

  /** Sends the statements in one packet. */
  #send(connection: Connection, statements: readonly WaitingStatement[]): Promise<void> {
    const last = statements.length - 1
    const packet =
      last === 0 ? (statements[0] as WaitingStatement).sql : statements.map(({ sql }) => sql).join(SEPARATOR)
    return new Promise((resolve, reject) => {
      let command: unknown
      command = connection.query(packet, null, (error, answer) => {
        if (error) {
          reject(this.#failed(error, statements, command))
          return
        }
        const answers = (last === 0 ? [answer] : answer) as unknown[]
        statements.forEach((statement, index) => {
          // A procedure of the user's may answer several times, and is the last statement.
          const own = index === last && answers.length > statements.length ? answers.slice(last) : answers[index]
          statement.result = resultOf(own)
        })
        resolve()
      })
    })
  }

  /** The error of the statement that failed: the last one, if its answer or that of one before was lost. */
  #failed(error: QueryError, statements: readonly WaitingStatement[], command: unknown): QueryFailedError {
    const last = statements.length - 1
    const isAnswer = !error.fatal && error.sqlState !== undefined
    // mysql2 counts here the results that it has read to their end.
    const answered = (command as { _resultIndex?: number } | undefined)?._resultIndex ?? last
    const at = isAnswer ? Math.min(answered, last) : last
    const { sql } = statements[at] as WaitingStatement
    const failed = new QueryFailedError(sql, undefined, Object.assign(error, { sql }))
    // mysql2 says so of a connection that was closed before: nothing was sent.
    if (/closed state/.test(error.message)) return failedEarlier(failed) as QueryFailedError
    if (at < last) {
      this.#failure = { error: failed }
      failedEarlier(failed)
    }
    return failed
  }
}

function lengthOf(statements: readonly WaitingStatement[]): number {
  return statements.reduce((sum, { sql }) => sum + sql.length, 0)
}

/** A driver's answer as TypeORM gives it. */
function resultOf(raw: unknown): QueryResult {
  const result = new QueryResult()
  result.raw = raw
  if (Array.isArray(raw)) result.records = raw
  else result.affected = (raw as { affectedRows?: number } | undefined)?.affectedRows
  return result
}

/** A runner's connection, for code that sends nothing on it. */
export function connectionOf(runner: QueryRunner): Promise<object> {
  return runner instanceof GatheringQueryRunner ? runner.unheld() : runner.connect()
}

/** Makes runners on the connections of a DataSource that we have opened, with `multipleStatements`. */
export function gatheringRunners({ driver }: DataSource): (mode: ReplicationMode) => GatheringQueryRunner {
  return (mode) => new GatheringQueryRunner(driver as ConstructorParameters<typeof MysqlQueryRunner>[0], mode)
}
