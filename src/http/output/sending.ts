/**
 * Answers on their way to the client. What the client has not taken yet stays in memory: a client that takes nothing for
 * a while is cut off, and while too much waits to be taken, large answers are refused with `overloaded`.
 */
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { RecentnError } from '../../errors'
import { HeldBytes, MIB } from '../held-bytes'

/** How long a client may take nothing of what is sent. */
export const STALL_MS = 15_000

/** Of all answers of the process that no client has taken yet. */
const unsent = new HeldBytes(64 * MIB)

/** An answer of this size is sent whatever else waits. */
const SMALL_BYTES = 16 * 1024

/**
 * Throws `overloaded` where a request must not begin. Reads are refused when their answer is known and large; what changes
 * something can be refused only before it begins, and is refused later.
 */
export function mustHaveRoomFor(method: string | undefined): void {
  if (method !== 'GET' && method !== 'HEAD' && unsent.held > 2 * unsent.limit) throw tooMuchUnsent()
}

/** Throws `overloaded` where a read that may have much to answer must not begin. */
export function mustHaveRoomToBegin(): void {
  if (unsent.held > unsent.limit) throw tooMuchUnsent()
}

/** Throws `overloaded` where too much is unsent for an answer like this one. */
export function mustHaveRoomToSend(method: string | undefined, body: string): void {
  if (method === 'GET' && body.length > SMALL_BYTES && unsent.held > unsent.limit) throw tooMuchUnsent()
}

function tooMuchUnsent(): RecentnError {
  return new RecentnError('overloaded', 'Too many answers wait for clients to read them', { retryAfterMs: 5000 })
}

/** The body in the form in which it waits: Node would keep a long text beside its bytes until all of it is taken. */
export function contentOf(body: string): string | Buffer {
  return body.length > SMALL_BYTES ? Buffer.from(body) : body
}

/** Ends the answer with this body, and closes the connection if the client takes nothing of it for `stallMs`. */
export function deliver(response: ServerResponse, body: string | Buffer | undefined, stallMs = STALL_MS): void {
  response.end(body)
  // Nearly always the system has taken it all.
  if (response.writableLength > 0) watch(response, response.writableLength, stallMs)
}

/** The same for bytes that are kept anyway: they take no memory of their own. */
export function deliverKept(response: ServerResponse, body: Buffer | undefined): void {
  response.end(body)
  if (response.writableLength > 0) watch(response, 0, STALL_MS)
}

function watch(response: ServerResponse, bytes: number, stallMs: number): void {
  const { socket } = response.req as { socket: Socket & { server?: { timeout?: number } } }
  unsent.add(bytes)
  const release = () => {
    unsent.drop(bytes)
    response.off('close', release)
    socket.off('close', release)
  }
  response.once('close', release)
  // An answer behind another one is not told that the connection is closed.
  socket.once('close', release)
  // The timer of the socket knows of parts that the system has taken.
  response.setTimeout(stallMs, () => socket.destroy())
  // Before Node sets it to what the connection may be idle.
  response.prependOnceListener('finish', () => socket.setTimeout(socket.server?.timeout ?? 0))
}
