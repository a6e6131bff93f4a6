/**
 * Receiving, as one operation of several transactions: what is due is promoted first, then messages are claimed.
 */
import type { Session, Statements } from '../../database/engine'
import { isPassing } from '../../errors'
import { claimReady, isUrgent, lookSeconds, newClaimNumber, placeAfter } from './claim'
import type { OnReady, QueueContext } from './context'
import { beginCycle, claimCycle } from './cycle'
import type { QueueHead } from './heads'
import { MAX_CLAIM_BYTES, type Place, type QueueMemory } from './memory'
import { BATCH, isDue, promoteQueue } from './promote'
import { type ClaimedRow, STATE } from './rows'

/** Receives that come one after the other need not each look for what is due. */
const LOOK_MS = 100

export interface TakeRequest {
  queue: string
  max: number
  visibilityTimeoutSeconds: number | undefined
}

/** Messages that were claimed, and the queue as it was then. */
export interface Taken {
  head: QueueHead
  rows: ClaimedRow[]
}

/** Promotes some of what is due, enough for `max` messages, unless it was looked within `forMs`. */
export async function promoteDue(
  { session, memory, onReady }: QueueContext,
  queue: string,
  { max = 1, forMs = 0 }: { max?: number; forMs?: number } = {},
): Promise<{ looked: boolean; moved: boolean }> {
  const look = await session.read(async (reader) => {
    let head = await memory.headOf(reader, queue)
    if (memory.hasLooked(head.id, reader.now, forMs)) return null
    let due = await isDue(reader, head.id)
    if (due === null) {
      // Its name may be another queue's by now.
      head = await memory.refresh(reader, queue)
      due = await isDue(reader, head.id)
    }
    memory.looked(head.id, reader.now)
    return { id: head.id, due: due === true }
  })
  if (look === null || !look.due) return { looked: look !== null, moved: false }
  return { looked: true, moved: await promoteSome(session, look.id, max, onReady) }
}

/** What is asked for does not depend on it: where it fails the sweeper sees to it, or the next who asks. */
async function promoteSome(session: Session, queueId: bigint, max: number, onReady: OnReady): Promise<boolean> {
  try {
    return (await promoteQueue(session, queueId, Math.ceil(max / BATCH) + 1, onReady)).moved > 0
  } catch (error) {
    if (isPassing(error)) return false
    throw error
  }
}

/** By priority, fairness and age. */
export async function takeReady(context: QueueContext, request: TakeRequest): Promise<Taken> {
  const { queue, max } = request
  const { looked } = await promoteDue(context, queue, { max, forMs: LOOK_MS })
  const taken = await claim(context, request)
  const { rows } = taken
  if (rows.length === max || looked) return taken
  // What was claimed for no time is due by now, and nothing is twice in one batch: what else is due waits for the next.
  if (rows.length > 0 && lookSeconds(taken.head, request.visibilityTimeoutSeconds) === 0) return taken
  // What was claimed is somebody's by now, whatever happens to the rest.
  const keep = (error: unknown) => {
    if (rows.length === 0) throw error
  }
  const again = await promoteDue(context, queue, { max }).catch(keep)
  if (!again?.moved) return taken
  const more = await claim(context, { ...request, max: max - rows.length }).catch(keep)
  for (const row of more?.rows ?? []) rows.push(row)
  return taken
}

async function claim(context: QueueContext, request: TakeRequest): Promise<Taken> {
  const claiming = new Claiming(context, request)
  const taken = await context.session.separately((statements) => claiming.run(statements, false))
  // A claim that is over at once could be somebody else's before it was read.
  return taken ?? context.session.write((tx) => claiming.run(tx, true)).then((whole) => whole as Taken)
}

/** The claims of one receive, which may run again after a deadlock or a lost connection. */
class Claiming {
  readonly #memory: QueueMemory
  readonly #request: TakeRequest
  #rows: ClaimedRow[] = []
  #bytes = 0
  /** Kept while a claim is under way, for the try after a lost connection. */
  #lostNumber: number | null = null

  constructor({ memory }: QueueContext, request: TakeRequest) {
    this.#memory = memory
    this.#request = request
  }

  /** Null: it must be run in one transaction. */
  async run(statements: Statements, isWhole: boolean): Promise<Taken | null> {
    const { queue, visibilityTimeoutSeconds } = this.#request
    const memory = this.#memory
    if (!statements.separate) this.#reset()
    for (let fromStart = false; ; ) {
      let head = await memory.headOf(statements, queue)
      if (head.paused) head = await memory.refresh(statements, queue)
      const taken = { head, rows: this.#rows }
      if (head.paused) return taken
      if (!isWhole && statements.separate && lookSeconds(head, visibilityTimeoutSeconds) === 0) return null
      const from = fromStart ? null : await this.#placeOf(statements, head)
      const isAll = (await this.#take(statements, head, from)) === 'all'
      if (this.#isFull) return taken
      if (!isAll) continue
      if (from !== null) {
        // Before that place there may be some after all.
        fromStart = true
        continue
      }
      if (this.#rows.length > 0) return taken
      const fresh = await memory.refresh(statements, queue)
      if (fresh.version === head.version && fresh.id === head.id) return taken
    }
  }

  /** Where to begin; null is the start of the line. */
  async #placeOf(statements: Statements, head: QueueHead): Promise<Place | null> {
    const known = this.#memory.placeOf(head.id)
    if (known === null) return null
    const isBehind = known.isUrgentDue && (await isUrgent(statements, head.id, known.place.major))
    return isBehind ? null : known.place
  }

  #reset(): void {
    this.#rows = []
    this.#bytes = 0
    this.#lostNumber = null
  }

  get #isFull(): boolean {
    return this.#rows.length >= this.#request.max || this.#bytes >= MAX_CLAIM_BYTES
  }

  /** Claims; `all` when that was all there is from there on. Large messages come a few at a time. */
  async #take(statements: Statements, head: QueueHead, from: Place | null): Promise<'all' | 'some'> {
    const { max: asked, visibilityTimeoutSeconds } = this.#request
    const max = Math.min(asked - this.#rows.length, this.#memory.fitting(head.id))
    const claimNumber = this.#lostNumber ?? newClaimNumber()
    const isLost = this.#lostNumber !== null
    this.#lostNumber = claimNumber
    const got = await claimReady(statements, { head, max, visibilityTimeoutSeconds, from }, claimNumber, isLost)
    this.#lostNumber = null
    for (const row of got) this.#rows.push(row)
    const bytes = got.reduce((sum, row) => sum + sizeOf(row), 0)
    this.#bytes += bytes
    this.#memory.weighed(head.id, got.length, bytes)
    this.#memory.setPlace(head.id, placeAfter(got, max), from === null)
    return got.length < max ? 'all' : 'some'
  }
}

/** What a message with little in it takes as JSON. */
const FRAME_BYTES = 300
/** Of a character that JSON escapes. */
const ESCAPED_BYTES = 6

/** The most that a message may take as JSON, about. */
function sizeOf({ body, lastError }: ClaimedRow): number {
  return FRAME_BYTES + body.length + ESCAPED_BYTES * (lastError?.length ?? 0)
}

/** Round and round by id. */
export async function takeNext(context: QueueContext, request: TakeRequest & { cursor: string }): Promise<Taken> {
  const { session, memory } = context
  await promoteDue(context, request.queue, { max: request.max })
  for (;;) {
    const claimNumber = newClaimNumber()
    const taken = await session.write((tx) => claimCycle(tx, { ...request, claimNumber }), {
      arrived: async (tx) => {
        const [row] = await tx.rows(
          `SELECT id FROM ${tx.tables.queueMessages} WHERE queue_id = (SELECT id FROM ${tx.tables.queues} WHERE queue = ?) AND state = ? ` +
            `AND sort_minor = ? LIMIT 1${tx.engine.forUpdate}`,
          [request.queue, STATE.inFlight, claimNumber],
        )
        return row !== undefined
      },
    })
    if (taken !== null) {
      memory.learn(taken.head)
      return taken
    }
    const head = await session.read((reader) => memory.refresh(reader, request.queue))
    await beginCycle(session, head)
  }
}
