/** Calls of operations: each attempt is a fetch within a time limit, and a call is attempted again where that is safe. */
import type { ErrorCode } from '../shared/error-codes'
import type { IfVersion } from '../shared/feed-types'
import { invalidInput, RecentnError } from '../shared/recentn-error'
import type { IfTag } from '../shared/types'
import { answerOf, decoded, type Headed, requestOf, type WireAnswer, type WireRequest } from './format'
import type { ClientOptions } from './options'
import { pause, type Repeat, retryDelay, type TimeLimit, timeLimit } from './retry'
import type { Operation } from './schemas'

export interface CallOptions {
  /** Ends the call, which then throws the signal's reason. A write may or may not have been done. */
  signal?: AbortSignal | undefined
  /** In place of the client's. */
  timeoutSeconds?: number | undefined
}

/** Options of the library, without the `'text'` of payloads, bodies and values, which are parsed here; and those of a call. */
export type WithCall<Options> = CallOptions & {
  [Name in keyof Options as Options[Name] extends 'value' | 'text' | undefined ? never : Name]: Exclude<
    Options[Name],
    'text'
  >
}

export type SettingsOptions = IfTag & CallOptions

interface Conduct extends CallOptions, IfTag, IfVersion {
  /** When left out `once` for a POST, and with a tag, which a call that arrived twice would find changed; otherwise `safe`. */
  repeat?: Repeat | undefined
  /** Added to the time that an attempt may take. */
  waitSeconds?: number | null | undefined
}

/** The options of a client, and what the dashboard needs beyond them. */
interface TransportOptions extends Omit<ClientOptions, 'key'> {
  key?: string | (() => string | undefined | Promise<string | undefined>) | undefined
  /** Parses bodies and events, in place of `JSON.parse`, which rounds numbers to doubles, and `decoded`. */
  parse?: ((text: string) => unknown) | undefined
}

export class Transport {
  readonly timeoutSeconds: number
  readonly parse: (text: string) => unknown
  readonly #base: string

  constructor(private readonly options: TransportOptions) {
    this.#base = options.baseUrl.replace(/\/+$/, '')
    this.timeoutSeconds = options.timeoutSeconds ?? 30
    this.parse = options.parse ?? ((text) => decoded(JSON.parse(text)))
  }

  /** The answer of an operation. Throws `RecentnError`, and the reason of the caller's signal. */
  async call<Answer, Parts>(
    operation: Operation<Answer, Parts>,
    parts: NoInfer<Parts> & Headed,
    conduct: Conduct = {},
  ): Promise<WireAnswer<Answer>> {
    const request = requestOf(operation, parts)
    const { headers, method } = request.init
    const {
      signal,
      timeoutSeconds = this.timeoutSeconds,
      waitSeconds,
      ifTag,
      ifVersion: tag = ifTag,
      repeat = method === 'POST' || tag !== undefined ? 'once' : 'safe',
    } = conduct
    if (tag !== undefined) headers.set('If-Match', `"${encodeURI(tag as string)}"`)
    for (let attempt = 0; ; attempt++) {
      signal?.throwIfAborted()
      const limit = timeLimit(signal, (timeoutSeconds + (waitSeconds ?? 0)) * 1000)
      try {
        const response = await this.fetch(request, limit)
        const text = await response.text().catch((error) => {
          throw unreachable(error, limit)
        })
        return answerOf(response, text, this.parse) as WireAnswer<Answer>
      } catch (error) {
        signal?.throwIfAborted()
        const mayRepeat = error instanceof RecentnError && attempt < (this.options.retries ?? 3)
        const delayMs = mayRepeat ? retryDelay(error, repeat, attempt) : null
        if (delayMs === null) throw error
        limit.end()
        await pause(delayMs, signal)
      } finally {
        limit.end()
      }
    }
  }

  /** The answer without its status and tag. */
  async value<Answer, Parts>(
    operation: Operation<Answer, Parts>,
    parts: NoInfer<Parts> & Headed,
    conduct?: Conduct,
  ): Promise<Answer> {
    return (await this.call(operation, parts, conduct)).value
  }

  /** The answer to options of the library, which are those of the call besides. */
  async asked<Answer, Parts>(
    operation: Operation<Answer, Parts>,
    path: Parts extends { path: infer Path } ? Path : null,
    options: object = {},
    repeat?: Repeat,
  ): Promise<Answer> {
    const [sent, call] = parted(operation, options)
    return this.value(operation, { path, ...sent } as object as Parts & Headed, { repeat, ...call })
  }

  /** Null in place of the error `absent`, which says that there is no such thing. */
  valueOrNull<Answer, Parts>(
    operation: Operation<Answer, Parts>,
    path: Parts extends { path: infer Path } ? Path : null,
    absent: ErrorCode,
    options?: Conduct,
  ): Promise<Answer | null> {
    return orNull(this.value(operation, { path } as object as Parts & Headed, options), absent)
  }

  /** True if it is done, false in place of the error `absent`. */
  async wasThere<Parts>(
    operation: Operation<unknown, Parts>,
    path: Parts extends { path: infer Path } ? Path : null,
    absent: ErrorCode,
    options?: CallOptions,
  ): Promise<boolean> {
    return (await this.valueOrNull(operation, path, absent, options)) !== null
  }

  /**
   * The response as soon as its body begins, whatever its status. A redirect is one: the request goes to no other server. The
   * caller reads the body, and ends `limit`.
   */
  async fetch({ target, init }: WireRequest, limit: TimeLimit): Promise<Response> {
    const { key, headers = {}, fetch: chosen = fetch } = this.options
    const secret = typeof key === 'function' ? await key() : key
    let sent: Headers
    try {
      sent = new Headers({ ...headers, ...Object.fromEntries(init.headers) })
      if (secret !== undefined) sent.set('Authorization', `Bearer ${secret}`)
    } catch {
      // The platform's error repeats the value, which may be a secret.
      throw invalidInput([{ pointer: '', detail: 'has an invalid key or header' }])
    }
    return chosen(this.#base + target, {
      ...init,
      headers: sent,
      signal: limit.signal,
      redirect: 'manual',
    }).catch((error) => {
      throw unreachable(error, limit)
    })
  }
}

export function unreachable(error: unknown, limit: TimeLimit): RecentnError {
  const cause = limit.signal.reason ?? error
  // Node says "fetch failed", and why in the error's cause.
  const why = ((cause as Error)?.cause as Error)?.message || (cause as Error)?.message
  return new RecentnError('unreachable', `The server can't be reached: ${why}`, {
    status: 503,
    cause,
  })
}

/**
 * Separates what is sent from the options of the call, which may take as much longer as the server may wait. A GET and a
 * DELETE have it in their query, all others in their body.
 */
export function parted<Parts>(
  operation: Operation<unknown, Parts>,
  options: CallOptions & Pick<Conduct, 'waitSeconds'>,
): [Omit<Parts, 'path'>, Conduct] {
  const { signal, timeoutSeconds, ...sent } = options
  const place = /^[GD]E/.test(operation) ? 'query' : 'body'
  return [{ [place]: sent } as Omit<Parts, 'path'>, { signal, timeoutSeconds, waitSeconds: options.waitSeconds }]
}

/** Null in place of the error `absent`, which says that there is no such thing. */
export function orNull<Answer>(asked: Promise<Answer>, absent: ErrorCode): Promise<Answer | null> {
  return asked.catch((error: RecentnError | undefined) => {
    if (error?.code === absent) return null
    throw error
  })
}

/** All entries of a list, or items of a history, whose pages are requested as they are needed. */
export async function* everyOf<Options, Field extends string, T>(
  read: (options: Options) => Promise<Record<Field, T[]> & { nextAfter?: unknown; nextBefore?: unknown }>,
  field: Field,
  options: Options,
  [from, next]: ['after', 'nextAfter'] | ['before', 'nextBefore'] = ['after', 'nextAfter'],
): AsyncGenerator<T, void, undefined> {
  for (let asked = options; ; ) {
    const page = await read(asked)
    yield* page[field]
    if (page[next] === null) return
    asked = { ...options, [from]: page[next] }
  }
}
