/**
 * Receiving where messages wait for their turns: in a queue with a `rateLimit` or a `groupRateLimit`, and while a message group
 * is held. One transaction chooses messages, claims them, and passes their turns on.
 *
 * Order of the locks: the queue's head (shared), its own turns, the messages (those that others have locked are skipped),
 * their groups, blocked messages. A receive in a caller's transaction keeps the queue's own turns locked until that ends.
 */
import { placeholders, type Session, type Tx } from '../../../database/engine'
import { chunksOf, groupedBy, rowsAmong } from '../../chunks'
import { passTurns } from '../groups/passing'
import { busyGroups, hasTurn, isAmong, moveOf } from '../groups/places'
import { lockTurns, OWN, saveTurns, type Turns } from '../groups/turns'
import { holdHead, type QueueHead } from '../heads'
import type { QueueMemory } from '../memory'
import { type MessagePlace, pageAfter, placeOf } from '../pages'
import { type ClaimedMessages, claimedColumns, MAX_IDS, STATE } from '../rows'
import { queueWork } from '../settle/looks'
import { promoteDue } from '../settle/promote'
import { type LockedRow, lockedColumns, lockedOf, updateRows } from '../settle/transitions'
import { claimedIn, claimSets, lookSeconds } from './claim-statements'
import type { CycleRequest } from './cycle'

/** Pages of one claim: behind them, messages of groups that are held or locked are left for the next one. */
const MAX_PAGES = 20
/** The least time until a receiver that waits looks again. */
const LEAST_MS = 10

type Request = Omit<CycleRequest, 'cursor'>

/** Claims the next messages that have turns. Where there are none, it says when the next one may have. */
export async function claimInTurn(session: Session, memory: QueueMemory, request: Request): Promise<ClaimedMessages> {
  await promoteDue(session, memory, request.queue, request.limit)
  const claimNumber = memory.receiver.newClaimNumber()
  const claimed = await session.write((tx) => claimOnce(tx, memory, request, claimNumber), {
    arrived: async (tx) => {
      const { head } = await holdHead(tx, request.queue)
      // Without a rate of the queue there is no lock to wait for: the messages are given again when their claim has run out.
      if (head.rateLimit !== null) await lockTurns(tx, [{ head, group: OWN }])
      const [row] = await tx.rows(
        `SELECT id FROM ${tx.tables.queueMessages} WHERE queue_id = ? AND state = ? AND sort_minor = ? LIMIT 1`,
        [head.id, STATE.inFlight, claimNumber],
      )
      return row !== undefined
    },
  })
  memory.learn(claimed.head)
  if (claimed.rows.length > 0 || claimed.head.paused) return claimed
  const work = await session.read((reader) => queueWork(reader, [claimed.head.id]))
  const dueInMs = work.get(claimed.head.id)?.dueInMs ?? null
  const soonest = Math.min(claimed.nextInMs ?? Number.POSITIVE_INFINITY, dueInMs ?? Number.POSITIVE_INFINITY)
  return { ...claimed, nextInMs: soonest === Number.POSITIVE_INFINITY ? null : Math.max(LEAST_MS, soonest) }
}

async function claimOnce(
  tx: Tx,
  memory: QueueMemory,
  { queue, limit, visibilityTimeoutSeconds }: Request,
  claimNumber: bigint,
): Promise<ClaimedMessages> {
  const { head, nowMs } = await holdHead(tx, queue)
  if (head.paused || head.heldMs > 0) return { head, rows: [], nextInMs: head.paused ? null : head.heldMs }
  const named = { head, group: OWN }
  const turns = head.rateLimit === null ? null : (await lockTurns(tx, [named])).get(named)
  const own = turns as Turns | null
  const wanted = Math.min(limit, memory.fitting(head.id), own?.free ?? limit)
  if (own && wanted <= 0) {
    await saveTurns(tx, new Map([[named, own]]))
    return { head, rows: [], nextInMs: (own.nextMs ?? own.nowMs) - own.nowMs }
  }
  const chosen = await choose(tx, memory, head, wanted, nowMs)
  if (chosen.length === 0) return { head, rows: [] }
  const sets = claimSets(tx.engine, tx.now, head, visibilityTimeoutSeconds, claimNumber)
  const place =
    head.groupConcurrency > 0 ? `CASE WHEN message_group IS NULL THEN NULL ELSE ${head.groupLimitId} END` : 'NULL'
  const passes = head.groupRateLimit === null ? '' : `, group_place = ${place}`
  await updateRows(tx, sets.sql + passes, chosen, sets.parameters)
  await memory.reminders.remind(tx, head.id, lookSeconds(head, visibilityTimeoutSeconds) * 1000)
  const ids = chosen.map(({ id }) => id)
  const select = `SELECT ${claimedColumns(tx)} FROM ${tx.tables.queueMessages} WHERE id IN`
  const rows = claimedIn(await rowsAmong(tx, ids, MAX_IDS, (some) => `${select} ${some}`))
  const atMs = rows.reduce((last, { receivedAtMs }) => Math.max(last, receivedAtMs), 0)
  if (own) {
    own.received(atMs, rows.length)
    await saveTurns(tx, new Map([[named, own]]))
  }
  if (head.groupRateLimit !== null) await passTurns(tx, memory, head, chosen, atMs)
  return { head, rows }
}

/** The next messages that may be received, locked. */
async function choose(
  tx: Tx,
  memory: QueueMemory,
  head: QueueHead,
  wanted: number,
  nowMs: number,
): Promise<LockedRow[]> {
  const chosen: LockedRow[] = []
  let after: MessagePlace | null = null
  for (let page = 0; page < MAX_PAGES && chosen.length < wanted; page++) {
    const limit = wanted - chosen.length
    const range = { queueId: head.id, state: STATE.ready, where: '', lock: tx.engine.forNext, limit }
    const found = await pageAfter(tx, { ...range, columns: lockedColumns(tx) }, after)
    const last = found.at(-1)
    const rows = found.map(lockedOf)
    const ofGroups = rows.filter(({ messageGroup }) => messageGroup !== null)
    const left = new Set(head.groupsHeldMs > 0 ? await delayHeld(tx, memory, head, ofGroups, nowMs) : [])
    if (head.groupRateLimit !== null) {
      const moves = new Map(ofGroups.map((row) => [row.id, moveOf(row, head, null)]))
      const busy = await busyGroups(tx, [...moves.values()])
      for (const row of ofGroups) {
        // One without a turn was ready before the limit, which is being applied.
        if (!hasTurn(row, head) || isAmong(moves.get(row.id) as ReturnType<typeof moveOf>, busy)) left.add(row.id)
      }
    }
    for (const row of rows) if (!left.has(row.id)) chosen.push(row)
    if (last === undefined || found.length < limit) break
    after = placeOf(last)
  }
  return chosen
}

/** Those of the messages whose groups are held are delayed, until they are held no more. Resolves to the ids. */
async function delayHeld(
  tx: Tx,
  memory: QueueMemory,
  { id }: QueueHead,
  rows: readonly LockedRow[],
  nowMs: number,
): Promise<bigint[]> {
  const delayed: bigint[] = []
  const byGroup = groupedBy(rows, ({ messageGroup }) => messageGroup as string)
  for (const names of chunksOf([...byGroup.keys()], MAX_IDS)) {
    const held = await tx.rows(
      `SELECT message_group, held_until_ms FROM ${tx.tables.queueTurns} ` +
        `WHERE queue_id = ? AND message_group IN (${placeholders(names.length)}) AND held_until_ms > ?${tx.engine.forShare}`,
      [id, ...names, nowMs],
    )
    for (const row of held) {
      const mine = byGroup.get(row.message_group as string) ?? []
      const untilMs = Number(row.held_until_ms)
      const sets = `state = ${STATE.delayed}, sort_major = ?, sort_minor = 0, visible_at_ms = ?, cycle_queue_id = 0`
      await updateRows(tx, sets, mine, [untilMs, untilMs])
      await memory.reminders.remind(tx, id, untilMs - nowMs)
      for (const one of mine) delayed.push(one.id)
    }
  }
  return delayed
}
