/** The life of the server: open the store, listen, say so in one line, and on a signal end in order. */
import { type Config, isLoopback } from '../../config'
import { RecentnError } from '../../errors'
import { openStore } from '../../store/open'
import type { Store } from '../../store/types'
import { createMetrics } from '../metrics/metrics'
import { traceOf } from '../metrics/traffic'
import type { RouterOptions } from '../router'
import { accessLog, pathOf, routeOf } from './access-log'
import { createApp } from './app'
import { type Listening, listen } from './listen'
import { type Log, openLog } from './log'
import { messagesOf } from './messages'
import { Stopping } from './stopping'

/** How long a database server that can't be reached is waited for. */
const PATIENCE_MS = 30_000
const PAUSE_MS = 1000

/**
 * Serves until SIGTERM or SIGINT; resolves to the exit code. Writes one line to standard output when it is ready, and
 * what goes wrong to standard error (all to standard output as JSON). 0: stopped in order. 1: could not start, or not
 * everything was finished within `shutdownSeconds`.
 */
export async function runServer(config: Config): Promise<number> {
  const log = openLog(config.logFormat, config.logLevel)
  const stopping = new Stopping()
  try {
    const store = await openPatiently(config, stopping.told, log)
    return store === null ? 0 : await serveUntilStopped(store, config, stopping, log)
  } catch (error) {
    log.write('error', sentenceOf(error))
    return 1
  } finally {
    stopping.end()
  }
}

/** A sentence for what was foreseen, the stack for what was not. */
function sentenceOf(error: unknown): string {
  if (error instanceof RecentnError || error instanceof CannotStart) return error.message
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

class CannotStart extends Error {}

/** Opens the store, waiting for a database server that is not up yet; null when told to stop meanwhile. */
async function openPatiently(config: Config, stopping: AbortSignal, log: Log): Promise<Store | null> {
  const { databaseUrl: url, tablePrefix, defaultCapacity, poolSize, recentGroupsFeed } = config
  const onBackgroundError = (error: unknown, doing: string) => log.error(`could not ${doing}`, error, { doing })
  const isServer = !url.startsWith('sqlite:')
  const until = Date.now() + PATIENCE_MS
  for (let told = false; !stopping.aborted; ) {
    try {
      return await openStore({ url, tablePrefix, defaultCapacity, poolSize, recentGroupsFeed, onBackgroundError })
    } catch (error) {
      const away = error instanceof RecentnError && error.code === 'database_unavailable'
      if (!away || !isServer || Date.now() + PAUSE_MS > until) throw foreseen(error)
      if (!told) log.write('warn', `${error.message}; trying again for up to ${PATIENCE_MS / 1000} seconds`)
      told = true
      await pause(PAUSE_MS, stopping)
    }
  }
  return null
}

/** What a driver refuses by a code (a wrong password, a folder that can't be written) needs no stack. */
function foreseen(error: unknown): unknown {
  const byCode = error instanceof Error && typeof (error as { code?: unknown }).code === 'string'
  if (error instanceof RecentnError || !byCode) return error
  return new CannotStart(`can't open the database: ${error.message}`)
}

function pause(ms: number, stopping: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    stopping.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
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
      draining: stopping.told,
      stopping: ending.signal,
    })
    const server = await listen(app, config.host, config.port, messagesOf(app)).catch((error: Error) => {
      throw new CannotStart(error.message)
    })
    const { url } = server
    const { location } = store
    if (!stopping.told.aborted) log.write('info', `recentn listens on ${url}, data in ${location}`, { url, location })
    await aborted(stopping.told)
    await drain(server, config.drainSeconds, stopping, log)
    return await inTime(finish(server, ending, store), config.shutdownSeconds, log)
  } catch (error) {
    await store.close()
    throw error
  }
}

/** Goes on answering for a while, no longer ready, so that whoever sends requests here notices before the door is shut. */
async function drain(server: Listening, seconds: number, { hurried }: Stopping, log: Log): Promise<void> {
  if (seconds === 0) return
  log.write('info', `recentn drains for ${seconds} seconds: no longer ready`, { seconds })
  server.drain()
  await pause(seconds * 1000, hurried)
}

/** On an address that others reach, either there are keys or everyone is let in on purpose. */
async function requireKeys({ keys }: Store, { host, allowAnonymous }: Config): Promise<void> {
  const exist = await keys.exist()
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

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve())
  })
}

async function finish(server: Listening, ending: AbortController, store: Store): Promise<number> {
  const stopped = server.stop()
  // After the server knows that these answers are the last ones of their connections.
  ending.abort()
  await stopped
  await store.close()
  return 0
}

function inTime(work: Promise<number>, seconds: number, log: Log): Promise<number> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      const said = `not everything was finished within ${seconds} seconds (RECENTN_SHUTDOWN_SECONDS); stopped anyway`
      log.write('error', said, { seconds })
      resolve(1)
    }, seconds * 1000)
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
