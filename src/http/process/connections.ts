/**
 * The connections of a server: which requests are begun, what becomes of what is no request, and which answer is the last.
 *
 * Node reads on while a client reads no answers, and hands over all requests of a chunk of 64 KiB at once. Here a
 * connection has one request begun, until its answer is sent to the end; its other requests wait, and as long as some
 * do, nothing more is read of it. What is no request is refused after every answer that is due, and never within a stream.
 */
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { RecentnError } from '../../errors'
import { failBody } from '../input/body'
import { traceOf } from '../metrics/traffic'
import { rawProblem } from './raw-problem'

/** Requests that wait on all connections; beyond it those where more than a few wait are cut. */
const MOST_WAITING = 10_000
const FEW_WAITING = 100

/** How long a client whose connection is over may go on sending, so that it sees the answer before the end. */
const LINGER_MS = 2000

interface Exchange {
  request: IncomingMessage
  response: ServerResponse
}

interface Connection {
  readonly socket: Socket
  /** The answer that is due. */
  begun: ServerResponse | null
  /** Requests that have come and are not begun, oldest first. */
  readonly waiting: Exchange[]
  newest: Exchange | null
  /** What is answered last, and the connection closed. */
  refusal: { error: RecentnError; headers: Record<string, string> } | 'none' | null
  /** An answer is said to be the last one: no further request is begun. */
  isEnding: boolean
  isScheduled: boolean
}

export class Connections {
  readonly #app: RequestListener
  readonly #all = new Map<Socket, Connection>()
  #waiting = 0
  #isDraining = false

  constructor(server: Server, app: RequestListener) {
    this.#app = app
    server.on('connection', (socket) => this.#open(socket))
    server.on('request', (request, response) => this.#accept({ request, response }))
    // Of the app too: it knows what to answer.
    server.on('checkExpectation', (request, response) => this.#accept({ request, response }))
  }

  /** From now on each answer is the last one of its connection. */
  drain(): void {
    this.#isDraining = true
  }

  /** The answers that are due are the last ones; connections without any are closed. */
  end(): void {
    this.#isDraining = true
    for (const connection of this.#all.values()) {
      if (connection.begun !== null) makeLast(connection, connection.begun)
      // Idle, or with half a head of a request: nothing was accepted here.
      else if (connection.waiting.length === 0) connection.socket.destroy()
    }
  }

  /** Answers what is no request with a problem, once every answer that is due is sent, and closes the connection. */
  refuse(socket: Socket, error: RecentnError, headers: Record<string, string> = {}): void {
    const connection = this.#all.get(socket)
    if (!connection || connection.refusal !== null) return
    const { newest } = connection
    if (newest === null || newest.request.complete) {
      connection.refusal = { error, headers }
    } else {
      // It is in the body of a request, which is then what is refused.
      connection.refusal = 'none'
      if (!newest.response.headersSent) newest.response.setHeader('Connection', 'close')
      failBody(newest.request, error)
    }
    // Else a client that reads no answer could go on sending for ever.
    socket.pause()
    this.#advance(connection)
  }

  #open(socket: Socket): void {
    const connection: Connection = {
      socket,
      begun: null,
      waiting: [],
      newest: null,
      refusal: null,
      isEnding: false,
      isScheduled: false,
    }
    this.#all.set(socket, connection)
    socket.once('close', () => {
      this.#all.delete(socket)
      this.#forgetWaiting(connection)
    })
  }

  #accept(exchange: Exchange): void {
    const { socket } = exchange.request
    const connection = this.#all.get(socket)
    if (!connection || connection.isEnding || socket.destroyed) return
    connection.newest = exchange
    const { waiting } = connection
    if (waiting.length === 0 && connection.begun === null) {
      this.#begin(connection, exchange)
      return
    }
    // After the chunk: Node goes on reading at the end of each request.
    if (waiting.length === 0) process.nextTick(() => waiting.length > 0 && socket.pause())
    waiting.push(exchange)
    this.#waiting++
    if (this.#waiting > MOST_WAITING && waiting.length > FEW_WAITING) {
      this.#forgetWaiting(connection)
      socket.destroy()
    }
  }

  #begin(connection: Connection, { request, response }: Exchange): void {
    connection.begun = response
    response.once('close', () => {
      connection.begun = null
      if (request.complete && connection.newest?.response === response) connection.newest = null
      if (connection.waiting.length > 0 || connection.refusal !== null) this.#schedule(connection)
    })
    if (this.#isDraining) makeLast(connection, response)
    this.#app(request, response)
  }

  /** Other connections have their turn before the next ones of this one. */
  #schedule(connection: Connection): void {
    if (connection.isScheduled) return
    connection.isScheduled = true
    setImmediate(() => {
      connection.isScheduled = false
      this.#advance(connection)
    })
  }

  #advance(connection: Connection): void {
    const { socket, waiting } = connection
    if (socket.destroyed) return
    if (connection.begun === null && !connection.isEnding) {
      const next = waiting.shift()
      if (next) {
        this.#waiting--
        this.#begin(connection, next)
        if (waiting.length === 0 && connection.refusal === null) socket.resume()
      }
    }
    if (connection.refusal === null || waiting.length > 0) return
    if (connection.begun === null) close(connection)
    // It would go on for ever.
    else if (traceOf(connection.begun)?.isStream) socket.destroySoon()
  }

  #forgetWaiting(connection: Connection): void {
    this.#waiting -= connection.waiting.length
    connection.waiting.length = 0
  }
}

/** Ends the connection with this answer. */
function makeLast(connection: Connection, response: ServerResponse): void {
  connection.isEnding = true
  if (response.headersSent) response.once('close', () => connection.socket.destroySoon())
  else response.setHeader('Connection', 'close')
}

/** Nothing is due any more. */
function close({ socket, refusal }: Connection): void {
  if (refusal === null || !socket.writable) return
  if (refusal === 'none') socket.end()
  else socket.end(rawProblem(refusal.error, refusal.headers))
  // A connection that is closed with something unread is reset, and its answer lost.
  socket.resume()
  const timer = setTimeout(() => socket.destroy(), LINGER_MS)
  socket.once('close', () => clearTimeout(timer))
}
