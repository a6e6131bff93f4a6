/** Who may do what: everyone everything, who has a key what the key may, or whoever a function answers `true` for. */
import type { Request, Response } from 'express'
import { RecentnError } from '../errors'
import { covers, type Scope } from '../key-rules'
import type { Store, StoreKeys } from '../store-types'

/** `Incoming` is the request of the Express that the app has: of version 5, unless the function says another one. */
export type Access<Incoming = Request> =
  | 'anonymous'
  | 'keys'
  | ((request: Incoming, scope: Scope) => boolean | Promise<boolean>)

/** What a request may do, as far as its scope does not say it. */
export interface Grant {
  /** Only names that begin with this; null is all. */
  prefix: string | null
  /** The id of the key. */
  keyId?: string
  /** Whether the request may go on. For ever when left out. */
  lasts?(): Promise<boolean>
}

/**
 * Throws `unauthorized` or `forbidden`. A scope of null is what anyone may. `isAlone`: what is asked for needs no database, so
 * that one which is away is not waited for.
 */
export type Guard = (request: Request, scope: Scope | null, isAlone?: boolean) => Grant | Promise<Grant>

/** How long the database is waited for by what needs none. */
export const ALONE_MS = 500

export const EVERYTHING: Grant = { prefix: null }

export function guardOf(access: Access, store: Store): Guard {
  if (access === 'anonymous') return () => EVERYTHING
  if (access === 'keys') return (request, scope) => (scope === null ? EVERYTHING : byKey(store.keys, request, scope))
  return async (request, scope) => {
    if (scope !== null && (await access(request, scope)) !== true) throw new RecentnError('forbidden')
    return EVERYTHING
  }
}

/** What the key allows that the request came with. */
export async function byKey(keys: StoreKeys, { headers }: Request, scope: Scope, isAlone?: boolean): Promise<Grant> {
  const text = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1]
  if (text === undefined) throw new RecentnError('unauthorized', 'An API key is required: Authorization: Bearer rk_…')
  const key = await keys.verify(text, isAlone ? { patienceMs: ALONE_MS } : {})
  if (key === null) throw new RecentnError('unauthorized', 'The API key is not valid')
  if (!covers(key.scopes, scope)) {
    throw new RecentnError('forbidden', `The key ${key.id} does not have the scope ${scope}`)
  }
  return { prefix: key.prefix, keyId: key.id, lasts: async () => (await keys.verify(text)) !== null }
}

/** Together with the age of what a process knows of a key this is less than 5 seconds. */
const LOOK_AGAIN_MS = 1000

/** A signal that is also aborted when the grant ends while the answer is not complete: for what waits, and streams. */
export function whileGranted({ lasts }: Grant, signal: AbortSignal, response: Response): AbortSignal {
  if (lasts === undefined) return signal
  const ending = new AbortController()
  const timer = setInterval(async () => {
    // While the database is away nobody is told anything.
    if (!(await lasts().catch(() => true))) end()
  }, LOOK_AGAIN_MS)
  const end = () => {
    clearInterval(timer)
    ending.abort()
  }
  response.once('close', () => clearInterval(timer))
  if (signal.aborted) end()
  signal.addEventListener('abort', end, { once: true })
  return ending.signal
}
