/**
 * A connection of our own to MySQL or MariaDB, out of our own pool, without TypeORM between us and the driver. TypeORM gets it as
 * a view (`view`), through whose `query` its statements go with ours: in their order, in the same packets, and refused when the
 * transaction has ended.
 */
import type { PoolConnection } from 'mysql2'
import { type EntityManager, QueryFailedError, type QueryRunner } from 'typeorm'
import { givenTo, viewOf } from '../attached/driver-view'
import type { BeginOptions, Done, DriverConnection, Following, HeldConnection, LaterAnswer } from '../connection'
import type { Row, StatementAnswer } from '../engine'
import { AfterCommit } from '../transaction-guard'
import { oneStatement } from './mysql-engine'
import { BEGIN, Packets, type WaitingStatement } from './packets'
import { lockSeconds } from './session-settings'

const views = new WeakMap<object, MysqlConnection>()

/** Our connection behind what a query runner works on; undefined where that is another library's. */
export function ownBehind(runner: QueryRunner): MysqlConnection | undefined {
  const { databaseConnection } = runner as { databaseConnection?: object }
  return databaseConnection && views.get(databaseConnection)
}

export class MysqlConnection implements HeldConnection {
  readonly gathers = true
  isBegun = false
  following: Following | null = null
  readonly #connection: PoolConnection
  readonly #packets: Packets
  readonly #newRunner: () => QueryRunner
  #runner: QueryRunner | null = null
  #view: PoolConnection | null = null
  #listeners: AfterCommit | null = null

  constructor(connection: PoolConnection, isParted: boolean, newRunner: () => QueryRunner) {
    this.#connection = connection
    this.#packets = new Packets(connection, isParted)
    this.#newRunner = newRunner
  }

  get source(): object {
    return this
  }

  get driver(): DriverConnection {
    return this.#connection as DriverConnection
  }

  /** A query runner on the view is TypeORM's whole share in our transaction. */
  get manager(): EntityManager {
    if (this.#runner === null) {
      this.#runner = this.#newRunner()
      const state = { databaseConnection: this.view, isTransactionActive: true, transactionDepth: 1 }
      Object.assign(this.#runner, state)
    }
    return this.#runner.manager
  }

  get hasInner(): boolean {
    const { transactionDepth = 1 } = (this.#runner ?? {}) as { transactionDepth?: number }
    return transactionDepth !== 1
  }

  /** The connection for TypeORM and for those who get it from there. */
  get view(): PoolConnection {
    if (this.#view === null) {
      this.#view = viewOf(this.#connection, {
        query: (...given: unknown[]) => this.#given(given, 'query'),
        execute: (...given: unknown[]) => this.#given(given, 'execute'),
      })
      views.set(this.#view, this)
    }
    return this.#view
  }

  /** The listeners to the commit of a transaction that was begun through the view. */
  get listeners(): AfterCommit {
    this.#listeners ??= new AfterCommit()
    return this.#listeners
  }

  #send(sql: string, done: Done): void {
    this.#through(sql, (then) => this.#packets.run(sql, then), done)
  }

  #through(sql: string, run: (done: Done) => void, done: Done): void {
    const ran: Done = (error, answer) => {
      if (error === null) this.#ran(sql)
      done(error, answer)
    }
    if (this.following) this.following.through(sql, run, ran)
    else run(ran)
  }

  #ran(sql: string): void {
    if (this.#listeners?.ended(sql)) this.#listeners = null
    if (sql === 'COMMIT' || sql === 'ROLLBACK') this.isBegun = false
  }

  #ask<Answer>(sql: string, read: (answer: unknown) => Answer): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#send(sql, (error, answer) => (error === null ? resolve(read(answer)) : reject(error)))
    })
  }

  rows(sql: string): Promise<Row[]> {
    return this.#ask(sql, (answer) => answer as Row[])
  }

  execute(sql: string): Promise<StatementAnswer> {
    return this.#ask(sql, answerOf)
  }

  later(sql: string): LaterAnswer | Promise<LaterAnswer> {
    this.following?.wait()
    const waiting = this.#packets.wait(sql)
    return waiting instanceof Promise ? waiting.then(laterOf) : laterOf(waiting)
  }

  begin({ lockSeconds: asked }: BeginOptions): Promise<void> | undefined {
    this.#packets.run(BEGIN, () => {})
    this.isBegun = true
    return setWait(this.#connection, (sql) => this.#packets.wait(sql), asked)
  }

  #end(sql: 'COMMIT' | 'ROLLBACK'): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#send(sql, (error) => {
        if (error !== null) return reject(error)
        if (this.#runner) Object.assign(this.#runner, { isTransactionActive: false, transactionDepth: 0 })
        resolve()
      })
    })
  }

  commit(): Promise<void> {
    return this.#end('COMMIT')
  }

  rollBack(): Promise<void> {
    return this.#end('ROLLBACK')
  }

  drop(): void {
    this.#connection.destroy()
  }

  release(): undefined {
    this.#connection.release()
  }

  /** Runs a statement of the user's, which comes as the driver takes it. */
  #given(given: unknown[], method: 'query' | 'execute'): unknown {
    const { sql, values, options, done } = givenTo(given)
    const run = (...parameters: unknown[]) =>
      (this.#connection[method] as (...all: unknown[]) => unknown)(...parameters)
    if (done === null) {
      this.#packets.flush(() => {})
      return run(...given)
    }
    const answered: Done = (error, answer) => {
      if (error === null) done(null, answer, this.#packets.columns)
      else done(error instanceof QueryFailedError ? error.driverError : error)
    }
    if (options === null && method === 'query') {
      this.#send(oneStatement(this.#connection, sql, (values ?? []) as unknown[]), answered)
      return undefined
    }
    // With its own options, or prepared, it cannot go with others.
    const parameters = given.slice(0, -1)
    const last = (then: Done) => {
      run(...parameters, (error: unknown, answer: unknown, columns: unknown) => {
        this.#packets.columns = columns
        then(error ?? null, answer)
      })
    }
    this.#through(sql, (then) => this.#packets.flush((error) => (error === null ? last(then) : then(error))), answered)
    return undefined
  }
}

const laterOf =
  (waiting: WaitingStatement): LaterAnswer =>
  () =>
    answerOf(waiting.answer)

function answerOf(answer: unknown): StatementAnswer {
  if (Array.isArray(answer)) return { rows: answer, affected: 0, insertId: 0n }
  const { affectedRows = 0, insertId = 0 } = (answer ?? {}) as { affectedRows?: number; insertId?: number | string }
  return { rows: [], affected: affectedRows, insertId: BigInt(insertId) }
}

/** How long the statements of a connection wait for a lock. */
interface Told {
  /** The limit of its statements. */
  statementSeconds: number
  seconds: number
  /** The statement that says it. */
  by: Pick<WaitingStatement, 'isSent'>
}

/** The last setting of each connection. */
const told = new WeakMap<object, Told>()

/** Notes the wait that the settings of a new connection have given it. */
export function noteLockWait(connection: object, statementSeconds: number): void {
  told.set(connection, { statementSeconds, seconds: lockSeconds(statementSeconds), by: { isSent: true } })
}

/** Sets it with the first statement of a transaction, `asked` in place of the usual. Undefined where there is no wait. */
function setWait(
  connection: object,
  wait: (sql: string) => WaitingStatement | Promise<WaitingStatement>,
  asked: number | undefined,
): Promise<void> | undefined {
  const last = told.get(connection)
  if (!last) return undefined
  const seconds = lockSeconds(last.statementSeconds, asked)
  // A statement that was not sent has set nothing.
  if (last.seconds === seconds && last.by.isSent) return undefined
  const note = (by: WaitingStatement) => {
    told.set(connection, { ...last, seconds, by })
  }
  const by = wait(`SET SESSION innodb_lock_wait_timeout = ${seconds}`)
  if (by instanceof Promise) return by.then(note)
  note(by)
  return undefined
}
