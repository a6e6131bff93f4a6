/**
 * Answers that are streams of server-sent events and last as long as the client and the server. Limits how many are
 * open, sends a heartbeat while nothing happens, and takes the next event only when the client has room for it. A
 * client that reads nothing for too long is disconnected.
 */
import { once } from 'node:events'
import type { Request, Response } from 'express'
import { RecentnError } from '../../shared/errors'
import { clearInterval, clearTimeout, setInterval, setTimeout } from '../../shared/platform'
import type { Answer } from '../route'
import { WaitingRequests } from '../waiting'
import { STALL_MS } from './sending'

export interface StreamLimits {
  maxStreams: number
  heartbeatMs: number
  /** How long a client may read nothing of what is sent. */
  stallMs: number
}

const LIMITS: StreamLimits = { maxStreams: 1000, heartbeatMs: 15_000, stallMs: STALL_MS }

const EVENT_STREAM = 'text/event-stream'

/** Shows the client that it is connected, and makes it reconnect soon after a loss. */
const BEGINNING = ': connected\nretry: 1000\n\n'
const HEARTBEAT = ': heartbeat\n\n'

export class EventStreams {
  readonly #limits: StreamLimits
  readonly #waiting: WaitingRequests
  #open = 0

  constructor(
    private readonly stopping: AbortSignal | undefined,
    limits: Partial<StreamLimits> = {},
  ) {
    this.#limits = { ...LIMITS, ...limits }
    this.#waiting = new WaitingRequests(stopping)
  }

  /** Resolves at the end of the stream. Before that throws `overloaded`, `draining`, and what `begin` throws. */
  async answer(request: Request, response: Response, begin: (signal: AbortSignal) => Promise<Answer>): Promise<void> {
    if (request.method === 'HEAD') {
      sendHead(response)
      response.end()
      return
    }
    if (this.stopping?.aborted) throw new RecentnError('draining')
    if (this.#open >= this.#limits.maxStreams) {
      throw new RecentnError('overloaded', `${this.#open} streams are open`, { retryAfterSeconds: 5 })
    }
    this.#open++
    try {
      await this.#waiting.run(request, async (signal) => {
        const { events = none() } = await begin(signal)
        await stream(response, events, signal, this.#limits)
        // The headers of the stream promised to keep the connection.
        if (this.stopping?.aborted) response.once('close', () => request.socket.destroySoon())
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
  // Without it nginx buffers the events.
  response.setHeader('X-Accel-Buffering', 'no')
}

async function stream(
  response: Response,
  events: AsyncIterable<string>,
  signal: AbortSignal,
  { heartbeatMs, stallMs }: StreamLimits,
): Promise<void> {
  /** Resolves once there is room for more. */
  const write = async (text: string) => {
    const hasRoom = response.write(text)
    flush(response)
    if (hasRoom || signal.aborted) return
    const timer = setTimeout(() => response.destroy(), stallMs)
    await once(response, 'drain', { signal }).catch(() => {})
    clearTimeout(timer)
  }
  const heart = setInterval(() => {
    // A client with unread events needs no heartbeat, and no code waits for the drain here.
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
  }
  response.end()
}

/** Compressing middleware keeps what is written until it is flushed. */
function flush(response: Response): void {
  ;(response as { flush?: () => void }).flush?.()
}
