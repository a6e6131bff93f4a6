/**
 * Receiving by priority, fairness and age: due messages are promoted, then a claim marks the next messages with its number, and
 * another statement, sent with it, reads what it got. Each statement commits by itself, so that a receiver that stops in between
 * keeps no lock; the messages that it has claimed come back when the visibility timeout expires.
 *
 * Invariant: each message and claim has its own receipt; SKIP LOCKED gives concurrent claims disjoint
 * messages without waiting. The index recentn_queue_messages_claim serves WHERE and ORDER BY alike: a claim never passes over
 * messages that are delayed, in flight or dead.
 */
import type { Session, Statement, StatementAnswer, Statements } from '../../../database/engine'
import type { Message, ReceiveOptions } from '../../../shared/queue-types'
import { merging, type Waits } from '../../runners'
import { type QueueHead, takesTurns } from '../heads'
import { MAX_CLAIM_BYTES, type QueueMemory } from '../memory'
import type { ClaimPlace } from '../pages'
import { type ClaimedMessages, type ClaimedRow, claimedColumns, messageOf } from '../rows'
import { hasWork, lookAt, type QueueLook } from '../settle/looks'
import { promoteSeen } from '../settle/promote'
import { giveBack } from '../settle/settle'
import { type ClaimRequest, claimedIn, claimSql, isUrgent, lookSeconds, placeAfter, readSql } from './claim-statements'
import { claimNext } from './cycle'
import { claimInTurn } from './in-turn'
import { Taker } from './takers'

/** A further receive within this time does not look for due messages again. */
const LOOK_MS = 100

export interface ReceiveRequest {
  queue: string
  limit: number
  visibilityTimeoutSeconds: number | undefined
  /** For a cycle; null for what comes by priority. */
  cursor: string | null
  signal: AbortSignal | undefined
  /**
   * If no look was lately, or the last look has shown that nothing was ready, it looks first, and claims only if there
   * is something. Due messages are promoted before.
   */
  mayLook: boolean
}

/** Receives that differ only in `limit` share a claim. Null for callers that have left. */
export const RECEIVES = merging<QueueMemory, ReceiveRequest, ClaimedMessages | null>({
  what: 'receives',
  kindOf: ({ queue, visibilityTimeoutSeconds, cursor }) => JSON.stringify([queue, visibilityTimeoutSeconds, cursor]),
  sizeOf: ({ limit }) => limit,
  maxBatchSize: 1000,
  run: receiveTogether,
})

/**
 * A receive looks, and may wait and look again. While it waits, a send of this process may give it its messages. `onClaim` is called
 * before each statement that may claim.
 */
export async function receiveIn(
  session: Session,
  memory: QueueMemory,
  waits: Waits<Taker>,
  run: (request: ReceiveRequest) => Promise<ClaimedMessages | null>,
  queue: string,
  options: ReceiveOptions,
  cursor: string | null,
  onClaim: () => void = () => {},
): Promise<Message[]> {
  const { limit = 1, visibilityTimeoutSeconds, waitSeconds = 0, signal } = options
  const waiting = waits.enter(queue, { waitMs: waitSeconds * 1000, signal })
  try {
    // Events are mostly of messages that are ready: a look for due ones before the claim would only delay them.
    for (let mayLook = true; ; mayLook = false) {
      waiting.look()
      onClaim()
      const request = { queue, visibilityTimeoutSeconds, cursor, limit, signal, mayLook }
      // Between two messages that sends have given. The shared poll finds what other processes send.
      const isQuiet = mayLook && waitSeconds > 0 && cursor === null && memory.isQuiet(queue)
      // An aborted caller, too, waits until what it claimed is given back: a worker may end its process then.
      const claimed = isQuiet ? null : await run(request)
      if (claimed?.rows.length) return claimed.rows.map((row) => messageOf(claimed.head, row, options))
      const taker = new Taker(limit, visibilityTimeoutSeconds, onClaim)
      if (waitSeconds > 0 && cursor === null) memory.takers.wait(queue, taker)
      const again = await waiting.again(taker, claimed?.nextInMs ?? undefined)
      const given = await memory.takers.leave(queue, taker)
      if (given && !signal?.aborted) return given.rows.map((row) => messageOf(given.head, row, options))
      if (given) await giveBack(session, memory, queue, given.rows).catch(() => {})
      if (given || !again) return []
    }
  } finally {
    waiting.leave()
  }
}

/** First come, first served. Messages whose caller has left since are given back. */
async function receiveTogether(
  session: Session,
  memory: QueueMemory,
  requests: readonly ReceiveRequest[],
): Promise<(ClaimedMessages | null)[]> {
  const first = requests[0] as ReceiveRequest
  if (wantedBy(requests) === 0) return requests.map(() => null)
  const { cursor } = first
  const mayLook = requests.some((request) => request.mayLook)
  const all = { ...first, limit: wantedBy(requests), mayLook }
  const claimed = cursor === null ? claimReady(session, memory, all) : claimNext(session, memory, { ...all, cursor })
  const { head, rows, nextInMs } = await claimed
  // Further callers may leave while messages are given back.
  for (let wanted = wantedBy(requests); rows.length > wanted; wanted = wantedBy(requests)) {
    await giveBack(session, memory, first.queue, rows.splice(wanted)).catch(() => {})
  }
  memory.receiver.asked(head.id, rows.length)
  if (rows.length > 0) memory.wereReady(head.id)
  await session.afterCommit(memory.counting('messagesReceived', rows.length))
  let given = 0
  return requests.map((request) => {
    const share = rows.slice(given, given + maxOf(request))
    given += share.length
    return { head, rows: share, nextInMs }
  })
}

function wantedBy(requests: readonly ReceiveRequest[]): number {
  return requests.reduce((sum, request) => sum + maxOf(request), 0)
}

function maxOf({ limit, signal }: ReceiveRequest): number {
  return signal?.aborted ? 0 : limit
}

async function claimReady(session: Session, memory: QueueMemory, request: ReceiveRequest): Promise<ClaimedMessages> {
  const first = await claimSome(session, memory, request)
  if (first.rows.length > 0) return first
  if (takesTurns(first.head)) return claimInTurn(session, memory, request)
  if (first.work === null) return first
  await promoteSeen(session, memory, first.work, request.limit)
  return claimSome(session, memory, { ...request, mayLook: false })
}

/** With the look that has shown that there is something to promote, if one has. */
type ClaimedSome = ClaimedMessages & { work: QueueLook | null }

async function claimSome(session: Session, memory: QueueMemory, request: ReceiveRequest): Promise<ClaimedSome> {
  const claims = new ReceiveClaims(memory, request)
  const claimed = await session.separately((statements) => claims.run(statements, false))
  // Where claims expire at once, another receiver could have a message before it was read.
  const some = claimed ?? ((await session.write((tx) => claims.run(tx, true))) as ClaimedSome)
  for (const committed of claims.reminded) await session.afterCommit(committed)
  return some
}

/** The claims of one receive, which may run again after a deadlock or a lost connection. */
class ReceiveClaims {
  readonly #memory: QueueMemory
  readonly #request: ReceiveRequest
  /** Not after a claim, whose messages would be left behind. */
  #mayLook: boolean
  #rows: ClaimedRow[] = []
  #bytes = 0
  /** Kept while a claim is under way, for the try after a lost connection. */
  #lostNumber: bigint | null = null
  /** For the commit: what it was reminded of. */
  reminded: (() => void)[] = []

  constructor(memory: QueueMemory, request: ReceiveRequest) {
    this.#memory = memory
    this.#request = request
    this.#mayLook = request.mayLook
  }

  /** Null: it must run in one transaction. */
  async run(statements: Statements, isWhole: boolean): Promise<ClaimedSome | null> {
    const { queue, limit, visibilityTimeoutSeconds } = this.#request
    const memory = this.#memory
    if (!statements.separate) {
      this.#rows = []
      this.#bytes = 0
      this.#lostNumber = null
      this.reminded = []
    }
    for (let fromStart = false; ; ) {
      let head = await memory.headOf(statements, queue)
      const isLookDue = this.#mayLook && !memory.hasLooked(head.id, statements.now, LOOK_MS)
      this.#mayLook = false
      if (isLookDue) {
        const look = await lookAt(statements, memory, queue)
        if (hasWork(look)) return { head: look.head, rows: [], work: look }
        // In a transaction it may have shown an old snapshot, unless all share one connection.
        const isFresh = statements.separate || statements.engine.oneConnection
        if (!look.isReady && isFresh) return { head: look.head, rows: [], work: null }
        head = look.head
      } else if (head.paused || head.heldMs > 0) head = await memory.refresh(statements, queue)
      const claimed = { head, rows: this.#rows, work: null }
      if (head.paused || takesTurns(head)) return claimed
      if (!isWhole && statements.separate && lookSeconds(head, visibilityTimeoutSeconds) === 0) return null
      const from = fromStart ? null : await this.#placeOf(statements, head)
      const isAll = (await this.#claim(statements, head, from)) === 'all'
      if (this.#rows.length >= limit || this.#bytes >= MAX_CLAIM_BYTES) return claimed
      if (!isAll) continue
      if (from !== null) {
        // There may be messages before that place after all.
        fromStart = true
        continue
      }
      if (this.#rows.length > 0) return claimed
      const look = await lookAt(statements, memory, queue)
      const isAsSeen = look.head.version === head.version && look.head.id === head.id
      if (isAsSeen) return { ...claimed, work: hasWork(look) ? look : null }
    }
  }

  /** Where to begin; null for the very first message. */
  async #placeOf(statements: Statements, head: QueueHead): Promise<ClaimPlace | null> {
    const known = this.#memory.placeOf(head.id)
    if (known === null) return null
    const isBehind = known.isUrgentDue && (await isUrgent(statements, head.id, known.place.major))
    return isBehind ? null : known.place
  }

  /** Claims once; `all` when no more messages are ready from there on. Large messages come a few at a time. */
  async #claim(statements: Statements, head: QueueHead, from: ClaimPlace | null): Promise<'all' | 'some'> {
    const { limit: asked, visibilityTimeoutSeconds } = this.#request
    const limit = Math.min(asked - this.#rows.length, this.#memory.fitting(head.id))
    const claimNumber = this.#lostNumber ?? this.#memory.receiver.newClaimNumber()
    const isLost = this.#lostNumber !== null
    this.#lostNumber = claimNumber
    const lookMs = lookSeconds(head, visibilityTimeoutSeconds) * 1000
    const reminder = this.#memory.reminders.reminder(statements, head.id, lookMs)
    const request = { head, limit, visibilityTimeoutSeconds, from, reminder: reminder.statement }
    const rows = await claimOnce(statements, request, claimNumber, isLost)
    this.#lostNumber = null
    this.reminded.push(reminder.committed)
    for (const row of rows) this.#rows.push(row)
    const bytes = rows.reduce((sum, row) => sum + sizeOf(row), 0)
    this.#bytes += bytes
    this.#memory.weighed(head.id, rows.length, bytes)
    this.#memory.setPlace(head.id, placeAfter(rows, limit), from === null)
    return rows.length < limit ? 'all' : 'some'
  }
}

/** The most that a message may take as JSON, approximately: JSON writes some characters of an error as six. */
function sizeOf({ body, attributes, lastError }: ClaimedRow): number {
  return 300 + body.length + (attributes?.length ?? 0) + 6 * (lastError?.length ?? 0)
}

/** None when nothing is ready, and when the head has changed. With `isLost`, the claim may have been made before. */
async function claimOnce(
  statements: Statements,
  { reminder, ...request }: ClaimRequest & { reminder: Statement | null },
  claimNumber: bigint,
  isLost: boolean,
): Promise<ClaimedRow[]> {
  const { engine, now } = statements
  const { head } = request
  if (isLost) {
    const rows = claimedIn(await statements.rows(readSql(statements, head, claimNumber)))
    if (rows.length > 0) return rows
  }
  const claim = claimSql(statements, now, request, claimNumber)
  if (engine.updateReturning) {
    if (reminder !== null) await statements.run(reminder.sql, reminder.parameters)
    return claimedIn(await statements.rows(`${claim.sql} RETURNING ${claimedColumns(statements)}`, claim.parameters))
  }
  const read = readSql(statements, head, claimNumber, engine.lastRemembered)
  const answers = await statements.together([...(reminder ? [reminder] : []), claim, { sql: read, parameters: [] }])
  return claimedIn((answers.at(-1) as StatementAnswer).rows)
}
