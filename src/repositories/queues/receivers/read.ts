/** The receivers of a queue, what they hold in flight, and what blocks its message groups. */
import type { Reader, Row } from '../../../database/engine'
import { QUEUE_RECEIVERS } from '../../../fields/answers-receivers'
import type { BlockedGroup, MessageReceiver, QueueReceivers } from '../../../shared/queue-types'
import { groupedBy, rowsAmong } from '../../chunks'
import { requireHead } from '../heads'
import { BEHIND, claimOrder, MAX_IDS, STATE, stateName } from '../rows'
import { GONE_MS, LEAST_RECEIVER, LEFT_AT, RECEIVER_OF } from './own'

/** Groups of one answer, those with the most messages that wait. */
const MAX_GROUPS = 50
/** Messages of each state that are searched for those that a group waits for. */
const MAX_SEARCHED = 5000
/** A store that has asked for no message for this long, and holds none, receives no more. */
const ASKED_MS = 120_000

const isThere = (now: string) => `asked_at_ms <> ${LEFT_AT} AND seen_at_ms >= ${now} - ${GONE_MS}`
const hasAsked = (now: string) => `asked_at_ms >= ${now} - ${ASKED_MS}`

/** Receivers of a queue, by their ids. */
type Known = ReadonlyMap<number, { receiver: MessageReceiver; row: Row }>

async function knownReceivers({ tables, now, rows }: Reader, queueId: bigint, ids?: readonly number[]): Promise<Known> {
  if (ids?.length === 0) return new Map()
  const among = ids ? ` AND receiver_id IN (${ids})` : ''
  const found = await rows(
    `SELECT receiver_id, name, since_ms, seen_at_ms, received, ${isThere(now)} AS is_there, ${hasAsked(now)} AS has_asked ` +
      `FROM ${tables.queueReceivers} WHERE queue_id = ?${among} ORDER BY name, receiver_id`,
    [queueId],
  )
  return new Map(
    found.map((row) => {
      const lastSeenAt = new Date(Number(row.seen_at_ms))
      const receiver = { name: row.name as string, lastSeenAt, gone: !Number(row.is_there) }
      return [Number(row.receiver_id), { receiver, row }]
    }),
  )
}

/** Those of these queues that no receiver is there for, as far as receivers report. */
export async function unreceivedAmong(reader: Reader, ids: readonly bigint[]): Promise<ReadonlySet<bigint>> {
  const { engine, tables, now } = reader
  const select = `SELECT DISTINCT ${engine.bigint('queue_id')} AS id FROM ${tables.queueReceivers} WHERE queue_id IN`
  const sql = (some: string) => `${select} ${some} AND ${isThere(now)} AND ${hasAsked(now)}`
  const found = await rowsAmong(reader, ids, MAX_IDS, sql)
  const received = new Set(found.map(({ id }) => BigInt(id as string)))
  return new Set(ids.filter((id) => !received.has(id)))
}

/** Of rows of messages with their `minor`: who holds those in flight, by the receivers' ids. */
export async function holdersOf(reader: Reader, queueId: bigint, rows: readonly Row[]) {
  const ids = rows.map(receiverOf).filter((id) => id >= LEAST_RECEIVER)
  const known = await knownReceivers(reader, queueId, [...new Set(ids)])
  return (row: Row): MessageReceiver | null => known.get(receiverOf(row))?.receiver ?? null
}

/** The number of a claim has the id of its receiver before its last 32 bits. */
const receiverOf = ({ minor }: Row): number => Number(BigInt(minor as string) >> 32n)

export async function readReceivers(reader: Reader, queue: string): Promise<QueueReceivers> {
  const { id } = await requireHead(reader, queue)
  const inFlight = await countHeld(reader, id)
  const known = await knownReceivers(reader, id)
  const receivers = []
  let unknownInFlight = 0
  for (const [receiverId, messages] of inFlight) if (!known.has(receiverId)) unknownInFlight += messages
  for (const [receiverId, { receiver, row }] of known) {
    const held = inFlight.get(receiverId) ?? 0
    const receives = !receiver.gone && Boolean(Number(row.has_asked))
    if (!receives && held === 0) continue
    const receivedLastMinute = receives ? Number(row.received) : 0
    receivers.push({ ...receiver, beganAt: new Date(Number(row.since_ms)), inFlight: held, receivedLastMinute })
  }
  return QUEUE_RECEIVERS.of({ receivers, unknownInFlight, blockedGroups: await blockedGroups(reader, id) })
}

/** How many messages of the queue each receiver holds: one scan of those in flight, in the claims index. */
async function countHeld({ engine, tables, rows }: Reader, queueId: bigint): Promise<Map<number, number>> {
  const found = await rows(
    `SELECT ${RECEIVER_OF} AS receiver_id, COUNT(*) AS messages FROM ${tables.queueMessages}${engine.useIndex(tables.index.messagesClaim)} ` +
      `WHERE queue_id = ? AND state = ${STATE.inFlight} GROUP BY ${RECEIVER_OF}`,
    [queueId],
  )
  return new Map(found.map((row) => [Number(row.receiver_id), Number(row.messages)]))
}

/** Without messages that wait behind one with their key: these are of no group. */
async function blockedGroups(reader: Reader, queueId: bigint): Promise<BlockedGroup[]> {
  const { engine, tables } = reader
  const isBehind = `sort_major = ${BEHIND.major} AND sort_minor = ${BEHIND.minor}`
  const found = await reader.rows(
    'SELECT counted.messages AS messages, oldest.message_group AS message_group, oldest.visible_at_ms AS since_ms ' +
      `FROM (SELECT COUNT(*) AS messages, MIN(id) AS oldest_id FROM ${tables.queueMessages}${engine.useIndex(tables.index.messagesClaim)} ` +
      `WHERE queue_id = ? AND state = ${STATE.blocked} AND NOT (${isBehind}) GROUP BY sort_major, sort_minor ` +
      `ORDER BY messages DESC, oldest_id LIMIT ${MAX_GROUPS}) counted ` +
      `JOIN ${tables.queueMessages} oldest ON oldest.id = counted.oldest_id ORDER BY messages DESC, counted.oldest_id`,
    [queueId],
  )
  if (found.length === 0) return []
  const groups = found.map((row) => row.message_group as string)
  const ahead = await messagesAhead(reader, queueId, groups)
  const holder = await holdersOf(reader, queueId, ahead.filter(isHeld))
  const byGroup = groupedBy(ahead, (row) => row.message_group as string)
  return found.map((row) => ({
    messageGroup: row.message_group as string,
    blocked: Number(row.messages),
    beganAt: new Date(Number(row.since_ms)),
    waitsFor: (byGroup.get(row.message_group as string) ?? []).map((one) => ({
      id: BigInt(one.id as string),
      state: stateName(one.state),
      visibleAt: new Date(Number(one.visible_at_ms)),
      receiver: isHeld(one) ? holder(one) : null,
    })),
  }))
}

const isHeld = ({ state }: Row) => Number(state) === STATE.inFlight

/** The messages that have the places of these groups: in flight, delayed, or ready. */
async function messagesAhead(
  { engine, tables, rows }: Reader,
  queueId: bigint,
  groups: readonly string[],
): Promise<Row[]> {
  const names = engine.list(groups)
  const ahead: Row[] = []
  for (const state of [STATE.inFlight, STATE.delayed, STATE.ready]) {
    const found = await rows(
      `SELECT ${engine.bigint('id')} AS id, state, visible_at_ms, ${engine.bigint('sort_minor')} AS minor, message_group FROM ` +
        `(SELECT id, state, visible_at_ms, sort_minor, message_group FROM ${tables.queueMessages}${engine.useIndex(tables.index.messagesClaim)} WHERE queue_id = ? AND state = ${state} ` +
        `ORDER BY ${claimOrder(tables)} LIMIT ${MAX_SEARCHED}) first WHERE message_group IN (${names.sql})`,
      [queueId, ...names.parameters],
    )
    for (const row of found) ahead.push(row)
  }
  return ahead
}
