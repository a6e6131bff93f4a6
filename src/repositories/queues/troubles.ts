/** The troubles of queues, and how many messages they have: found along indexes, for all of them at once. */
import type { Reader } from '../../database/engine'
import type { Trouble, TroubleKind } from '../../shared/overview-types'
import { groupedBy, rowsAmong } from '../chunks'
import { column, shaped } from '../row-shape'
import { type Letters, readLetters } from './dead/deaths'
import { type Growths, growthIn, nowOf, readGrowth } from './history/read'
import { unreceivedAmong } from './receivers/read'
import { countOf, MAX_IDS, STATE } from './rows'

/** Ready for longer than this, with no message in flight and no receiver that reports: probably no process receives. */
const UNRECEIVED_MS = 60_000
const LATE_MS = 300_000
/** A worker that needs longer extends its claim, and is named all the same. */
const HELD_MS = 600_000
/** A claim that has ended gives its message back within seconds. */
const ENDED_MS = 60_000
const BLOCKED_MS = 300_000

export type FoundTrouble = Pick<Trouble, 'kind' | 'name' | 'count'> & { sinceMs: number } & Partial<Trouble>

const QUEUE_ROW = shaped({
  id: column.big.of('id'),
  queue: column.text.of('queue'),
  paused: column.flag.of('paused'),
  lettersId: column.big.orNull('dead_letter_queue_id'),
})

interface QueueRow extends ReturnType<typeof QUEUE_ROW.of> {
  isDeadLetterQueue: boolean
}

/** The messages of one queue and state, with the oldest of them. */
const STATE_ROW = shaped({
  queueId: column.big.of('counted.queue_id'),
  state: column.number.of('counted.state'),
  messages: column.number.of('counted.messages'),
  /** Of those that are dead, when the first one died. */
  firstMajor: column.number.of('counted.first_major'),
  sentAtMs: column.number.of('oldest.sent_at_ms'),
  visibleAtMs: column.number.of('oldest.visible_at_ms'),
  messageGroup: column.text.orNull('oldest.message_group'),
})

interface StateRow extends ReturnType<typeof STATE_ROW.of> {
  /** Of the message that a receive would get first; null if none is ready. */
  firstAtMs: number | null
}

/** One scan of the claims index; of each queue and state it reads the oldest message, and the first one that is ready. */
export async function readStates(reader: Reader): Promise<StateRow[]> {
  const { engine, tables } = reader
  const index = engine.useIndex(tables.index.messagesClaim)
  const first = `SELECT ready.visible_at_ms FROM ${tables.queueMessages} ready${index} WHERE ready.queue_id = counted.queue_id AND ready.state = ${STATE.ready}`
  const found = await reader.rows(
    `SELECT ${STATE_ROW.columns(reader)}, ` +
      `CASE WHEN counted.state = ${STATE.ready} THEN (${first} ORDER BY ready.sort_major, ready.sort_minor, ready.id LIMIT 1) END AS first_at_ms ` +
      `FROM (SELECT queue_id, state, COUNT(*) AS messages, MIN(id) AS oldest_id, MIN(sort_major) AS first_major FROM ${tables.queueMessages}${index} ` +
      `GROUP BY queue_id, state) counted JOIN ${tables.queueMessages} oldest ON oldest.id = counted.oldest_id`,
  )
  return found.map((row) => ({ ...STATE_ROW.of(row), firstAtMs: countOf(row.first_at_ms) }))
}

const WAITING: ReadonlySet<number> = new Set([STATE.ready, STATE.blocked, STATE.inFlight])

/** When the oldest message that is ready, blocked or in flight was sent. */
export function oldestIn(states: readonly StateRow[]): number | null {
  const waiting = states.filter(({ state }) => WAITING.has(state))
  return waiting.reduce<number | null>((oldest, { sentAtMs }) => Math.min(oldest ?? sentAtMs, sentAtMs), null)
}

async function readQueues(reader: Reader): Promise<Map<bigint, QueueRow>> {
  const rows = await reader.rows(`SELECT ${QUEUE_ROW.columns(reader)} FROM ${reader.tables.queues}`)
  const found = rows.map(QUEUE_ROW.of)
  const letterIds = new Set(found.map(({ lettersId }) => lettersId))
  return new Map(found.map((one) => [one.id, { ...one, isDeadLetterQueue: letterIds.has(one.id) }]))
}

/** The messages and troubles of all queues, from one look. A queue without messages has no states. */
export interface QueuesLook {
  nowMs: number
  troubles: readonly FoundTrouble[]
  states: ReadonlyMap<bigint, readonly StateRow[]>
  letters: readonly Letters[]
  growth: Growths
}

export async function lookAtQueues(reader: Reader): Promise<QueuesLook> {
  const nowMs = await nowOf(reader)
  const [letters, growth, queues] = [await readLetters(reader), await readGrowth(reader), await readQueues(reader)]
  const states = groupedBy(await readStates(reader), ({ queueId }) => queueId)
  const still = [...states].flatMap(([id, all]) => (isStill(queues.get(id), all, nowMs) ? id : []))
  const unreceived = await unreceivedAmong(reader, still)
  const found = [lettersFound(queues, letters)]
  for (const [id, all] of states) {
    const queue = queues.get(id)
    // The queue is being dropped.
    if (queue === undefined) continue
    const again = letters.reduce((sum, { holderId, deadAgain }) => sum + (holderId === id ? deadAgain : 0), 0)
    const growingSinceMs = growthIn(growth, id)?.growingSinceMs ?? null
    found.push(ownTroubles(queue, all, { again, isUnreceived: unreceived.has(id), growingSinceMs }, nowMs))
  }
  found.push(await heldMessages(reader, queues, states, nowMs))
  return { nowMs, troubles: found.flat(), states, letters, growth }
}

function lettersFound(queues: ReadonlyMap<bigint, QueueRow>, letters: readonly Letters[]): FoundTrouble[] {
  return letters.flatMap(({ holderId, sourceId, messages, sinceMs }) => {
    const [holder, source] = [queues.get(holderId), queues.get(sourceId)]
    if (holder === undefined) return []
    const deadLetterQueue = source === undefined || source === holder ? null : holder.queue
    const { queue: name } = source ?? holder
    return [{ kind: 'dead', name, count: messages, sinceMs, deadLetterQueue } as FoundTrouble]
  })
}

/** Whether messages wait and none is in flight. Then receivers' reports decide, because a fast receiver holds none at most instants. */
function isStill(queue: QueueRow | undefined, all: readonly StateRow[], nowMs: number): boolean {
  if (!queue || queue.paused || queue.isDeadLetterQueue || all.some(({ state }) => state === STATE.inFlight))
    return false
  return all.some((one) => one.state === STATE.ready && nowMs - waitsSince(one) >= UNRECEIVED_MS)
}

function ownTroubles(
  { queue: name, paused, isDeadLetterQueue }: QueueRow,
  all: readonly StateRow[],
  { again, isUnreceived, growingSinceMs }: { again: number; isUnreceived: boolean; growingSinceMs: number | null },
  nowMs: number,
): FoundTrouble[] {
  const found: FoundTrouble[] = []
  const [ready, blocked, dead] = [STATE.ready, STATE.blocked, STATE.dead].map((state) =>
    all.find((one) => one.state === state),
  )
  if (dead !== undefined && dead.messages > again) {
    found.push({ kind: 'dead', name, count: dead.messages - again, sinceMs: dead.firstMajor })
  }
  // Dead letters need no receiver.
  if (isDeadLetterQueue) return found
  const waiting = [ready, blocked].filter((state) => state !== undefined)
  const count = waiting.reduce((sum, { messages }) => sum + messages, 0)
  if (paused) {
    if (count > 0) found.push({ kind: 'paused', name, count, sinceMs: Math.min(...waiting.map(waitsSince)) })
    return found
  }
  if (growingSinceMs !== null && count > 0) found.push({ kind: 'growing', name, count, sinceMs: growingSinceMs })
  if (ready !== undefined && (isUnreceived || nowMs - waitsSince(ready) >= LATE_MS)) {
    found.push({ kind: isUnreceived ? 'unreceived' : 'late', name, count: ready.messages, sinceMs: waitsSince(ready) })
  }
  if (blocked !== undefined && nowMs - blocked.visibleAtMs >= BLOCKED_MS) {
    const { messages: count, visibleAtMs: sinceMs, messageGroup } = blocked
    found.push({ kind: 'blocked', name, count, sinceMs, messageGroup })
  }
  return found
}

/** The oldest message may have become ready just now, after a delay: then the first one may wait for longer. */
const waitsSince = ({ visibleAtMs, firstAtMs }: StateRow) => Math.min(visibleAtMs, firstAtMs ?? visibleAtMs)

async function heldMessages(
  reader: Reader,
  queues: ReadonlyMap<bigint, QueueRow>,
  states: ReadonlyMap<bigint, readonly StateRow[]>,
  nowMs: number,
): Promise<FoundTrouble[]> {
  const busy = [...states].flatMap(([id, all]) => (all.some(({ state }) => state === STATE.inFlight) ? id : []))
  const { engine, tables } = reader
  const sql = (some: string) =>
    `SELECT ${engine.bigint('queue_id')} AS queue_id, COUNT(*) AS messages, MIN(last_received_at_ms) AS since_ms ` +
    `FROM ${tables.queueMessages}${engine.useIndex(tables.index.messagesClaim)} WHERE queue_id IN ${some} ` +
    `AND state = ${STATE.inFlight} AND (last_received_at_ms <= ? OR visible_at_ms <= ?) GROUP BY queue_id`
  const found = await rowsAmong(reader, busy, MAX_IDS, sql, { after: [nowMs - HELD_MS, nowMs - ENDED_MS] })
  return found.flatMap(({ queue_id: id, messages, since_ms: since }) => {
    const queue = queues.get(BigInt(id as string))
    if (queue === undefined) return []
    return [{ kind: 'held' as TroubleKind, name: queue.queue, count: Number(messages), sinceMs: Number(since) }]
  })
}
