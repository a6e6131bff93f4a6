/**
 * Schedules themselves: creating, replacing, reading and ending them.
 *
 * Order of the locks: the one row of recentn_schema, so that two stores that create one schedule take turns; the
 * schedule's row, which whoever sends its ticks locks too; the queue's head (shared).
 */
import { type Parameter, placeholders, type Reader, type Tx } from '../../database/engine'
import { firstTick } from '../../fields/ticks'
import { RecentnError } from '../../shared/errors'
import type { ListedSchedule, ScheduleListOptions, SchedulePage } from '../../shared/schedule-types'
import type { IfTag } from '../../shared/types'
import { nameRange } from '../name-range'
import { readHead } from '../queues/heads'
import { lockSettings } from '../queues/queues'
import { checkTag } from '../settings'
import type { ScheduledSend } from './check'
import { listedColumns, type ScheduleRow, scheduleColumns, scheduleRowOf, shownInList, tagOf } from './rows'

export async function readSchedule(reader: Reader, name: string, lock = ''): Promise<ScheduleRow | null> {
  const sql = `SELECT ${scheduleColumns(reader)} FROM ${reader.tables.schedules} WHERE schedule = ?${lock}`
  const [row] = await reader.rows(sql, [name])
  return row === undefined ? null : scheduleRowOf(row)
}

/** Stores what `change` makes of the schedule. Its next tick stays unless it ticks at other times from now on. */
export async function changeSchedule(
  tx: Tx,
  name: string,
  options: IfTag,
  change: (before: ScheduleRow | null) => ScheduledSend,
): Promise<{ row: ScheduleRow; created: boolean }> {
  await lockSettings(tx)
  const before = await readSchedule(tx, name, tx.engine.forUpdate)
  const given = change(before)
  if (given === before) return { row: before, created: false }
  checkTag(options, before && tagOf(before))
  const read = await readHead(tx, given.queue, tx.engine.forShare)
  if (read === null) {
    const detail = `There is no queue ${JSON.stringify(given.queue)}`
    throw new RecentnError('queue_not_found', detail, { faults: [{ pointer: '/queue', detail: 'does not exist' }] })
  }
  const { nowMs } = read
  const nextTickMs =
    before !== null && isSameTiming(before, given)
      ? before.nextTickMs
      : firstTick(given.timing, Math.max(nowMs, before?.lastTickMs ?? 0))
  const { lastTickMs = null, lastSentAtMs = null, createdAtMs = nowMs } = before ?? {}
  const { queue, timing, missed, message } = given
  const sent = { schedule: name, queue, timing, missed, message }
  // A tick that could not be sent is tried again now.
  const times = { nextTickMs, dueAtMs: nextTickMs, lastTickMs, lastSentAtMs, createdAtMs }
  const row: ScheduleRow = { ...sent, ...times, lastError: null }
  await writeRow(tx, row, before === null)
  return { row, created: before === null }
}

function isSameTiming({ timing: a }: ScheduledSend, { timing: b }: ScheduledSend): boolean {
  return a.cron === b.cron && a.everySeconds === b.everySeconds && a.timeZone === b.timeZone
}

async function writeRow(tx: Tx, { timing, message, ...row }: ScheduleRow, isNew: boolean): Promise<void> {
  const values: Record<string, Parameter> = {
    queue: row.queue,
    cron: timing.cron,
    every_seconds: timing.everySeconds,
    time_zone: timing.timeZone,
    missed: row.missed,
    next_tick_ms: row.nextTickMs,
    due_at_ms: row.dueAtMs,
    last_error: row.lastError,
    delay_seconds: message.delayMs / 1000,
    visibility_timeout_seconds: message.visibilityTimeoutSeconds,
    max_receives: message.maxReceives,
    priority: message.priority,
    message_group: message.messageGroup,
    attributes: message.attributes,
    body: message.body,
  }
  const { schedules } = tx.tables
  if (!isNew) {
    const sets = Object.keys(values).map((column) => `${column} = ?`)
    const sql = `UPDATE ${schedules} SET ${sets.join(', ')} WHERE schedule = ?`
    return tx.later(sql, [...Object.values(values), row.schedule])
  }
  const columns = [...Object.keys(values), 'schedule', 'created_at_ms']
  const sql = `INSERT INTO ${schedules} (${columns.join(', ')}) VALUES (${placeholders(columns.length)})`
  return tx.later(sql, [...Object.values(values), row.schedule, row.createdAtMs])
}

export async function listSchedules(
  reader: Reader,
  { limit, after = '', prefix = '', contains, queuePrefix = '' }: ScheduleListOptions & { limit: number },
): Promise<SchedulePage> {
  const names = nameRange('schedule', after, prefix, contains)
  const queues = nameRange('queue', '', queuePrefix)
  const rows = await reader.rows(
    `SELECT ${listedColumns(reader)} FROM ${reader.tables.schedules} WHERE ${names.where} AND ${queues.where} ` +
      `ORDER BY schedule LIMIT ${limit + 1}`,
    [...names.parameters, ...queues.parameters],
  )
  const schedules: ListedSchedule[] = []
  for (const row of rows.slice(0, limit)) {
    const name = row.schedule as string
    // One by one: many long bodies would take much memory. The tag of a schedule depends on its body.
    const whole = row.body === null ? await readSchedule(reader, name) : scheduleRowOf(row)
    if (whole !== null) schedules.push(shownInList(whole))
  }
  return { schedules, nextAfter: rows.length > limit ? (rows[limit - 1]?.schedule as string) : null }
}

/** False if there was none. */
export async function dropSchedule(tx: Tx, name: string): Promise<boolean> {
  return (await tx.run(`DELETE FROM ${tx.tables.schedules} WHERE schedule = ?`, [name])) > 0
}
