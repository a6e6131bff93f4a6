/**
 * A connection of TypeORM's: a query runner of the user's DataSource, or the one of a transaction that the user has begun. Owns
 * the limit of our statements on it: one that passes nothing would hold its caller for ever.
 *
 * Invariants: no statement of the user's is ended. In `store.transaction`, where they share a connection, only statements of
 * the store are limited, and none while one of the user's runs, behind which it may wait. A connection whose statement is over
 * its limit is closed, never returned to the pool: its answer may still come. To the caller it is a lost connection.
 */
import type { EntityManager, QueryResult, QueryRunner } from 'typeorm'
import { clearTimeout, performance, setTimeout } from '../../shared/platform'
import type {
  BeginOptions,
  Done,
  DriverConnection,
  Following,
  HeldConnection,
  LaterAnswer,
  Opened,
} from '../connection'
import { type Parameter, type Row, RowParameters, type StatementAnswer, type StatementValues } from '../engine'
import { endOf, OverLimit } from '../mysql/statement-limit'
import type { AfterCommit } from '../transaction-guard'
import { callersTransaction } from './callers-transaction'
import { behind, givenTo, viewOf } from './driver-view'

/** Statements that begin and end transactions are quick, whoever sends them. */
const CONTROL = /^(SET TRANSACTION|START TRANSACTION|COMMIT|ROLLBACK|SAVEPOINT|RELEASE SAVEPOINT)\b/

interface RunnerParts {
  databaseConnection?: DriverConnection & { query(...given: unknown[]): unknown }
  transactionDepth: number
}

export class RunnerConnection implements HeldConnection {
  readonly gathers = false
  following: Following | null = null
  readonly #runner: QueryRunner
  readonly #limitMs: number
  /** The store's statements that have not reached the driver, once the user's pass there, too. */
  #ours: string[] | null = null
  #theirs = 0

  constructor(runner: QueryRunner, limitSeconds = Number.POSITIVE_INFINITY) {
    this.#runner = runner
    this.#limitMs = limitSeconds * 1000
  }

  get source(): object {
    return this.#runner
  }

  get #parts(): RunnerParts {
    return this.#runner as unknown as RunnerParts
  }

  get driver(): DriverConnection | null {
    const { databaseConnection } = this.#parts
    return databaseConnection ? behind(databaseConnection) : null
  }

  get isBegun(): boolean {
    return this.#runner.isTransactionActive
  }

  get hasInner(): boolean {
    return this.#parts.transactionDepth !== 1
  }

  /** The listeners to the commit of a transaction that the runner's user has begun. */
  get listeners(): AfterCommit {
    return callersTransaction(this.#runner, this.source).listeners
  }

  get manager(): EntityManager {
    const { databaseConnection } = this.#parts
    if (databaseConnection && this.#ours === null) {
      this.#ours = []
      const query = (...given: unknown[]) => this.#given(databaseConnection, given)
      this.#parts.databaseConnection = viewOf(databaseConnection, { query })
    }
    return this.#runner.manager
  }

  /** Passes on what TypeORM's runner sends; what is not ours is the user's. */
  #given(connection: NonNullable<RunnerParts['databaseConnection']>, given: unknown[]): unknown {
    const { sql, done } = givenTo(given)
    const ours = this.#ours?.indexOf(sql) ?? -1
    if (ours >= 0) this.#ours?.splice(ours, 1)
    if (ours >= 0 || done === null) {
      // A stream may be read for any time.
      if (ours < 0) this.#theirs++
      return connection.query(...given)
    }
    const isTheirs = !CONTROL.test(sql)
    let columns: unknown
    if (isTheirs) this.#theirs++
    const run = (ran: Done) => {
      connection.query(...given.slice(0, -1), (error: unknown, answer: unknown, more: unknown) => {
        columns = more
        ran(error ?? null, answer)
      })
    }
    const answered: Done = (error, answer) => {
      if (isTheirs) this.#theirs--
      done(error, answer, columns)
    }
    if (this.following) this.following.through(sql, run, answered)
    else run(answered)
    return undefined
  }

  async #ask<Answer>(sql: string, values: StatementValues | null, isStructured: boolean): Promise<Answer> {
    const query = () => this.#limited(() => this.#query<Answer>(sql, values, isStructured))
    const { following } = this
    if (!following) return query()
    return new Promise<Answer>((resolve, reject) => {
      following.through<Answer>(
        sql,
        (done) => {
          query().then((answer) => done(null, answer), done)
        },
        (error, answer) => (error === null ? resolve(answer as Answer) : reject(error)),
      )
    })
  }

  /** A runner of the user's, which does not take rows of parameters, gets a statement for each. */
  async #query<Answer>(sql: string, values: StatementValues | null, isStructured: boolean): Promise<Answer> {
    if (!(values instanceof RowParameters)) {
      this.#ours?.push(sql)
      return this.#runner.query(sql, values as Parameter[], isStructured as true) as Promise<Answer>
    }
    const records: Row[] = []
    let affected = 0
    let raw: unknown = 0
    for (const row of values.rows) {
      const one = await this.#runner.query(sql, row as Parameter[], true)
      raw = one.raw
      affected += one.affected ?? 0
      for (const record of one.records) records.push(record)
    }
    return (isStructured ? { raw, records, affected } : records) as Answer
  }

  async #limited<Answer>(work: () => Promise<Answer>): Promise<Answer> {
    const limitMs = this.#limitMs
    if (limitMs === Number.POSITIVE_INFINITY) return work()
    const over = () => {
      if (this.#theirs > 0) {
        timer = setTimeout(over, limitMs)
        return
      }
      const { stream, _socket } = this.driver ?? {}
      const error = new OverLimit(`no answer within ${limitMs / 1000} s (statementTimeoutSeconds)`)
      ;(stream ?? _socket)?.destroy(error)
    }
    const until = endOf(this.driver ?? undefined)
    let timer = setTimeout(over, Math.max(0, Math.min(limitMs, until - performance.now())))
    try {
      return await work()
    } finally {
      clearTimeout(timer)
    }
  }

  rows(sql: string, values: StatementValues | null): Promise<Row[]> {
    return this.#ask(sql, values, false)
  }

  async execute(sql: string, values: StatementValues | null): Promise<StatementAnswer> {
    return answerOf(await this.#ask<QueryResult | undefined>(sql, values, true))
  }

  async later(sql: string, values: StatementValues | null): Promise<LaterAnswer> {
    const answer = await this.execute(sql, values)
    return () => answer
  }

  begin({ isolation }: BeginOptions): Promise<void> {
    return this.#limited(() => this.#runner.startTransaction(isolation))
  }

  commit(): Promise<void> {
    return this.#limited(() => this.#runner.commitTransaction())
  }

  rollBack(): Promise<void> {
    this.#parts.transactionDepth = 1
    return this.#limited(() => this.#runner.rollbackTransaction())
  }

  drop(): void {
    this.driver?.destroy?.()
  }

  release(): Promise<void> {
    return this.#runner.release()
  }
}

export function openingRunners(create: () => QueryRunner, limitSeconds?: () => number): (done: Opened) => void {
  return (done) => {
    const runner = create()
    runner.connect().then(() => done(null, new RunnerConnection(runner, limitSeconds?.())), done)
  }
}

/** The effect of a statement from TypeORM's answer: the id is better-sqlite3's raw answer, and a part of mysql2's. */
function answerOf(result: QueryResult | undefined): StatementAnswer {
  const raw = result?.raw
  const insertId = typeof raw === 'object' ? (raw as { insertId?: string | number } | null)?.insertId : raw
  return {
    rows: (result?.records ?? []) as Row[],
    affected: Number(result?.affected ?? 0),
    insertId: BigInt((insertId as string | number | undefined) ?? 0),
  }
}
