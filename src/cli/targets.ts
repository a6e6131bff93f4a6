/** Where a replay goes: a database, through the library, or a running server, through its REST routes. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from '../config'
import { type Fault, RecentnError } from '../errors'
import { openStore } from '../store/open'
import type { Store } from '../store/types'
import type { NewGroupItem } from './mapping'

export type GroupSettings = NonNullable<Parameters<Store['groups']['put']>[1]>

export interface ReplayTarget {
  /** For people: where the data goes. */
  readonly location: string
  /** The most that one batch may weigh. */
  readonly maxWeight: number
  weigh(item: NewGroupItem): number
  /** Gives each group these own settings. */
  applySettings(groups: readonly string[], settings: GroupSettings): Promise<void>
  /**
   * Appends all or nothing, in the order given. Resolves to how many of them were there already, by their event id;
   * null where the answer doesn't say. Throws `RefusedItems` when some of them can't be appended.
   */
  append(items: readonly NewGroupItem[]): Promise<number | null>
  close(): Promise<void>
}

/** The reason of each refused item, by its place in the batch; nothing of the batch was stored. */
export class RefusedItems extends Error {
  constructor(readonly reasons: ReadonlyMap<number, string>) {
    super('Some items were refused')
  }
}

const ITEM_POINTER = /^(?:\/items)?\/(\d+)(?:\/(.*))?$/

/** Null when a fault is not about one item. */
function refusedItems(faults: readonly Fault[], count: number): RefusedItems | null {
  const reasons = new Map<number, string>()
  for (const { pointer, detail } of faults) {
    const match = ITEM_POINTER.exec(pointer ?? '')
    if (!match || Number(match[1]) >= count) return null
    const index = Number(match[1])
    const said = match[2] ? `${match[2]} ${detail}` : detail
    reasons.set(index, reasons.has(index) ? `${reasons.get(index)}; ${said}` : said)
  }
  return reasons.size > 0 ? new RefusedItems(reasons) : null
}

export type DatabaseConfig = Pick<Config, 'databaseUrl' | 'defaultCapacity'> & {
  readonly tablePrefix?: string | undefined
}

/** Opens the database, migrating it first. */
export async function databaseTarget(config: DatabaseConfig): Promise<ReplayTarget> {
  // Without the server's default, a group that follows it would be cut down to ours.
  const { databaseUrl: url, tablePrefix, defaultCapacity } = config
  const store = await openStore({ url, tablePrefix, defaultCapacity, sweep: false })
  return {
    location: store.location,
    maxWeight: Number.POSITIVE_INFINITY,
    weigh: () => 0,
    // Sorted: two runs that lock several groups in one transaction must lock them in the same order.
    applySettings: (groups, settings) =>
      store.transaction(async (tx) => {
        for (const group of groups.toSorted()) await tx.groups.put(group, settings)
      }),
    append: async (items) => {
      try {
        const appended = await store.groups.appendMany(items)
        return appended.filter((item) => !item.appended).length
      } catch (error) {
        throw (error instanceof RecentnError && refusedItems(error.faults, items.length)) || error
      }
    },
    close: () => store.close(),
  }
}

export interface ServerOptions {
  /** Ends the waiting between two tries. */
  signal: AbortSignal
  /** A batch whose outcome is unknown may be sent again: the items carry event ids, or each member is there once. */
  repeatable: boolean
  /** The API key to send. */
  key?: string
  /** Told when and why a request will be repeated. */
  onRetry?: (text: string) => void
}

/** With the pauses between them about 23 s, where the server does not say itself when to come again. */
const MAX_TRIES = 8
const MAX_PAUSE_SECONDS = 10
const MAX_WAIT_SECONDS = 60
/** The server's own limit is 1 MiB, unless configured. */
const MAX_BODY_BYTES = 1024 * 1024 - 64
const SETTINGS_AT_ONCE = 8

/** A server at `url`, which may have a path when recentn is mounted under one. Throws `invalid_input`. */
export function serverTarget(url: string, options: ServerOptions): ReplayTarget {
  const base = serverBase(url)
  const put = (group: string, settings: GroupSettings) =>
    send('PUT', new URL(`v1/groups/${encodeURIComponent(group)}`, base), settings, { ...options, repeatable: true })
  return {
    location: base.href,
    maxWeight: MAX_BODY_BYTES,
    weigh: (item) => Buffer.byteLength(JSON.stringify(item)) + 1,
    applySettings: async (groups, settings) => {
      const queue = [...groups]
      const worker = async () => {
        for (let group = queue.pop(); group !== undefined; group = queue.pop()) await put(group, settings)
      }
      await Promise.all(Array.from({ length: SETTINGS_AT_ONCE }, worker))
    },
    append: async (items) => {
      const answer = await send('POST', new URL('v1/items', base), { items }, options, items.length)
      const stored = (answer as { items?: unknown } | null)?.items
      if (!Array.isArray(stored) || stored.length !== items.length) {
        throw new RecentnError('internal', `${base.href} does not answer as a recentn server does`)
      }
      return null
    },
    close: async () => {},
  }
}

function serverBase(url: string): URL {
  const base = URL.canParse(url) ? new URL(url) : null
  if (!base || !/^https?:$/.test(base.protocol) || base.username || base.password || base.search || base.hash) {
    throw new RecentnError('invalid_input', `--server must be an address such as http://127.0.0.1:3000, not ${url}`)
  }
  if (!base.pathname.endsWith('/')) base.pathname += '/'
  return base
}

interface Problem {
  code?: string
  title?: string
  detail?: string
  errors?: Fault[]
}

/** Sends until there is an answer that trying again would not change; resolves to the body of a 2xx answer. */
async function send(method: string, url: URL, body: unknown, options: ServerOptions, items = 0): Promise<unknown> {
  const text = JSON.stringify(body)
  for (let tries = 1; ; tries++) {
    const { failure, again, waitSeconds, value } = await attempt(method, url, text, options, items)
    if (!failure) return value
    if (!again || tries >= MAX_TRIES) throw failure
    const seconds = Math.min(waitSeconds ?? Math.min(0.1 * 2 ** tries, MAX_PAUSE_SECONDS), MAX_WAIT_SECONDS)
    options.onRetry?.(`${failure.message}: trying again in ${seconds} s`)
    await sleep(seconds * 1000, undefined, { signal: options.signal })
  }
}

interface Outcome {
  value?: unknown
  failure?: Error
  again?: boolean
  waitSeconds?: number
}

async function attempt(
  method: string,
  url: URL,
  body: string,
  { repeatable, key }: ServerOptions,
  items: number,
): Promise<Outcome> {
  let response: Response
  let text: string
  try {
    // A redirected POST would arrive as a GET.
    response = await fetch(url, {
      method,
      body,
      headers: { 'content-type': 'application/json', ...(key !== undefined && { authorization: `Bearer ${key}` }) },
      redirect: 'manual',
    })
    text = await response.text()
  } catch (error) {
    return unreachable(error, url, repeatable)
  }
  const answer = parseJson(text)
  if (response.ok) return { value: answer }
  const problem = (typeof answer === 'object' && answer !== null ? answer : {}) as Problem
  const refused = response.status === 400 && items > 0 && refusedItems(problem.errors ?? [], items)
  if (refused) return { failure: refused }
  const failure = new RecentnError('internal', problemText(method, url, response, problem, text))
  const unknown = problem.code === 'outcome_unknown' && !repeatable
  return {
    failure: unknown ? outcomeUnknown(failure.message) : failure,
    again: (response.status === 429 || response.status === 503) && !unknown,
    waitSeconds: retryAfter(response.headers.get('retry-after')),
  }
}

/** Where the connection was never made nothing arrived; where it broke, the batch may have. */
function unreachable(error: unknown, url: URL, repeatable: boolean): Outcome {
  const cause = (error as { cause?: { code?: string; message?: string } }).cause
  const why = cause?.message || cause?.code || (error as Error).message
  const said = `${url.origin} can't be reached (${why})`
  if (cause?.code === 'ECONNREFUSED') return { failure: new RecentnError('database_unavailable', said), again: true }
  if (repeatable) return { failure: new RecentnError('outcome_unknown', said), again: true }
  return { failure: outcomeUnknown(said) }
}

function outcomeUnknown(said: string): RecentnError {
  return new RecentnError(
    'outcome_unknown',
    `${said}. Whether the last batch arrived is not known; with --event-ids it would have been sent again`,
  )
}

function problemText(method: string, url: URL, response: Response, problem: Problem, text: string): string {
  const said = problem.detail ?? problem.title ?? text.trim().slice(0, 200)
  const faults = (problem.errors ?? [])
    .slice(0, 3)
    .map((fault) => `${fault.pointer ?? fault.parameter}: ${fault.detail}`)
  const code = problem.code ? ` (${problem.code})` : ''
  const mend = response.status === 401 ? ['set RECENTN_KEY to a key of that server'] : []
  const parts = [`${method} ${url.href} was answered ${response.status}${code}`, said, ...faults, ...mend].filter(
    Boolean,
  )
  return parts.join(': ')
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** Seconds of a Retry-After header, which is a number or a date; undefined when there is none. */
function retryAfter(header: string | null): number | undefined {
  if (header === null) return undefined
  if (/^\d+$/.test(header)) return Number(header)
  const date = Date.parse(header)
  return Number.isNaN(date) ? undefined : Math.max(0, (date - Date.now()) / 1000)
}
