/**
 * Whether the server's SKIP LOCKED passes over rows that another transaction has locked. One that understands the words
 * and reads without a lock (TiDB: pingcap/tidb#69720) would give one message to two receivers, so that it is tried out
 * before the first write of a store: one connection locks a row, another asks for it.
 */
import type { DataSource, QueryRunner } from 'typeorm'
import { RecentnError } from '../errors'
import { poolSizeOf } from './connection-use'

/** A check that waits longer for two connections may wait for transactions that wait for this one. */
const CONNECT_MS = 1000
/** An answer that takes longer waits for the lock. */
const ANSWER_MS = 2000
/** How long the name of the server has to do, where it could not be tried out. */
const AGAIN_MS = 60_000

/** Tries it out on the row of the table of the schema's version, by two connections of the DataSource; null where there are no two, or none within a second. */
export async function skipsLocked(
  source: DataSource,
  schemaTable: string,
  create = () => source.createQueryRunner('master'),
): Promise<boolean | null> {
  if (poolSizeOf(source) === 1) return null
  const [holder, other] = [create(), create()]
  const connected = Promise.all([holder.connect(), other.connect()])
  try {
    const both = await within(CONNECT_MS, connected)
    return both === 'late' ? null : await passesOver(holder, other, schemaTable)
  } finally {
    // Those that come later are given back when they are there.
    for (const runner of [holder, other]) {
      runner.connect().then(
        () => runner.release(),
        () => {},
      )
    }
  }
}

async function passesOver(holder: QueryRunner, other: QueryRunner, table: string): Promise<boolean> {
  const probe = `SELECT id FROM ${table} WHERE id = 1 FOR UPDATE SKIP LOCKED`
  let answer: Promise<unknown[]> | undefined
  await holder.query('START TRANSACTION')
  try {
    // Nothing: another process has just locked it, and it was passed over.
    if ((await holder.query(probe)).length === 0) return true
    answer = other.query(probe) as Promise<unknown[]>
    const rows = await within(ANSWER_MS, answer)
    // A server that waits for the lock is slow, but no row is given twice.
    return rows === 'late' || rows.length === 0
  } finally {
    await holder.query('ROLLBACK')
    await answer?.catch(() => {})
  }
}

async function within<T>(ms: number, promise: Promise<T>): Promise<T | 'late'> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(() => resolve('late'), ms)
  })
  promise.catch(() => {})
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}

/** What the server calls itself. */
export async function serverName(source: DataSource): Promise<string> {
  const [row] = await source.query('SELECT VERSION() AS version, @@version_comment AS comment')
  return `${row.version} ${row.comment}`
}

/** The refusal of a server that was found to read what is locked. */
export function refusedServer(name: string): RecentnError {
  return new RecentnError(
    'database_refused',
    `The server (${name}) ignores SKIP LOCKED: it returns rows that another transaction has locked, so that two receivers would get one message. Use MySQL 8.0.17 or MariaDB 10.10, or later`,
  )
}

/** What is known of the server of one store. */
export class SkipLockedCheck {
  readonly #source: DataSource
  readonly #schemaTable: string
  /** As it is now: whoever watches the DataSource's own statements is not shown these. */
  readonly #create: () => QueryRunner
  #isGood = false
  #refusal: RecentnError | null = null
  #asking: Promise<void> | null = null
  #againAt = Number.NEGATIVE_INFINITY

  constructor(source: DataSource, schemaTable: string) {
    this.#source = source
    this.#schemaTable = schemaTable
    const create = source.createQueryRunner.bind(source)
    this.#create = () => create('master')
  }

  /** Undefined when nothing is to be waited for; throws `database_refused` for a server that gives away locked rows. */
  require(): Promise<void> | undefined {
    if (this.#isGood) return undefined
    if (this.#refusal) throw this.#refusal
    if (performance.now() < this.#againAt) return undefined
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = null
    })
    return this.#asking
  }

  async #ask(): Promise<void> {
    // An error here comes again in the write that follows, which reports it; the next write asks again.
    const skips = await skipsLocked(this.#source, this.#schemaTable, this.#create).catch(() => undefined)
    if (skips === undefined) return
    const name = skips === true ? '' : await within(CONNECT_MS, serverName(this.#source)).catch(() => '')
    if (skips === false || /tidb/i.test(name)) {
      this.#refusal = refusedServer(name)
      throw this.#refusal
    }
    this.#isGood = skips === true
    this.#againAt = performance.now() + AGAIN_MS
  }
}
