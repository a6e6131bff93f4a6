/**
 * The port: one connection, whatever runs statements on it. `mysql/` and `sqlite/` have our own, `attached/` those of others.
 * A layer around it, such as the guard of an open transaction, follows the statements by `Following`.
 */
import type { EntityManager } from 'typeorm'
import type { Row, StatementAnswer, StatementValues } from './engine'

/** A connection, whose statements come as the engine binds them (`Engine.bound`). */
export interface Connection {
  /** Operations on it take turns by this object. */
  readonly source: object
  /** True where statements that are run together take one round trip (`packets.ts`). */
  readonly gathers: boolean
  rows(sql: string, values: StatementValues | null): Promise<Row[]>
  execute(sql: string, values: StatementValues | null): Promise<StatementAnswer>
  /** Runs a statement at once, or where the connection gathers them with the next one. */
  later(sql: string, values: StatementValues | null): LaterAnswer | Promise<LaterAnswer>
}

/** The answer to a statement, once it has been sent. */
export type LaterAnswer = () => StatementAnswer

/** A connection of which we begin and end the transactions. Where nothing has to be waited for, there is no promise. */
export interface HeldConnection extends Connection {
  /** The driver's connection, by which its settings and its server are known; null where it is in this process. */
  readonly driver: DriverConnection | null
  /** TypeORM's, in the same transaction. Made when it is first asked for; from then on the user's statements run here, too. */
  readonly manager: EntityManager
  readonly isBegun: boolean
  /** True while a transaction that was begun inside of this one is open. */
  readonly hasInner: boolean
  /** Follows the statements from now on, also those of the manager. */
  following: Following | null
  /** When the pool gave it, as `performance.now` counts. */
  givenAt?: number
  begin(how: BeginOptions): Promise<void> | undefined
  commit(): Promise<void>
  /** Rolls back the whole transaction, with all savepoints. */
  rollBack(): Promise<void>
  drop(): void
  release(): Promise<void> | undefined
}

export interface BeginOptions {
  isolation?: 'READ COMMITTED' | undefined
  /** How long its statements wait for a lock, where that is ours to set. */
  lockSeconds?: number | undefined
}

/** The parts of the drivers' connections that are used, mysql's among them. */
export interface DriverConnection {
  /** The charset by which it encodes what it sends. */
  config?: { charsetNumber?: number }
  stream?: DriverStream
  _socket?: DriverStream
  destroy?(): void
}

interface DriverStream {
  destroyed?: boolean
  destroy(error: Error): void
}

/** Takes the answer to a statement, or its error, which is null if there is none. */
export type Done<Answer = unknown> = (error: unknown, answer?: Answer) => void

export interface Following {
  through<Answer>(sql: string, run: (done: Done<Answer>) => void, done: Done<Answer>): void
  /** Throws where a statement that will wait must not run; notes it where it may. */
  wait(): void
}

export type Opened = (error: unknown, connection?: HeldConnection) => void
