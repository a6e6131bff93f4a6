/**
 * Applying a changed `groupConcurrency` or `groupRateLimit` to the messages that are there, in small transactions. The process that
 * changed it does so, and a sweeper continues where that was cut off. It may run in several processes at once: each step names the
 * limit and the phase that it is for, and does nothing under another.
 *
 * While the phase is `blocking`, nothing becomes ready that has a group, and no group gives a place. First the ready messages are
 * blocked. Then those that are in flight, or wait for their next try, have places, also beyond the limit. In the phase
 * `giving` each group gives those that are free. A queue whose limit was removed makes all blocked messages ready.
 *
 * Order of the locks: as in `places.ts`.
 */
import { randomInt } from 'node:crypto'
import type { Parameter, Row, Session, Tx } from '../../../database/engine'
import { MAX_ID } from '../../../fields/rules'
import { isPassing } from '../../../shared/errors'
import type { QueueSettings } from '../../../shared/queue-types'
import { REMINDED, remindAtOnce, whether } from '../../reminders'
import { GROUP_PHASE, isLimited, type QueueHead, readHead, readHeadById, storedLimit, storedRates } from '../heads'
import type { QueueMemory } from '../memory'
import { type MessagePlace, pageAfter, placeOf } from '../pages'
import { BEHIND, blockedPlace, STATE } from '../rows'
import { type LockedRow, lockedColumns, lockedOf, makeBlocked, makeReady } from '../settle/transitions'
import { fillPlaces, givePlacesTo } from './passing'

const PAGE = 200
/** Running it twice has the effect of running it once. The next round of a sweeper tries again. */
const REPEATABLE = { arrived: async () => false, retryMs: 0 }

/** Numbers that a JavaScript number holds. */
const newLimitId = () => randomInt(1, 2 ** 48 - 1)

/** The columns of a queue with other limits; `before` is null for a new queue. An id makes the places void that were given before. */
export function limitColumns(
  { groupConcurrency, rateLimit, groupRateLimit }: QueueSettings,
  before: QueueHead | null,
): Record<string, Parameter> {
  const atOnce = before?.groupConcurrency ?? 0
  const limit = groupConcurrency === undefined ? atOnce : storedLimit(groupConcurrency)
  const wasRate = before?.groupRateLimit ?? null
  const rate = groupRateLimit === undefined ? wasRate : groupRateLimit
  const own = rateLimit === undefined ? (before?.rateLimit ?? null) : rateLimit
  const rates: Record<string, Parameter> = {}
  if (rateLimit !== undefined || groupRateLimit !== undefined) rates.rates = storedRates(own, rate)
  if (limit === atOnce && storedRates(null, rate) === storedRates(null, wasRate)) return rates
  const group_phase = before === null ? GROUP_PHASE.settled : GROUP_PHASE.blocking
  return { ...rates, group_concurrency: limit, group_limit_id: newLimitId(), group_phase }
}

/** After a change. Where it cannot be done now, and after a caller's transaction, a sweeper does it, or a receive. */
export async function applyChangedLimit(session: Session, memory: QueueMemory, queue: string): Promise<void> {
  if (session.inTransaction) return
  try {
    await session.whole(async (whole) => {
      const head = await whole.read((reader) => readHead(reader, queue))
      if (head !== null && head.groupPhase !== GROUP_PHASE.settled) await applyGroupLimit(whole, memory, head.id)
    })
  } catch (error) {
    if (!isPassing(error)) throw error
  }
}

// The rate of message groups comes after the space.
const LIMITED = `(group_concurrency > 0 OR rates LIKE '% _%') AND group_phase = ${GROUP_PHASE.settled}`

/** Whether one of these queues has a limit, or keys. `which`: SQL of the queues, by their ids. */
export const anyMendable = (which: string) =>
  whether(({ tables }) => [`SELECT 1 FROM ${tables.queues} WHERE (keyed = 1 OR ${LIMITED}) AND id ${which}`])

/**
 * Applies the limits of queues again whose groups count places that no message has, and have blocked messages: a process of a
 * schema without groups has deleted messages. One statement compares both numbers, so that it sees them at one moment; it
 * reads the messages that are not blocked, so call it seldom. `which`: SQL of the queues, by their ids.
 */
export async function mendLimits(session: Session, memory: QueueMemory, which: string): Promise<void> {
  const { ready, inFlight, delayed, blocked } = STATE
  const miscounted = await session.read(({ rows, engine, tables }) => {
    const { queues, queueMessages, queueMessageGroups } = tables
    const ofQueue = (table: string) => `FROM ${table} WHERE ${table}.queue_id = ${queues}.id`
    const taken = `SELECT COALESCE(SUM(taken), 0) ${ofQueue(queueMessageGroups)} AND limit_id = group_limit_id`
    const held = `SELECT COUNT(*) ${ofQueue(queueMessages)} AND state IN (${ready}, ${inFlight}, ${delayed}) AND ABS(group_place) = group_limit_id`
    return rows(
      `SELECT ${engine.bigint('id')} AS id, group_limit_id FROM ${queues} WHERE ${LIMITED} AND id ${which} ` +
        `AND EXISTS (SELECT 1 ${ofQueue(queueMessages)} AND state = ${blocked}) AND (${taken}) > (${held})`,
    )
  })
  for (const row of miscounted) {
    const id = BigInt(row.id as string)
    await session.write(async (tx) => {
      const head = await readHeadById(tx, id, tx.engine.forUpdate)
      if (head?.groupLimitId !== Number(row.group_limit_id) || head.groupPhase !== GROUP_PHASE.settled) return
      await tx.later(
        `UPDATE ${tx.tables.queues} SET group_limit_id = ?, group_phase = ?, version = version + 1 WHERE id = ?`,
        [newLimitId(), GROUP_PHASE.blocking, id],
      )
      await remindAtOnce(tx, REMINDED.queue, id)
      memory.changed(tx, head.queue)
    }, REPEATABLE)
    await applyGroupLimit(session, memory, id)
  }
}

/** Ends when the queue has settled, or another change of it has begun. */
export async function applyGroupLimit(session: Session, memory: QueueMemory, queueId: bigint): Promise<void> {
  for (;;) {
    const head = await session.read((reader) => readHeadById(reader, queueId))
    if (head === null) return
    memory.learn(head)
    if (head.groupPhase === GROUP_PHASE.settled) return
    const { phase, isDone } = await nextPhase(session, memory, head)
    if (!isDone || !(await enterPhase(session, memory, head, phase))) return
  }
}

async function nextPhase(session: Session, memory: QueueMemory, head: QueueHead) {
  const { settled, blocking, giving } = GROUP_PHASE
  if (!isLimited(head)) {
    const isDone = (await unblock(session, memory, head)) && (await forgetGroups(session, head))
    return { phase: settled, isDone }
  }
  if (head.groupPhase === blocking) {
    return { phase: giving, isDone: (await blockReady(session, head)) && (await giveToHeld(session, head)) }
  }
  return { phase: settled, isDone: (await giveToBlocked(session, memory, head)) && (await forgetGroups(session, head)) }
}

/** False when another change was faster. */
async function enterPhase(session: Session, memory: QueueMemory, head: QueueHead, phase: number): Promise<boolean> {
  return session.write(async (tx) => {
    const held = await heldStill(tx, head, tx.engine.forUpdate)
    if (held === null) return false
    await tx.later(`UPDATE ${tx.tables.queues} SET group_phase = ?, version = version + 1 WHERE id = ?`, [
      phase,
      head.id,
    ])
    memory.changed(tx, held.queue)
    return true
  }, REPEATABLE)
}

/** The queue, locked; null when it is gone, or under another limit or in another phase now. */
async function heldStill(tx: Tx, head: QueueHead, lock = tx.engine.forShare): Promise<QueueHead | null> {
  const held = await readHeadById(tx, head.id, lock)
  const isSame = held?.groupLimitId === head.groupLimitId && held.groupPhase === head.groupPhase
  return isSame ? held : null
}

type PageWork = (tx: Tx, head: QueueHead, rows: readonly LockedRow[]) => Promise<void>

/**
 * Goes through the messages in one state, page by page; false where the queue is not as it was any more. `endOf`: what the
 * next page begins behind, by the last row of a page.
 */
async function eachPage(
  session: Session,
  head: QueueHead,
  state: number,
  work: PageWork,
  endOf: (last: Row) => MessagePlace = placeOf,
): Promise<boolean> {
  let after: MessagePlace | null = null
  for (;;) {
    const before: MessagePlace | null = after
    const page = await session.write(async (tx) => {
      const held = await heldStill(tx, head)
      if (held === null) return null
      // A blocked message is locked only after its group.
      const lock = state === STATE.blocked && isLimited(head) ? '' : tx.engine.forUpdate
      // Those that wait behind a message with their key wait for no place.
      const where = state === STATE.blocked ? ` AND sort_major <> ${BEHIND.major}` : ''
      const range = { columns: lockedColumns(tx), queueId: head.id, state, where, lock, limit: PAGE }
      const rows = await pageAfter(tx, range, before)
      const last = rows.at(-1)
      if (last !== undefined) await work(tx, held, rows.map(lockedOf))
      return { next: last === undefined ? null : endOf(last) }
    }, REPEATABLE)
    if (page === null) return false
    if (page.next === null) return true
    after = page.next
  }
}

async function blockReady(session: Session, head: QueueHead): Promise<boolean> {
  const block = (chosen: (row: LockedRow) => boolean): PageWork => {
    return (tx, held, rows) => makeBlocked(tx, held, rows.filter(chosen), '')
  }
  if (!(await eachPage(session, head, STATE.delayed, block(waitsForTurn)))) return false
  const isOfGroup = ({ messageGroup }: LockedRow) => messageGroup !== null
  return eachPage(session, head, STATE.ready, block(isOfGroup))
}

/** A delayed message that has a turn, under whatever limit. */
const waitsForTurn = ({ groupPlace }: LockedRow) => (groupPlace ?? 0) < 0

/** A message that was received and waits for its next try keeps its place. One that was sent with a delay has none yet. */
async function giveToHeld(session: Session, head: QueueHead): Promise<boolean> {
  const give: PageWork = (tx, held, rows) => {
    const wereReceived = rows.filter(({ state, receiveCount }) => state === STATE.inFlight || receiveCount > 0)
    return givePlacesTo(tx, held, wereReceived)
  }
  // In this order: a message that is released then is delayed when those are looked at.
  return (await eachPage(session, head, STATE.inFlight, give)) && (await eachPage(session, head, STATE.delayed, give))
}

function giveToBlocked(session: Session, memory: QueueMemory, head: QueueHead): Promise<boolean> {
  const fill: PageWork = async (tx, held, rows) => {
    const names = new Set(rows.map(({ messageGroup }) => messageGroup as string))
    await fillPlaces(tx, memory, held, names)
  }
  // The last group has what it can have: the rest of it is passed over.
  const endOf = (last: Row) => ({ ...blockedPlace(last.messageGroup as string), id: MAX_ID })
  return eachPage(session, head, STATE.blocked, fill, endOf)
}

async function unblock(session: Session, memory: QueueMemory, head: QueueHead): Promise<boolean> {
  const free: PageWork = (tx, held, rows) =>
    makeReady(tx, held, rows.filter(waitsForTurn), ', group_place = NULL', memory)
  if (!(await eachPage(session, head, STATE.delayed, free))) return false
  return eachPage(session, head, STATE.blocked, (tx, held, rows) => makeReady(tx, held, rows, '', memory))
}

/** Removes groups that have no places under this limit; what waits under another does so no more. */
async function forgetGroups(session: Session, head: QueueHead): Promise<boolean> {
  const forget = (tx: Tx) =>
    tx.later(`UPDATE ${tx.tables.queueTurns} SET waiting = 0 WHERE queue_id = ? AND limit_id <> ?`, [
      head.id,
      head.groupLimitId,
    ])
  await session.write(forget, REPEATABLE)
  for (;;) {
    const removed = await session.write(async (tx) => {
      const held = await heldStill(tx, head)
      if (held === null) return null
      const rows = await tx.rows(
        `SELECT message_group FROM ${tx.tables.queueMessageGroups} WHERE queue_id = ? AND limit_id <> ? LIMIT ${PAGE}${tx.engine.forUpdate}`,
        [head.id, isLimited(head) ? head.groupLimitId : 0],
      )
      for (const { message_group: group } of rows) {
        await tx.later(`DELETE FROM ${tx.tables.queueMessageGroups} WHERE queue_id = ? AND message_group = ?`, [
          head.id,
          group as string,
        ])
      }
      return rows.length
    }, REPEATABLE)
    if (removed === null) return false
    if (removed < PAGE) return true
  }
}
