/**
 * What our statements run on: one connection, by a query runner of TypeORM's or by whatever else runs statements on it. Owns
 * no state but the runner's.
 */
import type { EntityManager, QueryRunner } from 'typeorm'
import type { Row, StatementAnswer, StatementValues } from './engine'
import { GatheringQueryRunner, type Later } from './mysql/packets'
import { queryOn } from './sqlite/prepared'

/** A connection, whose statements come as the engine binds them (`Engine.bound`). */
export interface Connection {
  /** Operations on it take turns by this object. */
  readonly source: object
  /** Null where the connection is not TypeORM's. */
  readonly manager: EntityManager | null
  /** True where statements that are run together take one round trip (`packets.ts`). */
  readonly gathers: boolean
  rows(sql: string, values: StatementValues | null): Promise<Row[]>
  execute(sql: string, values: StatementValues | null): Promise<StatementAnswer>
  /** Resolves to how many rows the statement has changed. */
  run(sql: string, values: StatementValues | null): Promise<number>
  /** Runs a statement at once, or where the connection gathers them with the next one. */
  later(sql: string, values: StatementValues | null): Promise<LaterAnswer>
}

/** The answer to a statement, once it has been sent. */
export type LaterAnswer = () => StatementAnswer

export class RunnerConnection implements Connection {
  readonly gathers: boolean

  constructor(readonly source: QueryRunner) {
    this.gathers = source instanceof GatheringQueryRunner
  }

  get manager(): EntityManager {
    return this.source.manager
  }

  rows(sql: string, values: StatementValues | null): Promise<Row[]> {
    return queryOn<Row[]>(this.source, [sql, values], false)
  }

  async execute(sql: string, values: StatementValues | null): Promise<StatementAnswer> {
    return answerOf(await queryOn(this.source, [sql, values], true))
  }

  async run(sql: string, values: StatementValues | null): Promise<number> {
    return (await this.execute(sql, values)).affected
  }

  async later(sql: string, values: StatementValues | null): Promise<LaterAnswer> {
    if (!this.gathers) {
      const answer = await this.execute(sql, values)
      return () => answer
    }
    // TypeORM's type does not know the third way.
    const waiting: Later = await (this.source.query(sql, values as never, 'later' as never) as Promise<never>)
    return () => answerOf(waiting.result)
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
