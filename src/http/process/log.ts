/**
 * The log of the process: text for people, or one line of JSON for each event. It has no payloads, keys or headers.
 * Paths have names of groups and members in them, so a request is logged by the template of its route, and by its path
 * at the level `debug` only.
 *
 * If nobody reads the log any more, such as behind a closed pipe, the server goes on.
 */
import type { IncomingMessage } from 'node:http'
import pino, { type Logger } from 'pino'
import { RecentnError } from '../../shared/errors'
import { safeMessage, safeStack, safeText } from '../../shared/safe-text'
import type { Observer, Trace } from '../metrics/traffic'
import { requestIdOf } from '../request-id'
import { withoutSecrets } from '../secrets'

export const LOG_FORMATS = ['text', 'json'] as const
/** Least important first. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const
export type LogFormat = (typeof LOG_FORMATS)[number]
export type LogLevel = (typeof LOG_LEVELS)[number]

/** The facts of an event, in addition to its sentence. */
export type Fields = Readonly<Record<string, unknown>>

export interface Log {
  /** Whether events of this level are written. */
  has(level: LogLevel): boolean
  /** A text log leaves the fields out: the sentence has them. */
  write(level: LogLevel, sentence: string, fields?: Fields): void
  /** Writes an error, with its stack unless the error was foreseen. */
  error(sentence: string, error: unknown, fields?: Fields): void
}

/** Opens the log of the process. Node's warnings and the error that ends the process go into a JSON log too. */
export function openLog(format: LogFormat, level: LogLevel): Log {
  if (format === 'text') return new TextLog(level)
  const log = new JsonLog(level)
  // Replaces Node's own listener, which writes text.
  process.removeAllListeners('warning')
  process.on('warning', ({ name, message }) => log.write('warn', message, { warning: name }))
  process.on('uncaughtExceptionMonitor', (error) => log.error('ended by an error that nobody caught', error))
  return log
}

function isForeseen(error: unknown): boolean {
  return error instanceof RecentnError && error.code !== 'internal'
}

/** Writes warnings and errors to standard error, everything else to standard output. */
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

/** Writes everything to standard output. */
class JsonLog implements Log {
  // Each line is written at once: `flushSync` of buffered lines never ends on a closed pipe.
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

/** The message and the stack of an error. The statement of a driver's error, and its values, are left out. */
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

const QUIET = new Set(['/livez', '/readyz', '/metrics'])

/** Writes a line for each request that has ended. Health checks and scrapes are logged at `debug`. */
export function accessLog(log: Log): Observer {
  return {
    ended(trace, status, durationMs) {
      const level = QUIET.has(trace.route ?? '') ? 'debug' : 'info'
      if (!log.has(level)) return
      const { request, response, keyId, problem } = trace
      const durationText = durationMs.toFixed(2)
      const method = request.method ?? ''
      const route = routeOf(trace)
      const requestId = requestIdOf(request, response)
      log.write(level, `${method} ${route} ${status} ${durationText} ms (request ${requestId})`, {
        event: 'request',
        method,
        route,
        ...(log.has('debug') && { path: pathOf(request) }),
        status,
        durationSeconds: Number((durationMs / 1000).toFixed(5)),
        requestId,
        ...(keyId !== null && { keyId }),
        ...(problem !== null && { problem }),
      })
    },
  }
}

/** The template of the route, which has no names in it. */
export function routeOf({ route }: Pick<Trace, 'route'>): string {
  return route ?? 'unknown'
}

/** The path and the query, without secrets. They have names in them. */
export function pathOf(request: IncomingMessage): string {
  const { originalUrl, url = '' } = request as IncomingMessage & { originalUrl?: string }
  return withoutSecrets(originalUrl ?? url)
}
