/**
 * What is known of a request while it is answered, and who is told when it is over: metrics and the access log. A route is
 * told by its template, never by its path, which has names in it.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { RequestHandler } from 'express'
import type { ErrorCode } from '../errors'

export interface Trace {
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

/** What became of a request. */
export interface Ended extends Trace {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** 499 where the client went away before there was an answer. */
  readonly status: number
  readonly durationMs: number
}

export interface Observer {
  began?(): void
  ended(ended: Ended): void
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

/** Middleware, before all that may answer. */
export function observed(observers: readonly Observer[]): RequestHandler {
  return (request, response, next) => {
    const trace: Trace = { since: performance.now(), route: null, isStream: false, keyId: null, problem: null }
    ;(response as Traced)[TRACE] = trace
    for (const observer of observers) observer.began?.()
    response.once('close', () => {
      const status = response.headersSent ? response.statusCode : CLIENT_GONE
      const ended = { ...trace, request, response, status, durationMs: performance.now() - trace.since }
      for (const observer of observers) observer.ended(ended)
    })
    next()
  }
}
