/** Runs the server: opens the store, listens, logs one line when it is ready, and stops in order on a signal. */

import { endsWithin, onAbort } from '../../shared/backoff'
import { RecentnError } from '../../shared/errors'
import { CLOCK, delay, performance } from '../../shared/platform'
import { innerOf } from '../../store/inner'
import { openStore } from '../../store/open'
import type { StoreOptions } from '../../store/option-types'
import type { Store } from '../../store/types'
import { createMetrics } from '../metrics/metrics'
import { traceOf } from '../metrics/traffic'
import type { RouterOptions } from '../router'
import { createApp, messagesOf } from './app'
import { type Config, isLoopback } from './config'
import { type Listening, listen } from './listen'
import { accessLog, type Log, openLog, pathOf, routeOf } from './log'

/** How long the start waits for a database server that cannot be reached. */
const TIME_LIMIT_MS = 30_000
const PAUSE_MS = 1000

/**
 * Serves until SIGTERM or SIGINT, and resolves to the exit code. Writes one line to standard output when it is ready,
 * and errors to standard error; a JSON log goes to standard output as a whole. 0: stopped in order. 1: could not start,
 * or did not finish everything within `shutdownSeconds`.
 */
export async function runServer(config: Config): Promise<number> {
  const log = openLog(config.logFormat, config.logLevel)
  const stopping = new Stopping()
  try {
    const store = await openInTimeLimit(config, stopping.begun, log)
    return store === null ? 0 : await serveUntilStopped(store, config, stopping, log)
  } catch (error) {
    log.write('error', sentenceOf(error))
    return 1
  } finally {
    stopping.end()
  }
}

/** A foreseen error as a sentence, any other with its stack. */
function sentenceOf(error: unknown): string {
  if (error instanceof RecentnError || error instanceof CannotStart) return error.message
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

class CannotStart extends Error {}

/** Opens the store and waits for a database server that is not up yet; null if a signal stops the process before. */
async function openInTimeLimit(config: Config, stopping: AbortSignal, log: Log): Promise<Store | null> {
  const { databaseUrl: url, password, tablePrefix, defaultCapacity, poolSize, history } = config
  const onBackgroundError: StoreOptions['onBackgroundError'] = (error, work) =>
    log.error(`failed in the background (${work})`, error, { work })
  const isServer = !url.startsWith('sqlite:')
  const until = performance.now() + TIME_LIMIT_MS
  for (let isLogged = false; !stopping.aborted; ) {
    try {
      return await openStore({ url, password, tablePrefix, defaultCapacity, poolSize, history, onBackgroundError })
    } catch (error) {
      const away = error instanceof RecentnError && error.code === 'database_unavailable'
      if (!away || !isServer || performance.now() + PAUSE_MS > until) throw foreseen(error)
      if (!isLogged) log.write('warn', `${error.message}; trying again for up to ${TIME_LIMIT_MS / 1000} seconds`)
      isLogged = true
      await pause(PAUSE_MS, stopping)
    }
  }
  return null
}

/** A driver's error with a code, such as a wrong password or a folder that cannot be written, needs no stack. */
function foreseen(error: unknown): unknown {
  const byCode = error instanceof Error && typeof (error as { code?: unknown }).code === 'string'
  if (error instanceof RecentnError || !byCode) return error
  return new CannotStart(`can't open the database: ${error.message}`)
}

/** Ends early when the signal is aborted. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return delay(ms, undefined, { signal }).catch(() => {})
}

async function serveUntilStopped(store: Store, config: Config, stopping: Stopping, log: Log): Promise<number> {
  try {
    await requireKeys(store, config)
    const ending = new AbortController()
    const app = createApp(store, {
      ...config,
      metrics: createMetrics(store, { processMetrics: true }),
      observers: config.accessLog ? [accessLog(log)] : [],
      onError: reporter(log),
      draining: stopping.begun,
      stopping: ending.signal,
    })
    const server = await listen(app, config.host, config.port, messagesOf(app)).catch((error: Error) => {
      throw new CannotStart(error.message)
    })
    const { url } = server
    const { location } = store
    if (!stopping.begun.aborted) log.write('info', `recentn listens on ${url}, data in ${location}`, { url, location })
    await new Promise<void>((resolve) => void onAbort(stopping.begun, resolve))
    await drain(server, config.drainSeconds, stopping, log)
    return await inTime(finish(server, ending, store), config.shutdownSeconds, log)
  } catch (error) {
    await store.close()
    throw error
  }
}

/** Answers for a while, but is no longer ready, so that load balancers notice before the server closes. */
async function drain(server: Listening, seconds: number, { hurried }: Stopping, log: Log): Promise<void> {
  if (seconds === 0) return
  log.write('info', `recentn drains for ${seconds} seconds: no longer ready`, { seconds })
  server.drain()
  await pause(seconds * 1000, hurried)
}

/** Throws unless the address is a loopback one, there are keys, or everyone is let in on purpose. */
async function requireKeys(store: Store, { host, allowAnonymous }: Config): Promise<void> {
  const exist = await innerOf(store).keys.exist()
  if (allowAnonymous || isLoopback(host) || exist) return
  throw new CannotStart(
    `HOST ${host} may be reached by others, and there is no API key yet: make one with "recentn keys create"; ` +
      'or listen on a loopback address (127.0.0.1, ::1 or localhost); or, to let everyone in on purpose, set ' +
      'RECENTN_ALLOW_ANONYMOUS=1',
  )
}

function reporter(log: Log): RouterOptions['onError'] {
  return (error, { request, requestId }) => {
    const { method, res } = request
    const route = routeOf((res && traceOf(res)) ?? { route: null })
    const path = log.has('debug') ? { path: pathOf(request) } : {}
    log.error(`${method} ${route} (request ${requestId})`, error, { method, route, requestId, ...path })
  }
}

async function finish(server: Listening, ending: AbortController, store: Store): Promise<number> {
  const stopped = server.stop()
  // Only now, when these answers are marked as the last ones of their connections.
  ending.abort()
  await stopped
  await store.close()
  return 0
}

async function inTime(work: Promise<number>, seconds: number, log: Log): Promise<number> {
  if (await endsWithin(CLOCK, seconds * 1000, work)) return work
  const said = `not everything was finished within ${seconds} seconds (RECENTN_SHUTDOWN_SECONDS); stopped anyway`
  log.write('error', said, { seconds })
  return 1
}

const SIGNALS = ['SIGTERM', 'SIGINT'] as const

/** npm passes on a signal that the terminal has sent to us as well: a second one within this time is the first one. */
const SAME_MS = 1000

/** The signals that stop the process: the first one begins it, a later one makes it hurry. */
class Stopping {
  readonly #begun = new AbortController()
  readonly #hurried = new AbortController()
  /** Aborted when the process must stop. */
  readonly begun = this.#begun.signal
  /** Aborted when the process must stop without draining. */
  readonly hurried = this.#hurried.signal
  #begunAt = 0

  constructor() {
    for (const signal of SIGNALS) process.on(signal, this.#onSignal)
  }

  /** Lets signals end the process again. */
  end(): void {
    for (const signal of SIGNALS) process.off(signal, this.#onSignal)
  }

  readonly #onSignal = () => {
    if (!this.#begun.signal.aborted) {
      this.#begunAt = performance.now()
      this.#begun.abort()
    } else if (performance.now() - this.#begunAt > SAME_MS) this.#hurried.abort()
  }
}
