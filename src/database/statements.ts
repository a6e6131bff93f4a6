/**
 * Our statements on a query runner, and where their values and answers go through the engine. No state but the runner's.
 *
 * Invariant: a transaction's statements are refused after it has ended: they would run outside of any transaction.
 */
import type { QueryRunner } from 'typeorm'
import { RecentnError } from '../errors'
import type { AfterCommit } from './after-commit'
import type { Engine, Insert, Reader, Row, StatementAnswer, Statements, StatementValues, Tx } from './engine'
import { failedEarlier, GatheringQueryRunner, type Later } from './gathering'
import { queryOn } from './prepared'
import type { Tables } from './tables'

/** What our statements depend on. */
export interface Setting {
  engine: Engine
  tables: Tables
  clockOffsetMs?: () => number
}

export function readerOn(runner: QueryRunner, { engine, tables, clockOffsetMs }: Setting): Reader {
  return {
    engine,
    tables,
    get now() {
      const offset = Math.trunc(clockOffsetMs?.() ?? 0)
      return offset === 0 ? engine.nowMs : `(${engine.nowMs} + ${offset})`
    },
    rows: (sql: string, parameters: StatementValues = []) =>
      queryOn<Row[]>(runner, engine.bound(sql, parameters), false),
  }
}

/** Statements outside of transactions, or of one. */
class RunnerStatements implements Statements {
  readonly engine: Engine
  readonly tables: Tables
  readonly gathers: boolean
  readonly separate: boolean
  readonly #runner: QueryRunner
  readonly #reader: Reader
  readonly #transaction: OpenTransaction | null

  constructor(runner: QueryRunner, setting: Setting, transaction: OpenTransaction | null) {
    this.engine = setting.engine
    this.tables = setting.tables
    this.gathers = runner instanceof GatheringQueryRunner
    this.separate = transaction === null
    this.#runner = runner
    this.#reader = readerOn(runner, setting)
    this.#transaction = transaction
  }

  get now(): string {
    return this.#reader.now
  }

  get manager(): QueryRunner['manager'] {
    return this.#runner.manager
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
    return answerOf(await queryOn(this.#runner, this.engine.bound(sql, parameters), true))
  }

  async run(sql: string, parameters?: StatementValues): Promise<number> {
    return (await this.execute(sql, parameters)).affected
  }

  async later(sql: string, parameters: StatementValues = []): Promise<void> {
    await this.#later(sql, parameters)
  }

  async together(statements: readonly Insert[]): Promise<StatementAnswer[]> {
    const last = statements.at(-1)
    if (last === undefined) return []
    const waiting: Later[] = []
    try {
      for (const { sql, parameters } of statements.slice(0, -1)) waiting.push(await this.#later(sql, parameters))
    } catch (error) {
      throw failedEarlier(error)
    }
    const answer = await this.execute(last.sql, last.parameters)
    const answers = waiting.map(({ result }) => answerOf(result))
    answers.push(answer)
    return answers
  }

  /** Runs a statement at once where the connection does not gather them. */
  async #later(sql: string, parameters: StatementValues): Promise<Later> {
    this.#requireOpen()
    const bound = this.engine.bound(sql, parameters)
    // TypeORM's type does not know the third way.
    if (this.gathers)
      return this.#runner.query(bound[0], bound[1] as never, 'later' as never) as Promise<unknown> as Promise<Later>
    return { result: await queryOn(this.#runner, bound, true) }
  }

  #requireOpen(): void {
    if (this.#transaction?.isOpen() === false) throw new RecentnError('closed', 'The transaction has ended')
  }
}

/** The effect of a statement from TypeORM's answer: the id is better-sqlite3's raw answer, and a part of mysql2's. */
function answerOf(result: Later['result']): StatementAnswer {
  const raw = result?.raw
  const insertId = typeof raw === 'object' ? (raw as { insertId?: string | number } | null)?.insertId : raw
  return {
    rows: (result?.records ?? []) as Row[],
    affected: Number(result?.affected ?? 0),
    insertId: BigInt((insertId as string | number | undefined) ?? 0),
  }
}

/** What the statements of a transaction ask it. */
interface OpenTransaction {
  isOpen(): boolean
  listeners(): AfterCommit
}

/** Statements outside of any transaction. */
export function statementsOn(runner: QueryRunner, setting: Setting): Statements {
  return new RunnerStatements(runner, setting, null)
}

export function txOn(runner: QueryRunner, setting: Setting, transaction: OpenTransaction): Tx {
  return new RunnerStatements(runner, setting, transaction) as unknown as Tx
}
