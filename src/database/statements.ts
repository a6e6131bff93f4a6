/**
 * Our statements on a connection, and where their values go through the engine. No state but the connection's.
 *
 * Invariant: a transaction's statements are refused after it has ended: they would run outside of any transaction.
 *
 * On a node of a Galera cluster each call that elsewhere commits by itself is a transaction. If another node is faster, Galera may
 * apply such a statement again after its rows were sent; the answer of a COMMIT says that it is done. BEGIN and COMMIT go with the
 * statements, on our own connections in one packet, so that no lock is held while this process does something else.
 */
import type { EntityManager } from 'typeorm'
import { RecentnError } from '../shared/errors'
import type { Connection, HeldConnection, LaterAnswer } from './connection'
import type { Engine, Insert, Reader, Row, StatementAnswer, Statements, StatementValues, Tx } from './engine'
import { failedEarlier } from './pool/cut-off'
import type { Tables } from './tables'
import type { AfterCommit } from './transaction-guard'

export interface Setting {
  engine: Engine
  tables: Tables
  clockOffsetMs?: () => number
}

/** Shared by all calls that have nothing to wait for. */
const DONE = Promise.resolve()

export function readerOn(connection: Connection, { engine, tables, clockOffsetMs }: Setting): Reader {
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

class ConnectionStatements implements Statements {
  readonly engine: Engine
  readonly tables: Tables
  readonly gathers: boolean
  readonly separate: boolean
  readonly isCallers: boolean
  readonly #connection: Connection
  readonly #reader: Reader
  readonly #setting: Setting
  readonly #transaction: OpenTransaction | null

  constructor(connection: Connection, setting: Setting, transaction: OpenTransaction | null) {
    this.#setting = setting
    this.engine = setting.engine
    this.tables = setting.tables
    this.gathers = connection.gathers
    this.separate = transaction === null
    this.isCallers = transaction?.isCallers === true
    this.#connection = connection
    this.#reader = readerOn(connection, setting)
    this.#transaction = transaction
  }

  get now(): string {
    return this.#reader.now
  }

  get manager(): EntityManager {
    return (this.#connection as HeldConnection).manager
  }

  afterCommit(listener: () => void): void {
    this.#transaction?.listeners().add(listener)
  }

  part(isOpen: () => boolean): Tx {
    const whole = this.#transaction as OpenTransaction
    return txOn(this.#connection, this.#setting, { ...whole, isOpen: () => isOpen() && whole.isOpen() })
  }

  /** Bound: some functions take it out of the object. */
  readonly rows = (sql: string, parameters?: StatementValues): Promise<Row[]> =>
    this.#ended() ?? this.#reader.rows(sql, parameters)

  execute(sql: string, parameters: StatementValues = []): Promise<StatementAnswer> {
    return this.#ended() ?? this.#connection.execute(...this.engine.bound(sql, parameters))
  }

  async run(sql: string, parameters?: StatementValues): Promise<number> {
    return (await this.execute(sql, parameters)).affected
  }

  later(sql: string | Insert, parameters: StatementValues = []): Promise<void> {
    if (typeof sql !== 'string') return this.later(sql.sql, sql.parameters)
    try {
      const answer = this.#later(sql, parameters)
      return answer instanceof Promise ? answer.then(() => {}) : DONE
    } catch (error) {
      return Promise.reject(error)
    }
  }

  async together(statements: readonly Insert[]): Promise<StatementAnswer[]> {
    const last = statements.at(-1)
    if (last === undefined) return []
    const waiting: LaterAnswer[] = []
    try {
      for (const { sql, parameters } of statements.slice(0, -1)) {
        const answer = this.#later(sql, parameters)
        waiting.push(answer instanceof Promise ? await answer : answer)
      }
    } catch (error) {
      throw failedEarlier(error)
    }
    const answer = await this.execute(last.sql, last.parameters)
    const answers = waiting.map((answered) => answered())
    answers.push(answer)
    return answers
  }

  #later(sql: string, parameters: StatementValues): LaterAnswer | Promise<LaterAnswer> {
    if (this.#transaction?.isOpen() === false) throw hasEnded()
    return this.#connection.later(...this.engine.bound(sql, parameters))
  }

  #ended(): Promise<never> | null {
    return this.#transaction?.isOpen() === false ? Promise.reject(hasEnded()) : null
  }
}

const hasEnded = () => new RecentnError('closed', 'The transaction has ended')

interface OpenTransaction {
  isCallers?: boolean
  isOpen(): boolean
  listeners(): AfterCommit
}

export function txOn(connection: Connection, setting: Setting, transaction: OpenTransaction): Tx {
  return new ConnectionStatements(connection, setting, transaction) as unknown as Tx
}

/** The statements, of which those that may write are run by others. */
export function writingBy(
  statements: Statements,
  writes: Pick<Statements, 'rows' | 'execute' | 'together'>,
): Statements {
  const { engine, tables, separate, gathers } = statements
  return {
    engine,
    tables,
    separate,
    gathers,
    get now() {
      return statements.now
    },
    run: async (sql, parameters) => (await writes.execute(sql, parameters)).affected,
    ...writes,
  }
}

const BEGIN = { sql: 'START TRANSACTION', parameters: [] }
const COMMIT = { sql: 'COMMIT', parameters: [] }

/** Statements outside of a transaction of the caller's: each commits by itself, or is a transaction. */
export function separateOn(connection: HeldConnection, setting: Setting): Statements {
  const statements = new ConnectionStatements(connection, setting, null)
  return setting.engine.commitsAlone ? statements : asTransactions(statements, connection)
}

function asTransactions(statements: Statements, connection: HeldConnection): Statements {
  const together: Statements['together'] = async (list) => {
    if (list.length === 0) return []
    try {
      return (await statements.together([BEGIN, ...list, COMMIT])).slice(1, -1)
    } catch (error) {
      await connection.execute('ROLLBACK', null).catch(() => connection.drop())
      throw error
    }
  }
  const execute = async (sql: string, parameters: StatementValues = []) => {
    const [answer] = await together([{ sql, parameters }])
    return answer as StatementAnswer
  }
  return writingBy(statements, {
    together,
    execute,
    rows: async (sql, parameters) =>
      sql.startsWith('SELECT') ? statements.rows(sql, parameters) : (await execute(sql, parameters)).rows,
  })
}
