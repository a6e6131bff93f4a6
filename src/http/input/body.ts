/** Reading a request's JSON body, within a bound of memory whatever is sent. */
import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { RecentnError } from '../../shared/errors'
import { clearTimeout, setImmediate, setTimeout } from '../../shared/platform'
import { StatusError } from '../output/problem'
import { MOST_HELD_BYTES } from '../output/sending'

export const DEFAULT_BODY_LIMIT_BYTES = 1024 * 1024

/** How long a sender may continue to send a refused body before the refusal is sent. */
const DISCARD_MS = 5_000

/** How long the connection of a body that is read no further stays open at least; up to twice that, as many end apart. */
const CUT_MS = 2_000

/** How long a sender may send nothing of a body. */
const STALL_MS = 15_000

/** A parsed body. `text` is its source, where that is known. */
export interface JsonBody {
  value: unknown
  text: string | null
}

/**
 * The JSON body of a request; null when it has none. A body that a parser of the surrounding app left in `request.body` is used.
 * Throws `malformed_json`, a `StatusError` (408 where nothing of it comes for `stallMs`, 413, 415), and `overloaded` where the unfinished bodies of the process take too much together.
 */
export async function readJsonBody(
  request: IncomingMessage & { body?: unknown },
  limitBytes: number,
  stallMs = STALL_MS,
): Promise<JsonBody | null> {
  const declared = Number(request.headers['content-length'] ?? 0)
  if (declared > limitBytes) {
    await discard(request)
    throw tooLarge(limitBytes)
  }
  if (declared === 0 && request.headers['transfer-encoding'] === undefined) return null
  const given = bodyGiven(request)
  if (given === undefined) {
    // Node hands a request on before it has read the rest of the chunk that the head was in.
    await null
    return parsed(request, arrivedBytes(request, limitBytes) ?? (await readBytes(request, limitBytes, stallMs)))
  }
  if (Buffer.isBuffer(given)) return parsed(request, given)
  if (typeof given === 'string') return parsed(request, Buffer.from(given))
  checkMediaType(request)
  return { value: given, text: null }
}

/** Express 4 leaves an empty object where its parsers pass over a body, which is to be read yet. */
function bodyGiven({ body, readableDidRead }: IncomingMessage & { body?: unknown }): unknown {
  const isPlain = typeof body === 'object' && !Buffer.isBuffer(body)
  return isPlain && readableDidRead === false ? undefined : body
}

function parsed(request: IncomingMessage, bytes: Buffer): JsonBody | null {
  if (bytes.length === 0) return null
  checkMediaType(request)
  if (!isUtf8(bytes)) throw malformed('is not UTF-8')
  const start = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0 // a byte order mark
  const text = bytes.toString('utf8', start)
  try {
    return { value: JSON.parse(text), text }
  } catch (error) {
    throw malformed(`is not well-formed JSON: ${(error as Error).message}`)
  }
}

function malformed(detail: string): RecentnError {
  return new RecentnError('malformed_json', `The body ${detail}`, { faults: [{ pointer: '', detail }] })
}

function tooLarge(limitBytes: number): RecentnError {
  return new StatusError(413, `The body may have at most ${limitBytes} bytes`)
}

function checkMediaType({ headers }: IncomingMessage): void {
  const encoding = headers['content-encoding']
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw new StatusError(415, 'The body must not be compressed')
  }
  const coding = headers['transfer-encoding']
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') {
    throw new StatusError(415, 'The body must have no transfer coding but chunked')
  }
  if (headers['content-type'] === 'application/json') return
  const [type = '', ...parameters] = (headers['content-type'] ?? '').split(';')
  if (type.trim().toLowerCase() !== 'application/json') {
    throw new StatusError(415, 'The body must have the header "Content-Type: application/json"')
  }
  for (const parameter of parameters) {
    const charset = /^\s*charset\s*=\s*"?([^"\s]*)"?\s*$/i.exec(parameter)?.[1]?.toLowerCase()
    if (charset !== undefined && charset !== 'utf-8' && charset !== 'utf8') {
      throw new StatusError(415, 'The body must be in UTF-8')
    }
  }
}

/**
 * The bytes of a body that is here as a whole, which nearly every small one is; null for any other. To wait for a body
 * takes a timer, four listeners and three turns of Node's queue of ticks.
 */
function arrivedBytes(request: IncomingMessage, limitBytes: number): Buffer | null {
  const isWhole = request.complete && !request.destroyed && request.readableLength <= limitBytes
  // No code has begun to read it.
  const isUnread = request.readableFlowing === null && !request.readableDidRead && request.readableEncoding === null
  return isWhole && isUnread ? request.read() : null
}

function readBytes(request: IncomingMessage, limitBytes: number, stallMs: number): Promise<Buffer> {
  const body = new UnfinishedBody()
  return new Promise((resolve, reject) => {
    let isOver = false
    const end = () => {
      isOver = true
      clearTimeout(stalled)
      body.drop()
    }
    const fail = (errorOf: () => unknown) => {
      if (isOver) return
      end()
      reject(errorOf())
    }
    const gone = () => fail(() => new SenderGone())
    const stalled = setTimeout(fail, stallMs, () => new StatusError(408, 'The body stopped arriving'))
    request.on('data', (chunk: Buffer) => {
      if (isOver) return
      stalled.refresh()
      body.add(chunk)
      if (body.size > limitBytes) {
        end()
        discard(request).then(() => reject(tooLarge(limitBytes)))
      } else if (unfinishedBytes > MOST_HELD_BYTES) {
        fail(() => new RecentnError('overloaded', 'Too many bodies are unfinished'))
        stopReading(request)
      }
    })
    request.on('end', () => {
      if (isOver) return
      const bytes = body.whole()
      end()
      resolve(bytes)
    })
    // The sender is gone: no client waits for an answer, and nothing of a half-sent request may be stored.
    request.on('error', (error) => (error instanceof RecentnError ? fail(() => error) : gone()))
    request.on('close', gone)
    const fault = faults.get(request)
    if (fault) fail(() => fault)
    else if (request.readableEnded) {
      end()
      resolve(Buffer.alloc(0))
    } else if (request.destroyed) gone()
  })
}

/** Reading the rest of many bodies only to drop it would keep others waiting: the sender has a moment to see its answer. */
function stopReading(request: IncomingMessage): void {
  request.pause()
  setImmediate(() => {
    if (request.complete) request.resume()
    else setTimeout(() => request.socket.destroy(), CUT_MS * (1 + Math.random())).unref()
  })
}

/** The faults of requests whose bodies will never be complete. */
const faults = new WeakMap<IncomingMessage, RecentnError>()

/** Tells whoever reads the body of this request, or is about to, that the rest of it will not come. */
export function failBody(request: IncomingMessage, fault: RecentnError): void {
  faults.set(request, fault)
  if (request.listenerCount('error') > 0) request.emit('error', fault)
}

/** The connection was closed before the body was complete. */
export class SenderGone extends Error {}

/**
 * Lets the rest of a refused body run past, and resolves when it has. An answer before that would be lost on a sender
 * that only reads when it has sent everything, because its connection may be closed with the answer.
 */
function discard(request: IncomingMessage): Promise<void> {
  // A parser of the surrounding app has read it all.
  if (request.readableEnded || request.destroyed || faults.has(request)) return Promise.resolve()
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, DISCARD_MS)
    const done = () => {
      clearTimeout(timer)
      resolve()
    }
    request.once('end', done).once('close', done).on('error', done)
    request.resume()
  })
}

/** The bytes of all bodies of the process that have not come as a whole. */
let unfinishedBytes = 0

/** The memory that a chunk takes beside its bytes: a sender may send a body byte by byte. */
const CHUNK_BYTES = 512

/** When this many chunks have come they are made one. */
const MOST_CHUNKS = 1024

/** The part of a body that has come. All of them count together, whichever requests they belong to. */
class UnfinishedBody {
  /** Bytes that have come. */
  size = 0
  #merged: Buffer[] = []
  #chunks: Buffer[] = []
  #held = 0

  add(chunk: Buffer): void {
    this.size += chunk.length
    this.#chunks.push(chunk)
    this.#hold(chunk.length + CHUNK_BYTES)
    if (this.#chunks.length < MOST_CHUNKS) return
    this.#merged.push(Buffer.concat(this.#chunks))
    this.#chunks = []
    this.#hold(-(MOST_CHUNKS - 1) * CHUNK_BYTES)
  }

  whole(): Buffer {
    const all = this.#merged.length === 0 ? this.#chunks : [...this.#merged, ...this.#chunks]
    return all.length === 1 ? (all[0] as Buffer) : Buffer.concat(all, this.size)
  }

  /** Forgets what has come. */
  drop(): void {
    this.#merged = []
    this.#chunks = []
    this.#hold(-this.#held)
  }

  #hold(bytes: number): void {
    this.#held += bytes
    unfinishedBytes += bytes
  }
}
