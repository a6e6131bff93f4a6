/**
 * Checks that the statements of one connection reach one session of the server. A proxy that shares its connections among clients
 * sends them to several: then settings, locks by name, ids and the two statements of a claim would be of other sessions.
 */
import type { DataSource } from 'typeorm'
import { RecentnError } from '../../shared/errors'
import { poolSizeOf } from '../pool/connection-use'

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

/** Throws `database_refused` if a connection reaches several sessions, or one that does not keep its time zone. */
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
