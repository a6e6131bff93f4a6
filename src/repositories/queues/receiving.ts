/**
 * Receiving, as one operation of several transactions: what is due is promoted first, then messages are claimed.
 */
import type { Session } from '../../database/engine'
import { claimReady, isUrgent, newClaimNumber, placeAfter } from './claim'
import { beginCycle, claimCycle } from './cycle'
import type { Place, QueueHead, QueueMemory } from './heads'
import { isDue, promoteQueue } from './promote'
import { type ClaimedRow, STATE } from './rows'
import type { OnReady } from './send'

/** Receives that come one after the other need not each look for what is due. */
const LOOK_MS = 100

export interface TakeRequest {
  queue: string
  max: number
  visibilityTimeoutSeconds: number | undefined
}

export interface Receiving {
  session: Session
  memory: QueueMemory
  onReady: OnReady
}

/** Promotes what is due, unless it was looked within `forMs`; true when it looked and something was. */
export async function promoteDue(
  { session, memory, onReady }: Receiving,
  queue: string,
  forMs = LOOK_MS,
): Promise<{ looked: boolean; moved: boolean }> {
  const id = await session.read(async (reader) => {
    const head = await memory.headOf(reader, queue)
    if (memory.hasLooked(head.id, reader.now, forMs)) return null
    memory.looked(head.id, reader.now)
    return { id: head.id, due: await isDue(reader, head.id) }
  })
  if (id === null) return { looked: false, moved: false }
  return { looked: true, moved: id.due && (await promoteQueue(session, id.id, onReady)) > 0 }
}

/** By priority, fairness and age. */
export async function takeReady(receiving: Receiving, request: TakeRequest): Promise<ClaimedRow[]> {
  const { looked } = await promoteDue(receiving, request.queue)
  const rows = await claim(receiving, request)
  if (rows.length === request.max || looked) return rows
  const { moved } = await promoteDue(receiving, request.queue, 0)
  if (moved) rows.push(...(await claim(receiving, { ...request, max: request.max - rows.length })))
  return rows
}

async function claim({ session, memory }: Receiving, request: TakeRequest): Promise<ClaimedRow[]> {
  const { queue, max, visibilityTimeoutSeconds } = request
  const rows: ClaimedRow[] = []
  // Kept while a claim is under way, for the try after a lost connection.
  let lostNumber: number | null = null
  return session.separately(async (statements) => {
    const take = async (head: QueueHead, from: Place | null) => {
      const wanted = { head, max: max - rows.length, visibilityTimeoutSeconds, from }
      const claimNumber: number = lostNumber ?? newClaimNumber()
      const isLost = lostNumber !== null
      lostNumber = claimNumber
      const got = await claimReady(statements, wanted, claimNumber, isLost)
      lostNumber = null
      rows.push(...got)
      memory.setPlace(head.id, placeAfter(got, wanted.max), from === null)
      return got.length
    }
    for (;;) {
      let head = await memory.headOf(statements, queue)
      if (head.paused) head = await memory.refresh(statements, queue)
      if (head.paused) return rows
      const known = memory.placeOf(head.id)
      const isBehind = known?.isUrgentDue && (await isUrgent(statements, head.id, known.place.major))
      if (known && !isBehind) await take(head, known.place)
      // Before that place there may be some after all.
      const got = rows.length < max ? await take(head, null) : 0
      if (got > 0 || rows.length === max) return rows
      const fresh = await memory.refresh(statements, queue)
      if (fresh.version === head.version && fresh.id === head.id) return rows
    }
  })
}

/** Round and round by id. */
export async function takeNext(receiving: Receiving, request: TakeRequest & { cursor: string }): Promise<ClaimedRow[]> {
  const { session, memory } = receiving
  await promoteDue(receiving, request.queue, 0)
  for (;;) {
    const claimNumber = newClaimNumber()
    const rows = await session.write((tx) => claimCycle(tx, { ...request, claimNumber }), {
      arrived: async (tx) => {
        const [row] = await tx.rows(
          `SELECT id FROM queue_messages WHERE queue_id = (SELECT id FROM queues WHERE queue = ?) AND state = ? ` +
            `AND sort_minor = ? LIMIT 1${tx.engine.forUpdate}`,
          [request.queue, STATE.inFlight, claimNumber],
        )
        return row !== undefined
      },
    })
    if (rows !== null) return rows
    const head = await session.read((reader) => memory.refresh(reader, request.queue))
    await beginCycle(session, head)
  }
}
