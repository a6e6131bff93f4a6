/**
 * Checks that the server's SKIP LOCKED skips rows that another transaction has locked. A server that accepts the words
 * but reads locked rows (TiDB: pingcap/tidb#69720) would give one message to two receivers. So the check runs before
 * the first write of a store: one connection locks a row, another one asks for it.
 */
import type { DataSource } from 'typeorm'
import { endsWithin } from '../../shared/backoff'
import { RecentnError } from '../../shared/errors'
import { CLOCK, performance } from '../../shared/platform'
import { openingRunners } from '../attached/runner-connection'
import type { HeldConnection, Opened } from '../connection'
import { poolSizeOf } from '../pool/connection-use'

/** A caller that waits longer for two connections at once may wait for transactions that wait for it. */
const CONNECT_MS = 1000
/** A server that takes longer to answer waits for the lock. */
const ANSWER_MS = 2000
/** How long the name of the server decides, if the check was not possible. */
const AGAIN_MS = 60_000

/** Checks it on the schema table's row, with two connections; null if there are not two within a second. */
export async function skipsLocked(
  source: DataSource,
  schemaTable: string,
  open = openingRunners(() => source.createQueryRunner('master')),
): Promise<boolean | null> {
  if (poolSizeOf(source) === 1) return null
  const opening = [0, 1].map(
    () =>
      new Promise<HeldConnection>((resolve, reject) => {
        open((error, connection) => (connection ? resolve(connection) : reject(error)))
      }),
  )
  try {
    const both = Promise.all(opening)
    if (!(await endsWithin(CLOCK, CONNECT_MS, both))) return null
    const [holder, other] = (await both) as [HeldConnection, HeldConnection]
    return await passesOver(holder, other, schemaTable)
  } finally {
    // Connections that arrive later are returned to the pool then.
    for (const one of opening) {
      one.then(
        (connection) => connection.release(),
        () => {},
      )
    }
  }
}

async function passesOver(holder: HeldConnection, other: HeldConnection, table: string): Promise<boolean> {
  const probe = `SELECT id FROM ${table} WHERE id = 1 FOR UPDATE SKIP LOCKED`
  let answer: Promise<unknown[]> | undefined
  await holder.begin({})
  try {
    // No row: another process has just locked it, and it was skipped.
    if ((await holder.rows(probe, [])).length === 0) return true
    answer = other.rows(probe, [])
    // A server that waits for the lock is slow, but returns no row twice.
    return !(await endsWithin(CLOCK, ANSWER_MS, answer)) || (await answer).length === 0
  } finally {
    await holder.rollBack()
    await answer?.catch(() => {})
  }
}

export async function serverName(source: DataSource): Promise<string> {
  const [row] = await source.query('SELECT VERSION() AS version, @@version_comment AS comment')
  return `${row.version} ${row.comment}`
}

export function refusedServer(name: string): RecentnError {
  return new RecentnError(
    'database_refused',
    `The server (${name}) ignores SKIP LOCKED: it returns rows that another transaction has locked, so that two receivers would get one message. Use MySQL 8.0.17 or MariaDB 10.10, or later`,
  )
}

/** The result of the check for the server of one store. */
export class SkipLockedCheck {
  readonly #open: (done: Opened) => void
  #isGood = false
  #refusal: RecentnError | null = null
  #asking: Promise<void> | null = null
  #againAt = Number.NEGATIVE_INFINITY

  constructor(
    private readonly source: DataSource,
    private readonly schemaTable: string,
    limitSeconds?: () => number,
  ) {
    // The method as it is now, so that code that wraps it later does not see these statements.
    const create = source.createQueryRunner.bind(source)
    this.#open = openingRunners(() => create('master'), limitSeconds)
  }

  /** Undefined if the check has been made. Throws `database_refused` for a server that returns locked rows. */
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
    // An error here also fails the write that follows, which reports it; the next write checks again.
    const skips = await skipsLocked(this.source, this.schemaTable, this.#open).catch(() => undefined)
    if (skips === undefined) return
    const name = skips === true ? '' : await this.#name()
    if (skips === false || /tidb/i.test(name)) {
      this.#refusal = refusedServer(name)
      throw this.#refusal
    }
    this.#isGood = skips === true
    this.#againAt = performance.now() + AGAIN_MS
  }

  async #name(): Promise<string> {
    const name = serverName(this.source).catch(() => '')
    return (await endsWithin(CLOCK, CONNECT_MS, name)) ? name : ''
  }
}
