/**
 * A transaction that another library has opened, of which we have one function that runs a statement. Owns which connection of
 * the server each was seen on.
 *
 * Invariant: nothing is written unless the transaction is open, and on one connection: both are asked before each operation.
 * Its end is not seen, so nothing here follows its commit.
 */
import type { EntityManager, QueryRunner } from 'typeorm'
import { RecentnError } from '../../shared/errors'
import type { Connection, LaterAnswer } from '../connection'
import { driverError, type Parameter, type Row, RowParameters, type Session, type StatementAnswer } from '../engine'
import { requireSettingsOn } from '../mysql/session-settings'
import { sessionIn, sessionWithin } from '../operations'
import { translated } from '../retries'
import { type Setting, txOn } from '../statements'
import { AfterCommit } from '../transaction-guard'

/** A transaction that is open in another library: `recentn/adapters` has one for each of the usual ones. */
export interface QueryTransaction {
  /**
   * Runs one statement in the transaction, with a value for each `?` (on MySQL and MariaDB there are none). Resolves to the
   * rows, as objects by the names of their columns, or to what the statement has changed.
   */
  query(sql: string, values: QueryValue[]): QueryAnswer | Promise<QueryAnswer>
}

export type QueryValue = string | number | bigint | null

export type QueryAnswer = Record<string, unknown>[] | QueryChanges

export interface QueryChanges {
  affectedRows: number | bigint
  /** Left out where the library has none: the store then asks the database. */
  insertId?: number | bigint | string | null | undefined
}

type BoundValues = Parameters<Connection['rows']>[1]

class QueryConnection implements Connection {
  readonly gathers = false
  readonly #lastId: string

  constructor(
    readonly source: QueryTransaction,
    isSqlite: boolean,
  ) {
    this.#lastId = `SELECT CAST(${isSqlite ? 'last_insert_rowid() AS TEXT' : 'LAST_INSERT_ID() AS CHAR'}) AS id`
  }

  async #ask(sql: string, values: readonly Parameter[]): Promise<QueryAnswer> {
    try {
      return await this.source.query(sql, [...values])
    } catch (error) {
      throw underlying(error)
    }
  }

  async execute(sql: string, values: BoundValues): Promise<StatementAnswer> {
    const answer: StatementAnswer = { rows: [], affected: 0, insertId: 0n }
    let id: QueryChanges['insertId'] = 0
    for (const row of values instanceof RowParameters ? values.rows : [values ?? []]) {
      const one = await this.#ask(sql, row)
      if (Array.isArray(one)) for (const each of one) answer.rows.push(each)
      else {
        answer.affected += Number(one.affectedRows)
        id = one.insertId
      }
    }
    // A driver may have rounded it.
    const isExact = id !== undefined && id !== null && Number(id) <= Number.MAX_SAFE_INTEGER
    if (isExact) answer.insertId = BigInt(id as string)
    else if (/^INSERT|LAST_INSERT_ID\(/.test(sql)) answer.insertId = await this.#insertId()
    return answer
  }

  async #insertId(): Promise<bigint> {
    const [row] = await this.rows(this.#lastId, null)
    return BigInt(row?.id as string)
  }

  async rows(sql: string, values: BoundValues): Promise<Row[]> {
    return (await this.execute(sql, values)).rows
  }

  async later(sql: string, values: BoundValues): Promise<LaterAnswer> {
    const answer = await this.execute(sql, values)
    return () => answer
  }
}

const OF_DRIVERS = /^(SQLITE|PROTOCOL|ER)_/

/** The driver's error below what the library has made of it, without the statement that some libraries put before its text. */
function underlying(error: unknown): unknown {
  let one = error as Record<string, unknown> | null | undefined
  for (let depth = 0; typeof one === 'object' && one !== null && depth < 8; depth++) {
    const { errno, code, fatal, sqlState, sqlMessage, message } = one
    if (typeof errno === 'number' || OF_DRIVERS.test(String(code))) {
      const text = String(sqlMessage ?? message)
      return Object.assign(new Error(text, { cause: error }), { errno, code, fatal, sqlState })
    }
    one = (one.driverError ?? one.original ?? one.cause) as typeof one
  }
  return error
}

/** The server's number of the connection on which a transaction was seen open. */
const seen = new WeakMap<QueryTransaction, string>()

type Given = EntityManager | QueryRunner | QueryTransaction

/** The session inside a transaction of the caller's, with the manager of one that is TypeORM's. */
export function joined(
  given: Given,
  setting: Setting,
  location: string,
): { session: Session; manager?: EntityManager } {
  if (isQueried(given)) return { session: sessionOnQuery(given, setting, location) }
  const session = sessionWithin(given, setting)
  return { session, manager: 'startTransaction' in given ? given.manager : given }
}

/** Not by `instanceof`: the user's TypeORM may be another copy of it. Objects that it marks so may have a `query` too. */
function isQueried(given: Given): given is QueryTransaction {
  if (typeof given !== 'object' || given === null || '@instanceof' in given) return false
  return !('startTransaction' in given) && 'query' in given && typeof given.query === 'function'
}

/** Nothing is retried: the session throws `conflict`. */
function sessionOnQuery(given: QueryTransaction, setting: Setting, location: string): Session {
  const isSqlite = setting.engine.family === 'sqlite'
  const connection = new QueryConnection(given, isSqlite)
  const tx = txOn(connection, setting, { isCallers: true, isOpen: () => true, listeners: () => new AfterCommit() })
  const check = () => (isSqlite ? requireOpenFile(connection) : requireOpenOnServer(connection))
  return sessionIn(tx, given, (error) => translated(error, setting.engine, () => location), check)
}

async function requireOpenOnServer(connection: QueryConnection): Promise<void> {
  const id = await requireSettingsOn(async (sql) => {
    const rows = await connection.rows(sql, null)
    if (rows[0]?.connection_id === undefined) throw wrong(ROWS)
    return rows
  }, 'of the transaction')
  if ((seen.get(connection.source) ?? id) !== id) throw wrong(SEVERAL)
  // Outside of a transaction the server forgets a savepoint at once, and another connection does not know it.
  await connection.execute('SAVEPOINT recentn_open', null)
  await connection.execute('RELEASE SAVEPOINT recentn_open', null).catch((error: unknown) => {
    throw driverError(error).errno === NO_SAVEPOINT ? notOpen(connection) : error
  })
  seen.set(connection.source, id)
}

const NO_SAVEPOINT = 1305

/** SQLite says only by its error that a transaction is open. */
async function requireOpenFile(connection: QueryConnection): Promise<void> {
  const begun = await connection.execute('BEGIN', null).catch((error: unknown) => {
    if (!/within a transaction/.test(driverError(error).message ?? '')) throw error
    return null
  })
  if (begun !== null) {
    await connection.execute('ROLLBACK', null)
    throw notOpen(connection)
  }
  seen.set(connection.source, '')
}

const ROWS =
  'must resolve to rows as objects by the names of their columns, or to { affectedRows }: recentn/adapters has functions that do'
const SEVERAL =
  'sends its statements to several connections, as a pool does: give the transaction, or its one connection'

const wrong = (what: string) => new RecentnError('invalid_input', `The query function of the transaction ${what}`)

function notOpen({ source }: QueryConnection): RecentnError {
  if (seen.has(source)) return new RecentnError('closed', 'The transaction has ended')
  return wrong('runs its statements outside of a transaction: begin one first, and give its own connection')
}
