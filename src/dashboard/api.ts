/** The routes, by fetch: the key in the header, problems as errors, and nothing kept by the browser's cache. */
import { parseExactly } from './json'
import { session } from './session'
import type {
  Access,
  Feed,
  FeedPage,
  Group,
  GroupPage,
  MemberItems,
  Message,
  MessagePage,
  Policy,
  PolicyPage,
  PolicySettings,
  Queue,
  QueuePage,
  Recent,
  RecentMany,
  State,
} from './types'

const TIMEOUT_MS = 20_000
/** Rows of a page. */
export const PAGE = 50

export class ApiError extends Error {
  /** 0: there was no answer. */
  readonly status: number
  readonly code: string

  constructor(status: number, code: string, message: string) {
    super(message)
    this.status = status
    this.code = code
  }

  /** A key would help, or another one. */
  get isAccess(): boolean {
    return this.status === 401 || this.status === 403
  }
}

export function toApiError(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown
  const isTimeout = thrown instanceof DOMException && thrown.name === 'TimeoutError'
  return new ApiError(
    0,
    'unreachable',
    isTimeout ? 'The server took too long to answer.' : 'The server does not answer.',
  )
}

type Query = Record<string, string | number | null | undefined | readonly string[]>

export interface Sent {
  query?: Query
  body?: unknown
  signal?: AbortSignal
  headers?: Record<string, string>
}

/** How far the server's clock is ahead of this one's, in milliseconds. */
let clockAhead = 0
const NOTABLE_MS = 2000

export function serverNow(): number {
  return Date.now() + clockAhead
}

function noteClock(response: Response): void {
  const date = Date.parse(response.headers.get('Date') ?? '')
  const ahead = date + 500 - Date.now()
  clockAhead = Math.abs(ahead) > NOTABLE_MS ? ahead : 0
}

/** Relative, so that a proxy may have it all below a path. */
function urlOf(path: string, query: Query = {}): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value === null || value === undefined || value === '') continue
    for (const each of Array.isArray(value) ? value : [value]) search.append(name, String(each))
  }
  const text = search.toString()
  return `v1/${path}${text === '' ? '' : `?${text}`}`
}

/** The answer, when it is a good one; throws `ApiError` else. */
export async function ask(
  method: string,
  path: string,
  { query, body, signal, headers }: Sent = {},
): Promise<Response> {
  let response: Response
  try {
    response = await fetch(urlOf(path, query), {
      method,
      signal,
      cache: 'no-store',
      credentials: 'omit',
      headers: {
        ...(session.key !== null && { Authorization: `Bearer ${session.key}` }),
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...headers,
      },
      body: body === undefined ? undefined : JSON.stringify(body),
    })
  } catch (thrown) {
    throw signal?.aborted && signal.reason?.name === 'AbortError' ? thrown : toApiError(thrown)
  }
  noteClock(response)
  if (response.ok) return response
  const problem = await response.json().catch(() => ({}))
  throw new ApiError(
    response.status,
    problem.code ?? 'unknown',
    problem.detail ?? `The server answered ${response.status}.`,
  )
}

async function call<T>(method: string, path: string, sent: Sent = {}): Promise<T> {
  const signals = [AbortSignal.timeout(TIMEOUT_MS), ...(sent.signal === undefined ? [] : [sent.signal])]
  const ending = new AbortController()
  for (const signal of signals) signal.addEventListener('abort', () => ending.abort(signal.reason), { once: true })
  const response = await ask(method, path, { ...sent, signal: ending.signal })
  const text = await response.text().catch((thrown) => {
    throw ending.signal.reason?.name === 'AbortError' ? thrown : toApiError(thrown)
  })
  return (text === '' ? null : parseExactly(text)) as T
}

const name = encodeURIComponent
type Page = { prefix?: string; after?: string | null; limit?: number; payloads?: 'none'; signal?: AbortSignal }
const page = ({ signal, ...query }: Page) => ({ query: { limit: PAGE, ...query }, signal })

export const api = {
  access: (signal?: AbortSignal) => call<Access>('GET', 'access', { signal }),
  groups: (options: Page) => call<GroupPage>('GET', 'groups', page(options)),
  group: (group: string, signal?: AbortSignal) => call<Group>('GET', `groups/${name(group)}`, { signal }),
  /** Throws `settings_changed` where the group's own settings are not `replaces` any more. */
  putGroup: (group: string, settings: Group['own'], replaces: Group['own']) =>
    call<Group>('PUT', `groups/${name(group)}`, { body: { ...settings, replaces } }),
  recent: (group: string, limit: number, before: string | null, signal?: AbortSignal) =>
    call<Recent>('GET', `groups/${name(group)}/items`, { query: { limit, before }, signal }),
  /** Items without their payloads. */
  bare: (group: string, limit: number, before: string | null, signal?: AbortSignal) =>
    call<Recent>('GET', `groups/${name(group)}/items`, { query: { limit, before, payloads: 'none' }, signal }),
  /** The newest item of each, without its payload; at most 100 groups. */
  newest: (groups: readonly string[], signal?: AbortSignal) =>
    call<RecentMany>('GET', 'items', { query: { group: groups, limit: 1, payloads: 'none' }, signal }),
  stream: (group: string, after: string, signal: AbortSignal) =>
    ask('GET', `groups/${name(group)}/stream`, {
      query: { after },
      signal,
      headers: { Accept: 'text/event-stream' },
    }),
  memberItems: (member: string, options: Page) =>
    call<MemberItems>('GET', `members/${name(member)}/items`, page(options)),
  policies: (options: Page) => call<PolicyPage>('GET', 'policies', page(options)),
  policy: (prefix: string, signal?: AbortSignal) => call<Policy>('GET', `policies/${name(prefix)}`, { signal }),
  /** Throws `settings_changed` where the policy is not `replaces` any more; null is none. */
  putPolicy: (prefix: string, settings: PolicySettings, replaces: PolicySettings | null) =>
    call<Policy>('PUT', `policies/${name(prefix)}`, { body: { ...settings, replaces } }),
  deletePolicy: (prefix: string) => call<null>('DELETE', `policies/${name(prefix)}`),
  queues: (options: Page) => call<QueuePage>('GET', 'queues', page(options)),
  queue: (queue: string, signal?: AbortSignal) => call<Queue>('GET', `queues/${name(queue)}`, { signal }),
  pauseQueue: (queue: string) => call<null>('POST', `queues/${name(queue)}/pause`, { body: {} }),
  resumeQueue: (queue: string) => call<null>('POST', `queues/${name(queue)}/resume`, { body: {} }),
  /** With the beginning of each body, as text. */
  messages: (queue: string, state: State, options: Page) =>
    call<MessagePage>('GET', `queues/${name(queue)}/messages`, {
      query: { state, after: options.after, limit: PAGE, bodies: 'preview' },
      signal: options.signal,
    }),
  message: (queue: string, id: string, signal?: AbortSignal) =>
    call<Message>('GET', `queues/${name(queue)}/messages/${name(id)}`, { signal }),
  deleteMessage: (queue: string, id: string) => call<null>('DELETE', `queues/${name(queue)}/messages/${name(id)}`),
  /** A dry run tells how many it would be, counted now. */
  redrive: (queue: string, dryRun = false, signal?: AbortSignal) =>
    call<{ moved: number }>('POST', `queues/${name(queue)}/redrive`, { body: { dryRun }, signal }),
  purge: (queue: string, dryRun = false, signal?: AbortSignal) =>
    call<{ deleted: number }>('POST', `queues/${name(queue)}/purge`, { body: { dryRun }, signal }),
  feeds: (options: Page) => call<FeedPage>('GET', 'feeds', page(options)),
  feed: (feed: string, signal?: AbortSignal) => call<Feed>('GET', `feeds/${name(feed)}`, { signal }),
}
