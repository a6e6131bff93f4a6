/** What a row of a route table is. Express is fed from the tables, and the OpenAPI document is made from them. */
import { type ErrorCode, type FaultSink, RecentnError } from '../errors'
import type { Scope } from '../fields/keys'
import type { Store } from '../store/types'
import type { Allowance } from './allowance'
import type { JsonBody } from './input/body'
import type { Parameters, Values } from './input/parameters'
import type { Subject } from './subjects'

export type Method = 'get' | 'put' | 'patch' | 'post' | 'delete'

/** What a handler answers. */
export interface Answer {
  status: number
  /** Text, of the media type; none for 204. */
  body?: string
  /** JSON when left out. */
  type?: string
  /** A strong tag without its quotes: makes the answer a conditional one. */
  tag?: string
  /** Server-sent events in place of a body, of a route that `streams`: each whole, with the empty line after it. */
  events?: AsyncIterable<string>
}

/** One documented outcome. `schema` names a component; none is an answer without a body. */
export interface Outcome {
  description: string
  schema?: string
  example?: unknown
  /** The media type; JSON when left out. */
  type?: string
}

/** What the OpenAPI document says of a route beyond its parameters and body. */
export interface Operation {
  id: string
  tag: string
  summary: string
  description?: string
  outcomes: Readonly<Record<number, Outcome>>
  /** Refusals of its own; those that every route may answer are added. */
  refusals?: readonly ErrorCode[]
  /** The successful answers carry an `ETag`, and `If-None-Match` is obeyed. */
  conditional?: boolean
}

/** A JSON body: how it is read, with every fault, and how it is documented. */
export interface BodyReader<B> {
  schema: string
  example: unknown
  /** May be left out: the same as `{}`. */
  optional?: boolean
  read(body: JsonBody, faults: FaultSink): B
  /** Where in the body the argument of the store is: prefixed to the pointers of the store's own refusals. */
  at?: string
  /** What a valid body names. */
  about?(body: B): readonly Subject[]
}

export interface Input<P extends Parameters, Q extends Parameters, B> {
  path: Values<P>
  query: Values<Q>
  body: B
  /** What the names begin with that the request may see and change; null is all names. */
  within: string | null
  /** The tag of the one answer that the client says it has. */
  knownTag?: string
  /** Aborted when the client is gone or the server stops: for routes that wait, and that stream. */
  signal?: AbortSignal
  /** What the request may do: for the route that tells it. */
  allowance?: Allowance
  /** The `Last-Event-ID` of a client that comes back: for routes that stream. */
  lastEventId?: bigint
}

interface RouteSpec<P extends Parameters, Q extends Parameters, B> {
  method: Method
  /** An OpenAPI path template, relative to where the router is mounted. */
  path: string
  /** Null: anyone may ask. */
  scope: Scope | null
  /**
   * What the path and the query are about; the body says it of itself. Where access is confined to a prefix, a request
   * that gives another name is refused, and where it is about a prefix of its own, the handler keeps to what is `within`.
   * Of a request that is not valid, names may be missing.
   */
  about(input: Pick<Input<P, Q, B>, 'path' | 'query'>): readonly Subject[]
  pathParameters: P
  queryParameters: Q
  /** Adds what is wrong with the query parameters together. */
  checkQuery?(query: Values<Q>, faults: FaultSink): void
  body?: BodyReader<B>
  operation: Operation
  /** The handler may wait for something to happen, and wants a `signal` to end that. */
  waits?: boolean
  /** The answer is a stream of events, and ends by the `signal`. */
  streams?: boolean
  /** The handler is given the `allowance` of the request; who has no valid key is refused, as by any scope. */
  tellsAccess?: boolean
  /** It has an answer while the database is away too: a key that was good before is good for it then. */
  answersAlone?: boolean
  /** Whatever the query has, it is not looked at. */
  ignoresQuery?: boolean
  handle(store: Store, input: Input<P, Q, B>): Promise<Answer>
}

export type UntypedInput = Pick<
  Input<Parameters, Parameters, unknown>,
  'within' | 'knownTag' | 'signal' | 'lastEventId' | 'allowance'
> & {
  path: unknown
  query: unknown
  body: unknown
}

/** A route whose input types are known to its handler only. */
export interface Route extends Omit<RouteSpec<Parameters, Parameters, unknown>, 'handle' | 'checkQuery' | 'about'> {
  about(input: Pick<UntypedInput, 'path' | 'query'>): readonly Subject[]
  checkQuery?(query: unknown, faults: FaultSink): void
  handle(store: Store, input: UntypedInput): Promise<Answer>
}

/** A route of a table; the types of its input follow from its parameters and body. */
export function route<
  P extends Parameters = Record<never, never>,
  Q extends Parameters = Record<never, never>,
  B = undefined,
>(
  spec: Omit<RouteSpec<P, Q, B>, 'pathParameters' | 'queryParameters'> & { pathParameters?: P; queryParameters?: Q },
): Route {
  const { handle, checkQuery, about } = spec as unknown as Route
  return { pathParameters: {}, queryParameters: {}, ...spec, handle, checkQuery, about }
}

export function ok(body: string): Answer {
  return { status: 200, body }
}

export function created(body: string): Answer {
  return { status: 201, body }
}

/** 201 for what is new, 200 for what was there. */
export function stored(isNew: boolean, body: string): Answer {
  return isNew ? created(body) : ok(body)
}

export const NO_CONTENT: Answer = { status: 204 }

/** What there is; refused with `code` where there is nothing. */
export function found<T>(thing: T | null, code: ErrorCode): T {
  if (thing === null) throw new RecentnError(code)
  return thing
}

/** 204 for what is deleted now; refused with `code` where there was nothing. */
export function gone(wasThere: boolean, code: ErrorCode): Answer {
  if (!wasThere) throw new RecentnError(code)
  return NO_CONTENT
}
