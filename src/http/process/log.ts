/**
 * What the process says: as text for people, as it always was, or as one line of JSON an event for machines. No payloads,
 * keys or headers are in it. Paths have names of groups and members in them: a route is told by its template, and the path
 * of a request at the level `debug` only.
 *
 * A log that nobody reads any more, as of a closed pipe, is no reason to stop serving.
 */
import pino, { type Logger } from 'pino'
import { safeMessage, safeStack, safeText } from '../../error-text'
import { RecentnError } from '../../errors'
import { LOG_LEVELS, type LogFormat, type LogLevel } from '../../log-rules'

/** What an event has beside its sentence. */
export type Fields = Readonly<Record<string, unknown>>

export interface Log {
  /** Whether events of this level are written. */
  has(level: LogLevel): boolean
  /** In text, the fields are what the sentence says already, and are left out. */
  write(level: LogLevel, sentence: string, fields?: Fields): void
  /** An error: with its stack, unless it is one that was foreseen. */
  error(sentence: string, error: unknown, fields?: Fields): void
}

/** For the process: what Node says of it (warnings, the error that ends it) goes into a JSON log too. */
export function openLog(format: LogFormat, level: LogLevel): Log {
  if (format === 'text') return new TextLog(level)
  const log = new JsonLog(level)
  // In place of Node's own listener, which writes text.
  process.removeAllListeners('warning')
  process.on('warning', ({ name, message }) => log.write('warn', message, { warning: name }))
  process.on('uncaughtExceptionMonitor', (error) => log.error('ended by an error that nobody caught', error))
  return log
}

function isForeseen(error: unknown): boolean {
  return error instanceof RecentnError && error.code !== 'internal'
}

/** The ready line, and requests, to standard output; what goes wrong to standard error. */
class TextLog implements Log {
  readonly #least: number

  constructor(level: LogLevel) {
    this.#least = LOG_LEVELS.indexOf(level)
    for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
  }

  has(level: LogLevel): boolean {
    return LOG_LEVELS.indexOf(level) >= this.#least
  }

  write(level: LogLevel, sentence: string): void {
    if (!this.has(level)) return
    if (level === 'warn' || level === 'error') process.stderr.write(`recentn: ${sentence}\n`)
    else process.stdout.write(`${sentence}\n`)
  }

  error(sentence: string, error: unknown): void {
    const said = isForeseen(error) || !(error instanceof Error) ? safeText(error) : (safeStack(error) ?? error.message)
    this.write('error', `${sentence}: ${said}`)
  }
}

/** All to standard output. */
class JsonLog implements Log {
  // Each line is written at once: `flushSync` of what was gathered never ends on a pipe that is closed.
  readonly #destination = pino.destination({ dest: 1, sync: true })
  readonly #logger: Logger

  constructor(level: LogLevel) {
    this.#destination.on('error', () => {})
    this.#logger = pino(
      {
        level,
        base: { pid: process.pid },
        timestamp: pino.stdTimeFunctions.isoTime,
        formatters: { level: (label) => ({ level: label }) },
        serializers: { error: serialized },
      },
      this.#destination,
    )
  }

  has(level: LogLevel): boolean {
    return this.#logger.isLevelEnabled(level)
  }

  write(level: LogLevel, sentence: string, fields: Fields = {}): void {
    this.#logger[level](fields, sentence)
  }

  error(sentence: string, error: unknown, fields: Fields = {}): void {
    this.write('error', sentence, { ...fields, error })
  }
}

/** The message and the stack; of the driver's errors neither the statement nor the values in it. */
function serialized(error: unknown): unknown {
  if (!(error instanceof Error)) return String(error)
  const { name, cause } = error
  const { code, errno } = error as { code?: unknown; errno?: unknown }
  return {
    type: name,
    ...(code !== undefined && { code }),
    ...(errno !== undefined && { errno }),
    message: safeMessage(error),
    ...(!isForeseen(error) && { stack: safeStack(error) }),
    ...(cause !== undefined && { cause: serialized(cause) }),
  }
}
