/**
 * Statements that go to MySQL and MariaDB together. One whose answer is not needed yet waits, and goes in one packet with the
 * next statement that is awaited, or with the COMMIT. So a transaction takes as many round trips as it has answers to wait for.
 * Owns the statements of one connection that wait.
 *
 * Invariants: the server gets the statements in the order in which they were given, and runs none after the first one that
 * fails. After the failure of a statement that had waited, nothing is sent until a ROLLBACK: the statements that depended on it
 * would otherwise run without it. A packet holds the store's statements, which are ASCII with values written by
 * `mysql-engine.ts`, and at its end at most one of the user's, which cannot hold a second one.
 *
 * On a node of a Galera cluster (`isParted`) it holds one statement with an effect. Another node's change may abort the
 * transaction while the server answers a statement that others follow in the packet. Then the server runs the others outside of
 * it, and reports nothing (MariaDB 11.8.6). Reads may follow, because they change nothing, and COMMIT may, behind a witness.
 */
import type { PoolConnection, QueryError } from 'mysql2'
import { QueryFailedError } from 'typeorm'
import type { Done } from '../connection'
import { failedEarlier } from '../pool/cut-off'

/** A packet of more than one statement has no more characters than this; the least max_allowed_packet is 1 MiB. */
const PACKET_UNITS = 512 * 1024
const SEPARATOR = ';\n'

export const BEGIN = 'START TRANSACTION'
/** Statements that cannot fail, and have no effect without others: TypeORM's, and those of `operations.ts`. */
const MARKER = /^(START TRANSACTION|(RELEASE )?SAVEPOINT (recentn_operation|typeorm_\d+))$/
const ROLLBACK_TO = /^\s*ROLLBACK(\s+WORK)?\s+TO\b/i

/** The `max_allowed_packet` of connections, in bytes. */
const largest = new WeakMap<object, number>()

export const notePacketLimit = (connection: object, bytes: number) => void largest.set(connection, bytes)

/**
 * The server's error for a packet that is too large; null for any other. Such a packet is not sent: the server would close the
 * connection in the midst of it, and its words would be lost with the connection now and then.
 */
function tooLarge(connection: object, packet: string): QueryError | null {
  const limit = largest.get(connection) ?? Number.POSITIVE_INFINITY
  if (packet.length * 4 < limit || Buffer.byteLength(packet) < limit) return null
  const code = { errno: 1153, code: 'ER_NET_PACKET_TOO_LARGE', sqlState: '08S01', fatal: false }
  return Object.assign(new Error(`A packet of more than ${limit} bytes: max_allowed_packet`), code)
}

/** Has no effect; its answer says whether the session is still in a transaction. */
const WITNESS = 'DO 0'
const IN_TRANSACTION = 1

/** A statement that waits, and once it was sent its answer. */
export interface WaitingStatement {
  readonly sql: string
  answer: unknown
  isSent: boolean
}

export class Packets {
  #waiting: WaitingStatement[] = []
  #units = 0
  #failure: { error: unknown } | null = null
  columns: unknown

  constructor(
    private readonly connection: PoolConnection,
    private readonly isParted: boolean,
  ) {}

  /** Runs a statement, together with those that wait. */
  run(sql: string, done: Done): void {
    const isUnheard = sql === 'ROLLBACK' && !this.#forget()
    if (ROLLBACK_TO.test(sql)) this.#forgetAllButMarkers()
    if (this.#failure) done(this.#failure.error)
    else if (isUnheard || this.#needsNothing(sql)) done(null)
    else this.#send(sql, done)
  }

  /** True where the server need not hear of the statement, or not yet. */
  #needsNothing(sql: string): boolean {
    const ends = sql === 'COMMIT' && this.#waiting[0]?.sql === BEGIN
    if (!(ends || MARKER.test(sql)) || !this.#hasOnlyMarkers) return false
    if (ends) this.#forget()
    else this.#add(waiting(sql))
    return true
  }

  /** The statement waits for the next one, unless what waits has to be answered before. */
  wait(sql: string): WaitingStatement | Promise<WaitingStatement> {
    if (this.#failure) throw this.#failure.error
    const one = waiting(sql)
    const isParted = this.#mustPart && !sql.startsWith('SELECT ')
    const before = isParted || this.#units + sql.length > PACKET_UNITS ? this.#take() : []
    this.#add(one)
    if (before.length === 0) return one
    return new Promise((resolve, reject) => {
      const done: Done = (error) => (error === null ? resolve(one) : reject(error))
      if (isParted) this.#sendFirst(before, done)
      else this.#transmit(before, done)
    })
  }

  /** Sends what waits, for a statement that cannot go with it. */
  flush(done: Done): void {
    if (this.#failure) done(this.#failure.error)
    else if (this.#waiting.length === 0) done(null)
    else this.#sendFirst(this.#take(), done)
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

  /** True if what waits has to be answered before another statement may run. */
  get #mustPart(): boolean {
    if (this.#waiting.length === 0 || !this.isParted) return false
    return this.#waiting[0]?.sql !== BEGIN || !this.#hasOnlyMarkers
  }

  /** Sends statements that the next ones depend on. */
  #sendFirst(statements: readonly WaitingStatement[], done: Done): void {
    this.#transmit(statements, (error) => {
      if (error !== null) this.#failure = { error: failedEarlier(error) }
      done(error)
    })
  }

  #send(sql: string, done: Done): void {
    const isParted = this.#mustPart
    const units = this.#units
    const before = this.#take()
    const one = waiting(sql)
    const last = () => this.#transmit([one], (error) => done(error, one.answer))
    const then: Done = (error) => (error === null ? last() : done(error))
    if (isParted && sql === 'COMMIT') {
      const witness = waiting(WITNESS)
      this.#transmit([...before, witness, one], (error) => done(error ?? outsideBy(witness.answer), one.answer))
    } else if (isParted) this.#sendFirst(before, then)
    else if (before.length === 0) last()
    else if (Buffer.byteLength(sql) + units > PACKET_UNITS) this.#transmit(before, then)
    else {
      before.push(one)
      this.#transmit(before, (error) => done(error, one.answer))
    }
  }

  #transmit(statements: readonly WaitingStatement[], done: Done): void {
    const last = statements.length - 1
    const packet =
      last === 0 ? (statements[0] as WaitingStatement).sql : statements.map(({ sql }) => sql).join(SEPARATOR)
    const refused = tooLarge(this.connection, packet)
    if (refused !== null) {
      const error = this.#failed(refused, statements, undefined)
      if (last > 0) this.#failure = { error: failedEarlier(error) }
      done(error)
      return
    }
    let command: unknown
    command = this.connection.query(packet, null, (error, answer, columns) => {
      if (error) {
        done(this.#failed(error, statements, command))
        return
      }
      const answers = (last === 0 ? [answer] : answer) as unknown[]
      for (let index = 0; index <= last; index++) {
        const statement = statements[index] as WaitingStatement
        statement.isSent = true
        // A procedure of the user's may answer several times, and is the last statement.
        statement.answer = index === last && answers.length > last + 1 ? answers.slice(last) : answers[index]
      }
      this.columns = last === 0 ? columns : (columns as unknown as unknown[] | undefined)?.[last]
      done(null)
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
    if (/closed state/.test(error.message)) return failedEarlier(failed)
    if (at < last) this.#failure = { error: failedEarlier(failed) }
    return failed
  }
}

function waiting(sql: string): WaitingStatement {
  return { sql, answer: undefined, isSent: false }
}

/** A conflict if, by the witness's answer, the transaction had ended before its COMMIT: nothing of it is stored. */
function outsideBy(answer: unknown): QueryFailedError | null {
  if ((answer as { serverStatus: number }).serverStatus & IN_TRANSACTION) return null
  const error = new Error('Deadlock: the node has aborted the transaction before its COMMIT')
  return new QueryFailedError(WITNESS, undefined, Object.assign(error, { errno: 1213, code: 'ER_LOCK_DEADLOCK' }))
}
