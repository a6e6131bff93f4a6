/**
 * The heads of queues (their rows in recentn_queues): reading and locking them.
 *
 * Invariant: a transaction that makes messages ready holds a shared lock on the queue's head to its end. So changing or
 * dropping a queue waits for it, and nothing is sent to a queue that is gone.
 */
import type { Parameter, Reader, Row, Statement, StatementAnswer, Tx } from '../../database/engine'
import { placeholders } from '../../database/engine'
import { RecentnError } from '../../shared/errors'
import type { OnDelete } from '../../shared/queue-types'
import { type Rate, rateOf } from './rates'

/** The shortest visibility of a queue's messages before any message has asked for a shorter one. */
export const LONGEST_VISIBILITY_SECONDS = 43_200

/** Whether the index of cycles has the ready messages of a queue: not before the first receive in a cycle. */
export const CYCLED = { not: 0, begun: 1, wholly: 2 } as const

/** The work that is left after `group_concurrency` has changed: to block the ready messages of groups, and to give them places. */
export const GROUP_PHASE = { settled: 0, blocking: 1, giving: 2 } as const

/** No limit, as `max_receives`, `max_messages` and `group_concurrency` have it: null in a message's column is the queue's limit. */
const NO_LIMIT = 0

/** A limit as callers give it (null is none), as the tables have it. */
export const storedLimit = (limit: number | null): number => limit ?? NO_LIMIT

/** A limit as the tables have it, as callers see it. */
export const limitOf = (stored: number): number | null => (stored === NO_LIMIT ? null : stored)

export interface QueueHead {
  id: bigint
  queue: string
  version: bigint
  visibilityTimeoutSeconds: number
  /** As the table has it: 0 is no limit. */
  maxReceives: number
  deadLetterQueueId: bigint | null
  onDelete: OnDelete
  retentionSeconds: number | null
  paused: boolean
  cycled: number
  holdsDeadLetters: boolean
  shortestVisibilitySeconds: number
  /** How many messages of a group have places; 0 is no limit. */
  groupConcurrency: number
  /** Names the limit: places that were given under another one are void. */
  groupLimitId: number
  groupPhase: number
  /** As the table has it: 0 is no limit. */
  maxMessages: number
  /** A message was sent with a key: acks have to look for one that waits behind theirs. */
  isKeyed: boolean
  /** As the table has them; null where there is neither. */
  rates: string | null
  rateLimit: Rate | null
  groupRateLimit: Rate | null
  /** No message is handed out before; 0 where none is held. */
  heldUntilMs: number
  /** For how long, when the head was read. */
  heldMs: number
  /** The same for its message groups: for how long one of them is held, at most. */
  groupsHeldMs: number
  /** By the database's clock. */
  readAtMs: number
  createdAtMs: number
}

/** A head, and the database's time when it was read. */
export interface ReadHead {
  head: QueueHead
  nowMs: number
}

/** A head, and the number that a question about its row gave when it was read. */
export interface JudgedHead extends ReadHead {
  answer: number
}

export function headColumns({ engine, now }: Reader): string {
  return (
    `${engine.bigint('id')} AS id, queue, ${engine.bigint('version')} AS version, visibility_timeout_seconds, ` +
    `max_receives, ${engine.bigint('dead_letter_queue_id')} AS dead_letter_queue_id, on_delete, retention_seconds, ` +
    `paused, cycled, has_letters, shortest_visibility_seconds, group_concurrency, group_limit_id, group_phase, ` +
    `max_messages, keyed, rates, held_until_ms, groups_held_until_ms, created_at_ms, ${now} AS now_ms`
  )
}

export function headOf(row: Row): QueueHead {
  const rates = row.rates as string | null
  const remaining = (untilMs: unknown) => Math.max(0, Number(untilMs) - Number(row.now_ms))
  return {
    id: BigInt(row.id as string),
    queue: row.queue as string,
    version: BigInt(row.version as string),
    visibilityTimeoutSeconds: Number(row.visibility_timeout_seconds),
    maxReceives: Number(row.max_receives),
    deadLetterQueueId: row.dead_letter_queue_id === null ? null : BigInt(row.dead_letter_queue_id as string),
    onDelete: row.on_delete as OnDelete,
    retentionSeconds: row.retention_seconds === null ? null : Number(row.retention_seconds),
    paused: Number(row.paused) === 1,
    cycled: Number(row.cycled),
    holdsDeadLetters: Number(row.has_letters) === 1,
    shortestVisibilitySeconds: Number(row.shortest_visibility_seconds),
    groupConcurrency: Number(row.group_concurrency),
    groupLimitId: Number(row.group_limit_id),
    groupPhase: Number(row.group_phase),
    maxMessages: Number(row.max_messages),
    isKeyed: Number(row.keyed) === 1,
    rates,
    rateLimit: rates === null ? null : rateOf(rates.split(' ')[0]),
    groupRateLimit: rates === null ? null : rateOf(rates.split(' ')[1]),
    heldUntilMs: Number(row.held_until_ms),
    heldMs: remaining(row.held_until_ms),
    groupsHeldMs: remaining(row.groups_held_until_ms),
    readAtMs: Number(row.now_ms),
    createdAtMs: Number(row.created_at_ms),
  }
}

/** Whether the places of its message groups are limited, at once or by a rate. */
export function isLimited(head: QueueHead | null): head is QueueHead {
  return head !== null && (head.groupConcurrency !== NO_LIMIT || head.groupRateLimit !== null)
}

/** Whether messages wait for their turns in the queue, or because it is held, or one of its message groups. */
export function takesTurns({ rates, heldMs, groupsHeldMs }: QueueHead): boolean {
  return rates !== null || heldMs > 0 || groupsHeldMs > 0
}

/** The `group_place` of a message that has a place, and, where there is a `groupRateLimit`, a turn. */
export const givenPlace = ({ groupLimitId, groupRateLimit }: QueueHead): number =>
  groupRateLimit === null ? groupLimitId : -groupLimitId

/** The queue of this name; `lock` is how its row is locked. `question`: SQL on the row, a number. */
export function readHead(reader: Reader, queue: string, lock = '', question = '0'): Promise<JudgedHead | null> {
  return readOne(reader, 'queue', queue, lock, question)
}

/** The queue of this name; throws `queue_not_found`. */
export async function requireHead(reader: Reader, queue: string): Promise<QueueHead> {
  const read = await readHead(reader, queue)
  if (read === null) throw notFound(queue)
  return read.head
}

export function readHeadById(reader: Reader, id: bigint, lock = ''): Promise<ReadHead | null> {
  return readOne(reader, 'id', id, lock)
}

/** Before messages are sent with keys: in a transaction that holds no head yet. */
export async function markKeyed(tx: Tx, head: QueueHead): Promise<void> {
  await tx.run(`UPDATE ${tx.tables.queues} SET keyed = 1, version = version + 1 WHERE id = ? AND keyed = 0`, [head.id])
}

/** The head of the queue's dead-letter queue; null where dead messages stay in their queue. */
export async function deadLetterQueueOf(
  reader: Reader,
  { deadLetterQueueId }: QueueHead,
  lock = '',
): Promise<QueueHead | null> {
  if (deadLetterQueueId === null) return null
  return (await readHeadById(reader, deadLetterQueueId, lock))?.head ?? null
}

async function readOne(
  reader: Reader,
  key: 'id' | 'queue',
  value: Parameter,
  lock: string,
  question = '0',
): Promise<JudgedHead | null> {
  const [row] = await reader.rows(
    `SELECT ${headColumns(reader)}, ${question} AS answer ` + `FROM ${reader.tables.queues} WHERE ${key} = ?${lock}`,
    [value],
  )
  return row ? { head: headOf(row), nowMs: Number(row.now_ms), answer: Number(row.answer) } : null
}

export interface HeldHeads {
  heads: QueueHead[]
  nowMs: number
  /** The step between the ids of one INSERT: servers that replicate to each other have their own ids. */
  stride: bigint
  /** Where messages without a group begin, if that was asked for; null if a group is ahead of them. */
  start: number | null
}

/** The queues of these names that exist. No transaction changes or drops them until the transaction ends. */
export async function holdHeads(tx: Tx, queues: readonly string[], more?: Statement): Promise<HeldHeads> {
  const { sql, parameters } = holdHeadsSql(tx, queues, more)
  return heldHeads(await tx.rows(sql, parameters))
}

/** `more`: a further column. */
export function holdHeadsSql(tx: Tx, queues: readonly string[], more?: Statement): Statement {
  const columns = `${headColumns(tx)}, ${tx.engine.idStride} AS stride${more ? `, ${more.sql}` : ''}`
  return {
    sql: `SELECT ${columns} FROM ${tx.tables.queues} WHERE queue IN (${placeholders(queues.length)})${tx.engine.forShare}`,
    parameters: [...(more?.parameters ?? []), ...queues],
  }
}

/** The heads in the answer of `holdHeadsSql`. */
export function heldHeads(rows: readonly Row[]): HeldHeads {
  const [first] = rows
  return {
    heads: rows.map(headOf),
    nowMs: Number(first?.now_ms ?? 0),
    stride: BigInt((first?.stride as string) ?? 1),
    start: first?.start === undefined || first.start === null ? null : Number(first.start),
  }
}

/** The same for one; throws `queue_not_found`. */
export async function holdHead(tx: Tx, queue: string): Promise<ReadHead> {
  const { sql, parameters } = holdHeadsSql(tx, [queue])
  return heldHead({ rows: await tx.rows(sql, parameters) }, queue)
}

/** The head of the queue in the answer of `holdHeadsSql`; throws `queue_not_found`. */
export function heldHead({ rows }: Pick<StatementAnswer, 'rows'>, queue: string): ReadHead {
  const { heads, nowMs } = heldHeads(rows)
  if (heads[0] === undefined) throw notFound(queue)
  return { head: heads[0], nowMs }
}

/**
 * Lowers the time after which claims of the queue are looked at: the shortest visibility that was ever asked for by a message
 * sent to it, or to a queue whose dead letters it takes. Sending such a message, or naming a dead-letter queue, lowers it
 * along the dead-letter queues, so that moving a message changes no head.
 */
export async function lowerShortest(tx: Tx, head: QueueHead, seconds: number): Promise<void> {
  const { id, shortestVisibilitySeconds } = head
  if (shortestVisibilitySeconds <= seconds) return
  await tx.later(
    `UPDATE ${tx.tables.queues} SET shortest_visibility_seconds = ?, version = version + 1 WHERE id = ? AND shortest_visibility_seconds > ?`,
    [seconds, id, seconds],
  )
  const deadLetterHead = await deadLetterQueueOf(tx, head, tx.engine.forUpdate)
  if (deadLetterHead !== null) await lowerShortest(tx, deadLetterHead, seconds)
}

/** The greatest id of all messages: those that are sent from now on have greater ones. */
export async function lastMessageId({ engine, tables, rows }: Reader): Promise<bigint> {
  const [row] = await rows(`SELECT ${engine.bigint('MAX(id)')} AS id FROM ${tables.queueMessages}`)
  return BigInt((row?.id as string | null) ?? 0)
}

export function notFound(queue: string): RecentnError {
  return new RecentnError('queue_not_found', `There is no queue ${JSON.stringify(queue)}: create it with "ensure"`)
}
