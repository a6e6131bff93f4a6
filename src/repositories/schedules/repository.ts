/**
 * The operations on schedules: checks the arguments, every fault at once, and runs each in a transaction. Owns recentn_schedules.
 *
 * Order of the locks: the one row of recentn_schema, so that two stores that create one schedule take turns. Then
 * the schedule's row, which whoever sends its ticks locks too, and the queue's head (shared).
 */

import { type Parameter, placeholders, type Reader, type Session, type Tx } from '../../database/engine'
import { LISTED_SCHEDULE } from '../../fields/answers-schedules'
import { addFaults, faultsOf, optional, refuse, rulesOf } from '../../fields/field'
import { checkedPage, FORM, nameFaults } from '../../fields/rules'
import { NEW_SCHEDULE_RULES, SCHEDULE_CHANGES_RULES, SCHEDULE_PAGE_RULES, timingFaults } from '../../fields/schedules'
import { firstTick } from '../../fields/ticks'
import { type Fault, RecentnError } from '../../shared/errors'
import type {
  ListedSchedule,
  ScheduleChanges,
  ScheduleDefinition,
  ScheduleListOptions,
  ScheduleOptions,
  SchedulePage,
  Schedules,
} from '../../shared/schedule-types'
import type { IfTag } from '../../shared/types'
import { nameRange } from '../name-range'
import { rowOf } from '../queues/check'
import { readHead } from '../queues/heads'
import type { QueueMemory } from '../queues/memory'
import { lockSettings } from '../queues/queues'
import { checkTag, givenOf, ifTagOption, warnOfOthers } from '../settings'
import {
  definitionOf,
  listedFields,
  type ScheduledSend,
  type ScheduleRow,
  scheduleColumns,
  scheduleRowOf,
  shownSchedule,
  tagOf,
} from './rows'

/** `memory` wakes what sends the ticks in this process. */
export function schedulesOn(session: Session, memory: QueueMemory): Schedules {
  const change = (name: string, options: IfTag, made: (before: ScheduleRow | null) => ScheduledSend) =>
    session.write((tx) => {
      memory.scheduleChanged(tx)
      return changeSchedule(tx, name, options, made)
    })
  const operations = {
    async get(name: string, options: ScheduleOptions = {}) {
      checkSchedule(name, options)
      const row = await session.read((reader) => readSchedule(reader, name))
      return row && shownSchedule(row, options.bodies)
    },
    async put(name: string, definition: ScheduleDefinition, options: IfTag & ScheduleOptions = {}) {
      const given = checkedDefinition(name, definition, options)
      const { row, created } = await change(name, options, () => given)
      return Object.assign(shownSchedule(row, options.bodies), { created })
    },
    async update(name: string, changes: ScheduleChanges, options: IfTag & ScheduleOptions = {}) {
      checkChanges(name, changes, options)
      const { row } = await change(name, options, (before) => {
        if (before === null) throw new RecentnError('schedule_not_found')
        return checkedDefinition(name, merged(before, changes), {})
      })
      return shownSchedule(row, options.bodies)
    },
    async ensure(name: string, definition: ScheduleDefinition, options: ScheduleOptions = {}) {
      const given = checkedDefinition(name, definition, options)
      // A plain read takes no lock. In a transaction it may show an old snapshot.
      const there = session.inTransaction ? null : await session.read((reader) => readSchedule(reader, name))
      const { row, created } =
        there === null ? await change(name, {}, (before) => before ?? given) : { row: there, created: false }
      warnOfOthers('schedule', name, definitionOf(row), definitionOf({ ...row, ...given }))
      return Object.assign(shownSchedule(row, options.bodies), { created })
    },
    async drop(name: string) {
      checkSchedule(name)
      const drop = (tx: Tx) => tx.run(`DELETE FROM ${tx.tables.schedules} WHERE schedule = ?`, [name])
      return (await session.write(drop)) > 0
    },
    async list(options: ScheduleListOptions = {}) {
      const range = checkedPage(options, SCHEDULE_PAGE_RULES)
      return session.read((reader) => listSchedules(reader, range))
    },
  }
  return operations as Schedules
}

/** Without `cron` the time zone that the schedule had goes, too. */
function merged(before: ScheduleRow, changes: ScheduleChanges): ScheduleDefinition {
  const given = givenOf(changes)
  const { timeZone, ...definition } = { ...definitionOf(before), ...given } as ScheduleDefinition
  return definition.cron === null && !('timeZone' in given) ? definition : { ...definition, timeZone }
}

const OPTION_RULES = rulesOf({ bodies: optional(FORM) })
const PUT_OPTION_RULES = rulesOf({ bodies: optional(FORM), ...ifTagOption })

function checkSchedule(name: unknown, options: ScheduleOptions = {}): void {
  refuse([...nameFaults('schedule', name), ...faultsOf(options, OPTION_RULES)])
}

function checkChanges(name: unknown, changes: ScheduleChanges, options: IfTag & ScheduleOptions): void {
  refuse([
    ...nameFaults('schedule', name),
    ...faultsOf(changes, SCHEDULE_CHANGES_RULES),
    ...faultsOf(options, PUT_OPTION_RULES),
  ])
}

function checkedDefinition(
  name: unknown,
  definition: ScheduleDefinition,
  options: IfTag & ScheduleOptions,
): ScheduledSend {
  const faults: Fault[] = [...nameFaults('schedule', name), ...faultsOf(options, PUT_OPTION_RULES)]
  addFaults(faults, definition, NEW_SCHEDULE_RULES, '')
  if (typeof definition === 'object' && definition !== null) {
    for (const fault of timingFaults(definition)) faults.push(fault)
  }
  refuse(faults)
  const { queue, cron = null, everySeconds = null, timeZone, missed = 'send-once' } = definition
  return { queue, timing: { cron, everySeconds, timeZone: timeZone ?? 'UTC' }, missed, message: rowOf(definition) }
}

async function readSchedule(reader: Reader, name: string, lock = ''): Promise<ScheduleRow | null> {
  const sql = `SELECT ${scheduleColumns(reader)} FROM ${reader.tables.schedules} WHERE schedule = ?${lock}`
  const [row] = await reader.rows(sql, [name])
  return row === undefined ? null : scheduleRowOf(row)
}

/** Stores what `change` makes of the schedule. Its next tick stays unless it ticks at other times from now on. */
async function changeSchedule(
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
  const head = await readHead(tx, given.queue, tx.engine.forShare)
  if (head === null) {
    const detail = `There is no queue ${JSON.stringify(given.queue)}`
    throw new RecentnError('queue_not_found', detail, { faults: [{ pointer: '/queue', detail: 'does not exist' }] })
  }
  const nowMs = head.readAtMs
  const { lastTickMs = null, lastSentAtMs = null, createdAtMs = nowMs } = before ?? {}
  const { queue, timing, missed, message } = given
  const isSameTiming =
    timing.cron === before?.timing.cron &&
    timing.everySeconds === before.timing.everySeconds &&
    timing.timeZone === before.timing.timeZone
  const nextTickMs = isSameTiming ? before.nextTickMs : firstTick(timing, Math.max(nowMs, lastTickMs ?? 0))
  const sent = { schedule: name, queue, timing, missed, message }
  // A tick that could not be sent is tried again now.
  const times = { nextTickMs, dueAtMs: nextTickMs, lastTickMs, lastSentAtMs, createdAtMs }
  const row: ScheduleRow = { ...sent, ...times, lastError: null }
  await writeRow(tx, row, before === null)
  return { row, created: before === null }
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

/** A longer body is not read with a list. */
const LISTED_BODY = `CASE WHEN LENGTH(body) <= 2000 THEN body END AS body`

async function listSchedules(
  reader: Reader,
  { limit, after = '', prefix = '', contains, queuePrefix = '' }: ScheduleListOptions & { limit: number },
): Promise<SchedulePage> {
  const names = nameRange('schedule', after, prefix, contains)
  const queues = nameRange('queue', '', queuePrefix)
  const rows = await reader.rows(
    `SELECT ${scheduleColumns(reader, LISTED_BODY)} FROM ${reader.tables.schedules} WHERE ${names.where} AND ${queues.where} ` +
      `ORDER BY schedule LIMIT ${limit + 1}`,
    [...names.parameters, ...queues.parameters],
  )
  const schedules: ListedSchedule[] = []
  for (const row of rows.slice(0, limit)) {
    const name = row.schedule as string
    // One by one: many long bodies would take much memory. The tag of a schedule depends on its body.
    const whole = row.body === null ? await readSchedule(reader, name) : scheduleRowOf(row)
    if (whole !== null) schedules.push(LISTED_SCHEDULE.of(listedFields(whole)))
  }
  return { schedules, nextAfter: rows.length > limit ? (rows[limit - 1]?.schedule as string) : null }
}
