/**
 * The recipe that recentn comes from, as it was published, under concurrent writers.
 *
 * Source: Sheeri K. Cabral, "MySQL Queues, part II — groups of queues" (2007), which adds the group to Baron Schwartz,
 * "How to implement a queue in SQL" (2007). Ids are BIGINT, as the article itself advises; the rest is as published.
 */
import mysql from 'mysql2/promise'
import { mysqlUri } from '../support/servers/server'

export const CAPACITY = 10
export const CONNECTIONS = 20
/** Where nearly everything is refused, a slow machine needs minutes for a load that takes a second elsewhere. */
const MAX_SECONDS = 5

const CREATE = `CREATE TABLE q (
  id BIGINT NOT NULL,
  modulo BIGINT NOT NULL,
  kind VARCHAR(20) NOT NULL,
  food VARCHAR(40) NOT NULL,
  PRIMARY KEY (id, kind),
  UNIQUE KEY (modulo, kind)
) ENGINE=InnoDB`

const APPEND = `REPLACE INTO q (id, modulo, kind, food)
  SELECT COALESCE(MAX(id), -1) + 1, (COALESCE(MAX(id), -1) + 1) MOD ${CAPACITY}, ?, ? FROM q WHERE kind = ?`

/** Settings of a session before it writes, by the name that the table gives it. */
export const SESSIONS = {
  'REPEATABLE READ': ['SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ'],
  'READ COMMITTED': ['SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED'],
  // Off is MariaDB's default before 11.6.2 and what MySQL does: the refusal that newer ones answer in place of a loss.
  'READ COMMITTED, innodb_snapshot_isolation=OFF': [
    'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED',
    'SET SESSION innodb_snapshot_isolation = OFF',
  ],
} as const
export type SessionName = keyof typeof SESSIONS

/** The result of a load. `taken` is how many numbers the groups say they gave out: MAX(id) + 1 of each, summed up. */
export interface Tally {
  attempts: number
  acknowledged: number
  /** How often each error was answered. */
  refused: Map<string, number>
  taken: number
  /** Acknowledged appends whose number was given to another one as well, so that one of the two is nowhere. */
  lost: number
  seconds: number
}

/**
 * Runs up to `appendsEach` appends on each of `CONNECTIONS` writers at once, each to one of `groups` groups in turn, for
 * `MAX_SECONDS` at most. A refused append is counted by `nameOf` its error and not tried again.
 */
export async function hammer(
  groups: number,
  appendsEach: number,
  append: (writer: number, group: string, member: string) => Promise<unknown>,
  nameOf: (error: unknown) => string,
  countTaken: () => Promise<number>,
): Promise<Tally> {
  const refused = new Map<string, number>()
  let acknowledged = 0
  let attempts = 0
  const started = performance.now()
  const writers = Array.from({ length: CONNECTIONS }, async (_, writer) => {
    for (let n = 0; n < appendsEach && performance.now() - started < MAX_SECONDS * 1000; n++) {
      attempts++
      try {
        await append(writer, groupName((writer * 7 + n) % groups), `${writer}.${n}`)
        acknowledged++
      } catch (error) {
        const name = nameOf(error)
        refused.set(name, (refused.get(name) ?? 0) + 1)
      }
    }
  })
  await Promise.all(writers)
  const seconds = (performance.now() - started) / 1000
  const taken = await countTaken()
  return { attempts, acknowledged, refused, taken, lost: acknowledged - taken, seconds }
}

export function groupName(index: number): string {
  return `kind-${index}`
}

/** The published statement over `CONNECTIONS` real connections, autocommitted, on a fresh table `q`. */
export async function hammerPublished(
  url: string,
  session: SessionName,
  groups: number,
  appendsEach: number,
): Promise<Tally> {
  const uri = mysqlUri(url)
  const connections = await Promise.all(Array.from({ length: CONNECTIONS }, () => mysql.createConnection({ uri })))
  try {
    const [first] = connections
    if (!first) throw new Error('no connection')
    await first.query('DROP TABLE IF EXISTS q')
    await first.query(CREATE)
    for (const statement of SESSIONS[session]) await Promise.all(connections.map((each) => each.query(statement)))
    return await hammer(
      groups,
      appendsEach,
      async (writer, group, member) => connections[writer]?.query(APPEND, [group, member, group]),
      nameOfMysqlError,
      async () => {
        const [rows] = await first.query<mysql.RowDataPacket[]>(
          'SELECT CAST(COALESCE(SUM(top + 1), 0) AS CHAR) AS taken FROM (SELECT MAX(id) AS top FROM q GROUP BY kind) AS tops',
        )
        return Number(rows[0]?.taken)
      },
    )
  } finally {
    await Promise.all(connections.map((each) => each.end()))
  }
}

function nameOfMysqlError(error: unknown): string {
  const { errno, code } = error as { errno?: number; code?: string }
  if (errno === undefined) throw error
  return `${errno} ${code}`
}

export function totalRefused(tally: Tally): number {
  return [...tally.refused.values()].reduce((sum, count) => sum + count, 0)
}
