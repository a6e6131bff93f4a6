/**
 * Our statements on a connection, and where their values go through the engine. No state but the connection's.
 *
 * Invariant: a transaction's statements are refused after it has ended: they would run outside of any transaction.
 */
import type { EntityManager, QueryRunner } from 'typeorm'
import { RecentnError } from '../shared/errors'
import type { AfterCommit } from './after-commit'
import { type Connection, type LaterAnswer, RunnerConnection } from './connection'
import type { Engine, Insert, Reader, Row, StatementAnswer, Statements, StatementValues, Tx } from './engine'
import { failedEarlier } from './mysql/packets'
import type { Tables } from './tables'

/** What our statements depend on. */
export interface Setting {
  engine: Engine
  tables: Tables
  clockOffsetMs?: () => number
}

export function readerOn(runner: QueryRunner, setting: Setting): Reader {
  return readerBy(new RunnerConnection(runner), setting)
}

function readerBy(connection: Connection, { engine, tables, clockOffsetMs }: Setting): Reader {
  return {
    engine,
    tables,
    get now() {
      const offset = Math.trunc(clockOffsetMs?.() ?? 0)
      return offset === 0 ? engine.nowMs : `(${engine.nowMs} + ${offset})`
    },
    rows: (sql: string, parameters: StatementValues = []) => connection.rows(...engine.bound(sql, parameters)),
  }
}

/** Statements outside of transactions, or of one. */
class ConnectionStatements implements Statements {
  readonly engine: Engine
  readonly tables: Tables
  readonly gathers: boolean
  readonly separate: boolean
  readonly #connection: Connection
  readonly #reader: Reader
  readonly #transaction: OpenTransaction | null

  constructor(connection: Connection, setting: Setting, transaction: OpenTransaction | null) {
    this.engine = setting.engine
    this.tables = setting.tables
    this.gathers = connection.gathers
    this.separate = transaction === null
    this.#connection = connection
    this.#reader = readerBy(connection, setting)
    this.#transaction = transaction
  }

  get now(): string {
    return this.#reader.now
  }

  get manager(): EntityManager | null {
    return this.#connection.manager
  }

  afterCommit(listener: () => void): void {
    this.#transaction?.listeners().add(listener)
  }

  /** Bound: some functions take it out of the object. */
  readonly rows = async (sql: string, parameters?: StatementValues): Promise<Row[]> => {
    this.#requireOpen()
    return this.#reader.rows(sql, parameters)
  }

  async execute(sql: string, parameters: StatementValues = []): Promise<StatementAnswer> {
    this.#requireOpen()
    return this.#connection.execute(...this.engine.bound(sql, parameters))
  }

  async run(sql: string, parameters: StatementValues = []): Promise<number> {
    this.#requireOpen()
    return this.#connection.run(...this.engine.bound(sql, parameters))
  }

  async later(sql: string, parameters: StatementValues = []): Promise<void> {
    await this.#later(sql, parameters)
  }

  async together(statements: readonly Insert[]): Promise<StatementAnswer[]> {
    const last = statements.at(-1)
    if (last === undefined) return []
    const waiting: LaterAnswer[] = []
    try {
      for (const { sql, parameters } of statements.slice(0, -1)) waiting.push(await this.#later(sql, parameters))
    } catch (error) {
      throw failedEarlier(error)
    }
    const answer = await this.execute(last.sql, last.parameters)
    const answers = waiting.map((answered) => answered())
    answers.push(answer)
    return answers
  }

  async #later(sql: string, parameters: StatementValues): Promise<LaterAnswer> {
    this.#requireOpen()
    return this.#connection.later(...this.engine.bound(sql, parameters))
  }

  #requireOpen(): void {
    if (this.#transaction?.isOpen() === false) throw new RecentnError('closed', 'The transaction has ended')
  }
}

/** What the statements of a transaction ask it. */
interface OpenTransaction {
  isOpen(): boolean
  listeners(): AfterCommit
}

/** Statements outside of any transaction. */
export function statementsOn(runner: QueryRunner, setting: Setting): Statements {
  return new ConnectionStatements(new RunnerConnection(runner), setting, null)
}

export function txOn(runner: QueryRunner, setting: Setting, transaction: OpenTransaction): Tx {
  return txBy(new RunnerConnection(runner), setting, transaction)
}

export function txBy(connection: Connection, setting: Setting, transaction: OpenTransaction): Tx {
  return new ConnectionStatements(connection, setting, transaction) as unknown as Tx
}
