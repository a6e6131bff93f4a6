/**
 * Answers that go on: server-sent events, for as long as the client stays and the server runs. So many at a time, a
 * heartbeat where nothing happens, and no more in memory than the client takes: who takes nothing for too long is cut.
 */
import type { Request, Response } from 'express'
import { RecentnError } from '../../errors'
import type { Answer } from '../route'
import { WaitingRequests } from '../waiting'
import { STALL_MS } from './sending'

export interface StreamLimits {
  maxStreams: number
  heartbeatMs: number
  /** How long a client may take nothing of what is sent. */
  stallMs: number
}

const LIMITS: StreamLimits = { maxStreams: 1000, heartbeatMs: 15_000, stallMs: STALL_MS }

export const EVENT_STREAM = 'text/event-stream'

/** So that the client knows it is connected, and comes back soon when it no longer is. */
const BEGINNING = ': connected\nretry: 1000\n\n'
const HEARTBEAT = ': heartbeat\n\n'

export class EventStreams {
  readonly #limits: StreamLimits
  readonly #waiting: WaitingRequests
  readonly #stopping: AbortSignal | undefined
  #open = 0

  constructor(stopping: AbortSignal | undefined, limits: Partial<StreamLimits> = {}) {
    this.#limits = { ...LIMITS, ...limits }
    this.#stopping = stopping
    this.#waiting = new WaitingRequests(stopping)
  }

  /** Resolves when the stream has ended. Throws `overloaded`, `draining`, and what `begin` throws, before anything is sent. */
  async answer(request: Request, response: Response, begin: (signal: AbortSignal) => Promise<Answer>): Promise<void> {
    if (request.method === 'HEAD') {
      sendHead(response)
      response.end()
      return
    }
    if (this.#stopping?.aborted) throw new RecentnError('draining')
    if (this.#open >= this.#limits.maxStreams) {
      throw new RecentnError('overloaded', `${this.#open} streams are open`, { retryAfterMs: 5000 })
    }
    this.#open++
    try {
      await this.#waiting.run(request, async (signal) => {
        const { events = none() } = await begin(signal)
        await stream(response, events, signal, this.#limits)
        // It was said at the beginning that the connection is kept.
        if (this.#stopping?.aborted) response.once('close', () => request.socket.destroySoon())
      })
    } finally {
      this.#open--
    }
  }
}

async function* none(): AsyncIterable<string> {}

function sendHead(response: Response): void {
  response.statusCode = 200
  response.setHeader('Content-Type', EVENT_STREAM)
  response.setHeader('Cache-Control', 'no-store')
  // nginx would collect the events.
  response.setHeader('X-Accel-Buffering', 'no')
}

async function stream(
  response: Response,
  events: AsyncIterable<string>,
  signal: AbortSignal,
  { heartbeatMs, stallMs }: StreamLimits,
): Promise<void> {
  let goOn: (() => void) | null = null
  const wake = () => goOn?.()
  /** Resolves once there is room for more. */
  const write = async (text: string) => {
    const hasRoom = response.write(text)
    flush(response)
    if (hasRoom || signal.aborted) return
    const timer = setTimeout(() => response.destroy(), stallMs)
    await new Promise<void>((resolve) => {
      goOn = resolve
    })
    goOn = null
    clearTimeout(timer)
  }
  response.on('drain', wake)
  signal.addEventListener('abort', wake)
  const heart = setInterval(() => {
    // Who has not taken what was sent knows that there is more. Nobody waits for it: only one may, for there is one drain.
    if (response.writableNeedDrain) return
    response.write(HEARTBEAT)
    flush(response)
  }, heartbeatMs)
  try {
    sendHead(response)
    await write(BEGINNING)
    for await (const event of events) await write(event)
  } finally {
    clearInterval(heart)
    signal.removeEventListener('abort', wake)
  }
  response.end()
}

/** Middleware that compresses keeps what is written until it is told. */
function flush(response: Response): void {
  ;(response as { flush?: () => void }).flush?.()
}
