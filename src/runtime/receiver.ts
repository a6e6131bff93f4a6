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
}

interface Caller {
  max: number
  /** By `performance.now`. */
  deadline: number
  /** Nothing was there when it was asked for once. */
  isAsked: boolean
  /** Called when it is answered. */
  leave: () => void
  resolve: (messages: Message[]) => void
  reject: (error: unknown) => void
}

interface Line {
  request: LineRequest
  callers: Caller[]
  /** What the claims in flight ask for. */
  inFlight: number[]
  timer: NodeJS.Timeout | null
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

  /** Up to `max` messages, as soon as there is one; none after `waitMs`, when aborted, and when the store closes. */
  receive(request: LineRequest, max: number, waitMs: number, signal?: AbortSignal): Promise<Message[]> {
    if (this.#closed) return Promise.reject(new RecentnError('closed'))
    if (signal?.aborted) return Promise.resolve([])
    if (this.#callers >= MAX_CALLERS) {
      const detail = `${this.#callers} receives wait`
      return Promise.reject(new RecentnError('overloaded', detail, { retryAfterSeconds: 1 }))
    }
    const line = this.#lineOf(request)
    return new Promise((resolve, reject) => {
      const deadline = performance.now() + waitMs
      const abort = () => this.#dismiss(line, caller)
      const leave = () => signal?.removeEventListener('abort', abort)
      const caller: Caller = { max, deadline, isAsked: false, leave, resolve, reject }
      signal?.addEventListener('abort', abort)
      line.callers.push(caller)
      this.#callers++
      this.#start(line)
    })
  }

  /** Messages became ready in the queue. */
  wake(queue: string): void {
    for (const line of this.#lines.values()) {
      if (line.request.queue !== queue) continue
      for (const caller of line.callers) caller.isAsked = false
      this.#start(line)
    }
  }

  /** Answers all who wait with nothing; resolves when no claim is in flight. */
  async close(): Promise<void> {
    this.#closed = true
    for (const line of this.#lines.values()) for (const caller of [...line.callers]) this.#dismiss(line, caller)
    if (this.#lines.size === 0) return
    await new Promise<void>((resolve) => {
      this.#idle = resolve
    })
  }

  #lineOf(request: LineRequest): Line {
    const key = JSON.stringify([request.queue, request.order, request.cursor, request.visibilityTimeoutSeconds])
    const known = this.#lines.get(key)
    if (known) return known
    const line: Line = { request, callers: [], inFlight: [], timer: null }
    this.#lines.set(key, line)
    return line
  }

  #start(line: Line): void {
    if (line.timer) clearTimeout(line.timer)
    line.timer = null
    const wanted = this.#wanted(line)
    const flying = line.inFlight.reduce((sum, max) => sum + max, 0)
    const isDue = wanted > 0 && line.inFlight.length < this.#options.atOnce && (flying === 0 || wanted >= flying)
    if (isDue) {
      const max = Math.min(wanted, MAX_CLAIM)
      line.inFlight.push(max)
      this.#claim(line, max).finally(() => this.#start(line))
    } else if (line.inFlight.length === 0) this.#sleep(line)
  }

  /** What those ask for who have not been asked for since something changed. */
  #wanted({ callers, inFlight }: Line): number {
    const asked = inFlight.reduce((sum, max) => sum + max, 0)
    const all = callers.filter(({ isAsked }) => !isAsked).reduce((sum, { max }) => sum + max, 0)
    return Math.max(0, all - asked)
  }

  async #claim(line: Line, max: number): Promise<void> {
    const asking = [...line.callers]
    try {
      // No longer in flight when its callers are answered: they may ask for more at once.
      const messages = await this.#options
        .take(line.request, max)
        .finally(() => line.inFlight.splice(line.inFlight.indexOf(max), 1))
      await this.#hand(line, messages)
      for (const caller of asking) caller.isAsked = true
      const now = performance.now()
      for (const caller of asking) if (caller.deadline <= now) this.#dismiss(line, caller)
    } catch (error) {
      for (const caller of asking) if (this.#remove(line, caller)) caller.reject(error)
    }
  }

  /** First come, first served. */
  async #hand(line: Line, messages: Message[]): Promise<void> {
    let at = 0
    while (at < messages.length && line.callers.length > 0) {
      const caller = line.callers[0] as Caller
      this.#remove(line, caller)
      caller.resolve(messages.slice(at, at + caller.max))
      at += caller.max
    }
    const left = messages.slice(at).map(({ receiptHandle }) => receiptHandle)
    if (left.length > 0) await this.#options.giveBack(line.request.queue, left).catch(() => {})
  }

  #sleep(line: Line): void {
    if (line.callers.length === 0) {
      for (const [key, known] of this.#lines) if (known === line) this.#lines.delete(key)
      if (this.#closed && this.#lines.size === 0) this.#idle?.()
      return
    }
    const first = Math.min(...line.callers.map(({ deadline }) => deadline))
    const pauseMs = Math.max(0, Math.min(POLL_MS * (0.75 + Math.random() / 2), first - performance.now()))
    line.timer = setTimeout(() => {
      for (const caller of line.callers) caller.isAsked = false
      this.#start(line)
    }, pauseMs)
  }

  #dismiss(line: Line, caller: Caller): void {
    if (this.#remove(line, caller)) caller.resolve([])
    if (line.inFlight.length === 0) this.#start(line)
  }

  #remove(line: Line, caller: Caller): boolean {
    const index = line.callers.indexOf(caller)
    if (index < 0) return false
    line.callers.splice(index, 1)
    this.#callers--
    caller.leave()
    return true
  }
}
