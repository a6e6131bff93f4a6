/**
 * The rows of the route tables. Express gets its handlers from the tables, and the OpenAPI document is made from them.
 */

import type { AnswerOf, NamedComponent } from '../fields/answers'
import type { DtoClass } from '../fields/field'
import type { NamedKind } from '../fields/options'
import { type ErrorCode, type FaultSink, RecentnError } from '../shared/errors'
import type { Scope } from '../shared/key-types'
import type { Tagged } from '../shared/types'
import type { Store } from '../store/types'
import type { Allowance } from './access'
import type { JsonBody } from './input/body'
import type { Parameters, Values } from './input/parameters'
import { type PathOf, pathParametersOf, pathSubjectsOf } from './path-places'
import type { Subject } from './subjects'

export type Method = 'get' | 'put' | 'patch' | 'post' | 'delete'

export interface Answer {
  status: number
  /** The text of the answer, in its media type; none for 204. */
  body?: string
  /** The media type. Default: JSON. */
  type?: string
  /** For 201, the path of what was made, below where the router is mounted. */
  location?: string | undefined
  /** A strong tag without its quotes. A route that is `conditional` answers a client that has it with 304. */
  tag?: string | undefined
  /**
   * Server-sent events in place of a body, for a route that `streams`. Each text is a whole event with its empty line.
   */
  events?: AsyncIterable<string>
}

/** An answer as the document shows it. One without a shape has no body. */
export interface DocumentedAnswer {
  description: string
  shape?: NamedComponent
  /** In place of that of the shape. */
  example?: unknown
  /** The media type. Default: JSON. */
  type?: string
  /** When the answer has a `Location`. */
  located?: 'always' | 'for one'
}

/** The description of a route in the OpenAPI document, beyond its parameters and body. */
export interface Operation {
  id: string
  tag: string
  summary: string
  description?: string
  outcomes: Readonly<Record<number, DocumentedAnswer>>
  /** The refusals of this route; the document adds those that every route may give. */
  refusals?: readonly ErrorCode[]
  /** Successful answers have an `ETag`, and `If-None-Match` applies. */
  conditional?: boolean
  /** Answers have the tag of settings as their `ETag`. `If-Match` applies to a write, and `If-None-Match: *` to a PUT. */
  hasSettings?: boolean
  /** Answers have the version of an entry as their `ETag`. `If-Match` applies to a write, and `If-None-Match: *` to a PUT. */
  hasVersion?: boolean
}

/** How a JSON body is read, with all its faults, and how it is documented. */
export interface BodyReader<B> {
  schema: string
  example: unknown
  /** The members of a body that is one object. */
  dto?: DtoClass
  /** The body may be left out, which means `{}`. */
  optional?: boolean
  read(body: JsonBody, faults: FaultSink): B
  /** The pointer to the store's argument within the body: a prefix of the pointers in the store's own refusals. */
  at?: string
  about?(body: B): readonly Subject[]
}

export interface Input<Path, Q extends Parameters, B> {
  path: Path
  query: Values<Q>
  body: B
  /** The names that the request may see and change begin with this; null is all names. */
  within: string | null
  /** The tag of the one answer that the client says it has. */
  knownTag?: string
  /** The tag that the settings must have to be changed; `*` is any. */
  ifTag?: string
  /** Create, and leave what is there as it is. */
  isEnsuring?: boolean
  /** Aborted when the client is gone, the server stops or the access ends: for routes that wait or stream. */
  signal?: AbortSignal
  /** The rights of the request, for the route with `tellsAccess`. */
  allowance?: Allowance
  /** The `Last-Event-ID` of a client that reconnects, for routes that stream. */
  lastEventId?: bigint
}

interface RouteSpec<Path, Q extends Parameters, B> extends Omit<Operation, 'tag'> {
  /** Null: everyone may call it. */
  scope: Scope | null
  /** In place of it, for a PUT that only creates. */
  ensureScope?: Scope
  /**
   * The subjects beside those of the path: `body.about` adds the body's part. If access is confined to a prefix, a
   * request that names anything outside of it is refused, and a handler that lists or changes by prefix keeps to names
   * `within`. An invalid request may lack names.
   */
  about?(input: Pick<Input<Path, Q, B>, 'path' | 'query'>): readonly Subject[]
  queryParameters?: Q
  /** The kind of object that the handler creates if it does not exist: its name comes first of its kind in `about`. */
  creates?: NamedKind
  /** Adds the faults of query parameters that do not go together. */
  checkQuery?(query: Values<Q>, faults: FaultSink): void
  body?: BodyReader<B>
  /** The handler may wait for something to happen; the `signal` ends the waiting. */
  waits?: boolean
  /** The answer is a stream of events, which the `signal` ends. */
  streams?: boolean
  /** The handler gets the `allowance` of the request. A request without a valid key is refused, as with any scope. */
  tellsAccess?: boolean
  /** The route answers even while the database is away; a key that was valid before then stays valid for it. */
  answersAlone?: boolean
  ignoresQuery?: boolean
  /** A text is the JSON of a 200. */
  handle(store: Store, input: Input<Path, Q, B>): Promise<Answer | string>
}

export type UntypedInput = Omit<Input<unknown, Parameters, unknown>, 'query'> & { query: unknown }

/** A route whose input types only its handler knows. */
export interface Route extends Omit<RouteSpec<unknown, Parameters, unknown>, 'handle' | 'checkQuery' | 'about'> {
  tag: string
  method: Method
  /** An OpenAPI path template, relative to where the router is mounted. */
  path: string
  pathParameters: Parameters
  queryParameters: Parameters
  about(input: Pick<UntypedInput, 'path' | 'query'>): readonly Subject[]
  checkQuery?(query: unknown, faults: FaultSink): void
  handle(store: Store, input: UntypedInput): Promise<Answer | string>
}

type NoParameters = Record<never, never>
/** A method and an OpenAPI path template: `GET /v1/queues/{queue}`. */
type At = `${Uppercase<Method>} /${string}`
/** A route that has no tag yet. */
export type BareRoute = Omit<Route, 'tag'>

/** The routes of a table, with the tag that the document shows them under. */
export const tagged = (tag: string, routes: readonly BareRoute[]): readonly Route[] =>
  routes.map((each) => ({ ...each, tag }))

/** A route of a table; the types of its input follow from its path, parameters and body. */
export function route<const S extends At, Q extends Parameters = NoParameters, B = undefined>(
  at: S,
  spec: RouteSpec<PathOf<S>, Q, B>,
): BareRoute {
  const [method, path] = at.split(' ') as [string, string]
  const { about, queryParameters = {}, ...others } = spec as unknown as Route
  const inPath = pathSubjectsOf(path)
  return {
    ...others,
    queryParameters,
    method: method.toLowerCase() as Method,
    path,
    pathParameters: pathParametersOf(path),
    about: (input) => [...inPath(input.path), ...(about?.(input) ?? [])],
  }
}

/** 201 if it was created, 200 if it existed. `location`: the path of what was created, if it has one. */
export function stored(isNew: boolean, body: string, location?: string): Answer | string {
  return isNew ? { status: 201, body, location } : body
}

export const NO_CONTENT: Answer = { status: 204 }

/** The thing. Throws `code` for null. */
export function found<T>(thing: T | null, code: ErrorCode): T {
  if (thing === null) throw new RecentnError(code)
  return thing
}

/** A route that is one call of the store. */
type Calling<Path, Q extends Parameters, B, T> = Omit<RouteSpec<Path, Q, B>, 'outcomes' | 'handle'> & {
  /** The refusal where there is nothing of that name. */
  absent?: ErrorCode
  call(store: Store, input: Input<Path, Q, B>): Promise<T>
}

/** A route that answers with what the call resolves to, and with the tag of settings or the version of an entry. */
export function answering<T, const S extends At, Q extends Parameters = NoParameters, B = undefined>(
  at: S,
  spec: Calling<PathOf<S>, Q, B, T | null> & {
    gives: readonly [shape: AnswerOf<T>, description: string, example?: unknown]
  },
): BareRoute {
  const { gives, absent, call, refusals = [], ...others } = spec
  const [shape, description, example] = gives
  return route<S, Q, B>(at, {
    ...others,
    outcomes: { 200: { description, shape, example } },
    refusals: absent === undefined ? refusals : [absent, ...refusals],
    async handle(store, input) {
      const given = await call(store, input)
      if (given === null) throw new RecentnError(absent as ErrorCode)
      const body = shape.json(given, input.within)
      const { tag, version } = given as Partial<Tagged> & { version?: number | null }
      return { status: 200, body, tag: others.hasSettings ? tag : others.hasVersion ? version?.toString() : undefined }
    },
  })
}

/** A route whose call resolves to whether there was something to remove: 204 if there was. */
export function removing<const S extends `DELETE /${string}`>(
  at: S,
  spec: Calling<PathOf<S>, NoParameters, undefined, boolean> & { gives: string; absent: ErrorCode },
): BareRoute {
  const { gives: description, absent, call, refusals = [], ...others } = spec
  return route(at, {
    ...others,
    outcomes: { 204: { description } },
    refusals: [...refusals, absent],
    async handle(store, input) {
      if (!(await call(store, input))) throw new RecentnError(absent)
      return NO_CONTENT
    },
  })
}
