/**
 * Checks that the server's SKIP LOCKED skips rows that another transaction has locked. A server that accepts the words
 * but reads locked rows (TiDB: pingcap/tidb#69720) would give one message to two receivers. So the check runs before
 * the first write of a store: one connection locks a row, another one asks for it.
 */
import type { DataSource } from 'typeorm'
import { endsWithin, sharing } from '../../shared/backoff'
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
  const opened = (done: (connection: HeldConnection) => void, failed: (error: unknown) => void) =>
    open((error, connection) => (connection ? done(connection) : failed(error)))
  const opening = [0, 1].map(() => new Promise(opened))
  try {
    const both = Promise.all(opening)
    if (!(await endsWithin(CLOCK, CONNECT_MS, both))) return null
    const [holder, other] = (await both) as [HeldConnection, HeldConnection]
    return await passesOver(holder, other, schemaTable)
  } finally {
    // Connections that arrive later are returned to the pool then.
    for (const one of opening) one.then((connection) => connection.release()).catch(() => {})
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
  readonly #asking = sharing(() => this.#ask())
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
    return this.#asking()
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

type AskServer = (sql: string) => Promise<unknown>

/** With a second column, because a proxy may answer a question for the number alone by itself. */
const ASK = 'SELECT CONNECTION_ID() AS connection_id, @@SESSION.time_zone AS zone'
/** Such proxies share connections between transactions. */
const AROUND = [ASK, 'START TRANSACTION', ASK, 'ROLLBACK', ASK]

interface SessionAnswer {
  connection_id: unknown
  zone: string
}

export const OF_A_PROXY = 'a proxy may be sharing or resetting sessions: connect recentn to the server itself'

/**
 * Throws `database_refused` if a connection reaches several sessions, or one that does not keep its time zone. A proxy that shares its
 * connections does so: settings, locks by name, ids and the two statements of a claim would be of other sessions.
 */
export async function requireOneSession(query: AskServer, zone?: string): Promise<void> {
  const sessions: SessionAnswer[] = []
  for (const sql of AROUND) {
    const answer = await query(sql)
    if (sql === ASK) sessions.push((answer as [SessionAnswer])[0])
  }
  const fault = severalOf(sessions) ?? lostOf(sessions, zone)
  if (fault !== null) throw new RecentnError('database_refused', `${fault}: ${OF_A_PROXY}`)
}

const severalOf = (sessions: readonly SessionAnswer[]): string | null => {
  const ids = [...new Set(sessions.map(({ connection_id: id }) => String(id)))]
  return ids.length === 1 ? null : `The statements of one connection reach several sessions (CONNECTION_ID() ${ids})`
}

const lostOf = (sessions: readonly SessionAnswer[], zone: string | undefined): string | null => {
  const other = sessions.find((session) => zone !== undefined && session.zone !== zone)
  return other ? `A connection does not keep its settings (time_zone is ${other.zone}, not ${zone})` : null
}

const MAX_CONNECTIONS = 4
const ROUNDS = 3

/** The same for several connections that send their statements in turns; why it is not so, or null. */
export async function sharedSessions(source: DataSource): Promise<string | null> {
  const count = Math.min(MAX_CONNECTIONS, poolSizeOf(source) ?? MAX_CONNECTIONS)
  const runners = Array.from({ length: count }, () => source.createQueryRunner('master'))
  try {
    const all = runners.map((): SessionAnswer[] => [])
    for (let round = 0; round < ROUNDS; round++) {
      for (const sql of AROUND) {
        for (const [index, runner] of runners.entries()) {
          const answer = await runner.query(sql)
          if (sql === ASK) all[index]?.push(answer[0])
        }
      }
    }
    const several = all.map(severalOf).find((fault) => fault !== null)
    if (several) return several
    const ids = new Set(all.map(([first]) => String(first?.connection_id)))
    return ids.size === count ? null : `${count} connections have ${ids.size} sessions`
  } finally {
    await Promise.all(runners.map((runner) => runner.release()))
  }
}
