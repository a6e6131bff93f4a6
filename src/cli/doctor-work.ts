/** The findings of `recentn doctor`, and its checks in the tables, on every engine: work that no process does. */
import type { DataSource } from 'typeorm'
import { innerOf } from '../store/inner'
import type { Store } from '../store/types'

export interface Finding {
  check: string
  /** `unknown` if the check could not be made. */
  state: 'ok' | 'warning' | 'wrong' | 'unknown'
  found: string
  /** How to fix it. */
  fix?: string
}

export type CheckResult = Omit<Finding, 'check'>
export type SqlRow = Record<string, unknown>

export function tableOf(database: DataSource, entity: string): string {
  return database.getMetadata(entity).tableName
}

export type ServerVariables = ReadonlyMap<string, string>

/** Those that the server knows. `what`: GLOBAL VARIABLES for example. */
export async function variablesOf(
  database: DataSource,
  what: string,
  names: readonly string[],
): Promise<ServerVariables> {
  const rows: { Variable_name: string; Value: string }[] = await database.query(
    `SHOW ${what} WHERE Variable_name IN (${names.map((name) => `'${name}'`).join(', ')})`,
  )
  return new Map(rows.map((row) => [row.Variable_name, String(row.Value)]))
}

export type Check = [name: string, run: (database: DataSource) => Promise<CheckResult>]

/** If a message waits longer, probably no worker receives it. */
const OLD_MESSAGE_SECONDS = 3600
/** A publisher runs several times a second. */
const OLD_ENTRY_SECONDS = 60
/** Sync ids. */
const FAR_BEHIND = 10_000
const MAX_NAMED = 5

export async function queues(store: Store): Promise<CheckResult> {
  const { counts, oldestAgeSeconds } = (await innerOf(store).totals()).queues
  const age = oldestAgeSeconds === null ? '' : `, the oldest waits for ${Math.floor(oldestAgeSeconds)} s`
  const blocked = counts.blocked > 0 ? `${counts.blocked} blocked, ` : ''
  const found = `${counts.ready} messages ready, ${counts.inFlight} in flight, ${counts.delayed} delayed, ${blocked}${counts.dead} dead${age}`
  const fixes: string[] = []
  if (counts.dead > 0) {
    fixes.push(
      `dead messages are in ${await deadLetters(store.dataSource)}: look at lastError, then redrive or delete them`,
    )
  }
  if ((oldestAgeSeconds ?? 0) >= OLD_MESSAGE_SECONDS) fixes.push('see that workers run, and that no queue is paused')
  return fixes.length === 0 ? { state: 'ok', found } : { state: 'warning', found, fix: fixes.join('; ') }
}

/** The queues with the most dead messages. In a dead-letter queue all messages count. */
async function deadLetters(database: DataSource): Promise<string> {
  const [queues, messages] = [tableOf(database, 'WorkQueue'), tableOf(database, 'QueueMessage')]
  const counted = `SELECT q.queue AS queue, COUNT(*) AS messages FROM ${queues} q JOIN ${messages} m ON m.queue_id = q.id`
  const rows: SqlRow[] = await database.query(
    `SELECT queue, SUM(messages) AS dead FROM (${counted} AND m.state = ${DEAD} GROUP BY q.queue UNION ALL ` +
      `${counted} AND m.state <> ${DEAD} WHERE q.id IN (SELECT dead_letter_queue_id FROM ${queues}) GROUP BY q.queue) found ` +
      `GROUP BY queue ORDER BY dead DESC, queue LIMIT ${MAX_NAMED + 1}`,
  )
  return listed(rows.map(({ queue, dead }) => `${JSON.stringify(queue)} (${dead})`))
}

/** The `state` of a dead message. */
const DEAD = 3

/** A tick that is due is sent within seconds. */
const LATE_TICK_MS = 120_000

export async function schedules(store: Store): Promise<CheckResult> {
  const table = tableOf(store.dataSource, 'QueueSchedule')
  const [all]: SqlRow[] = await store.dataSource.query(`SELECT COUNT(*) AS schedules FROM ${table}`)
  const failing: SqlRow[] = await store.dataSource.query(
    `SELECT schedule FROM ${table} WHERE last_error IS NOT NULL ORDER BY schedule LIMIT ${MAX_NAMED + 1}`,
  )
  const late: SqlRow[] = await store.dataSource.query(
    `SELECT schedule FROM ${table} WHERE due_at_ms < ${Date.now() - LATE_TICK_MS} ORDER BY due_at_ms LIMIT ${MAX_NAMED + 1}`,
  )
  const named = (rows: readonly SqlRow[]) => listed(rows.map(({ schedule }) => JSON.stringify(schedule)))
  const fixes: string[] = []
  if (failing.length > 0) fixes.push(`${named(failing)} cannot send: look at lastError`)
  if (late.length > 0) fixes.push(`${named(late)} waits for long: see that a process sends ticks (tick is not false)`)
  const found = `${all?.schedules} in all`
  return fixes.length === 0 ? { state: 'ok', found } : { state: 'warning', found, fix: fixes.join('; ') }
}

export async function feeds(store: Store): Promise<CheckResult> {
  const { unpublishedEntries, oldestUnpublishedSeconds, greatestLag } = (await innerOf(store).totals()).feeds
  const waits = oldestUnpublishedSeconds === null ? '' : ` for up to ${Math.floor(oldestUnpublishedSeconds)} s`
  const lag = greatestLag === null ? 'no consumers' : `the consumers are up to ${greatestLag} behind`
  const found = `${unpublishedEntries} entries wait to be published${waits}, ${lag}`
  const fixes: string[] = []
  if ((oldestUnpublishedSeconds ?? 0) >= OLD_ENTRY_SECONDS) {
    fixes.push('see that a process with a publisher runs (publish is not false), and who holds locks')
  }
  if ((greatestLag ?? 0) >= FAR_BEHIND) {
    fixes.push(
      `far behind: ${await farBehind(store.dataSource)}; see that they run, or drop the cursors that no consumer uses`,
    )
  }
  return fixes.length === 0 ? { state: 'ok', found } : { state: 'warning', found, fix: fixes.join('; ') }
}

async function farBehind(database: DataSource): Promise<string> {
  const table = (entity: string) => tableOf(database, entity)
  const rows: SqlRow[] = await database.query(
    `SELECT f.feed AS feed, c.consumer AS consumer, s.value - c.cursor_id AS behind FROM ${table('FeedConsumer')} c ` +
      `JOIN ${table('Feed')} f ON f.id = c.feed_id JOIN ${table('Sequence')} s ON s.kind = 'feed' AND s.sequence_name = f.feed ` +
      `WHERE s.value - c.cursor_id >= ${FAR_BEHIND} ORDER BY behind DESC LIMIT ${MAX_NAMED + 1}`,
  )
  return listed(
    rows.map(({ feed, consumer, behind }) => `${JSON.stringify(consumer)} of ${JSON.stringify(feed)} (${behind})`),
  )
}

const DOOR_TABLES = { sends: 'SendRow', appends: 'AppendRow' } as const

export async function door(store: Store): Promise<CheckResult> {
  const totals = (await innerOf(store).totals()).door
  const { sends, appends } = totals
  const found = `${sends.waiting} sends and ${appends.waiting} appends wait, ${sends.stuck} and ${appends.stuck} are stuck`
  const stuck = (['sends', 'appends'] as const).filter((table) => totals[table].stuck > 0)
  if (stuck.length === 0) return { state: 'ok', found }
  const names = stuck.map((table) => tableOf(store.dataSource, DOOR_TABLES[table]))
  const fix = `see the column error of ${names.join(' and ')}: put the rows right and set stuck = 0, or delete them`
  return { state: 'warning', found, fix }
}

function listed(names: readonly string[]): string {
  return names.slice(0, MAX_NAMED).join(', ') + (names.length > MAX_NAMED ? ' and others' : '')
}
