/**
 * Queues themselves: creating, changing, listing and dropping them.
 *
 * Invariant: dead-letter queues never form a cycle, and a queue that another one names is not dropped. A transaction that
 * changes or drops a queue holds the one row of recentn_schema first, so that no two of them break this together.
 */
import type { Parameter, Reader, Session, Tx } from '../../database/engine'
import { QUEUE } from '../../fields/answers-queues'
import { QUEUE_DEFAULTS } from '../../fields/queues'
import { type Fault, RecentnError } from '../../shared/errors'
import type { Queue, QueueSettings } from '../../shared/queue-types'
import type { IfTag } from '../../shared/types'
import { REMINDED, remindAtOnce } from '../reminders'
import { checkTag, givenOf, settingsTag } from '../settings'
import { openLevel } from './groups/flows'
import { limitColumns } from './groups/group-limit'
import {
  deadLetterQueueOf,
  LONGEST_VISIBILITY_SECONDS,
  limitOf,
  lowerShortest,
  notFound,
  type QueueHead,
  readHead,
  storedLimit,
} from './heads'
import type { QueueMemory } from './memory'
import { clearDropped } from './removal'

export type MadeQueue = Queue & { created: boolean }

export interface NamedHead {
  head: QueueHead
  deadLetterQueue: string | null
  isDeadLetterQueue: boolean
}

export async function lockSettings(tx: Tx): Promise<void> {
  await tx.rows(`SELECT id FROM ${tx.tables.schema} WHERE id = 1${tx.engine.forUpdate}`)
}

export async function namedHead(reader: Reader, queue: string): Promise<NamedHead | null> {
  const head = await readHead(reader, queue)
  if (head === null) return null
  const deadLetterHead = await deadLetterQueueOf(reader, head)
  const [source] = await reader.rows(`SELECT id FROM ${reader.tables.queues} WHERE dead_letter_queue_id = ? LIMIT 1`, [
    head.id,
  ])
  return { head, deadLetterQueue: deadLetterHead?.queue ?? null, isDeadLetterQueue: source !== undefined }
}

/** Creates the queue, or replaces all of its settings; a paused queue stays paused. */
export async function putQueue(tx: Tx, queue: string, settings: QueueSettings, options: IfTag): Promise<MadeQueue> {
  const before = await lockQueue(tx, queue)
  checkTag(options, before && tagOf(before))
  const all = { ...QUEUE_DEFAULTS, ...givenOf(settings) }
  const put = before === null ? await insertQueue(tx, queue, all) : await changeQueue(tx, before, all)
  return QUEUE.of({ ...put, created: before === null })
}

/** By a plain read, which takes no lock that senders would wait for. Null in a transaction, where it may show an old snapshot. */
export async function thereAlready(session: Session, queue: string): Promise<MadeQueue | null> {
  const named = session.inTransaction ? null : await session.read((reader) => namedHead(reader, queue))
  return named && QUEUE.of({ ...queueOf(named.head, named.deadLetterQueue), created: false })
}

/** The queue as it is, otherwise a new one. */
export async function ensureQueue(tx: Tx, queue: string, settings: QueueSettings): Promise<MadeQueue> {
  const before = await lockQueue(tx, queue)
  if (before === null) return putQueue(tx, queue, settings, {})
  return QUEUE.of({ ...(await lockedQueue(tx, before)), created: false })
}

export async function updateQueue(tx: Tx, queue: string, settings: QueueSettings, options: IfTag): Promise<Queue> {
  const before = await lockKnown(tx, queue)
  checkTag(options, tagOf(before))
  return changeQueue(tx, before, givenOf(settings))
}

export async function pauseQueue(tx: Tx, queue: string, paused: boolean): Promise<Queue> {
  const before = await lockKnown(tx, queue)
  if (before.paused !== paused) {
    await tx.later(`UPDATE ${tx.tables.queues} SET paused = ?, version = version + 1 WHERE id = ?`, [
      paused ? 1 : 0,
      before.id,
    ])
  }
  return lockedQueue(tx, { ...before, paused })
}

/** By locking reads: a snapshot of the caller's transaction may be older than the locks. */
async function lockQueue(tx: Tx, queue: string): Promise<QueueHead | null> {
  await lockSettings(tx)
  return readHead(tx, queue, tx.engine.forUpdate)
}

/** The same; throws `queue_not_found`. */
export async function lockKnown(tx: Tx, queue: string): Promise<QueueHead> {
  const head = await lockQueue(tx, queue)
  if (head === null) throw notFound(queue)
  return head
}

async function lockedQueue(tx: Tx, head: QueueHead): Promise<Queue> {
  const deadLetterHead = await deadLetterQueueOf(tx, head, tx.engine.forShare)
  return QUEUE.of(queueOf(head, deadLetterHead?.queue ?? null))
}

async function changeQueue(tx: Tx, before: QueueHead, settings: QueueSettings): Promise<Queue> {
  const { values, deadLetterHead } = await columnsOf(tx, before.queue, settings, before)
  const sets = Object.keys(values).map((column) => `${column} = ?, `)
  if (sets.length === 0) return lockedQueue(tx, before)
  await tx.later(`UPDATE ${tx.tables.queues} SET ${sets.join('')}version = version + 1 WHERE id = ?`, [
    ...Object.values(values),
    before.id,
  ])
  if (values.group_phase !== undefined) await remindAtOnce(tx, REMINDED.queue, before.id)
  return changedQueue(tx, before.queue, deadLetterHead)
}

async function insertQueue(tx: Tx, queue: string, settings: QueueSettings): Promise<Queue> {
  const { values, deadLetterHead } = await columnsOf(tx, queue, settings, null)
  const columns = [...Object.keys(values), 'paused', 'queue', 'version', 'cycled']
  const marks = [...Object.keys(values).map(() => '?'), '0', '?', '1', '0']
  await tx.later(
    `INSERT INTO ${tx.tables.queues} (${columns.join(', ')}, shortest_visibility_seconds, created_at_ms) ` +
      `VALUES (${marks.join(', ')}, ${LONGEST_VISIBILITY_SECONDS}, ${tx.now})`,
    [...Object.values(values), queue],
  )
  return changedQueue(tx, queue, deadLetterHead)
}

async function changedQueue(tx: Tx, queue: string, deadLetterHead: QueueHead | null): Promise<Queue> {
  const head = (await readHead(tx, queue, tx.engine.forShare)) as QueueHead
  await openLevel(tx, { queueId: head.id, urgency: 0 })
  // So that moving a dead letter there changes no head.
  if (deadLetterHead?.holdsDeadLetters === false) {
    await tx.run(`UPDATE ${tx.tables.queues} SET has_letters = 1 WHERE id = ?`, [deadLetterHead.id])
  }
  if (deadLetterHead !== null) await lowerShortest(tx, deadLetterHead, head.shortestVisibilitySeconds)
  return lockedQueue(tx, head)
}

/** The columns of the settings that are given, and the dead-letter queue that they name. */
async function columnsOf(
  tx: Tx,
  queue: string,
  settings: QueueSettings,
  before: QueueHead | null,
): Promise<{ values: Record<string, Parameter>; deadLetterHead: QueueHead | null }> {
  const { visibilityTimeoutSeconds, maxReceives, deadLetterQueue, onAck, retentionSeconds, maxMessages } = settings
  const values: Record<string, Parameter> = {}
  const deadLetterHead = typeof deadLetterQueue === 'string' ? await deadLetterHeadOf(tx, queue, deadLetterQueue) : null
  if (visibilityTimeoutSeconds !== undefined) values.visibility_timeout_seconds = visibilityTimeoutSeconds
  if (maxReceives !== undefined) values.max_receives = storedLimit(maxReceives)
  if (deadLetterQueue !== undefined) values.dead_letter_queue_id = deadLetterHead?.id ?? null
  if (onAck !== undefined) values.on_delete = onAck
  if (retentionSeconds !== undefined) values.retention_seconds = retentionSeconds
  if (maxMessages !== undefined) values.max_messages = storedLimit(maxMessages)
  Object.assign(values, limitColumns(settings, before))
  return { values, deadLetterHead }
}

/** Follows the dead-letter queues from the one named; none may lead back to `queue`. */
async function deadLetterHeadOf(tx: Tx, queue: string, name: string): Promise<QueueHead> {
  const faults = (detail: string): Fault[] => [{ pointer: '/deadLetterQueue', detail }]
  const cycle = () =>
    new RecentnError('dead_letter_cycle', `The dead letters of ${JSON.stringify(queue)} would come back to it`, {
      faults: faults('would form a cycle'),
    })
  if (name === queue) throw cycle()
  const first = await readHead(tx, name, tx.engine.forShare)
  if (first === null) {
    const detail = `There is no queue ${JSON.stringify(name)}`
    throw new RecentnError('dead_letter_queue_not_found', detail, { faults: faults('does not exist') })
  }
  for (let next: QueueHead | null = first; next !== null; ) {
    next = await deadLetterQueueOf(tx, next, tx.engine.forShare)
    if (next?.queue === queue) throw cycle()
  }
  return first
}

/** Drops the queue at once, and then its messages; a sweeper continues where this is cut off. False if it does not exist. */
export function dropQueue(session: Session, memory: QueueMemory, queue: string): Promise<boolean> {
  return session.whole(async (whole) => {
    const head = await whole.write((tx) => dropHead(tx, memory, queue))
    if (head !== null) await clearDropped(whole, head.id)
    return head !== null
  })
}

async function dropHead(tx: Tx, memory: QueueMemory, queue: string): Promise<QueueHead | null> {
  const head = await lockQueue(tx, queue)
  if (head === null) return null
  const [other] = await tx.rows(
    `SELECT queue FROM ${tx.tables.queues} WHERE dead_letter_queue_id = ? ORDER BY queue LIMIT 1${tx.engine.forShare}`,
    [head.id],
  )
  if (other) throw new RecentnError('queue_in_use', `${JSON.stringify(other.queue)} has it as its dead-letter queue`)
  await tx.later(`INSERT INTO ${tx.tables.queueDrops} (queue_id) VALUES (?)`, [head.id])
  for (const table of [
    tx.tables.queueFlows,
    tx.tables.queueMessageGroups,
    tx.tables.queueKeys,
    tx.tables.queueTurns,
    tx.tables.queueCursors,
  ]) {
    await tx.later(`DELETE FROM ${table} WHERE queue_id = ?`, [head.id])
  }
  await tx.later(`DELETE FROM ${tx.tables.queues} WHERE id = ?`, [head.id])
  memory.dropped(tx, head)
  return head
}

/** A queue that is made again has another tag. It names the dead-letter queue by its id: a caller may not know its name. */
export function tagOf({ id, deadLetterQueueId, rates, ...head }: QueueHead): string {
  const { visibilityTimeoutSeconds, maxReceives, onAck, retentionSeconds, groupConcurrency, maxMessages } = head
  const settings = [visibilityTimeoutSeconds, maxReceives, onAck, retentionSeconds, groupConcurrency, maxMessages]
  if (rates !== null) return settingsTag([String(id), String(deadLetterQueueId), ...settings, rates])
  return settingsTag([String(id), deadLetterQueueId === null ? null : String(deadLetterQueueId), ...settings])
}

export function queueOf(head: QueueHead, deadLetterQueue: string | null): Queue {
  return {
    queue: head.queue,
    tag: tagOf(head),
    visibilityTimeoutSeconds: head.visibilityTimeoutSeconds,
    maxReceives: limitOf(head.maxReceives),
    deadLetterQueue,
    onAck: head.onAck,
    retentionSeconds: head.retentionSeconds,
    groupConcurrency: limitOf(head.groupConcurrency),
    maxMessages: limitOf(head.maxMessages),
    rateLimit: head.rateLimit,
    groupRateLimit: head.groupRateLimit,
    holdEndsAt: head.heldMs > 0 ? new Date(head.heldUntilMs) : null,
    paused: head.paused,
    createdAt: new Date(head.createdAtMs),
  }
}
