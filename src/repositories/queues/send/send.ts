/**
 * Sending: the messages of many requests in one transaction, each request all or nothing.
 *
 * Order of the locks: the queues' heads (shared), dedup ids, keys, messages that wait with them, message groups with places, flows (each sorted). The messages themselves are new, so that
 * flows may come behind them, too, with the commit.
 */
import type { Statement, StatementAnswer, Tx } from '../../../database/engine'
import { SENT } from '../../../fields/answers-queues'
import { RecentnError } from '../../../shared/errors'
import type { Sent } from '../../../shared/queue-types'
import { groupedBy } from '../../chunks'
import { committing } from '../../runners'
import { leaveMark } from '../../writers'
import { assignStarts, openStartSql, passStarts, type UngroupedLevel } from '../groups/flows'
import { enterGroups, makeNextReady } from '../groups/places'
import { type HeldHeads, heldHeads, holdHeadsSql, isLimited, lowerShortest, type QueueHead, readHead } from '../heads'
import type { QueueMemory } from '../memory'
import { insertChunks, insertedColumns, type SendRequest, textsOf } from '../rows'
import { admit } from './admission'
import { columnsOf, groupPlaceOf, isReady, type OutgoingMessage, saveDedups } from './dedups'
import { changeWaiting, leavingPlaces, saveAdded } from './keyed'
import { idsOf, type PlainBatch, plainBatch, returningIds, sendPlainly, sendQuickly } from './quick-send'
import { heldSendLocks } from './send-locks'

/** Messages of a request that is worth its own lane. */
const LARGE = 100

/**
 * Sends commit together: requests of one queue go through one lane. Large ones take turns in all lanes: while one is
 * inserted, the next is written.
 */
export const SENDS = committing<QueueMemory, SendRequest, Sent[]>({
  what: 'messages',
  keyOf: ({ queue, rows }, memory) => (rows.length < LARGE ? queue : memory.nextTurn()),
  sizeOf: ({ rows }) => ({ items: rows.length, bytes: rows.reduce((sum, row) => sum + textsOf(row), 0) }),
  run: async (tx, memory, requests, batch) => {
    if (batch !== undefined) await leaveMark(tx, batch.writer)
    return sendAll(tx, memory, requests, batch !== undefined)
  },
  heldLocks: heldSendLocks,
})

/**
 * Sends the messages of many requests: for each request what became of its messages, or why nothing was sent. `isOwn`: the
 * transaction is for this alone, and sees what others have committed since.
 */
export async function sendAll(
  tx: Tx,
  memory: QueueMemory,
  requests: readonly SendRequest[],
  isOwn = false,
): Promise<(Sent[] | RecentnError)[]> {
  const outcomes = await sendEach(tx, memory, requests, isOwn)
  const sentIn = new Map<string, number>()
  let deduplicated = 0
  for (const [index, outcome] of outcomes.entries()) {
    if (outcome instanceof RecentnError) continue
    const sent = outcome.reduce((sum, one) => sum + (one.sent ? 1 : 0), 0)
    const { queue } = requests[index] as SendRequest
    sentIn.set(queue, (sentIn.get(queue) ?? 0) + sent)
    deduplicated += outcome.length - sent
  }
  for (const [queue, count] of sentIn) tx.afterCommit(memory.counting('messagesSent', count, queue, 'sent'))
  if (deduplicated > 0) tx.afterCommit(memory.counting('messagesDeduplicated', deduplicated))
  return outcomes
}

/** In the cheapest of the ways that these requests allow. */
async function sendEach(
  tx: Tx,
  memory: QueueMemory,
  requests: readonly SendRequest[],
  isOwn: boolean,
): Promise<(Sent[] | RecentnError)[]> {
  const plain = tx.engine.remembers ? plainBatch(memory, requests) : null
  const quick = plain && (await sendQuickly(tx, memory, requests, plain))
  if (quick !== null) return quick
  const open = isOwn ? plain : null
  const queues = [...new Set(requests.map(({ queue }) => queue))]
  if (plain === null) await markAll(tx, memory, requests)
  const hold = holdHeadsSql(tx, queues, open ? startOf(tx, memory, open) : undefined)
  const held = heldHeads(await tx.rows(hold.sql, hold.parameters))
  for (const head of held.heads) memory.learn(head)
  const plainly = open && (await sendPlainly(tx, memory, requests, open, held))
  return plainly ?? sendFully(tx, memory, requests, held, isOwn)
}

/** Notes that the queues have keys, before their heads are held. */
async function markAll(tx: Tx, memory: QueueMemory, requests: readonly SendRequest[]): Promise<void> {
  const keyed = requests.filter(({ rows }) => rows.some(({ key }) => key !== null))
  for (const queue of [...new Set(keyed.map(({ queue }) => queue))].sort()) {
    if (memory.seen(queue)?.isKeyed === true) continue
    const head = await readHead(tx, queue)
    if (head === null || head.isKeyed) continue
    await tx.run(`UPDATE ${tx.tables.queues} SET keyed = 1, version = version + 1 WHERE id = ? AND keyed = 0`, [
      head.id,
    ])
    memory.changed(tx, queue)
  }
}

/** Messages of any kind, whose queues' heads are held. */
async function sendFully(
  tx: Tx,
  memory: QueueMemory,
  requests: readonly SendRequest[],
  held: HeldHeads,
  isOwn: boolean,
): Promise<(Sent[] | RecentnError)[]> {
  const { nowMs } = held
  const heads = new Map(held.heads.map((head) => [head.queue, head]))
  const { outcomes, dedups, keys } = await admit(tx, requests, heads, nowMs)
  const toInsert = outcomes.flatMap((outcome) =>
    outcome instanceof RecentnError ? [] : outcome.filter(({ sent }) => sent),
  )
  await lowerAll(tx, toInsert)
  const given = await enterGroups(tx, toInsert, leavingPlaces(keys, nowMs))
  const numbered = (id: bigint) => toInsert[toInsert.length + Number(id)]
  for (const id of given.blocked) (numbered(id) as OutgoingMessage).isBlocked = true
  for (const [id, turn] of given.later) {
    const one = numbered(id)
    if (id < 0n && one !== undefined) one.turn = turn
  }
  await remindOf(tx, memory, toInsert)
  const ready = toInsert.filter(isReady)
  const passed = isOwn ? await giveOpenStarts(tx, memory, ready) : null
  if (passed === null) await giveStarts(tx, ready)
  await changeWaiting(tx, memory, keys, nowMs)
  for (const chunk of insertChunks(toInsert, ({ row }) => row)) await insertChunk(tx, chunk, held)
  await saveAdded(tx, keys)
  // In their order: one that is not sent has the id of the one before it that it names.
  for (const outcome of outcomes) {
    for (const one of outcome instanceof RecentnError ? [] : outcome) if (one.first !== null) one.id = one.first.id
  }
  await saveDedups(tx, dedups, nowMs)
  for (const { level, end } of passed ?? []) await passStarts(tx, level, end)
  await makeNextReady(tx, given, memory)
  const places = ready.map(({ head, row, start }) => ({ head, priority: row.priority, start }))
  memory.becameReady(tx, places)
  return outcomes.map((outcome) =>
    outcome instanceof RecentnError ? outcome : outcome.map(({ id, sent }) => SENT.make({ id, sent })),
  )
}

/** Queues and priorities of one batch: with more of them it costs less to take their starts by the locks. */
const MAX_LEVELS = 2

/**
 * Gives starts without a lock; what is returned is to be passed behind the messages, in that order. Null where messages have
 * groups, or a group is ahead of those without one.
 */
async function giveOpenStarts(
  tx: Tx,
  memory: QueueMemory,
  ready: readonly OutgoingMessage[],
): Promise<{ level: UngroupedLevel; end: number }[] | null> {
  if (!tx.engine.remembers || ready.some(({ row }) => row.messageGroup !== null)) return null
  const levels = levelsOf(ready)
  if (levels.length > MAX_LEVELS) return null
  const answers = await tx.together(
    levels.map(({ level, messages }) => openStartSql(tx, level, memory.reserveStarts(level, messages.length))),
  )
  if (answers.some(({ rows }) => rows.length === 0)) return null
  return levels.map(({ level, messages }, index) => {
    const start = Number(answers[index]?.rows[0]?.start)
    for (const [nth, message] of messages.entries()) message.start = start + nth
    const end = start + messages.length
    memory.startsPassed(level, end)
    return { level, end }
  })
}

/** The column that says where the messages begin. */
function startOf(tx: Tx, memory: QueueMemory, { level, messages }: PlainBatch): Statement {
  const { sql, parameters } = openStartSql(tx, level, memory.reserveStarts(level, messages.length))
  return { sql: `(${sql}) AS start`, parameters }
}

/** Messages without a group of one queue and priority. */
interface OpenLevel {
  level: UngroupedLevel
  messages: OutgoingMessage[]
}

/** In the order in which their flows are locked. */
function levelsOf(ready: readonly OutgoingMessage[]): OpenLevel[] {
  const byLevel = groupedBy(ready, ({ head, row }) => `${head.id}/${row.priority}`)
  const levels = [...byLevel.values()].map((messages) => {
    const { head, row } = messages[0] as OutgoingMessage
    return { level: { queueId: head.id, priority: row.priority }, messages }
  })
  return levels.sort(({ level: a }, { level: b }) =>
    a.queueId === b.queueId ? b.priority - a.priority : a.queueId < b.queueId ? -1 : 1,
  )
}

async function giveStarts(tx: Tx, ready: readonly OutgoingMessage[]): Promise<void> {
  const alike = ({ head, row: { priority, messageGroup } }: OutgoingMessage) => ({
    queueId: head.id,
    priority,
    messageGroup,
  })
  const starts = await assignStarts(tx, ready.map(alike))
  for (const [index, sending] of ready.entries()) sending.start = starts[index] as number
}

async function lowerAll(tx: Tx, toInsert: readonly OutgoingMessage[]): Promise<void> {
  const shortest = new Map<QueueHead, number>()
  for (const { head, row } of toInsert) {
    const asked = row.visibilityTimeoutSeconds
    if (asked !== null) shortest.set(head, Math.min(asked, shortest.get(head) ?? asked))
  }
  for (const [head, seconds] of shortest) await lowerShortest(tx, head, seconds)
}

/** Of messages that are delayed, or whose turns come later. */
async function remindOf(tx: Tx, memory: QueueMemory, toInsert: readonly OutgoingMessage[]): Promise<void> {
  const first = new Map<bigint, number>()
  for (const { head, row, turn } of toInsert) {
    const inMs = row.delayMs > 0 ? row.delayMs : turn?.inMs
    if (inMs !== undefined) first.set(head.id, Math.min(inMs, first.get(head.id) ?? inMs))
  }
  for (const [id, inMs] of first) await memory.reminders.remind(tx, id, inMs)
}

async function insertChunk(tx: Tx, toInsert: readonly OutgoingMessage[], { nowMs, stride }: HeldHeads): Promise<void> {
  const { engine } = tx
  const { columns, withOwn } = insertedColumns(toInsert.map(({ row }) => row))
  const hasPlaces = toInsert.some(({ head }) => isLimited(head))
  const { sql, parameters } = engine.insert(
    (values) =>
      `INSERT INTO ${tx.tables.queueMessages} (${columns}${hasPlaces ? ', group_place' : ''}) VALUES ${values}`,
    toInsert.map((sending) => {
      const values = withOwn(columnsOf(sending, nowMs), sending.row)
      if (hasPlaces) values.push(groupPlaceOf(sending))
      return values
    }),
  )
  const [answer] = await tx.together([{ sql: returningIds(engine, sql), parameters }])
  const ids = idsOf(tx, answer as StatementAnswer, toInsert.length, stride)
  for (const [index, sending] of toInsert.entries()) sending.id = ids[index] as bigint
}
