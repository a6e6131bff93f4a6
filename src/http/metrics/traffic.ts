/**
 * What is known of a request while it is answered, and who is told when it is over: metrics and the access log. A route is
 * told by its template, never by its path, which has names in it.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ErrorCode } from '../../errors'

export interface Trace {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** By `performance.now`. */
  readonly since: number
  /** The template of the path; null as long as no route is found, and for ever where there is none. */
  route: string | null
  /** The answer is a stream of events: how long it takes says nothing. */
  isStream: boolean
  /** The id of the key that the request came with, where one was asked for. */
  keyId: string | null
  /** Of the problem that is the answer. */
  problem: ErrorCode | null
}

export interface Observer {
  began?(): void
  /** The request is over: with this status, 499 where the client went away before there was an answer. */
  ended(trace: Trace, status: number, durationMs: number): void
}

const TRACE = Symbol('recentn trace')

interface Traced extends ServerResponse {
  [TRACE]?: Trace
}

/** Undefined where nobody observes. */
export function traceOf(response: ServerResponse): Trace | undefined {
  return (response as Traced)[TRACE]
}

const CLIENT_GONE = 499

/** To be called before anything may answer. */
export type Observe = (request: IncomingMessage, response: ServerResponse) => void

export function observing(observers: readonly Observer[]): Observe {
  // One function for all: it finds what it needs on the response that it is called on.
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
