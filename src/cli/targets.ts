/** Where a replay goes: a database, through the library, or a running server, through its REST routes. */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Operation, type OperationId, type PartsOf, requestOf, type WireRequest } from '../client/format'
import * as operations from '../client/operations'
import { Transport } from '../client/transport'
import type Wire from '../client/wire'
import type { Config } from '../config'
import { type Fault, RecentnError } from '../errors'
import type { NewGroupItem } from '../repositories/recent/types'
import { openStore } from '../store/open'
import type { Store } from '../store/types'

export type GroupSettings = NonNullable<Parameters<Store['groups']['put']>[1]>

export interface ReplayTarget {
  /** Where the data goes, for people. */
  readonly location: string
  readonly maxWeight: number
  weigh(item: NewGroupItem): number
  applySettings(groups: readonly string[], settings: GroupSettings): Promise<void>
  /**
   * Appends all or none, in the order given. Resolves to how many were there already, by their event id; null if the
   * answer does not say. Throws `RefusedItems` if some of them can't be appended.
   */
  append(items: readonly NewGroupItem[]): Promise<number | null>
  close(): Promise<void>
}

/** Nothing of the batch was stored. The reason of each refused item, by its index in the batch. */
export class RefusedItems extends Error {
  constructor(readonly reasons: ReadonlyMap<number, string>) {
    super('Some items were refused')
  }
}

const ITEM_POINTER = /^(?:\/items)?\/(\d+)(?:\/(.*))?$/

/** Null if a fault is not about one item. */
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

/** Opens the database, after migrating it. */
export async function databaseTarget(config: DatabaseConfig): Promise<ReplayTarget> {
  // Without the server's default capacity, a group that follows the default would be cut down to the library's.
  const { databaseUrl: url, tablePrefix, defaultCapacity } = config
  const store = await openStore({ url, tablePrefix, defaultCapacity, sweep: false, tick: false })
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
  /** Ends the wait between two attempts. */
  signal: AbortSignal
  /** Whether a batch may be sent twice: its items have event ids, or each member is in its group once. */
  repeatable: boolean
  key?: string
  /** Called when a request will be repeated, with the reason. */
  onRetry?: (text: string) => void
}

/** The pauses between them add up to about 23 s, unless the server says itself how long to wait. */
const MAX_ATTEMPTS = 8
const MAX_PAUSE_SECONDS = 10
const MAX_WAIT_SECONDS = 60
/** The limit of the server is 1 MiB, unless configured. */
const MAX_BODY_BYTES = 1024 * 1024 - 64
const SETTINGS_AT_ONCE = 8

/** A server at `url`, which has a path if recentn is mounted under one. Throws `invalid_input`. */
export function serverTarget(url: string, options: ServerOptions): ReplayTarget {
  const server = new ReplayServer(serverBase(url), options)
  return {
    location: server.url,
    maxWeight: MAX_BODY_BYTES,
    weigh: (item) => Buffer.byteLength(JSON.stringify(item)) + 1,
    applySettings: async (groups, settings) => {
      const queue = [...groups]
      const worker = async () => {
        for (let group = queue.pop(); group !== undefined; group = queue.pop()) {
          await server.send(operations.putGroup, { path: { group }, body: settings }, true)
        }
      }
      await Promise.all(Array.from({ length: SETTINGS_AT_ONCE }, worker))
    },
    append: async (items) => {
      const answer = await server
        .send(operations.appendItems, { body: { items } }, options.repeatable)
        .catch((error) => {
          throw (error.cause?.status === 400 && refusedItems(error.cause.faults, items.length)) || error
        })
      if (answer?.items?.length !== items.length) throw notRecentn(server.url)
      return null
    },
    close: async () => {},
  }
}

/** The address of a server, with a slash at its end. Throws `invalid_input`. */
export function serverBase(url: string): URL {
  const base = URL.canParse(url) ? new URL(url) : null
  if (!base || !/^https?:$/.test(base.protocol) || base.username || base.password || base.search || base.hash) {
    const without = 'without a user, password, query or fragment'
    throw new RecentnError('invalid_input', `--url must be an address such as http://127.0.0.1:3000, ${without}`)
  }
  if (!base.pathname.endsWith('/')) base.pathname += '/'
  return base
}

/** The client with retries of its own: a replay is patient, says why it waits, and stops waiting at a signal. */
class ReplayServer {
  readonly url: string
  readonly #transport: Transport

  constructor(
    private readonly base: URL,
    private readonly options: ServerOptions,
  ) {
    this.url = base.href
    this.#transport = new Transport({
      baseUrl: base.href,
      key: options.key,
      timeoutSeconds: Number.POSITIVE_INFINITY,
    })
  }

  /** Throws a `RecentnError` whose message is for people, and whose cause is the error of the client. */
  async send<Id extends OperationId>(
    operation: Operation<Id>,
    parts: PartsOf<Id>,
    repeatable: boolean,
  ): Promise<Wire[Id]['answer']> {
    const textOf = (error: RecentnError) => this.#textOf(error, requestOf(operation, parts))
    const mayRetry = async (error: RecentnError, attempt: number) => {
      if (attempt + 1 >= MAX_ATTEMPTS || !mayPass(error, repeatable)) return false
      const pause = error.retryAfterSeconds ?? Math.min(0.2 * 2 ** attempt, MAX_PAUSE_SECONDS)
      const seconds = Math.min(pause, MAX_WAIT_SECONDS)
      this.options.onRetry?.(`${textOf(error)}: trying again in ${seconds} s`)
      await sleep(seconds * 1000, undefined, { signal: this.options.signal })
      return true
    }
    try {
      return await this.#transport.value(operation, parts, { mayRetry })
    } catch (error) {
      if (!(error instanceof RecentnError)) throw error
      const unknown = !repeatable && isUnknown(error) ? OUTCOME_UNKNOWN : ''
      throw new RecentnError(error.code, textOf(error) + unknown, { cause: error })
    }
  }

  #textOf({ code, status, message, faults, cause }: RecentnError, { init, target }: WireRequest): string {
    if (code === 'unreachable') {
      const { code: word, message: said } = causeOf(cause)
      return `${this.base.origin} can't be reached (${said || word || (cause as Error).message})`
    }
    if (code === 'unexpected_answer' && status < 300) return notRecentn(this.url).message
    const request = `${init.method} ${this.url}${target.slice(1)}`
    const answered = code === 'unexpected_answer' ? '' : ` was answered ${status} (${code})`
    const said = faults.slice(0, 3).map((fault) => `${fault.pointer ?? fault.parameter}: ${fault.detail}`)
    const parts = [request + answered, message, ...said, status === 401 && 'set RECENTN_KEY to a key of that server']
    return parts.filter(Boolean).join(': ')
  }
}

const OUTCOME_UNKNOWN = '. Whether the last batch arrived is not known; with --event-ids it would have been sent again'

function mayPass(error: RecentnError, repeatable: boolean): boolean {
  if (isUnknown(error)) return repeatable
  return error.code === 'unreachable' || error.status === 429 || error.status === 503
}

/** Whether the request may have been carried out. If the connection was refused, nothing arrived. */
function isUnknown({ code, cause }: RecentnError): boolean {
  return code === 'outcome_unknown' || (code === 'unreachable' && causeOf(cause).code !== 'ECONNREFUSED')
}

/** What Node says of a fetch that failed. */
function causeOf(error: unknown): { code?: string; message?: string } {
  return (error as { cause?: object }).cause ?? {}
}

function notRecentn(url: string): RecentnError {
  return new RecentnError('unexpected_answer', `${url} does not answer as a recentn server does`)
}
