/** Requests and answers: how a call of an operation becomes a fetch, is limited in time, and is made again. */
import { RecentnError } from '../errors'
import { bodyText, decoded, encoded } from './convert'
import { errorOf } from './errors'
import { type ClientOptions, checkOptions } from './options'
import { type Repeat, retryDelay } from './retry'
import { type Limit, limitOf, pause, throwIfAborted } from './signals'
import { targetOf } from './target'
import { OPERATIONS, type Operations } from './wire/operations'
import { SHAPES, type Shape, type ShapeName } from './wire/shapes'

export interface CallOptions {
  /** Ends the call, which then throws the signal's reason. A write may be done or not. */
  signal?: AbortSignal | undefined
  /** In place of the client's. */
  timeoutMs?: number | undefined
}

export type OperationId = keyof Operations

/** What is sent; what an operation does not take may be left out. */
export interface Input {
  path?: Readonly<Record<string, unknown>> | undefined
  query?: object | undefined
  body?: unknown
  headers?: Readonly<Record<string, string>> | undefined
}

/** An `Input` of an operation. */
export type InputOf<Id extends OperationId> = Pick<Input, 'headers'> &
  (keyof Operations[Id]['path'] extends never ? unknown : { path: Operations[Id]['path'] }) &
  (keyof Operations[Id]['query'] extends never ? unknown : { query: Operations[Id]['query'] }) &
  (Operations[Id]['body'] extends undefined ? unknown : { body: Operations[Id]['body'] })

export interface Answer<T> {
  status: number
  value: T
  /** The `ETag`, without its quotes. */
  tag: string
}

export interface Conduct extends CallOptions {
  /** Whether it may be made again; by the method when left out, where a POST is `once`. */
  repeat?: Repeat | undefined
  /** Added to the time that it may take. */
  waitSeconds?: number | null | undefined
}

interface Prepared {
  url: string
  init: RequestInit & { headers: Headers }
  answer: Shape | undefined
}

export class Transport {
  readonly #options: ClientOptions
  readonly #base: string

  constructor(options: ClientOptions) {
    checkOptions(options)
    this.#options = options
    this.#base = options.baseUrl.replace(/\/+$/, '')
  }

  /** The answer of an operation. Throws `RecentnError`, and the reason of the caller's signal. */
  async call<Id extends OperationId>(
    id: Id,
    input: InputOf<Id>,
    conduct: Conduct = {},
  ): Promise<Answer<Operations[Id]['answer']>> {
    const request = prepared(id, input)
    const { repeat = request.init.method === 'POST' ? 'once' : 'safe', signal } = conduct
    for (let attempt = 0; ; attempt++) {
      const answer = await this.#attempt(request, conduct)
      if (!(answer instanceof RecentnError)) return answer as Answer<Operations[Id]['answer']>
      const waitMs = attempt < (this.#options.retries ?? 3) ? retryDelay(answer, repeat, attempt) : null
      if (waitMs === null) throw answer
      await pause(waitMs, signal)
    }
  }

  /** The answer whose body goes on, when it begins. `limit` ends it, and is to be released by who reads it. */
  async open<Id extends OperationId>(id: Id, input: InputOf<Id>, limit: Limit): Promise<Response> {
    const response = await this.#fetch(prepared(id, input), limit)
    if (response.ok) return response
    throw errorOf(response.status, response.headers, await response.text())
  }

  get timeoutMs(): number {
    return this.#options.timeoutMs ?? 30_000
  }

  /** One attempt; what went wrong is given back, and what the caller ended thrown. */
  async #attempt(request: Prepared, conduct: Conduct): Promise<Answer<unknown> | RecentnError> {
    const { signal, timeoutMs = this.timeoutMs, waitSeconds } = conduct
    throwIfAborted(signal)
    const limit = limitOf(signal, timeoutMs + (waitSeconds ?? 0) * 1000)
    try {
      const response = await this.#fetch(request, limit)
      const text = await response.text().catch((error) => {
        throw unreachable(error, limit)
      })
      return answerOf(response, text, request.answer)
    } catch (error) {
      throwIfAborted(signal)
      if (error instanceof RecentnError) return error
      throw error
    } finally {
      limit.release()
    }
  }

  async #fetch({ url, init }: Prepared, limit: Limit): Promise<Response> {
    const { key, headers = {}, fetch: chosen = fetch } = this.#options
    const sent = new Headers({ ...headers, ...Object.fromEntries(init.headers) })
    const secret = typeof key === 'function' ? await key() : key
    if (secret !== undefined) sent.set('Authorization', `Bearer ${secret}`)
    return await chosen(this.#base + url, { ...init, headers: sent, signal: limit.signal }).catch((error) => {
      throw unreachable(error, limit)
    })
  }
}

function prepared(id: OperationId, { path = {}, query = {}, body, headers = {} }: Input): Prepared {
  const operation: { method: string; path: string; body?: string; answer?: string } = OPERATIONS[id]
  const url = targetOf(operation.path, path, query as Readonly<Record<string, unknown>>)
  const sent = new Headers(headers)
  const init = { method: operation.method, headers: sent }
  const answer = shapeOf(operation.answer)
  if (body === undefined) return { url, init, answer }
  sent.set('Content-Type', 'application/json')
  const shape = shapeOf(operation.body)
  return { url, answer, init: { ...init, body: bodyText(shape === undefined ? body : encoded(body, shape)) } }
}

function shapeOf(name: string | undefined): Shape | undefined {
  return name === undefined ? undefined : SHAPES[name as ShapeName]
}

export function unreachable(error: unknown, limit: Limit): RecentnError {
  const why = limit.isOver ? 'no answer in time' : (error as Error)?.message
  return new RecentnError('unreachable', `The server can't be reached: ${why}`, { cause: error })
}

const TAG = /^(?:W\/)?"(.*)"$/

function answerOf({ status, headers, ok }: Response, text: string, shape: Shape | undefined): Answer<unknown> {
  if (!ok && status !== 304) throw errorOf(status, headers, text)
  const tag = TAG.exec(headers.get('ETag') ?? '')?.[1] ?? ''
  if (text === '') return { status, value: undefined, tag }
  const type = headers.get('Content-Type') ?? ''
  if (type.startsWith('text/plain')) return { status, value: text, tag }
  if (!type.startsWith('application/json')) throw errorOf(status, headers, text)
  try {
    const value = JSON.parse(text)
    return { status, value: shape === undefined ? value : decoded(value, shape), tag }
  } catch {
    throw errorOf(status, headers, text)
  }
}
