/**
 * `recentn doctor`: looks whether a database is fit for recentn, and says what to mend. It changes nothing.
 *
 * A check that the database does not allow this user says so: what could not be seen is not the same as fine.
 */
import { existsSync } from 'node:fs'
import { type ErrorCode, RecentnError } from '../errors'
import { openStore } from '../store/open'
import type { Store } from '../store/types'
import { MYSQL_CHECKS } from './doctor-mysql'
import { cluster, connections } from './doctor-servers'
import { feeds, queues } from './doctor-work'
import { type Check, type Finding, tableOf } from './finding'
import { printable } from './progress'

const MENDS: Partial<Record<ErrorCode, string>> = {
  schema_too_new: 'use a newer recentn',
  database_refused: 'put right what is named, or set RECENTN_TABLE_PREFIX',
}
const SCHEMA_CODES = ['schema_missing', 'schema_outdated', 'schema_too_new']

/** All findings about the database at `url`, for processes whose pools are of this size. */
export async function diagnose(
  url: string,
  { poolSize, tablePrefix }: { poolSize?: number | undefined; tablePrefix?: string | undefined } = {},
): Promise<Finding[]> {
  // Opening a SQLite file that is not there makes one.
  const file = /^sqlite:(?:\/\/(?=\/))?(?!:memory:)(.+)$/.exec(url)?.[1]
  if (file !== undefined && !existsSync(file)) {
    return [{ check: 'connection', state: 'wrong', found: `there is no file ${file}`, mend: 'run "recentn migrate"' }]
  }
  let store: Store
  try {
    store = await openStore({ url, poolSize, tablePrefix, migrate: false, sweep: false, publish: false })
  } catch (error) {
    return notOpened(error)
  }
  try {
    const findings: Finding[] = [
      { check: 'connection', state: 'ok', found: store.location },
      { check: 'schema', state: 'ok', found: `up to date, version ${await schemaVersion(store)}` },
    ]
    const isServer = store.dataSource.options.type !== 'better-sqlite3'
    const checks = isServer ? MYSQL_CHECKS : SQLITE_CHECKS
    for (const [check, run] of checks) findings.push({ check, ...(await look(run(store.dataSource))) })
    for (const [check, run] of [...(isServer ? SERVER_CHECKS : []), ...WORK_CHECKS]) {
      findings.push({ check, ...(await look(run(store))) })
    }
    return findings
  } finally {
    await store.close()
  }
}

/** The version of the tables, of a store that is open. */
export async function schemaVersion(store: Store): Promise<number> {
  const [row] = await store.dataSource.query(`SELECT version FROM ${tableOf(store.dataSource, 'RecentnSchema')}`)
  return Number(row?.version)
}

function notOpened(error: unknown): Finding[] {
  const code = error instanceof RecentnError ? error.code : null
  // A refusal with faults is one of the tables.
  const isTables = code === 'database_refused' && (error as RecentnError).faults.length > 0
  if (code === null || !(isTables || SCHEMA_CODES.includes(code))) {
    const mend = 'see that the server runs and that address, user, password and database of the URL are right'
    return [{ check: 'connection', state: 'wrong', found: withCause(error), mend }]
  }
  const mend = MENDS[code] ?? 'run "recentn migrate"'
  return [
    { check: 'connection', state: 'ok', found: 'the database answers' },
    {
      check: 'schema',
      state: 'wrong',
      found: withCause(error),
      mend: `${mend}; then look again for what else there is`,
    },
  ]
}

/** The message, and what the driver said below it. */
export function withCause(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const cause = error.cause as { message?: string; code?: string } | undefined
  const said = cause?.message || cause?.code
  return said && !error.message.includes(said) ? `${error.message} (${said})` : error.message
}

const MAY_LOOK = 'grant the user PROCESS (and on MySQL SELECT on performance_schema.data_locks), or ask as another'
/** Both servers say that a user may not in one of these words. */
const DENIED = /denied|privilege/i

async function look(check: Promise<Omit<Finding, 'check'>>): Promise<Omit<Finding, 'check'>> {
  try {
    return await check
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error)
    if (!DENIED.test(said)) return { state: 'unknown', found: said }
    return { state: 'unknown', found: `this user may not look (${said})`, mend: MAY_LOOK }
  }
}

type StoreCheck = [name: string, run: (store: Store) => Promise<Omit<Finding, 'check'>>]

const SERVER_CHECKS: StoreCheck[] = [
  ['connections', connections],
  ['cluster', cluster],
]

const WORK_CHECKS: StoreCheck[] = [
  ['queues', queues],
  ['feeds', feeds],
]

const SQLITE_CHECKS: Check[] = [
  [
    'version',
    async (database) => {
      const [row] = await database.query('SELECT sqlite_version() AS version')
      return { state: 'ok', found: `SQLite ${row.version}` }
    },
  ],
  [
    'durability',
    async (database) => {
      const [journal] = await database.query('PRAGMA journal_mode')
      const [synchronous] = await database.query('PRAGMA synchronous')
      const full = Number(synchronous.synchronous) >= 2
      return {
        state: full ? 'ok' : 'warning',
        found: `journal ${journal.journal_mode}, synchronous ${full ? 'full' : 'not full: a power cut may lose commits'}`,
      }
    },
  ],
  [
    'file',
    async (database) => {
      const [row] = await database.query('PRAGMA quick_check(1)')
      const said = String(row?.quick_check)
      if (said === 'ok') return { state: 'ok', found: 'sound (quick_check)' }
      return {
        state: 'wrong',
        found: said,
        mend: 'restore the file from a backup, or rescue it with sqlite3 ".recover"',
      }
    },
  ],
]

const MARKS: Record<Finding['state'], string> = { ok: 'ok', warning: 'WARN', wrong: 'WRONG', unknown: '?' }

/** For people: a line a finding, and what to mend below it. */
export function findingsText(findings: readonly Finding[]): string {
  const lines = findings.flatMap(({ check, state, found, mend }) => [
    `${MARKS[state].padEnd(6)}${check.padEnd(13)}${found
      .split('\n')
      .map(printable)
      .join(`\n${' '.repeat(19)}`)}`,
    ...(mend ? [`${' '.repeat(19)}-> ${printable(mend)}`] : []),
  ])
  return `${lines.join('\n')}\n`
}
