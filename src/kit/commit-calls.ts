/** The operations of group commit, and the calls as it keeps them. */
import type { Session, Tx } from '../database/engine'
import type { CommitOperation, Requester } from '../repositories/runners'
import { RecentnError } from '../shared/errors'
import { performance, setTimeout } from '../shared/platform'
import type { Admission, Size } from './admission'
import type { Sizes } from './histogram'

/** A lane as the marks of its batches name it. */
export interface LaneWriter {
  readonly lane: number
  /** Drawn at random: the name of no other lane, in any process. */
  readonly name: string
  /** The number of the batch that runs, from 1. */
  readonly batch: bigint
}

/** The marks that `run` leaves: they tell, after a connection was lost while committing, whether the commit arrived. */
export interface Marks {
  newName(): string
  hasArrived(tx: Tx, writer: LaneWriter): Promise<boolean>
  /** Removes the marks of writers that are done. */
  forget(session: Session, writers: readonly LaneWriter[]): Promise<void>
}

export interface Writing {
  /** Whose mark the transaction is to leave. */
  writer: LaneWriter
  /** True when the same requests have failed: what makes an ordinary run faster and may fail is left out. */
  isCareful: boolean
}

export interface GroupCommitOptions<Request, Result>
  extends Admission,
    Pick<CommitOperation<never, Request, Result>, 'what' | 'sizeOf' | 'heldLocks'> {
  /** Lanes 0 to `lanes` − 1; one more is for calls that are set aside. */
  lanes: number
  session: Session
  marks: Marks
  /** Requests of one key, a name or a number, go through one lane. */
  keyOf(request: Request): string | number
  /** Writes the requests: a result or an error for each. An error that it throws rolls all of them back. */
  run(tx: Tx, requests: readonly Request[], writing: Writing): Promise<readonly (Result | RecentnError)[]>
  batches?: Sizes | undefined
  /** Unanswered items and bytes beyond which calls are refused with `overloaded`. Defaults: 100,000 and 64 MiB. */
  maxPendingItems?: number | undefined
  maxPendingBytes?: number | undefined
  /** Items of one transaction; one call is taken whatever its size. Default: 2,000. */
  maxBatchItems?: number | undefined
  /** No attempt begins later than this after a call's first conflict. Default: 30,000. */
  patienceMs?: number | undefined
}

export interface WaitingCall<Request, Result> extends Size {
  /** Calls of one key keep their order. */
  key: number
  isAside: boolean
  /** When the call first met a conflict, or was set aside. */
  since: number | null
  /** When its next turn to wait for its lock comes, though it looks locked. */
  turnAt: number
  turns: number
  request: Request
  caller: Requester<Result>
}

export type Calls<Request, Result> = readonly WaitingCall<Request, Result>[]

export interface Lane<Request, Result> {
  writer: { readonly lane: number; readonly name: string; batch: bigint }
  waiting: WaitingCall<Request, Result>[]
  running: boolean
}

/** Calls of a batch that did not run, because a lock could not be had. */
export interface Conflict<Request, Result> {
  calls: Calls<Request, Result>
  error: unknown
}

/** The calls whose locks another transaction holds, with the names of the locks. */
export type HeldLocks<Request, Result> = ReadonlyMap<WaitingCall<Request, Result>, string>

export async function heldOf<Request, Result>(
  { session, heldLocks }: Pick<GroupCommitOptions<Request, Result>, 'session' | 'heldLocks'>,
  calls: Calls<Request, Result>,
): Promise<HeldLocks<Request, Result>> {
  const held = new Map<WaitingCall<Request, Result>, string>()
  if (calls.length === 0) return held
  const names = await session.read((reader) => heldLocks(reader, calls.map(requestOf)))
  for (const [index, call] of calls.entries()) {
    const name = names[index]
    if (name != null) held.set(call, name)
  }
  return held
}

/**
 * Of the first calls for each lock, one whose turn has come; in every second of its turns it is alone, otherwise all that
 * wait for the same lock go with it, of which one may need a lock besides that does not become free.
 */
export function nextTurn<Request, Result>(
  waiting: Calls<Request, Result>,
  held: HeldLocks<Request, Result>,
): Calls<Request, Result> {
  const seen = new Set<string>()
  for (const call of waiting) {
    const lock = held.get(call) as string
    if (!seen.has(lock) && call.turnAt <= performance.now()) {
      return call.turns % 2 === 1 ? [call] : waiting.filter((one) => held.get(one) === lock)
    }
    seen.add(lock)
  }
  return []
}

/** The error of a call whose lock was never free when it was asked for. */
export function stillHeld(): RecentnError {
  return new RecentnError('conflict', undefined, { retryAfterSeconds: 1 })
}

export function patienceOf({ patienceMs = 30_000 }: { patienceMs?: number | undefined }): number {
  return patienceMs
}

/** In its patience a call has so many turns to wait for a lock that looks held. */
const TURNS = 6

export function turnMs(options: { patienceMs?: number | undefined }): number {
  return patienceOf(options) / TURNS
}

/** How long a transaction waits for a lock: its other calls wait as long as the one whose lock is held. */
const LOCK_SECONDS = 1
/** The same where the transactions that succeed take longer than `QUICK_MS`, on the average. */
const SLOW_LOCK_SECONDS = 5
const QUICK_MS = 150
/** The weight of one transaction in their average. */
const SHARE = 1 / 8
/** The longest pause between two questions whether locks are still held, where transactions do not take longer. */
const REST_MS = 100

/** How fast the database is: waits for locks and pauses are many times as long as a transaction usually takes. */
export class Pace {
  #usualMs = 0
  #restMs = 1

  get lockSeconds(): number {
    return this.#usualMs < QUICK_MS ? LOCK_SECONDS : SLOW_LOCK_SECONDS
  }

  /** Notes how long a transaction that succeeded has taken, with its own waits for locks that were passed on. */
  took(ms: number): void {
    this.#usualMs += SHARE * (ms - this.#usualMs)
  }

  /** Longer each time, until `awake`. */
  async rest(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, this.#restMs))
    this.#restMs = Math.min(2 * this.#restMs, Math.max(REST_MS, this.#usualMs))
  }

  awake(): void {
    this.#restMs = 1
  }
}

export function newLane<Request, Result>(lane: number, marks: Marks): Lane<Request, Result> {
  return { writer: { lane, name: marks.newName(), batch: 0n }, waiting: [], running: false }
}

export function takeBatch<Request, Result>(lane: Lane<Request, Result>, max: Size): Calls<Request, Result> {
  const calls = fitting(lane.waiting, max)
  lane.waiting = lane.waiting.slice(calls.length)
  return calls
}

/** The first of the calls, as many as one transaction takes; one call is taken whatever its size. */
export function fitting<Call extends Size>(calls: readonly Call[], max: Size): Call[] {
  let count = 0
  let items = 0
  let bytes = 0
  for (const call of calls) {
    items += call.items
    bytes += call.bytes
    if (count > 0 && (items > max.items || bytes > max.bytes)) break
    count++
  }
  return calls.slice(0, count)
}

/** A loop: this runs once a batch, which has up to some thousand calls. */
export function itemsOf(calls: readonly Size[]): number {
  let items = 0
  for (const call of calls) items += call.items
  return items
}

/** The calls of the first half of the keys, and the others; null where all have one key. */
export function halvesByKey<Call extends { key: number }>(calls: readonly Call[]): [Call[], Call[]] | null {
  const keys = [...new Set(calls.map(({ key }) => key))]
  if (keys.length === 1) return null
  const first = new Set(keys.slice(0, keys.length / 2))
  return [calls.filter(({ key }) => first.has(key)), calls.filter(({ key }) => !first.has(key))]
}

export function requestOf<Request, Result>({ request }: WaitingCall<Request, Result>): Request {
  return request
}

/** A number that is always the same for a name (FNV-1a). */
export function keyOf(name: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < name.length; index++) hash = Math.imul(hash ^ name.charCodeAt(index), 0x01000193)
  return hash >>> 0
}
