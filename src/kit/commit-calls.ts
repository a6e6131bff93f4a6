/** The operations of group commit, and the calls as it keeps them. */
import { RecentnError } from '../shared/errors'
import { delay, performance } from '../shared/platform'
import type { Requester } from '../shared/requests'
import type { Admission, Size } from './admission'
import type { Histogram } from './histogram'

/** A lane as the marks of its batches name it. */
interface LaneWriter {
  readonly lane: number
  /** Drawn at random: the name of no other lane, in any process. */
  readonly name: string
  /** The number of the batch that runs, from 1. */
  readonly batch: bigint
}

interface Writing {
  /** Whose mark the transaction is to leave: it tells, after a connection was lost while committing, whether the commit arrived. */
  writer: LaneWriter
  /** True when the same requests have failed: what makes an ordinary run faster and may fail is left out. */
  isCareful: boolean
  /** No retry begins later than this after the first try. */
  retryMs: number
  /** How long it waits for a lock. */
  lockSeconds: number
}

export interface GroupCommitOptions<Request, Result> extends Admission {
  /** Lanes 0 to `lanes` − 1; one more is for calls that are set aside. */
  lanes: number
  /** Requests of one key, a name or a number, go through one lane. */
  keyOf(request: Request): string | number
  sizeOf(request: Request): Size
  /** Writes the requests in one transaction: a result or an error for each. An error that it throws rolls all of them back. */
  run(requests: readonly Request[], writing: Writing): Promise<readonly (Result | RecentnError)[]>
  /** For each request the name of a lock that it needs and another transaction holds; null if there is none. Waits for none. */
  heldLocks(requests: readonly Request[]): Promise<readonly (string | null)[]>
  newWriter(): string
  /** Removes the marks of writers that are done. */
  forget(writers: readonly LaneWriter[]): Promise<void>
  batches?: Histogram | undefined
  /** Unanswered items and bytes beyond which calls are refused with `overloaded`. Defaults: 100,000 and 64 MiB. */
  maxPendingItems?: number | undefined
  maxPendingBytes?: number | undefined
  /** Items of one transaction; one call is taken whatever its size. Default: 2,000. */
  maxBatchItems?: number | undefined
  /** No attempt begins later than this after a call's first conflict. Default: 30,000. */
  timeLimitMs?: number | undefined
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
  heldLocks: GroupCommitOptions<Request, Result>['heldLocks'],
  calls: Calls<Request, Result>,
): Promise<HeldLocks<Request, Result>> {
  const held = new Map<WaitingCall<Request, Result>, string>()
  if (calls.length === 0) return held
  const names = await heldLocks(calls.map(requestOf))
  for (const [index, call] of calls.entries()) {
    const name = names[index]
    if (name != null) held.set(call, name)
  }
  return held
}

/**
 * One of the first calls for each lock, whose turn has come. In every second of its turns it is alone. One of those that wait
 * for the same lock, and usually go with it, may need a further lock that does not become free.
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

export function timeLimitOf({ timeLimitMs = 30_000 }: { timeLimitMs?: number | undefined }): number {
  return timeLimitMs
}

/** Within its time limit a call has this many turns to wait for a lock that looks held. */
const TURNS = 6

export function turnMs(options: { timeLimitMs?: number | undefined }): number {
  return timeLimitOf(options) / TURNS
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
    await delay(this.#restMs)
    this.#restMs = Math.min(2 * this.#restMs, Math.max(REST_MS, this.#usualMs))
  }

  awake(): void {
    this.#restMs = 1
  }
}

export function newLane<Request, Result>(lane: number, name: string): Lane<Request, Result> {
  return { writer: { lane, name, batch: 0n }, waiting: [], running: false }
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
