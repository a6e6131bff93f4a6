/**
 * The connections of a server. Decides which requests begin, how malformed input is refused, and which answer is the
 * last one of a connection.
 *
 * Node reads on while a client reads no answers, and emits all requests of a chunk of 64 KiB at once. Here a connection
 * has one request at work until its answer is sent completely; its other requests wait, and nothing more is read while
 * some wait. Malformed input is refused after all answers that are due, and never within a stream.
 */
import { type IncomingMessage, type RequestListener, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { RecentnError } from '../../shared/errors'
import { clearTimeout, nextTick, setImmediate, setTimeout } from '../../shared/platform'
import { failBody } from '../input/body'
import { traceOf } from '../metrics/traffic'
import { problemText } from '../output/problem'
import { SECURITY_HEADERS } from './headers'

/** The most requests that wait on all connections. Beyond it, connections with more than a few are closed. */
const MOST_WAITING = 10_000
const FEW_WAITING = 100

/** How long a client may still send on a connection that ends, so that it reads the answer before the end. */
const LINGER_MS = 2000

interface Exchange {
  request: IncomingMessage
  response: ServerResponse
}

interface HttpConnection {
  readonly socket: Socket
  /** The answer at work. */
  begun: ServerResponse | null
  /** Requests that have arrived and have not begun, oldest first. */
  readonly waiting: Exchange[]
  newest: Exchange | null
  /** The last answer, after which the connection closes; `none` if a request's own answer is the last. */
  refusal: { error: RecentnError; headers: Record<string, string> } | 'none' | null
  /** The answer at work is the last one: no further request begins. */
  isEnding: boolean
  isScheduled: boolean
}

export class HttpConnections {
  readonly #all = new Map<Socket, HttpConnection>()
  #waiting = 0
  #isDraining = false

  constructor(
    server: Server,
    private readonly app: RequestListener,
  ) {
    server.on('connection', (socket) => this.#open(socket))
    server.on('request', (request, response) => this.#accept({ request, response }))
    // The app decides about these too.
    server.on('checkExpectation', (request, response) => this.#accept({ request, response }))
  }

  /** Makes every answer from now on the last one of its connection. */
  drain(): void {
    this.#isDraining = true
  }

  /** Makes the answers at work the last ones, and closes connections that have none. */
  end(): void {
    this.#isDraining = true
    for (const connection of this.#all.values()) {
      if (connection.begun !== null) makeLast(connection, connection.begun)
      // It is idle, or has an incomplete head: no request was accepted.
      else if (connection.waiting.length === 0) connection.socket.destroy()
    }
  }

  /** Answers malformed input with a problem after all answers that are due, and closes the connection. */
  refuse(socket: Socket, error: RecentnError, headers: Record<string, string> = {}): void {
    const connection = this.#all.get(socket)
    if (!connection || connection.refusal !== null) return
    const { newest } = connection
    if (newest === null || newest.request.complete) {
      connection.refusal = { error, headers }
    } else {
      // The fault is in the body of a request: that request is refused.
      connection.refusal = 'none'
      if (!newest.response.headersSent) newest.response.setHeader('Connection', 'close')
      failBody(newest.request, error)
    }
    // Otherwise a client that reads no answer could send for ever.
    socket.pause()
    this.#advance(connection)
  }

  #open(socket: Socket): void {
    const connection: HttpConnection = {
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
    // Pauses after the chunk, because Node resumes reading at the end of each request.
    if (waiting.length === 0) nextTick(() => waiting.length > 0 && socket.pause())
    waiting.push(exchange)
    this.#waiting++
    if (this.#waiting > MOST_WAITING && waiting.length > FEW_WAITING) {
      this.#forgetWaiting(connection)
      socket.destroy()
    }
  }

  #begin(connection: HttpConnection, { request, response }: Exchange): void {
    connection.begun = response
    // It is emitted once: `once` would only add a wrapper.
    response.on('close', () => {
      connection.begun = null
      if (request.complete && connection.newest?.response === response) connection.newest = null
      if (connection.waiting.length > 0 || connection.refusal !== null) this.#schedule(connection)
    })
    if (this.#isDraining) makeLast(connection, response)
    this.app(request, response)
  }

  /** Lets other connections have their turn before the next request of this one. */
  #schedule(connection: HttpConnection): void {
    if (connection.isScheduled) return
    connection.isScheduled = true
    setImmediate(() => {
      connection.isScheduled = false
      this.#advance(connection)
    })
  }

  #advance(connection: HttpConnection): void {
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
    // A stream would never end by itself.
    else if (traceOf(connection.begun)?.isStream) socket.destroySoon()
  }

  #forgetWaiting(connection: HttpConnection): void {
    this.#waiting -= connection.waiting.length
    connection.waiting.length = 0
  }
}

/** Closes the connection after this answer. */
function makeLast(connection: HttpConnection, response: ServerResponse): void {
  connection.isEnding = true
  if (response.headersSent) response.once('close', () => connection.socket.destroySoon())
  else response.setHeader('Connection', 'close')
}

/** Sends the refusal and closes: no answer is due any more. */
function close({ socket, refusal }: HttpConnection): void {
  if (refusal === null || !socket.writable) return
  if (refusal === 'none') socket.end()
  else socket.end(rawProblem(refusal.error, refusal.headers))
  // If a connection is closed with unread input, the system resets it and the answer is lost.
  socket.resume()
  const timer = setTimeout(() => socket.destroy(), LINGER_MS)
  socket.once('close', () => clearTimeout(timer))
}

/** A problem as the bytes of an answer, where Node has no request to answer. */
function rawProblem(error: RecentnError, headers: Readonly<Record<string, string>> = {}): string {
  const { status } = error
  const body = problemText(error)
  const all = {
    ...SECURITY_HEADERS,
    'Content-Type': 'application/problem+json',
    'Content-Length': Buffer.byteLength(body),
    'Cache-Control': 'no-store',
    Connection: 'close',
    ...headers,
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`
}
