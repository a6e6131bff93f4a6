/** The life of the server: open the store, listen, say so in one line, and on a signal end in order. */
import { type Config, isLoopback } from '../config'
import { RecentnError } from '../errors'
import { openStore } from '../store'
import type { Store } from '../store-types'
import { createApp } from './app'
import { type Listening, listen } from './listen'
import { messagesOf } from './messages'
import type { RouterOptions } from './router'

/** How long a database server that can't be reached is waited for. */
const PATIENCE_MS = 30_000
const PAUSE_MS = 1000

const SIGNALS = ['SIGTERM', 'SIGINT'] as const

/**
 * Serves until SIGTERM or SIGINT; resolves to the exit code. Writes one line to standard output when it is ready, and
 * what goes wrong to standard error. 0: stopped in order. 1: could not start, or not everything was finished within
 * `shutdownSeconds`.
 */
export async function runServer(config: Config): Promise<number> {
  const stopping = new AbortController()
  const onSignal = () => stopping.abort()
  // Kept to the end: npm passes on a signal that the terminal has sent to us as well.
  for (const signal of SIGNALS) process.on(signal, onSignal)
  try {
    const store = await openPatiently(config, stopping.signal)
    return store === null ? 0 : await serveUntilStopped(store, config, stopping.signal)
  } catch (error) {
    complain(sentenceOf(error))
    return 1
  } finally {
    for (const signal of SIGNALS) process.off(signal, onSignal)
  }
}

function complain(sentence: string): void {
  console.error(`recentn: ${sentence}`)
}

/** A sentence for what was foreseen, the stack for what was not. */
function sentenceOf(error: unknown): string {
  if (error instanceof RecentnError || error instanceof CannotStart) return error.message
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

class CannotStart extends Error {}

/** Opens the store, waiting for a database server that is not up yet; null when told to stop meanwhile. */
async function openPatiently(config: Config, stopping: AbortSignal): Promise<Store | null> {
  const { databaseUrl: url, defaultCapacity, poolSize, recentGroupsFeed } = config
  const isServer = !url.startsWith('sqlite:')
  const until = Date.now() + PATIENCE_MS
  for (let told = false; !stopping.aborted; ) {
    try {
      return await openStore({ url, defaultCapacity, poolSize, recentGroupsFeed })
    } catch (error) {
      const away = error instanceof RecentnError && error.code === 'database_unavailable'
      if (!away || !isServer || Date.now() + PAUSE_MS > until) throw foreseen(error)
      if (!told) complain(`${error.message}; trying again for up to ${PATIENCE_MS / 1000} seconds`)
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

async function serveUntilStopped(store: Store, config: Config, stopping: AbortSignal): Promise<number> {
  try {
    await requireKeys(store, config)
    const draining = new AbortController()
    const app = createApp(store, { ...config, onError: report, stopping: draining.signal })
    const server = await listen(app, config.host, config.port, messagesOf(app)).catch((error: Error) => {
      throw new CannotStart(error.message)
    })
    if (!stopping.aborted) console.log(`recentn listens on ${server.url}, data in ${store.location}`)
    await aborted(stopping)
    return await inTime(finish(server, draining, store), config.shutdownSeconds)
  } catch (error) {
    await store.close()
    throw error
  }
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

const report: RouterOptions['onError'] = (error, { request, requestId }) => {
  const foreseen = error instanceof RecentnError && error.code !== 'internal'
  const said = foreseen || !(error instanceof Error) ? String(error) : (error.stack ?? error.message)
  console.error(`recentn: ${request.method} ${request.path} (request ${requestId}): ${said}`)
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve())
  })
}

async function finish(server: Listening, draining: AbortController, store: Store): Promise<number> {
  const stopped = server.stop()
  // After the server knows that these answers are the last ones of their connections.
  draining.abort()
  await stopped
  await store.close()
  return 0
}

function inTime(work: Promise<number>, seconds: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      complain(`not everything was finished within ${seconds} seconds (RECENTN_SHUTDOWN_SECONDS); stopped anyway`)
      resolve(1)
    }, seconds * 1000)
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
