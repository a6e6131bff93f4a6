/**
 * Start-time fair queueing over message groups (Goyal, Vin, Cheng: "Start-time Fair Queueing", 1996). Each message that
 * becomes ready gets a virtual start, the next of its group or the virtual time, whichever is later, and claims follow it.
 * So a group with a long backlog takes turns with the others, and an idle group saves up nothing.
 *
 * It owns recentn_queue_flows. Invariant: the starts of a group grow. The lock of an urgency of a queue is its row with the
 * group '', taken first and held to the end of the transaction. Only a send of messages without a group, in a transaction
 * that begins here, reads where they begin without the lock, and writes with its commit where they end. So senders don't wait for
 * each other. Messages of processes that send at the same moment may get the same starts, and go by their ids then.
 */
import {
  compareNames,
  type Parameter,
  type Row,
  type Session,
  type Statement,
  type Statements,
  type Tx,
} from '../../../database/engine'
import { anyOf, chunksOf } from '../../chunks'
import type { PollFacts } from '../../reminders'
import { STATE, urgencyOf } from '../rows'

/** A message that becomes ready. */
export interface Ready {
  queueId: bigint
  priority: number
  messageGroup: string | null
}

interface Flow {
  group: string
  nextStart: number
}

/** The groups of one queue that have messages of one priority. */
interface Level {
  queueId: bigint
  urgency: number
  virtualTime: number
  /** The greatest `nextStart` of all groups. */
  top: number
  /** Of the messages without a group; its row is the lock. */
  ungrouped: Flow
  /** Those that a start is asked for. */
  flows: Map<string, Flow>
}

/** The group of messages without one: no name is empty. */
const NO_GROUP = ''

const KEY = 'queue_id, urgency, message_group'
const COLUMNS = ['queue_id', 'urgency', 'message_group', 'next_start', 'virtual_time', 'top']

/** The virtual starts of the messages, in their order. */
export async function assignStarts(tx: Tx, messages: readonly Ready[]): Promise<number[]> {
  if (tx.isCallers) await openLevels(tx, messages)
  const quick = await quickStarts(tx, messages)
  if (quick !== null) return quick
  const levels = await lockLevels(tx, messages)
  await findVirtualTimes(tx, levels)
  const starts = messages.map(({ queueId, priority, messageGroup }) => {
    const level = levels.get(keyOf(queueId, urgencyOf(priority))) as Level
    const flow = level.flows.get(messageGroup ?? NO_GROUP) as Flow
    const start = Math.max(level.virtualTime, flow.nextStart)
    flow.nextStart = start + 1
    level.top = Math.max(level.top, flow.nextStart)
    return start
  })
  await saveLevels(tx, levels)
  return starts
}

/** One statement does where all are of one priority, have no group, and no group is ahead of them. */
async function quickStarts(tx: Tx, messages: readonly Ready[]): Promise<number[] | null> {
  const [first] = messages
  if (first === undefined) return []
  const isAlike = (one: Ready) =>
    one.messageGroup === null && one.queueId === first.queueId && one.priority === first.priority
  if (!tx.engine.remembers || !messages.every(isAlike)) return null
  const { affected, insertId } = await tx.execute(
    `UPDATE ${tx.tables.queueFlows} SET next_start = ${tx.engine.remembered('next_start')} + ?, top = next_start ` +
      `WHERE ${UNGROUPED} AND next_start >= top`,
    [messages.length, first.queueId, urgencyOf(first.priority)],
  )
  return affected === 0 ? null : messages.map((_, index) => Number(insertId) + index)
}

/** Messages without a group of one priority. */
export type UngroupedLevel = Omit<Ready, 'messageGroup'>

/** SQL: the row of such messages, which is the lock. */
const UNGROUPED = "queue_id = ? AND urgency = ? AND message_group = ''"

/** SELECT of where messages without a group begin, at `least` or later. No row where a group is ahead of them. */
export function openStartSql(
  { tables }: Pick<Statements, 'tables'>,
  { queueId, priority }: UngroupedLevel,
  least: number,
): Statement {
  const sql =
    `SELECT CASE WHEN next_start < ? THEN ? ELSE next_start END AS start FROM ${tables.queueFlows} ` +
    `WHERE ${UNGROUPED} AND next_start >= top`
  return { sql, parameters: [least, least, queueId, urgencyOf(priority)] }
}

/** Writes where messages end that have begun at such a start, in the transaction that has sent them. */
export async function passStarts(tx: Tx, { queueId, priority }: UngroupedLevel, end: number): Promise<void> {
  await tx.later(
    `UPDATE ${tx.tables.queueFlows} SET top = CASE WHEN top < ? THEN ? ELSE top END, ` +
      `next_start = CASE WHEN next_start < ? THEN ? ELSE next_start END WHERE ${UNGROUPED}`,
    [end, end, end, end, queueId, urgencyOf(priority)],
  )
}

function keyOf(queueId: bigint, urgency: number): string {
  return `${queueId}/${urgency}`
}

/** In the order of the primary key, so that two transactions that lock several never wait for each other in a cycle. */
function levelsOf(messages: readonly Ready[]): Map<string, Level> {
  const levels = new Map<string, Level>()
  for (const { queueId, priority, messageGroup } of messages) {
    const urgency = urgencyOf(priority)
    const key = keyOf(queueId, urgency)
    let level = levels.get(key)
    if (!level) {
      const ungrouped = { group: NO_GROUP, nextStart: 0 }
      level = { queueId, urgency, virtualTime: 0, top: 0, ungrouped, flows: new Map() }
      levels.set(key, level)
    }
    const group = messageGroup ?? NO_GROUP
    if (group === NO_GROUP) level.flows.set(group, level.ungrouped)
    else if (!level.flows.has(group)) level.flows.set(group, { group, nextStart: 0 })
  }
  const sorted = [...levels].sort(([, a], [, b]) =>
    a.queueId === b.queueId ? a.urgency - b.urgency : a.queueId < b.queueId ? -1 : 1,
  )
  return new Map(sorted)
}

async function lockLevels(tx: Tx, messages: readonly Ready[]): Promise<Map<string, Level>> {
  const levels = levelsOf(messages)
  for (const level of levels.values()) {
    let rows = await lockedRows(tx, level)
    if (!rows.some(isLock)) {
      await openLevel(tx, level)
      rows = await lockedRows(tx, level)
    }
    for (const row of rows) take(level, row)
  }
  return levels
}

/**
 * Makes the locks first: two transactions at REPEATABLE READ that look for one in vain would both hold the gap where it belongs,
 * and deadlock when they insert it. That of its usual messages a queue has from the beginning.
 */
async function openLevels(tx: Tx, messages: readonly Ready[]): Promise<void> {
  for (const level of levelsOf(messages).values()) if (level.urgency !== urgencyOf(0)) await openLevel(tx, level)
}

/** Makes the lock of an urgency. */
export function openLevel(tx: Tx, { queueId, urgency }: Pick<Level, 'queueId' | 'urgency'>): Promise<void> {
  const row = [queueId, urgency, NO_GROUP, 0, 0, 0]
  return tx.later(tx.engine.upsert(tx.tables.queueFlows, KEY, COLUMNS, ['queue_id'], [row]))
}

function isLock(row: Row): boolean {
  return row.message_group === NO_GROUP
}

function take(level: Level, row: Row): void {
  const flow = isLock(row) ? level.ungrouped : level.flows.get(row.message_group as string)
  if (flow) flow.nextStart = Number(row.next_start)
  if (!isLock(row)) return
  level.virtualTime = Number(row.virtual_time)
  level.top = Number(row.top)
}

function lockedRows(tx: Tx, { queueId, urgency, flows }: Level): Promise<Row[]> {
  const groups = [...new Set([NO_GROUP, ...flows.keys()])].sort(compareNames)
  const marks = groups.map(() => '?').join(', ')
  return tx.rows(
    `SELECT message_group, next_start, virtual_time, top FROM ${tx.tables.queueFlows} ` +
      `WHERE queue_id = ? AND urgency = ? AND message_group IN (${marks}) ORDER BY message_group${tx.engine.forUpdate}`,
    [queueId, urgency, ...groups],
  )
}

/** The virtual time is where the first ready message starts. Only a group that is behind the others needs it. */
async function findVirtualTimes(tx: Tx, levels: ReadonlyMap<string, Level>): Promise<void> {
  for (const level of levels.values()) {
    if ([...level.flows.values()].every(({ nextStart }) => nextStart >= level.top)) continue
    const [first] = await tx.rows(
      `SELECT sort_minor FROM ${tx.tables.queueMessages}${tx.engine.useIndex(tx.tables.index.messagesClaim)} ` +
        'WHERE queue_id = ? AND state = ? AND sort_major = ? AND sort_minor >= ? ORDER BY sort_minor LIMIT 1',
      [level.queueId, STATE.ready, level.urgency, level.virtualTime],
    )
    level.virtualTime = first ? Number(first.sort_minor) : level.top
  }
}

async function saveLevels(tx: Tx, levels: ReadonlyMap<string, Level>): Promise<void> {
  const rows: Parameter[][] = []
  for (const { queueId, urgency, virtualTime, top, ungrouped, flows } of levels.values()) {
    rows.push([queueId, urgency, NO_GROUP, ungrouped.nextStart, virtualTime, top])
    for (const { group, nextStart } of flows.values()) {
      if (group !== NO_GROUP) rows.push([queueId, urgency, group, nextStart, 0, 0])
    }
  }
  for (const chunk of chunksOf(rows, 1000)) {
    await tx.later(tx.engine.upsert(tx.tables.queueFlows, KEY, COLUMNS, COLUMNS.slice(3), chunk))
  }
}

/** Whether starts can be given to such messages without waiting. If so, existing level rows are locked. */
export async function canAssign(tx: Tx, messages: readonly Omit<Ready, 'messageGroup'>[]): Promise<boolean> {
  const levels = levelsOf(messages.map((message) => ({ ...message, messageGroup: null })))
  if (levels.size === 0 || tx.engine.forNext === '') return true
  const any = anyOf([...levels.values()], `(${UNGROUPED})`, ({ queueId, urgency }) => [queueId, urgency])
  const sql = `SELECT urgency FROM ${tx.tables.queueFlows} WHERE ${any.sql}`
  const there = await tx.rows(sql, any.parameters)
  const locked = await tx.rows(`${sql}${tx.engine.forNext}`, any.parameters)
  return locked.length >= there.length
}

const SWEPT = 50

/** `which`: SQL of the queues, by their ids. */
export const idleFlowsSql = ({ tables }: PollFacts, what: string, which: string) =>
  `SELECT ${what} FROM ${tables.queueFlows} flow ` +
  `JOIN ${tables.queueFlows} level ON level.queue_id = flow.queue_id AND level.urgency = flow.urgency AND level.message_group = '' ` +
  `WHERE flow.queue_id ${which} AND flow.message_group <> '' AND flow.next_start <= level.virtual_time`

/** Removes groups whose next message would start at the virtual time anyway; resolves to whether there may be more. */
export async function sweepFlows(session: Session, which: string): Promise<boolean> {
  const idle = await session.read((reader) => {
    const queueId = `${reader.engine.bigint('flow.queue_id')} AS queue_id`
    const columns = `${queueId}, flow.urgency, flow.message_group, level.virtual_time`
    return reader.rows(`${idleFlowsSql(reader, columns, which)} LIMIT ${10 * SWEPT}`)
  })
  for (const chunk of chunksOf(idle, SWEPT)) {
    // The virtual time only grows: what was behind it then is behind it now.
    const isIdle = '(queue_id = ? AND urgency = ? AND message_group = ? AND next_start <= ?)'
    const { sql, parameters } = anyOf(chunk, isIdle, (row) => {
      return [row.queue_id, Number(row.urgency), row.message_group, Number(row.virtual_time)] as Parameter[]
    })
    await session.write((tx) => tx.later(`DELETE FROM ${tx.tables.queueFlows} WHERE ${sql}`, parameters))
  }
  return idle.length >= 10 * SWEPT
}
