/**
 * Lines of a file or of standard input, plain or gzip. At most one chunk and one line are in memory.
 */
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { addAbortSignal, pipeline, Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { RecentnError } from '../errors'

export const MAX_LINE_BYTES = 64 * 1024

export interface LogLine {
  /** Counted from 1. */
  number: number
  /** Without its line ending (LF or CR LF); null for a line of more than 64 KiB. */
  bytes: Buffer | null
}

export interface LogInput {
  /** The path as it was given; `-` is standard input. */
  name: string
  /** The bytes of the file as it is stored; null if they are not known (a pipe). */
  size: number | null
  open(): Readable
}

/** Checks what `name` is without opening it. Throws the error of the file system if nothing is there. */
export async function inputOf(name: string): Promise<LogInput> {
  if (name === '-') return { name, size: null, open: () => process.stdin }
  const found = await stat(name)
  if (found.isDirectory()) throw new RecentnError('invalid_input', `${name} is a directory`)
  return { name, size: found.isFile() ? found.size : null, open: () => createReadStream(name) }
}

export interface ReadOptions {
  /** Stops reading, even while it waits for input. */
  signal: AbortSignal
  /** Called with the number of further bytes that were read, as they are stored (compressed). */
  onBytes?: (count: number) => void
}

/**
 * The lines of an input, one array for each chunk that was read. If reading fails (a broken gzip, an aborted signal),
 * throws the error after the whole lines before it.
 */
export async function* readLines(input: LogInput, options: ReadOptions): AsyncGenerator<LogLine[]> {
  const splitter = new LineSplitter()
  const source = addAbortSignal(options.signal, input.open())
  for await (const chunk of await decompressed(counted(source, options.onBytes))) {
    const lines = splitter.push(chunk)
    if (lines.length > 0) yield lines
  }
  const last = splitter.end()
  if (last) yield [last]
}

async function* counted(source: Readable, onBytes?: (count: number) => void): AsyncGenerator<Buffer> {
  for await (const chunk of source as AsyncIterable<Buffer>) {
    onBytes?.(chunk.length)
    yield chunk
  }
}

/** Recognizes gzip by its first two bytes, because standard input has no name, and the name of a file says little. */
async function decompressed(chunks: AsyncGenerator<Buffer>): Promise<AsyncIterable<Buffer>> {
  let head: Buffer = Buffer.alloc(0)
  while (head.length < 2) {
    const next = await chunks.next()
    if (next.done) break
    head = Buffer.concat([head, next.value])
  }
  const whole = withHead(head, chunks)
  if (head[0] !== 0x1f || head[1] !== 0x8b) return whole
  // An error of either stream ends the other, and reaches the caller that iterates.
  return pipeline(Readable.from(whole, { objectMode: false }), createGunzip(), () => {})
}

async function* withHead(head: Buffer, rest: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  if (head.length > 0) yield head
  yield* rest
}

const LF = 0x0a
const CR = 0x0d
const BYTE_ORDER_MARK = Buffer.from('\ufeff')

/** Cuts chunks into lines. A line that is too long keeps only its number. */
class LineSplitter {
  #number = 0
  #parts: Buffer[] = []
  #length = 0

  push(chunk: Buffer): LogLine[] {
    const lines: LogLine[] = []
    let start = 0
    for (let end = chunk.indexOf(LF); end >= 0; end = chunk.indexOf(LF, start)) {
      lines.push(this.#line(chunk.subarray(start, end)))
      start = end + 1
    }
    this.#keep(chunk.subarray(start))
    return lines
  }

  /** The last line, if the input does not end with a line ending. */
  end(): LogLine | null {
    return this.#length > 0 ? this.#line(Buffer.alloc(0)) : null
  }

  #keep(part: Buffer): void {
    if (part.length === 0) return
    this.#length += part.length
    // One byte more than the limit may still be the CR of a line ending.
    if (this.#length > MAX_LINE_BYTES + 1) this.#parts = []
    else this.#parts.push(part)
  }

  #line(part: Buffer): LogLine {
    this.#number++
    let bytes: Buffer | null = null
    if (this.#length === 0) bytes = part
    else if (this.#length + part.length <= MAX_LINE_BYTES + 1) bytes = Buffer.concat([...this.#parts, part])
    this.#parts = []
    this.#length = 0
    if (bytes?.at(-1) === CR) bytes = bytes.subarray(0, -1)
    if (this.#number === 1 && bytes?.subarray(0, 3).equals(BYTE_ORDER_MARK)) bytes = bytes.subarray(3)
    return { number: this.#number, bytes: bytes && bytes.length <= MAX_LINE_BYTES ? bytes : null }
  }
}
