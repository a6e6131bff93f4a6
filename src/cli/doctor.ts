/**
 * `recentn doctor`: checks whether a database is fit for recentn, and says what to fix. It changes nothing.
 *
 * A check that the database does not allow this user to make is reported as such, and not as passed.
 */
import { existsSync } from 'node:fs'
import { type ErrorCode, RecentnError } from '../shared/errors'
import { openStore } from '../store/open'
import type { OpenOptions } from '../store/option-types'
import type { Store } from '../store/types'
import { MYSQL_CHECKS } from './doctor-mysql'
import { cluster, connections } from './doctor-servers'
import { type Check, type CheckResult, door, type Finding, feeds, queues, schedules, tableOf } from './doctor-work'
import { jsonLine, printable } from './printed'

const FIXES: Partial<Record<ErrorCode, string>> = {
  schema_too_new: 'use a newer recentn',
  database_refused: 'put right what is named, or set RECENTN_TABLE_PREFIX',
}
const SCHEMA_CODES = ['schema_missing', 'schema_outdated', 'schema_too_new']

const NO_BACKGROUND = { sweep: false, publish: false, tick: false }

/** All findings about the database at `url`, for processes whose pools are of this size. */
export async function diagnose(
  url: string,
  { poolSize, password, tablePrefix }: Pick<OpenOptions, 'poolSize' | 'password' | 'tablePrefix'> = {},
): Promise<Finding[]> {
  // Opening a SQLite file creates it.
  const file = /^sqlite:(?:\/\/(?=\/))?(?!:memory:)(.+)$/.exec(url)?.[1]
  if (file !== undefined && !existsSync(file)) {
    return [{ check: 'connection', state: 'wrong', found: `there is no file ${file}`, fix: 'run "recentn migrate"' }]
  }
  let store: Store
  try {
    store = await openStore({ url, poolSize, password, tablePrefix, migrate: false, ...NO_BACKGROUND })
  } catch (error) {
    return notOpened(error)
  }
  try {
    const findings: Finding[] = [
      { check: 'connection', state: 'ok', found: store.location },
      { check: 'schema', state: 'ok', found: `up to date, version ${await schemaVersion(store)}` },
    ]
    const isServer = store.dataSource.options.type !== 'better-sqlite3'
    const checks = isServer ? [...MYSQL_CHECKS, ...SERVER_CHECKS] : SQLITE_CHECKS
    for (const [check, run] of [...checks, ...WORK_CHECKS]) findings.push({ check, ...(await look(run(store))) })
    return findings
  } finally {
    await store.close()
  }
}

export async function schemaVersion(store: Store): Promise<number> {
  const [row] = await store.dataSource.query(`SELECT version FROM ${tableOf(store.dataSource, 'RecentnSchema')}`)
  return Number(row?.version)
}

function notOpened(error: unknown): Finding[] {
  const code = error instanceof RecentnError ? error.code : null
  // With faults, it is the tables that were refused.
  const isTables = code === 'database_refused' && (error as RecentnError).faults.length > 0
  if (code === null || !(isTables || SCHEMA_CODES.includes(code))) {
    const fix = 'see that the server runs and that address, user, password and database of the URL are right'
    return [{ check: 'connection', state: 'wrong', found: withCause(error), fix }]
  }
  const fix = FIXES[code] ?? 'run "recentn migrate"'
  return [
    { check: 'connection', state: 'ok', found: 'the database answers' },
    {
      check: 'schema',
      state: 'wrong',
      found: withCause(error),
      fix: `${fix}; then look again for what else there is`,
    },
  ]
}

/** The message, with that of the driver. */
export function withCause(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const cause = error.cause as { message?: string; code?: string } | undefined
  const said = cause?.message || cause?.code
  return said && !error.message.includes(said) ? `${error.message} (${said})` : error.message
}

const MAY_LOOK = 'grant the user PROCESS (on MySQL SELECT on performance_schema.*), or ask as another'
/** Both servers use one of these words when a user lacks a privilege. */
const DENIED = /denied|privilege/i

async function look(check: Promise<CheckResult>): Promise<CheckResult> {
  try {
    return await check
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error)
    if (!DENIED.test(said)) return { state: 'unknown', found: said }
    return { state: 'unknown', found: `this user may not look (${said})`, fix: MAY_LOOK }
  }
}

const SERVER_CHECKS: Check[] = [
  ['connections', connections],
  ['cluster', cluster],
]

const WORK_CHECKS: Check[] = [
  ['queues', queues],
  ['schedules', schedules],
  ['feeds', feeds],
  ['door', door],
]

const SQLITE_CHECKS: Check[] = [
  [
    'version',
    async ({ dataSource: database }) => {
      const [row] = await database.query('SELECT sqlite_version() AS version')
      return { state: 'ok', found: `SQLite ${row.version}` }
    },
  ],
  [
    'durability',
    async ({ dataSource: database }) => {
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
    async ({ dataSource: database }) => {
      const [row] = await database.query('PRAGMA quick_check(1)')
      const said = String(row?.quick_check)
      if (said === 'ok') return { state: 'ok', found: 'sound (quick_check)' }
      return {
        state: 'wrong',
        found: said,
        fix: 'restore the file from a backup, or rescue it with sqlite3 ".recover"',
      }
    },
  ],
]

const MARKS: Record<Finding['state'], string> = { ok: 'ok', warning: 'WARN', wrong: 'WRONG', unknown: '?' }

/** For people: a line for each finding, with what to fix below it. */
export function findingsText(findings: readonly Finding[]): string {
  const lines = findings.flatMap(({ check, state, found, fix }) => [
    `${MARKS[state].padEnd(6)}${check.padEnd(13)}${found
      .split('\n')
      .map(printable)
      .join(`\n${' '.repeat(19)}`)}`,
    ...(fix ? [`${' '.repeat(19)}-> ${printable(fix)}`] : []),
  ])
  return `${lines.join('\n')}\n`
}

/** For programs. */
export function findingsJson(findings: readonly Finding[]): string {
  return jsonLine(JSON.stringify({ findings }))
}
