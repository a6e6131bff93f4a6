/** Runs every route: checks access, reads the body, reports all faults at once, calls the handler, sends the answer. */
import type { OutgoingHttpHeaders } from 'node:http'
import type { Request, RequestHandler, Response } from 'express'
import { positionTextFault } from '../fields/rules'
import { type Fault, FaultList, type FaultSink, invalidInput, RecentnError } from '../shared/errors'
import type { Store } from '../store/types'
import { allowanceOf, type Guard, whileGranted } from './access'
import { DEFAULT_BODY_LIMIT_BYTES, type JsonBody, readJsonBody } from './input/body'
import { hasTag, ifTagOf, isEnsuring, onlyTag, type RequestHead } from './input/conditions'
import { pathReader, queryReader } from './input/parameters'
import { traceOf } from './metrics/traffic'
import type { NameBound, NameBounds } from './name-bounds'
import { EventStreams, type StreamLimits } from './output/event-streams'
import { contentOf, deliver, isLargeRead, mustHaveRoomFor, mustHaveRoomToSend, runLargeRead } from './output/sending'
import type { Answer, Route, UntypedInput } from './route'
import { checkReach, type Subject, subjectsOf } from './subjects'
import { WaitingRequests } from './waiting'

export interface DispatchOptions {
  /** The longest body that is accepted, in bytes. Default: 1 MiB. */
  bodyLimitBytes?: number | undefined
  /**
   * Maximum number of queues, schedules, policies and feeds whose names begin with the prefix that a request is confined
   * to. Requests at the same moment may create a few more. Default: 1,000 of each.
   */
  maxPerPrefix?: NameBounds | undefined
  /**
   * Abort it when the server begins to stop. Requests that wait for messages or changes are then answered at once,
   * streams end, and new streams are refused with `draining`. Every answer closes its connection, so that
   * `server.close()` ends soon.
   */
  stopping?: AbortSignal | undefined
  /** @internal In a user's app, where no other code closes the connections of answers while the server stops. */
  isMounted?: boolean | undefined
  /** @internal For tests that must not wait. */
  streams?: Partial<StreamLimits> | undefined
}

/** The objects that all routes of a router share. */
interface Shared {
  store: Store
  guard: Guard
  bound: NameBound
}

export function handlerOf(route: Route, { store, guard, bound }: Shared, options: DispatchOptions): RequestHandler {
  const { bodyLimitBytes = DEFAULT_BODY_LIMIT_BYTES, stopping, isMounted } = options
  const { stallMs } = options.streams ?? {}
  const limits = { bodyLimitBytes, stallMs }
  const isRead = route.method === 'get'
  const readInput = inputReader(route)
  const waiting = route.waits ? new WaitingRequests(stopping) : null
  const streams = route.streams ? new EventStreams(stopping, options.streams) : null
  return async (request, response) => {
    const trace = traceOf(response)
    if (trace) {
      trace.route = route.path
      trace.isStream = route.streams === true
    }
    const { scope, ensureScope = scope } = route
    const guarded = guard(request, isEnsuring(route, request) ? ensureScope : scope, route.answersAlone)
    const granted = guarded instanceof Promise ? await guarded : guarded
    const isAsked = 'ask' in granted
    const allowance = route.tellsAccess ? await allowanceOf(guard, request) : undefined
    if (trace && !isAsked) trace.keyId = granted.keyId ?? allowance?.keyId ?? null
    mustHaveRoomFor(request.method)
    const body = route.body ? await bodyOrFault(request, limits, isAsked) : null
    const read = readInput(request, body)
    // Faults are reported only to callers who may send the request.
    const grant = isAsked ? await granted.ask(subjectsOf(route.id, aboutOf(route, read))) : granted
    if (read.refusal) throw read.refusal
    const { input } = read
    input.within = grant.prefix
    input.allowance = allowance
    if (grant.prefix !== null) {
      const about = aboutOf(route, read)
      checkReach(grant.prefix, about)
      if (route.creates) await bound.require(grant.prefix, route.creates, about)
      if (route.method === 'delete') bound.dropped(about)
    }
    const handle = (signal: AbortSignal) => {
      return route.handle(store, { ...input, signal: whileGranted(grant, signal, response) })
    }
    try {
      if (streams) {
        await streams.answer(request, response, async (signal) => answerOf(await handle(signal)))
        return
      }
      const reply = (answer: Answer | string) => {
        if (isMounted && stopping?.aborted) response.setHeader('Connection', 'close')
        send(request, response, answerOf(answer), { stallMs, mayBeKnown: route.conditional })
      }
      if (waiting) reply(await waiting.run(request, handle))
      // Requests that wait for something are not counted as reads: they would block the reads of others.
      else if (isRead && isLargeRead(input.query))
        await runLargeRead(async () => reply(await route.handle(store, input)))
      else reply(await route.handle(store, input))
    } catch (error) {
      throw error instanceof RecentnError ? inTermsOfTheRequest(error, route) : error
    }
  }
}

export function answerOf(given: Answer | string): Answer {
  return typeof given === 'string' ? { status: 200, body: given } : given
}

/**
 * Malformed JSON is returned, to be reported together with the faults of the path and the query. Other problems of the
 * body are thrown, unless access is still to be checked.
 */
async function bodyOrFault(
  request: Request,
  { bodyLimitBytes, stallMs }: { bodyLimitBytes: number; stallMs: number | undefined },
  isLater: boolean,
): Promise<JsonBody | RecentnError | null> {
  try {
    return await readJsonBody(request, bodyLimitBytes, stallMs)
  } catch (error) {
    if (error instanceof RecentnError && (isLater || error.code === 'malformed_json')) return error
    throw error
  }
}

/** The subjects of a request. An invalid body adds none. */
function aboutOf(route: Route, { input, refusal }: ReadInput): readonly Subject[] {
  const about = route.about(input)
  const ofBody = refusal === null && route.body?.about?.(input.body)
  return ofBody ? [...about, ...ofBody] : about
}

/** An input, and why the request is refused if it is not valid. */
interface ReadInput {
  /** `within` is set later. */
  input: UntypedInput
  refusal: RecentnError | null
}

/** A body that is left out has no fields, and nor has PHP's `[]`, its empty object. */
const NO_FIELDS: JsonBody = { value: {}, text: null }

/** Reads what a request to the route says. The command line makes requests without a server. */
export function inputReader(route: Route) {
  const isRead = route.method === 'get'
  const readPath = pathReader(route.pathParameters)
  const readQuery = route.ignoresQuery ? () => ({}) : queryReader(route.queryParameters)
  return (request: RequestHead, body: JsonBody | RecentnError | null): ReadInput => {
    const faults = new FaultList()
    const path = readPath(request.params, faults)
    const query = readQuery(request.url, faults)
    route.checkQuery?.(query, faults)
    if (body instanceof RecentnError) {
      const isOneOfThem = body.code === 'malformed_json' && faults.length > 0
      if (isOneOfThem) for (const fault of body.faults) faults.push(fault)
      const refusal = isOneOfThem ? invalidInput(faults) : body
      return { input: { path, query, body: undefined, within: null }, refusal }
    }
    let read: unknown
    const isEmpty = body === null || (Array.isArray(body.value) && body.value.length === 0)
    const given = isEmpty && route.body?.optional ? NO_FIELDS : body
    if (route.body && given) read = route.body.read(given, faults)
    else if (route.body) faults.push({ pointer: '', detail: 'a JSON body is required' })
    const lastEventId = route.streams ? lastEventIdOf(request, faults) : undefined
    const knownTag = onlyTag(request.headers['if-none-match'])
    const ifTag = (route.hasSettings || route.hasVersion) && !isRead ? ifTagOf(route, request, faults) : undefined
    const refusal = faults.length > 0 ? invalidInput(faults) : null
    const conditions = { knownTag, ifTag, isEnsuring: isEnsuring(route, request), lastEventId }
    return { input: { path, query, body: read, ...conditions, within: null, allowance: undefined }, refusal }
  }
}

function lastEventIdOf({ headers }: RequestHead, faults: FaultSink): bigint | undefined {
  const text = headers['last-event-id'] || undefined
  if (text === undefined) return undefined
  const detail = positionTextFault(text)
  if (detail === null) return BigInt(text as string)
  faults.push({ parameter: 'Last-Event-ID', detail })
  return undefined
}

/** Renames the arguments in the store's faults to the parameters and the body that they came from. */
function inTermsOfTheRequest(error: RecentnError, route: Route): RecentnError {
  if (error.faults.length === 0) return error
  const { pathParameters, queryParameters, body } = route
  const faults = error.faults.map(({ pointer, parameter, detail }): Fault => {
    if (pointer === undefined) return { parameter, detail }
    const [, name = ''] = pointer.split('/')
    if (Object.hasOwn(pathParameters, name) || Object.hasOwn(queryParameters, name)) return { parameter: name, detail }
    return { pointer: `${body?.at ?? ''}${pointer}`, detail }
  })
  return error.code === 'invalid_input' ? invalidInput(faults) : new RecentnError(error.code, error.message, { faults })
}

function send(
  request: Request,
  response: Response,
  { status, body, tag, location, type = 'application/json' }: Answer,
  { stallMs, mayBeKnown = false }: { stallMs: number | undefined; mayBeKnown: boolean | undefined },
): void {
  if (body !== undefined) mustHaveRoomToSend(request.method, body)
  // One head in one call: Node checks and keeps each header that is set by itself.
  const headers: OutgoingHttpHeaders = { 'Cache-Control': mayBeKnown ? 'private, no-cache' : 'no-store' }
  if (tag !== undefined) headers.ETag = `"${tag}"`
  if (location !== undefined) headers.Location = request.baseUrl + location
  if (mayBeKnown && tag !== undefined && hasTag(request.headers['if-none-match'], tag)) {
    response.writeHead(304, headers).end()
    return
  }
  if (body === undefined) {
    response.writeHead(status, headers).end()
    return
  }
  const content = contentOf(body)
  headers['Content-Type'] = type
  headers['Content-Length'] = Buffer.byteLength(content)
  response.writeHead(status, headers)
  deliver(response, content, stallMs)
}
