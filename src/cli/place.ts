/**
 * Where a command works: in a database or on a running server. Both are asked by the operations of REST, so that a command is
 * written once and its JSON is exact. In a database the handlers of the routes answer, without a server.
 */
import type { RequestParts } from '../client/format'
import { Transport } from '../client/transport'
import { answerOf, inputReader } from '../http/dispatch'
import type { Config } from '../http/process/config'
import type { Route } from '../http/route'
import { RecentnError } from '../shared/errors'
import { JsonText } from '../shared/json'
import { openStore } from '../store/open'
import { printable } from './printed'

/** A request: `path` and `query` by the names of the parameters, `body` as JSON text. */
export interface Asked {
  path: Readonly<Record<string, string>>
  query: Readonly<Record<string, string | readonly string[]>>
  body?: string | undefined
  headers?: Readonly<Record<string, string>> | undefined
}

export interface Place {
  /** For people: where the data is. */
  readonly location: string
  /** The JSON text of the answer; empty where the operation has none. */
  ask(route: Route, asked: Asked): Promise<string>
  close(): Promise<void>
}

export interface PlaceFlags {
  databaseUrl?: string
  url?: string
}

/** `--url` or `--database-url`, and otherwise `RECENTN_URL` or `DATABASE_URL`, in this order. */
export async function placeOf(flags: PlaceFlags, configOf: (flags: PlaceFlags) => Config): Promise<Place> {
  const url = flags.url ?? (flags.databaseUrl === undefined ? process.env.RECENTN_URL || undefined : undefined)
  return url === undefined ? atDatabase(configOf(flags)) : atServer(url)
}

async function atDatabase({ databaseUrl: url, password, tablePrefix, defaultCapacity }: Config): Promise<Place> {
  const background = { sweep: false, publish: false, tick: false }
  const store = await openStore({ url, password, tablePrefix, defaultCapacity, migrate: false, ...background })
  return {
    location: store.location,
    async ask(route, { path, query, body, headers = {} }) {
      const json = body === undefined ? null : { value: JSON.parse(body), text: body }
      const { input, refusal } = inputReader(route)({ params: path, url: `?${queryOf(query)}`, headers }, json)
      if (refusal !== null) throw refusal
      return answerOf(await route.handle(store, input)).body ?? ''
    },
    close: () => store.close(),
  }
}

function queryOf(query: Asked['query']): URLSearchParams {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    [value].flat().map((one): [string, string] => [name, one]),
  )
  return new URLSearchParams(pairs)
}

/** The address of a server. Throws `invalid_input`. */
function serverBase(url: string): string {
  const base = URL.canParse(url) ? new URL(url) : null
  if (!base || !/^https?:$/.test(base.protocol) || base.username || base.password || base.search || base.hash) {
    const without = 'without a user, password, query or fragment'
    throw new RecentnError('invalid_input', `--url must be an address such as http://127.0.0.1:3000, ${without}`)
  }
  return base.href
}

function atServer(url: string): Place {
  const baseUrl = serverBase(url)
  const key = process.env.RECENTN_KEY || undefined
  return {
    location: url,
    async ask({ method, path: template }, { path, query, body, headers }) {
      // The client would parse the body and the answer, and round their numbers.
      const sent: typeof fetch = (target, init) => fetch(target, body === undefined ? init : { ...init, body })
      const transport = new Transport({ baseUrl, key, fetch: sent, parse: (text) => new JsonText(text) })
      const { id } = path
      const parts: RequestParts = {
        path: id !== undefined && /^\d+$/.test(id) ? { ...path, id: BigInt(id) } : path,
        query,
        body: body === undefined ? undefined : {},
        headers,
      }
      const operation = `${method.toUpperCase()} ${template}`
      const answer = await transport.value(operation as never, parts as never).catch((error) => {
        throw forPeople(error)
      })
      return (answer as JsonText | undefined)?.text ?? ''
    },
    async close() {},
  }
}

/** The error of a server: its text must not control the terminal, and it says what to do. */
function forPeople(error: unknown): unknown {
  if (!(error instanceof RecentnError)) return error
  const { status, message, requestId, cause } = error
  const code = error.code === 'internal' ? 'unexpected_answer' : error.code
  const hint = status === 401 ? ': give a key of that server by RECENTN_KEY' : ''
  const named = code !== error.code && requestId !== undefined ? ` (request ${requestId})` : ''
  const inner = (cause as Error | undefined)?.cause
  return new RecentnError(code, printable(message + named) + hint, { status, cause: inner })
}
