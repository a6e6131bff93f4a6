/**
 * The facts about a request while it is answered (its trace), and the observers that get the trace when it has ended:
 * metrics and the access log. A route is shown by its template, never by its path, which has names in it.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Histogram } from '../../kit/histogram'
import type { ErrorCode } from '../../shared/errors'
import { performance } from '../../shared/platform'

export interface Trace {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** By `performance.now`. */
  readonly since: number
  /** The template of the path; null until a route is found. */
  route: string | null
  /** The answer is a stream of events, whose duration means nothing. */
  isStream: boolean
  /** The id of the request's key, if the route needs one. */
  keyId: string | null
  problem: ErrorCode | null
}

export interface Observer {
  began?(): void
  /** Called when the request has ended. The status is 499 if the client went away before the answer. */
  ended(trace: Trace, status: number, durationMs: number): void
}

const TRACE = Symbol('recentn trace')

interface Traced extends ServerResponse {
  [TRACE]?: Trace
}

/** Undefined if nothing observes the requests. */
export function traceOf(response: ServerResponse): Trace | undefined {
  return (response as Traced)[TRACE]
}

const CLIENT_GONE = 499

/** Must be called before anything may answer. */
type Observe = (request: IncomingMessage, response: ServerResponse) => void

export function observing(observers: readonly Observer[]): Observe {
  // One function for all requests: it finds the trace on the response that it is called on.
  function onClose(this: Traced): void {
    const trace = this[TRACE] as Trace
    const status = this.headersSent ? this.statusCode : CLIENT_GONE
    const durationMs = performance.now() - trace.since
    for (const observer of observers) observer.ended(trace, status, durationMs)
  }
  return (request, response) => {
    const trace: Trace = {
      request,
      response,
      since: performance.now(),
      route: null,
      isStream: false,
      keyId: null,
      problem: null,
    }
    ;(response as Traced)[TRACE] = trace
    for (const observer of observers) observer.began?.()
    response.on('close', onClose)
  }
}

/** Requests with another method, or one that the route does not have, are counted together, so that clients cannot make the counts grow. */
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH']
const OTHER = 'other'
const UNKNOWN = 'unknown'

/** Seconds. */
const DURATIONS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

interface RouteCounts {
  route: string
  method: string
  statuses: Map<number, number>
  durations: Histogram
}

/** Counts of requests by route, method and status. There is a bounded number of each, whatever clients send. */
export class HttpCounts implements Observer {
  inFlight = 0
  readonly problems = new Map<ErrorCode, number>()
  readonly #routes = new Map<string, Map<string, RouteCounts>>()

  began(): void {
    this.inFlight++
  }

  ended({ request, route, isStream, problem }: Trace, status: number, durationMs: number): void {
    this.inFlight--
    const method = status === 405 ? OTHER : (request.method ?? OTHER)
    const counts = this.#of(route ?? UNKNOWN, method)
    counts.statuses.set(status, (counts.statuses.get(status) ?? 0) + 1)
    if (!isStream) counts.durations.add(durationMs / 1000)
    if (problem !== null) this.problems.set(problem, (this.problems.get(problem) ?? 0) + 1)
  }

  *routes(): Iterable<RouteCounts> {
    for (const methods of this.#routes.values()) yield* methods.values()
  }

  #of(route: string, sent: string): RouteCounts {
    let methods = this.#routes.get(route)
    if (methods === undefined) {
      methods = new Map()
      this.#routes.set(route, methods)
    }
    const method = METHODS.includes(sent) ? sent : OTHER
    let counts = methods.get(method)
    if (counts === undefined) {
      counts = { route, method, statuses: new Map(), durations: new Histogram(DURATIONS) }
      methods.set(method, counts)
    }
    return counts
  }
}
