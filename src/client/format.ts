/**
 * The form of requests and answers. In JSON ids are strings and times ISO strings; the client has bigint and Date. The
 * names of fields say which these are. Values that users gave, payloads above all, pass through unchanged.
 */
import type { ErrorCode } from '../shared/error-codes'
import { type Fault, invalidInput, RecentnError } from '../shared/recentn-error'
import { IDS, OPEN, SENT_IDS } from './operations'
import type { Operation } from './schemas'

type Fields = Record<string, unknown>

/** The parts of a request. */
export interface RequestParts extends Headed {
  path?: Readonly<Fields> | undefined
  query?: object | undefined
  body?: unknown
}

export interface Headed {
  headers?: Readonly<Record<string, string>> | undefined
}

/** A request as `fetch` takes it. */
export interface WireRequest {
  /** Below the base. */
  target: string
  init: RequestInit & { method: string; headers: Headers }
}

/** Throws `invalid_input` for a name that a path can't hold, and for a body that JSON can't hold. */
export function requestOf(
  operation: Operation,
  { path = {}, query = {}, body, headers = {} }: RequestParts,
): WireRequest {
  const [method, route] = operation.split(' ') as [string, string]
  const init: WireRequest['init'] = { method, headers: new Headers(headers) }
  const target = route.replaceAll(/\{(\w+)\}/g, (_, name: string) => segment(name, path[name]))
  if (body !== undefined) {
    init.headers.set('Content-Type', 'application/json')
    init.body = bodyText(body)
  }
  return { target: target + queryText(query), init }
}

function segment(name: string, value: unknown): string {
  const [type, detail] =
    name === 'id' ? ['bigint', 'must be a bigint'] : ['string', 'must be a name, and not "." or ".."']
  // A URL loses the segments "." and "..", even if they are percent-encoded.
  if (typeof value !== type || /^\.{0,2}$/.test(String(value))) throw invalidInput([{ parameter: name, detail }])
  return percentEncoded(name, String(value))
}

function queryText(query: object): string {
  const parts: string[] = []
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === null) continue
    for (const each of [value].flat()) {
      parts.push(`${name}=${percentEncoded(name, String(each))}`)
    }
  }
  return parts.length === 0 ? '' : `?${parts.join('&')}`
}

function percentEncoded(name: string, text: string): string {
  try {
    return encodeURIComponent(text)
  } catch {
    throw invalidInput([{ parameter: name, detail: 'must be well-formed Unicode' }])
  }
}

function bodyText(body: unknown): string {
  const places = new Map<unknown, string>()
  let pointer = ''
  try {
    return JSON.stringify(body, function (this: Fields, key, value) {
      pointer = places.has(this) ? `${places.get(this)}/${key}` : ''
      places.set(value, pointer)
      if (SENT_IDS.test(pointer) && typeof value === 'bigint') return String(value)
      // JSON writes null for a Date that is none.
      if (value === null && this[key] && SENT_TIMES.test(pointer)) throw new Error('it is no valid Date')
      // JSON writes {} for most of them.
      const kind = /BigInt|Map|Set|Promise/.exec(Object.prototype.toString.call(value))
      if (kind) throw new Error(`it is a ${kind}`)
      return value
    })
  } catch (error) {
    throw invalidInput([{ pointer, detail: `can't be written as JSON: ${(error as Error).message}` }])
  }
}

const SENT_TIMES = /^(\/(items|messages)\/\d+)?\/\w+At$/

/** Changes parsed JSON in place. `JSON.stringify` turns the result back into the JSON of the server. */
export function decoded(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(decoded)
  if (typeof value !== 'object' || value === null) return value
  const fields = value as Fields
  for (const name in fields) {
    const field = fields[name] as string | null
    if (field === null || OPEN.test(name)) continue
    fields[name] = name.endsWith('At') ? new Date(field) : isId(name, field) ? BigInt(field) : decoded(field)
  }
  return Object.setPrototypeOf(fields, RESULT)
}

/** A page of a member's items has a `nextBefore` that is no id, and begins with no digit. */
const isId = (name: string, field: string) => IDS.test(name) && /^\d/.test(field)

/** Results look and compare like plain objects: what they inherit is not enumerable, and not a constructor. */
const RESULT: object = Object.create(Object.prototype, { toJSON: { value: json } })

function json(this: Fields): unknown {
  // The methods add these from the status and the headers; settings have their own tag.
  const { appended, created, ...body } = this
  if ('nextBefore' in body) delete body.tag
  for (const name in body) if (typeof body[name] === 'bigint') body[name] = String(body[name])
  return body
}

const TAG = /^(?:W\/)?"(.*)"$/

/** The result of an operation. `tag` is the `ETag` without its quotes. */
export interface WireAnswer<T> {
  status: number
  value: T
  tag: string
}

/** Throws the error that the server answered, and `unexpected_answer` for an answer that is not recentn's. */
export function answerOf(
  { status, headers, ok }: Response,
  text: string,
  parse: (text: string) => unknown,
): WireAnswer<unknown> {
  if (!ok && status !== 304) throw errorOf(status, headers, text)
  const tag = TAG.exec(headers.get('ETag') ?? '')?.[1] ?? ''
  if (text === '') return { status, value: undefined, tag }
  const type = headers.get('Content-Type') ?? ''
  if (type.startsWith('text/plain')) return { status, value: text, tag }
  try {
    if (type.startsWith('application/json')) return { status, value: parse(text), tag }
  } catch {}
  throw errorOf(status, headers, text)
}

export function errorOf(status: number, headers: Headers, text: string): RecentnError {
  const problem = problemOf(headers, text)
  const detail = problem?.detail ?? `The answer (${status}) is not recentn's: ${text.slice(0, 200)}`
  return new RecentnError(problem?.code ?? 'unexpected_answer', detail, {
    status,
    requestId: headers.get('X-Request-Id') ?? undefined,
    retryAfterSeconds: retryAfterOf(headers),
    faults: problem?.errors,
    cause: problem?.existing,
  })
}

/** The parts of an error. */
interface Problem {
  code: ErrorCode
  detail: string
  errors?: Fault[]
  existing?: unknown
}

function problemOf(headers: Headers, text: string): Problem | null {
  try {
    const problem = JSON.parse(text)
    const isOurs = headers.get('Content-Type')?.startsWith('application/problem+json')
    if (isOurs && typeof (problem.code ?? '') === 'string' && typeof problem.detail === 'string') return problem
  } catch {}
  return null
}

/** A server that asks for a longer wait may mean it no more. */
const LONGEST_RETRY_AFTER_SECONDS = 300

function retryAfterOf(headers: Headers): number | undefined {
  const text = headers.get('Retry-After')
  if (text === null) return undefined
  const seconds = /^\d+$/.test(text) ? Number(text) : (Date.parse(text) - Date.now()) / 1000
  return Number.isNaN(seconds) ? undefined : Math.min(Math.max(0, seconds), LONGEST_RETRY_AFTER_SECONDS)
}
