/** The progress bar on standard error, and the notes above it. */
import { SingleBar } from 'cli-progress'
import { withoutSecretsIn } from '../http/secrets'

export interface Progress {
  advance(bytes: number): void
  count(lines: number, appended: number): void
  /** Writes a line of text to standard error. */
  note(text: string): void
  stop(): void
}

/** A bar if `stream` is a terminal and the size is known; otherwise only notes. */
export function createProgress(totalBytes: number | null, stream: NodeJS.WriteStream = process.stderr): Progress {
  return stream.isTTY && totalBytes ? new Bar(totalBytes, stream) : new NotesOnly(stream)
}

class NotesOnly implements Progress {
  constructor(private readonly stream: NodeJS.WritableStream) {}
  advance(): void {}
  count(): void {}
  note(text: string): void {
    this.stream.write(`${printable(withoutSecretsIn(text))}\n`)
  }
  stop(): void {}
}

class Bar implements Progress {
  readonly #bar: SingleBar
  readonly #started = Date.now()
  #read = 0
  #counts = { lines: '0', rate: '0' }

  constructor(
    private readonly total: number,
    private readonly stream: NodeJS.WritableStream,
  ) {
    this.#bar = new SingleBar({
      stream,
      format: '{bar} {percentage}% | {lines} lines | {rate} appends/s | {eta_formatted} left',
      clearOnComplete: true,
      // After Ctrl-C the batch in flight is finished first.
      gracefulExit: false,
      hideCursor: null,
    })
    this.#bar.start(total, 0, this.#counts)
  }

  advance(bytes: number): void {
    this.#read = Math.min(this.#read + bytes, this.total)
    this.#bar.update(this.#read, this.#counts)
  }

  count(lines: number, appended: number): void {
    const seconds = Math.max((Date.now() - this.#started) / 1000, 0.001)
    this.#counts = {
      lines: lines.toLocaleString('en'),
      rate: Math.round(appended / seconds).toLocaleString('en'),
    }
    this.#bar.update(this.#read, this.#counts)
  }

  note(text: string): void {
    this.#bar.stop()
    this.stream.write(`${printable(withoutSecretsIn(text))}\n`)
    this.#bar.start(this.total, this.#read, this.#counts)
  }

  stop(): void {
    this.#bar.stop()
  }
}

/** Controls, line and paragraph separators, and what is not seen: marks that turn the direction of text, for example. */
const CONTROL = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** Escapes control characters: text from a log or a server must not control the terminal, nor show another order. */
export function printable(text: string): string {
  return text.replace(CONTROL, (character) => {
    const code = character.codePointAt(0) as number
    return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`
  })
}

/** A line of JSON. `JSON.stringify` escapes only the first of two ranges of control characters. */
export function jsonLine(value: unknown): string {
  return `${JSON.stringify(value).replace(/[\u007f-\u009f]/g, (one) => `\\u00${one.charCodeAt(0).toString(16)}`)}\n`
}
