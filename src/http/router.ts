/** The routes as an Express router, for the process and for a user's app. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import express, { type ErrorRequestHandler, type Request, type RequestHandler, type Router } from 'express'
import { argumentFaults, faultsOf, optionRules, refuse } from '../fields/field'
import { aFunction, anObject, aStore, option, PER_PREFIX } from '../fields/options'
import { SIGNAL } from '../fields/rules'
import { type Fault, invalidInput, RecentnError } from '../shared/errors'
import { safeStack } from '../shared/safe-text'
import type { Store } from '../store/types'
import { type Access, type Guard, guardOf } from './access'
import { type DispatchOptions, handlerOf } from './dispatch'
import { SenderGone } from './input/body'
import { decodedText, MAX_TARGET_LENGTH } from './input/query'
import type { Metrics } from './metrics/metrics'
import { observing, traceOf } from './metrics/traffic'
import { NameBound } from './name-bounds'
import { openApiDocument } from './openapi/document'
import { errorsPage } from './output/pages'
import { ERRORS_PATH, isFault, StatusError, sendProblem, toRecentnError } from './output/problem'
import { deliverKept } from './output/sending'
import { giveRequestId, requestIdOf } from './request-id'
import type { Method, Route } from './route'
import { feedChangeRoutes } from './routes/feed-changes'
import { feedEntryRoutes } from './routes/feed-entries'
import { feedRoutes } from './routes/feeds'
import { groupStreamRoutes } from './routes/group-stream'
import { groupRoutes } from './routes/groups'
import { callerRoutes } from './routes/health'
import { itemRoutes } from './routes/items'
import { memberRoutes } from './routes/members'
import { policyRoutes } from './routes/policies'
import { claimRoutes } from './routes/queue-claims'
import { messageRoutes } from './routes/queue-messages'
import { queueSettingsRoutes } from './routes/queue-settings'
import { queueRoutes } from './routes/queues'
import { scheduleRoutes } from './routes/schedules'
import { subjectsOf } from './subjects'
import { packageVersion } from './version'

export type { Access, AccessAnswer, AccessFunction } from './access'

export const targetTooLong = () =>
  new StatusError(414, `The path and the query may have at most ${MAX_TARGET_LENGTH} characters`)

/** `Incoming` is the type of the app's requests: Express 5's, unless a function names another one. */
export interface RouterOptions<Incoming = Request> extends DispatchOptions {
  access: Access<Incoming>
  /** Called with each internal error (500, 503), whose details the client does not get. Default: logs to stderr. */
  onError?: ((error: unknown, context: { request: Incoming; requestId: string }) => void) | undefined
  /** Counts the requests to this router in these metrics (`createMetrics`). */
  metrics?: Metrics | undefined
}

export const storeRoutes: readonly Route[] = [
  ...itemRoutes,
  ...groupRoutes,
  ...groupStreamRoutes,
  ...memberRoutes,
  ...policyRoutes,
  ...queueRoutes,
  ...queueSettingsRoutes,
  ...messageRoutes,
  ...claimRoutes,
  ...scheduleRoutes,
  ...feedRoutes,
  ...feedEntryRoutes,
  ...feedChangeRoutes,
  ...callerRoutes,
]

/**
 * The REST interface as a router: `app.use('/activity', createRouter(store, { access }))`. It serves `/v1/…` and
 * `/openapi.json` below where it is mounted, and `/docs/errors`, to which the `type` of each problem leads. It leaves
 * every other path to the app. It reads bodies itself. It also accepts a body that `express.json()` has parsed, with
 * the numbers that this has rounded.
 *
 * `access` is required. `'anonymous'` lets everyone do everything. `'keys'` requires an API key (`store.keys`) as a
 * bearer token, and allows what the key's scopes and prefix allow. A function is called with the request, its scope
 * (`'read'`, `'append'`, `'queue'`, `'feed'`, `'admin'`), and the decoded names and prefixes that it is about
 * (`RequestSubjects`). It returns `true` to allow the request, or `{ prefix }` to confine it to names that begin with
 * the prefix, as a key with that prefix is. For anything else the answer is 403. The function may throw a
 * `RecentnError`, such as `unauthorized`. While a stream is open or a request waits, the function is called again every
 * second, and the answer ends when it no longer allows the request. It is called for `/openapi.json` too (`'read'`),
 * which needs no key. Throws `invalid_input` for options that are not valid.
 */
export function createRouter<Incoming extends IncomingMessage = Request>(
  store: Store,
  options: RouterOptions<Incoming>,
): MountedRouter {
  // Whatever Express it is, the functions get its own requests.
  const own = options as unknown as RouterOptions
  refuse(argumentFaults('store', store, aStore))
  checkOptions(own)
  const guard = guardOf(own.access, store)
  const settings = { ...own, isMounted: true, guard, isDocumentGuarded: typeof own.access === 'function' }
  const router = express.Router({ strict: true, caseSensitive: true })
  const observe = options.metrics && observing([options.metrics.observer])
  const { stopping } = options
  router.use((request, response, next) => {
    observe?.(request, response)
    giveRequestId(request, response)
    if (stopping?.aborted) response.setHeader('Connection', 'close')
    checkTarget(request)
    next()
  })
  addRoutes(router, store, settings, storeRoutes)
  router.use(problemHandler(settings, storeRoutes))
  return router as unknown as MountedRouter
}

/** The handler that `app.use` takes, of Express 4 and 5. */
export type MountedRouter = (
  request: IncomingMessage,
  response: ServerResponse,
  next: (error?: unknown) => void,
) => void

type GuardedOptions = Omit<RouterOptions, 'access'> & { guard: Guard; isDocumentGuarded?: boolean }

/** Throws a `StatusError` (414), and `invalid_input` for a target that has other characters than visible ASCII. */
export function checkTarget({ originalUrl, url }: Request): void {
  if (originalUrl.length > MAX_TARGET_LENGTH) throw targetTooLong()
  // Node decodes other bytes than ASCII as Latin-1: a name would silently become another one.
  if (/[^\x21-\x7e]/.test(url)) throw new RecentnError('invalid_input', 'The path must be percent-encoded')
}

/** Adds the given routes, their document at `/openapi.json` and the page that explains the problems. */
export function addRoutes(router: Router, store: Store, options: GuardedOptions, routes: readonly Route[]): void {
  const shared = { store, guard: options.guard, bound: new NameBound(store, options) }
  for (const [path, methods] of byPath(routes)) {
    const handlers = methods.map((route) => [route.method, handlerOf(route, shared, options)] as const)
    register(router, path, handlers)
  }
  register(router, '/openapi.json', [['get', documentHandler(options, routes)]])
  register(router, ERRORS_PATH, [['get', errorsPage()]])
  router.use('/v1', () => {
    throw new StatusError(404, 'No route has this path. Write a slash inside a name as %2F')
  })
}

const OPTIONS = optionRules<Omit<RouterOptions, 'isMounted'>>({
  access: option((value) =>
    value === 'anonymous' || value === 'keys' || typeof value === 'function'
      ? null
      : "must be 'keys', 'anonymous' or a function (request, scope, subjects) => boolean | { prefix }",
  ),
  bodyLimitBytes: option((value) =>
    Number.isSafeInteger(value) && (value as number) >= 1 ? null : 'must be a whole number of at least 1',
  ),
  maxPerPrefix: PER_PREFIX,
  stopping: SIGNAL,
  onError: aFunction,
  metrics: option((value) =>
    (value as Partial<Metrics> | null)?.observer ? null : 'must be what createMetrics gives',
  ),
  streams: anObject,
})

function checkOptions(options: RouterOptions): void {
  if (anObject.fault(options) !== null) refuse([{ parameter: 'options', detail: 'must be an object with access' }])
  // If `access` is left out, the fault lists what it may be, as for a wrong one.
  refuse(faultsOf({ ...options, access: options.access ?? null }, OPTIONS))
}

function byPath(routes: readonly Route[]): Map<string, Route[]> {
  const paths = new Map<string, Route[]>()
  for (const route of routes) paths.set(route.path, [...(paths.get(route.path) ?? []), route])
  return paths
}

/** Adds the handlers of one path, and the answer to every other method. */
export function register(
  router: Router,
  template: string,
  handlers: readonly (readonly [Method, RequestHandler])[],
): void {
  const path = template.replaceAll(/\{(\w+)\}/g, ':$1')
  const allowed = handlers.flatMap(([method]) => (method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()]))
  const allow = [...allowed, 'OPTIONS'].join(', ')
  for (const [method, handler] of handlers) router[method](path, handler)
  router.all(path, (request, response) => {
    const trace = traceOf(response)
    if (trace) trace.route = template
    if (request.method === 'OPTIONS') response.status(204).setHeader('Allow', allow).end()
    else sendProblem(response, new StatusError(405, `The resource knows only ${allow}`), { Allow: allow })
  })
}

function documentHandler({ guard, isDocumentGuarded }: GuardedOptions, routes: readonly Route[]): RequestHandler {
  const documentAt = documentsOf(routes)
  return async (request, response) => {
    const trace = traceOf(response)
    if (trace) trace.route = '/openapi.json'
    if (isDocumentGuarded) {
      const granted = await guard(request, 'read')
      if ('ask' in granted) await granted.ask(subjectsOf('openapi', []))
    }
    const bytes = documentAt(request.baseUrl || '/')
    response.setHeader('Content-Type', 'application/json')
    response.setHeader('Content-Length', bytes.length)
    deliverKept(response, bytes)
  }
}

/** How many documents are kept. A router on a path with a parameter has as many mounts as its clients invent. */
const MOST_DOCUMENTS = 16

/** The bytes of the document, by the path of the mount. The rest of the document is made once. */
function documentsOf(routes: readonly Route[]): (baseUrl: string) => Buffer {
  const kept = new Map<string, Buffer>()
  let around: string[] = []
  return (baseUrl) => {
    const there = kept.get(baseUrl)
    if (there) return there
    const mark = '\u0000 where it is mounted'
    if (kept.size === 0)
      around = JSON.stringify(openApiDocument(routes, packageVersion(), mark)).split(JSON.stringify(mark))
    const bytes = Buffer.from(around.join(JSON.stringify(baseUrl)))
    if (kept.size >= MOST_DOCUMENTS) kept.delete(kept.keys().next().value as string)
    kept.set(baseUrl, bytes)
    return bytes
  }
}

/** Answers what goes wrong with problems. */
export function problemHandler(options: GuardedOptions, routes: readonly Route[]): ErrorRequestHandler {
  const onError = options.onError ?? ((error) => console.error(error instanceof Error ? safeStack(error) : error))
  return (thrown: unknown, request, response, _next) => {
    if (thrown instanceof SenderGone) {
      response.destroy()
      return
    }
    // Express throws it if it cannot decode a parameter of the path.
    const error = thrown instanceof URIError ? invalidInput(undecodable(request.url, routes)) : toRecentnError(thrown)
    if (options.isMounted && options.stopping?.aborted && !response.headersSent)
      response.setHeader('Connection', 'close')
    if (isFault(error)) onError(thrown, { request, requestId: requestIdOf(request, response) })
    sendProblem(response, error)
  }
}

/** The parameters of a path that cannot be decoded. */
function undecodable(target: string, routes: readonly Route[]): Fault[] {
  const segments = (target.split('?')[0] ?? '').split('/')
  for (const { path } of routes) {
    const template = path.split('/')
    const fits = (part: string, i: number) => part.startsWith('{') || part === segments[i]
    if (template.length !== segments.length || !template.every(fits)) continue
    const broken = template.filter((part, i) => part.startsWith('{') && decodedText(segments[i] ?? '') === null)
    return broken.map((part) => ({ parameter: part.slice(1, -1), detail: 'has percent-encoding that is not UTF-8' }))
  }
  return []
}
