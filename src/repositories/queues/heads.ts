/**
 * The heads of queues (their rows in recentn_queues): reading and locking them.
 *
 * Invariant: a transaction that makes messages ready holds a shared lock on the queue's head to its end. So changing or
 * dropping a queue waits for it, and nothing is sent to a queue that is gone.
 */
import {
  placeholders,
  type Reader,
  type Row,
  type Statement,
  type StatementAnswer,
  type Tx,
} from '../../database/engine'
import { RecentnError } from '../../shared/errors'
import type { OnAck, QueueSettings } from '../../shared/queue-types'
import { column, shaped } from '../row-shape'

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

const HEAD = shaped({
  id: column.big.of('id'),
  queue: column.text.of('queue'),
  version: column.big.of('version'),
  visibilityTimeoutSeconds: column.number.of('visibility_timeout_seconds'),
  /** As the table has it: 0 is no limit. */
  maxReceives: column.number.of('max_receives'),
  deadLetterQueueId: column.big.orNull('dead_letter_queue_id'),
  onAck: column.text.of('on_delete'),
  retentionSeconds: column.number.orNull('retention_seconds'),
  paused: column.flag.of('paused'),
  cycled: column.number.of('cycled'),
  holdsDeadLetters: column.flag.of('has_letters'),
  shortestVisibilitySeconds: column.number.of('shortest_visibility_seconds'),
  /** How many messages of a group have places; 0 is no limit. */
  groupConcurrency: column.number.of('group_concurrency'),
  /** Names the limit: places that were given under another one are void. */
  groupLimitId: column.number.of('group_limit_id'),
  groupPhase: column.number.of('group_phase'),
  /** As the table has it: 0 is no limit. */
  maxMessages: column.number.of('max_messages'),
  /** A message was sent with a key: acks have to look for one that waits behind theirs. */
  isKeyed: column.flag.of('keyed'),
  /** As the table has them; null where there is neither. */
  rates: column.text.orNull('rates'),
  /** No message is handed out before; 0 where none is held. */
  heldUntilMs: column.number.of('held_until_ms'),
  groupsHeldUntilMs: column.number.of('groups_held_until_ms'),
  createdAtMs: column.number.of('created_at_ms'),
})

export interface QueueHead extends Omit<ReturnType<typeof HEAD.of>, 'onAck'> {
  onAck: OnAck
  rateLimit: Rate | null
  groupRateLimit: Rate | null
  /** For how long it is held, when the head was read. */
  heldMs: number
  /** The same for its message groups: for how long one of them is held, at most. */
  groupsHeldMs: number
  /** By the database's clock. */
  readAtMs: number
}

/** A head, and the database's time when it was read. */
export interface ReadHead {
  head: QueueHead
  nowMs: number
}

export const headColumns = (reader: Reader): string => `${HEAD.columns(reader)}, ${reader.now} AS now_ms`

export function headOf(row: Row): QueueHead {
  const head = HEAD.of(row)
  const [rateLimit, groupRateLimit] = (head.rates ?? ' ').split(' ').map(rateOf) as [Rate | null, Rate | null]
  const readAtMs = Number(row.now_ms)
  const heldMs = Math.max(0, head.heldUntilMs - readAtMs)
  const groupsHeldMs = Math.max(0, head.groupsHeldUntilMs - readAtMs)
  return { ...head, onAck: head.onAck as OnAck, rateLimit, groupRateLimit, heldMs, groupsHeldMs, readAtMs }
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

/** The queue of this name; `lock` is how its row is locked. */
export async function readHead(reader: Reader, queue: string, lock = ''): Promise<QueueHead | null> {
  return (await judgeHead(reader, queue, lock))?.head ?? null
}

export async function readHeadById(reader: Reader, id: bigint, lock = ''): Promise<QueueHead | null> {
  return (await judgeHead(reader, id, lock))?.head ?? null
}

/** The queue of this name, or id, and the number that a question gives, SQL on its row. */
export async function judgeHead(
  reader: Reader,
  queue: string | bigint,
  lock: string,
  question = '0',
): Promise<{ head: QueueHead; answer: number } | null> {
  const column = typeof queue === 'string' ? 'queue' : 'id'
  const [row] = await reader.rows(
    `SELECT ${headColumns(reader)}, ${question} AS answer FROM ${reader.tables.queues} WHERE ${column} = ?${lock}`,
    [queue],
  )
  return row ? { head: headOf(row), answer: Number(row.answer) } : null
}

/** The queue of this name; throws `queue_not_found`. */
export async function requireHead(reader: Reader, queue: string): Promise<QueueHead> {
  const head = await readHead(reader, queue)
  if (head === null) throw notFound(queue)
  return head
}

/** The head of the queue's dead-letter queue; null where dead messages stay in their queue. */
export async function deadLetterQueueOf(
  reader: Reader,
  { deadLetterQueueId }: QueueHead,
  lock = '',
): Promise<QueueHead | null> {
  return deadLetterQueueId === null ? null : readHeadById(reader, deadLetterQueueId, lock)
}

export interface HeldHeads {
  heads: QueueHead[]
  nowMs: number
  /** The step between the ids of one INSERT: servers that replicate to each other have their own ids. */
  stride: bigint
  /** Where messages without a group begin, if that was asked for; null if a group is ahead of them. */
  start: number | null
}

/** Holds the queues of these names: no transaction changes or drops them until this one ends. `more`: a further column. */
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
 * Lowers the time after which claims of the queue are looked at. That is the shortest visibility that was ever asked for by a message
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

export type Rate = NonNullable<QueueSettings['rateLimit']>

/** A rate as the table has it; an empty text is none. */
export function rateOf(text: string | undefined): Rate | null {
  if (!text) return null
  const [messages, perSeconds] = text.split('/').map(Number) as [number, number]
  return { messages, perSeconds }
}

/** Both rates, for the table. */
export function storedRates(rateLimit: Rate | null, groupRateLimit: Rate | null): string | null {
  const [own, ofGroups] = [rateLimit, groupRateLimit].map((rate) => (rate ? `${rate.messages}/${rate.perSeconds}` : ''))
  return own || ofGroups ? `${own} ${ofGroups}` : null
}
