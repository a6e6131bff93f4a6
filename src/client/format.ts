/**
 * The form of requests and answers. In JSON ids are strings and times ISO strings; the client has bigint and Date. The
 * generated shapes say which fields these are. All others, payloads above all, pass through unchanged.
 */
import type { ErrorCode } from '../shared/error-codes'
import { type Fault, invalidInput, RecentnError } from '../shared/recentn-error'

type Shape = 'bigint' | 'time' | FieldShapes
/** The fields of a body that are ids or times, or have such fields in them; a time whose name ends in `At` or `Until` is left out. */
export type FieldShapes = { readonly [field: string]: Shape }
type Fields = Record<string, unknown>

/** The route of an operation, and the shapes of its bodies where something in them is converted. */
export interface Operation<Answer = unknown, Parts = unknown> {
  readonly method: string
  readonly path: string
  readonly body?: FieldShapes
  readonly answer?: FieldShapes
  /** Never set: for the compiler. */
  readonly types?: [Answer, Parts]
}

/** The parts of a request. */
export interface RequestParts extends Headed {
  path?: Readonly<Fields> | undefined
  query?: object | undefined
  body?: unknown
}

export interface Headed {
  headers?: Readonly<Record<string, string>> | undefined
}

/** The parameters of an operation. */
export type Path<Names extends string> = Record<Names, string | bigint>
export type Query<Names extends string> = { [Name in Names]?: unknown }

/** A request as `fetch` takes it, and how its answer is read. */
export interface WireRequest {
  /** Below the base. */
  target: string
  init: RequestInit & { method: string; headers: Headers }
  answer: FieldShapes | undefined
}

/** Throws `invalid_input` for a name that a path can't hold, and for a body that JSON can't hold. */
export function requestOf(
  operation: Operation,
  { path = {}, query = {}, body, headers = {} }: RequestParts,
): WireRequest {
  const init: WireRequest['init'] = { method: operation.method, headers: new Headers(headers) }
  const target = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => segment(name, path[name]))
  if (body !== undefined) {
    init.headers.set('Content-Type', 'application/json')
    init.body = bodyText(operation.body ? encoded(body, operation.body) : body)
  }
  return { target: target + queryText(query), init, answer: operation.answer }
}

function segment(name: string, value: unknown): string {
  const text = name === 'id' ? idText(value, { parameter: name }) : value
  // A URL loses the segments "." and "..", even if they are percent-encoded.
  if (typeof text !== 'string' || /^\.{0,2}$/.test(text)) {
    throw invalidInput([{ parameter: name, detail: 'must be a name, and not "." or ".."' }])
  }
  return percentEncoded(name, text)
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
    return JSON.stringify(body, function (this: unknown, key, value) {
      pointer = places.has(this) ? `${places.get(this)}/${key}` : ''
      places.set(value, pointer)
      // JSON writes {} for most of them.
      const kind = /BigInt|Map|Set|Promise/.exec(Object.prototype.toString.call(value))
      if (kind) throw new Error(`it is a ${kind}`)
      return value
    })
  } catch (error) {
    throw invalidInput([{ pointer, detail: `can't be written as JSON: ${(error as Error).message}` }])
  }
}

/** A copy of a body, as far as it changes. Throws `invalid_input` for an id or a time of another type. */
function encoded(value: unknown, shape: Shape, pointer = ''): unknown {
  if (value === null || value === undefined) return value
  if (Array.isArray(value)) return value.map((each, i) => encoded(each, shape, `${pointer}/${i}`))
  if (shape === 'bigint') return idText(value, { pointer })
  if (shape === 'time') return timeText(value, pointer)
  if (typeof value !== 'object') return value
  const fields: Fields = { ...value }
  for (const name in fields) {
    const of = shapeIn(shape, name)
    if (of) fields[name] = encoded(fields[name], of, `${pointer}/${name}`)
  }
  return fields
}

function shapeIn(shape: FieldShapes, name: string): Shape | undefined {
  if (/At$|Until$/.test(name)) return 'time'
  return Object.hasOwn(shape, name) ? shape[name] : undefined
}

function idText(value: unknown, place: { pointer?: string; parameter?: string }): string {
  if (typeof value === 'bigint' && value >= 0n) return String(value)
  throw invalidInput([{ ...place, detail: 'must be a bigint of at least 0' }])
}

function timeText(value: unknown, pointer: string): string {
  if (value instanceof Date && !Number.isNaN(value.getTime())) return value.toISOString()
  throw invalidInput([{ pointer, detail: 'must be a valid Date' }])
}

/** Changes parsed JSON in place. `JSON.stringify` turns the result back into the JSON of the server. */
export function decoded(value: unknown, shape: Shape): unknown {
  if (value === null || value === undefined) return value
  if (Array.isArray(value)) return value.map((each) => decoded(each, shape))
  if (shape === 'bigint') return BigInt(value as string)
  if (shape === 'time') return new Date(value as string)
  const fields = value as Fields
  for (const name in fields) {
    const of = shapeIn(shape, name)
    if (of) fields[name] = decoded(fields[name], of)
  }
  return Object.setPrototypeOf(fields, prototypeOf(shape))
}

const prototypes = new Map<FieldShapes, object>()

/** Results look and compare like plain objects: what they inherit is not enumerable, and not a constructor. */
function prototypeOf(shape: FieldShapes): object {
  const known = prototypes.get(shape)
  if (known !== undefined) return known
  const toJSON = function (this: Fields): unknown {
    // The methods add these from the status and the headers; settings have their own tag.
    const { appended, created, ...body } = this
    if (shape.nextBefore) delete body.tag
    return encoded(body, shape)
  }
  const made = Object.create(Object.prototype, { toJSON: { value: toJSON } })
  prototypes.set(shape, made)
  return made
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
  { answer }: WireRequest,
  parse: (text: string) => unknown,
): WireAnswer<unknown> {
  if (!ok && status !== 304) throw errorOf(status, headers, text)
  const tag = TAG.exec(headers.get('ETag') ?? '')?.[1] ?? ''
  if (text === '') return { status, value: undefined, tag }
  const type = headers.get('Content-Type') ?? ''
  if (type.startsWith('text/plain')) return { status, value: text, tag }
  try {
    if (type.startsWith('application/json')) {
      const value = parse(text)
      return { status, value: answer ? decoded(value, answer) : value, tag }
    }
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
