/**
 * Merged and waiting receives: callers that ask for the same share claims, and wait together for messages. While a
 * claim is in flight the calls that come in collect, and the next claim serves them all. When there is nothing, the
 * line sleeps until this process makes a message ready, and looks now and then for what others do. No SQL.
 *
 * Invariant: every message that was claimed is given to one caller; what no caller is left for is given back.
 */
import { RecentnError } from '../errors'
import type { Message } from '../repositories/queues/types'

/** What callers of one line ask for alike. */
export interface LineRequest {
  queue: string
  visibilityTimeoutSeconds: number | undefined
  order: 'ready' | 'cycle'
  cursor: string
}

export interface ReceiverOptions {
  /** Claims of one line in flight. */
  atOnce: number
  /** Claims what there is, at once. */
  take(request: LineRequest, max: number): Promise<Message[]>
  giveBack(queue: string, receiptHandles: readonly string[]): Promise<void>
  /** Told of each call that is refused with `overloaded`. */
  onOverload?: () => void
}

interface Caller {
  max: number
  /** By `performance.now`. */
  deadline: number
  /** Nothing was there when it was asked for once, and nothing has changed since as far as is known. */
  isAsked: boolean
  isAnswered: boolean
  answer: (messages: Message[]) => void
  fail: (error: unknown) => void
}

interface Line {
  key: string
  request: LineRequest
  /** Those that no claim in flight is for, first come first. */
  waiting: Caller[]
  /** What each claim in flight asks for. */
  flights: number[]
  timer: NodeJS.Timeout | null
  /** How often something has changed. */
  wakes: number
}

/** Messages of one claim. */
const MAX_CLAIM = 1000
/** How often it is looked for what other processes have made ready. */
const POLL_MS = 250
/** Callers that may wait. */
const MAX_CALLERS = 10_000

export class Receiver {
  readonly #options: ReceiverOptions
  readonly #lines = new Map<string, Line>()
  #callers = 0
  #closed = false
  #idle: (() => void) | null = null

  constructor(options: ReceiverOptions) {
    this.#options = options
  }

  /** Calls that are not answered yet. */
  get waiting(): number {
    return this.#callers
  }

  /** Up to `max` messages, as soon as there is one; none after `waitMs`, when aborted, and when the store closes. */
  receive(request: LineRequest, max: number, waitMs: number, signal?: AbortSignal): Promise<Message[]> {
    if (this.#closed) return Promise.reject(new RecentnError('closed'))
    if (signal?.aborted) return Promise.resolve([])
    if (this.#callers >= MAX_CALLERS) {
      this.#options.onOverload?.()
      const detail = `${this.#callers} receives wait`
      return Promise.reject(new RecentnError('overloaded', detail, { retryAfterMs: 1000 }))
    }
    const line = this.#lineOf(request)
    return new Promise((resolve, reject) => {
      const leave = () => {
        caller.isAnswered = true
        this.#callers--
        signal?.removeEventListener('abort', abort)
      }
      const answer = (messages: Message[]) => {
        if (caller.isAnswered) return
        leave()
        resolve(messages)
      }
      const fail = (error: unknown) => {
        leave()
        reject(error)
      }
      const deadline = performance.now() + waitMs
      const caller: Caller = { max, deadline, isAsked: false, isAnswered: false, answer, fail }
      const abort = () => this.#dismiss(line, caller)
      signal?.addEventListener('abort', abort)
      line.waiting.push(caller)
      this.#callers++
      this.#start(line)
    })
  }

  /** Messages became ready in the queue. */
  wake(queue: string): void {
    for (const line of [...this.#lines.values()]) if (line.request.queue === queue) this.#askAnew(line)
  }

  /** Answers all who wait with nothing; resolves when no claim is in flight. */
  async close(): Promise<void> {
    this.#closed = true
    for (const line of [...this.#lines.values()]) for (const caller of [...line.waiting]) this.#dismiss(line, caller)
    if (this.#lines.size === 0) return
    await new Promise<void>((resolve) => {
      this.#idle = resolve
    })
  }

  #lineOf(request: LineRequest): Line {
    const key = JSON.stringify([request.queue, request.order, request.cursor, request.visibilityTimeoutSeconds])
    const known = this.#lines.get(key)
    if (known) return known
    const line: Line = { key, request, waiting: [], flights: [], timer: null, wakes: 0 }
    this.#lines.set(key, line)
    return line
  }

  #askAnew(line: Line): void {
    line.wakes++
    for (const caller of line.waiting) caller.isAsked = false
    this.#start(line)
  }

  /** A further claim goes beside one in flight only when as much is asked for as that one asks. */
  #start(line: Line): void {
    if (line.timer) clearTimeout(line.timer)
    line.timer = null
    const cohort = cohortOf(line.waiting)
    const wanted = sumOf(cohort.map(({ max }) => max))
    const isRoom = line.flights.length < this.#options.atOnce && wanted >= sumOf(line.flights)
    if (cohort.length > 0 && isRoom) {
      line.waiting = line.waiting.filter((caller) => !cohort.includes(caller))
      line.flights.push(wanted)
      this.#claim(line, cohort, wanted).finally(() => this.#start(line))
    } else if (line.flights.length === 0) this.#sleep(line)
  }

  async #claim(line: Line, cohort: readonly Caller[], max: number): Promise<void> {
    // No longer in flight when its callers are answered: they may ask for more at once.
    const land = () => line.flights.splice(line.flights.indexOf(max), 1)
    const { wakes } = line
    try {
      const messages = await this.#options.take(line.request, max).finally(land)
      const left = hand(cohort, messages)
      const now = performance.now()
      for (const caller of cohort.filter(({ isAnswered }) => !isAnswered)) {
        // Something that came meanwhile may have come too late for this claim.
        caller.isAsked = line.wakes === wakes
        if (caller.deadline <= now || this.#closed) caller.answer([])
        else line.waiting.push(caller)
      }
      // Callers have gone meanwhile.
      if (left.length > 0) await this.#options.giveBack(line.request.queue, left).catch(() => {})
    } catch (error) {
      for (const caller of cohort) if (!caller.isAnswered) caller.fail(error)
    }
  }

  #sleep(line: Line): void {
    if (line.waiting.length === 0) {
      this.#lines.delete(line.key)
      if (this.#closed && this.#lines.size === 0) this.#idle?.()
      return
    }
    const first = line.waiting.reduce((least, { deadline }) => Math.min(least, deadline), Number.POSITIVE_INFINITY)
    const pauseMs = Math.max(0, Math.min(POLL_MS * (0.75 + Math.random() / 2), first - performance.now()))
    line.timer = setTimeout(() => this.#askAnew(line), pauseMs)
  }

  #dismiss(line: Line, caller: Caller): void {
    line.waiting = line.waiting.filter((other) => other !== caller)
    caller.answer([])
    if (line.flights.length === 0) this.#start(line)
  }
}

/** Those whom one claim serves. */
function cohortOf(waiting: readonly Caller[]): Caller[] {
  const cohort: Caller[] = []
  let sum = 0
  for (const caller of waiting) {
    if (caller.isAsked) continue
    sum += caller.max
    if (cohort.length > 0 && sum > MAX_CLAIM) break
    cohort.push(caller)
  }
  return cohort
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0)
}

/** First come, first served; the handles that nobody is left for. */
function hand(cohort: readonly Caller[], messages: readonly Message[]): string[] {
  let at = 0
  for (const caller of cohort) {
    if (caller.isAnswered || at >= messages.length) continue
    caller.answer(messages.slice(at, at + caller.max))
    at += caller.max
  }
  return messages.slice(at).map(({ receiptHandle }) => receiptHandle)
}
