/** Makes a repository's session: from a DataSource, inside an open transaction, or the given one. */
import { type DataSource, type EntityManager, InstanceChecker, type QueryRunner } from 'typeorm'
import { RecentnError } from '../../shared/errors'
import type { Engine, Row, Session } from '../engine'
import { seeTransactions } from '../inside'
import { asNode, CLUSTER_VARIABLES } from '../mysql/cluster'
import { commonEngine, mariadbEngine, mysqlEngine } from '../mysql/mysql-engine'
import { ownPoolOf } from '../mysql/own-pool'
import { requireSettings } from '../mysql/session-settings'
import { requireOneSession, SkipLockedCheck } from '../mysql/skip-locked'
import { DEFAULT_STATEMENT_TIMEOUT_SECONDS } from '../mysql/statement-limit'
import { connect, type SqliteOptions } from '../opening/connect'
import { locationOf } from '../opening/location'
import { runAtOnce, sessionWithin } from '../operations'
import { BoundedPool } from '../pool/bounded-pool'
import { translated } from '../retries'
import { tablesIn } from '../schema/schema'
import { Gate } from '../sqlite/gate'
import { GatedSource, gatedSourceOf } from '../sqlite/gated-runner'
import { SharedFile } from '../sqlite/shared-file'
import { sqliteEngine } from '../sqlite/sqlite-engine'
import { type Tables, tablesOf } from '../tables'
import { Database } from '../transaction'
import { openingRunners } from './runner-connection'

/** The engines of the servers behind DataSources, once they have been asked. */
const recognised = new WeakMap<DataSource, Engine>()

/**
 * The engine of a DataSource; throws `invalid_input` for one that recentn does not support. Until the server has been
 * asked (`recognise`) it is what MySQL and MariaDB have in common, because the scheme of a URL may name either.
 */
export function engineOf(source: DataSource): Engine {
  const { type } = source.options
  if (type === 'better-sqlite3') return sqliteEngine
  if (type === 'mysql' || type === 'mariadb') return recognised.get(source) ?? commonEngine
  throw new RecentnError('invalid_input', `recentn works on mysql, mariadb and better-sqlite3, not on ${type}`)
}

export async function recognise(source: DataSource, runner: Asking = source): Promise<Engine> {
  const common = engineOf(source)
  if (common.family === 'sqlite' || recognised.has(source)) return common
  const [row] = await asked(source, runner, 'SELECT VERSION() AS version')
  // RETURNING came with 10.5; every MariaDB that has SKIP LOCKED (10.6) has it.
  const single = /mariadb/i.test(String(row?.version)) ? mariadbEngine : mysqlEngine
  const engine = asNode(single, await asked(source, runner, CLUSTER_VARIABLES))
  const own = ownPoolOf(source)
  if (own) own.isParted = !engine.commitsAlone
  recognised.set(source, engine)
  return engine
}

interface Asking {
  query(sql: string): Promise<Row[]>
}

function asked(source: DataSource, runner: Asking, sql: string): Promise<Row[]> {
  return runner.query(sql).catch((error: unknown) => {
    throw translated(error, engineOf(source), () => locationOf(source.options))
  })
}

export interface Attached {
  database: Database
  dataSource: DataSource
  close(): Promise<void>
}

interface AttachOptions {
  tablePrefix?: string
  clockOffsetMs?: () => number
  connectionTimeoutSeconds?: number
  statementTimeoutSeconds?: number
}

/**
 * recentn's access to a user's initialized DataSource. MySQL and MariaDB: through its pool. SQLite in a file: through
 * its own connection, with the same entities, so that the user's open transaction never mixes with the store's. SQLite in
 * memory: through the user's only connection, where the user's own transactions must go through the store's.
 */
export async function attach(user: DataSource, given: AttachOptions = {}): Promise<Attached> {
  const { tablePrefix, clockOffsetMs, connectionTimeoutSeconds } = given
  if (user.options.type !== 'better-sqlite3') return attachPool(user, given)
  const gate = gateOf(user)
  const options = { engine: engineOf(user), tables: tablesOf(tablePrefix), gate, clockOffsetMs }
  const { database: file } = user.options
  if (file === '' || file === ':memory:') {
    const { open } = new GatedSource(user, gate, { connectionTimeoutSeconds })
    return {
      database: new Database({ ...options, dataSource: user, open }),
      dataSource: user,
      close: closing(seeTransactions(user, gate)),
    }
  }
  const sharedFile = new SharedFile()
  const own = await connect(ownConnectionOf(user, user.options), gate, { sharedFile, connectionTimeoutSeconds })
  const undo = [sharedFile.share(user), seeTransactions(user, gate)]
  return {
    database: new Database({ ...options, dataSource: own, open: (done) => gatedSourceOf(own)?.open(done) }),
    dataSource: own,
    close: closing(...undo, () => own.destroy()),
  }
}

/** How much longer than a wait for a lock a statement may take. */
const AFTER_LOCK_SECONDS = 10

/** MySQL and MariaDB. Attaching waits for a connection of the user's pool no longer than a call does. */
async function attachPool(user: DataSource, given: AttachOptions): Promise<Attached> {
  const { tablePrefix, clockOffsetMs, connectionTimeoutSeconds, statementTimeoutSeconds } = given
  engineOf(user)
  let seconds = statementTimeoutSeconds ?? DEFAULT_STATEMENT_TIMEOUT_SECONDS
  const limit = () => seconds
  const open = openingRunners(() => user.createQueryRunner('master'), limit)
  const location = locationOf(user.options)
  const refused = (error: unknown) => {
    throw translated(error, engineOf(user), () => location)
  }
  const pool = new BoundedPool({ source: user, open, connectionTimeoutSeconds, location })
  const connection = await pool.take().catch(refused)
  try {
    await requireSettings(connection).catch(refused)
    const asking = { query: (sql: string) => connection.rows(sql, []) }
    await requireOneSession(asking.query).catch(refused)
    const engine = await recognise(user, asking)
    const [row] = await asked(user, asking, 'SELECT @@SESSION.innodb_lock_wait_timeout AS seconds')
    // A wait for a lock should end by itself: a statement that is cut off then may still take effect.
    if (statementTimeoutSeconds === undefined) seconds = Math.max(seconds, Number(row?.seconds) + AFTER_LOCK_SECONDS)
    const tables = tablesOf(tablePrefix)
    const skipLocked = new SkipLockedCheck(user, tables.schema, limit)
    const options = { dataSource: user, tables, open, connectionTimeoutSeconds, clockOffsetMs }
    return {
      database: new Database({ ...options, engine, isForeign: true, skipLocked }),
      dataSource: user,
      close: closing(seeTransactions(user, user)),
    }
  } finally {
    await connection.release()
  }
}

function closing(...steps: (() => unknown)[]): () => Promise<void> {
  return async () => {
    for (const step of steps) await step()
  }
}

const gates = new WeakMap<DataSource, Gate>()

/** All stores that are attached to a DataSource share one gate, because in memory they share its connection. */
function gateOf(user: DataSource): Gate {
  const gate = gates.get(user) ?? new Gate()
  gates.set(user, gate)
  return gate
}

/** The user's options on the store's own connection. Integers come as the user's entities expect them. */
function ownConnectionOf({ driver }: DataSource, options: SqliteOptions): SqliteOptions {
  return {
    ...options,
    // The driver that the user's TypeORM has found; ours may look elsewhere.
    driver: (driver as unknown as { sqlite: unknown }).sqlite,
    timeout: 0,
    prepareDatabase: async (connection) => {
      await options.prepareDatabase?.(connection)
      connection.pragma('synchronous = FULL')
    },
    migrationsRun: false,
    synchronize: false,
    dropSchema: false,
  }
}

export function sessionOf(source: DataSource | EntityManager | QueryRunner | Session): Session {
  if ('read' in source && 'write' in source) return source
  // Not instanceof: the user's TypeORM may be another copy of it.
  if (InstanceChecker.isDataSource(source)) return new LazySession(source)
  // TypeORM 0.3 has no other name for it.
  const { connection: dataSource } = source as EntityManager | QueryRunner
  return sessionWithin(source as EntityManager | QueryRunner, {
    engine: engineOf(dataSource),
    tables: tablesIn(dataSource),
  })
}

/** Attaches at the first use, because a constructor cannot wait, and again after the DataSource was opened again. */
class LazySession implements Session {
  static readonly #known = new WeakMap<DataSource, { connection: unknown; attached: Promise<Attached> }>()

  constructor(readonly source: DataSource) {}

  get tables(): Tables {
    return tablesIn(this.source)
  }

  readonly inTransaction = false

  async #database(): Promise<Database> {
    const connection = connectionOf(this.source)
    const known = LazySession.#known.get(this.source)
    if (known && known.connection === connection) return (await known.attached).database
    const attached = attach(this.source, { tablePrefix: this.tables.prefix })
    LazySession.#known.set(this.source, { connection, attached })
    attached.catch(() => LazySession.#known.delete(this.source))
    known?.attached.then((old) => old.close()).catch(() => {})
    return (await attached).database
  }

  readonly read: Session['read'] = async (work) => (await this.#database()).read(work)
  readonly write: Session['write'] = async (work, options) => (await this.#database()).write(work, options)
  readonly separately: Session['separately'] = async (work, options) =>
    (await this.#database()).separately(work, options)
  readonly whole: Session['whole'] = async (work) => (await this.#database()).whole(work)
  readonly afterCommit = runAtOnce
}

/** An object that changes when the DataSource is destroyed and initialized again. */
function connectionOf(source: DataSource): unknown {
  const { databaseConnection, pool } = source.driver as unknown as { databaseConnection?: unknown; pool?: unknown }
  return databaseConnection ?? pool
}
