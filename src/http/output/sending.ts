/**
 * Sends answers and bounds the memory of those that clients have not read yet. A client that reads nothing for a while
 * is disconnected. While too much is unread, large answers are refused with `overloaded`. Of the reads that may have large
 * answers only a few run at a time.
 */
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { RecentnError } from '../../shared/errors'

/** The bytes that all requests of one kind may keep in memory. */
export const MOST_HELD_BYTES = 64 * 1024 * 1024

/** How long a client may read nothing of what is sent. */
export const STALL_MS = 15_000

/** The bytes of all answers of the process that no client has read yet. */
let unsentBytes = 0

/** An answer up to this size is sent however much is unread. */
const SMALL_BYTES = 16 * 1024

/**
 * Throws `overloaded` if a request must not begin. A read is refused once its answer is known to be large. A write can
 * be refused only before it begins, and so only when much more is unread.
 */
export function mustHaveRoomFor(method: string | undefined): void {
  if (method !== 'GET' && method !== 'HEAD' && unsentBytes > 2 * MOST_HELD_BYTES) throw tooMuchUnsent()
}

/** Throws `overloaded` if too much is unread for an answer of this size. */
export function mustHaveRoomToSend(method: string | undefined, body: string): void {
  if (method === 'GET' && body.length > SMALL_BYTES && unsentBytes > MOST_HELD_BYTES) throw tooMuchUnsent()
}

function tooMuchUnsent(): RecentnError {
  return new RecentnError('overloaded', 'Too many answers wait for clients to read them', { retryAfterSeconds: 5 })
}

/** The body as it waits to be read. Node would keep a long text in addition to its bytes. */
export function contentOf(body: string): string | Buffer {
  return body.length > SMALL_BYTES ? Buffer.from(body) : body
}

/** Ends the answer with this body, and closes the connection if the client reads nothing of it for `stallMs`. */
export function deliver(response: ServerResponse, body: string | Buffer | undefined, stallMs = STALL_MS): void {
  response.end(body)
  // Nearly always the operating system has taken all of it.
  if (response.writableLength > 0) watch(response, response.writableLength, stallMs)
}

/** The same for bytes that stay in memory anyway, and so do not count as unread. */
export function deliverKept(response: ServerResponse, body: Buffer | undefined): void {
  response.end(body)
  if (response.writableLength > 0) watch(response, 0, STALL_MS)
}

function watch(response: ServerResponse, bytes: number, stallMs: number): void {
  const { socket } = response.req as { socket: Socket & { server?: { timeout?: number } } }
  unsentBytes += bytes
  const release = () => {
    unsentBytes -= bytes
    response.off('close', release)
    socket.off('close', release)
  }
  response.once('close', release)
  // An answer that waits behind another one gets no `close` when the connection closes.
  socket.once('close', release)
  // The socket's timer starts again with each part that the operating system takes.
  response.setTimeout(stallMs, () => socket.destroy())
  // Must run before Node sets the timer of the idle connection.
  response.prependOnceListener('finish', () => socket.setTimeout(socket.server?.timeout ?? 0))
}

/** A read of at most this many rows is not a large one. */
const FEW_ROWS = 20

const MOST_AT_ONCE = 16

export function isLargeRead(query: unknown): boolean {
  return ((query as { limit?: number }).limit ?? 0) > FEW_ROWS
}

let runningReads = 0
const waitingReads: (() => void)[] = []

/**
 * Answers a read that may have a large answer, in its turn. A few run at a time and the others wait: otherwise a burst of
 * them would be read from the database before the first answer turns out to stay unread. Throws `overloaded` if too much is
 * unread by then. No p-limit: it would run a read that waited in the async context of another request.
 */
export async function runLargeRead(answer: () => Promise<void>): Promise<void> {
  if (runningReads < MOST_AT_ONCE) runningReads++
  // A read that ends passes its place to the next one.
  else await new Promise<void>((resolve) => waitingReads.push(resolve))
  try {
    if (unsentBytes > MOST_HELD_BYTES) throw tooMuchUnsent()
    await answer()
  } finally {
    const next = waitingReads.shift()
    if (next) next()
    else runningReads--
  }
}
