/** Who may do what: everyone everything, who has a key what the key may, or what a function of the user's says. */
import type { Request, Response } from 'express'
import { RecentnError } from '../errors'
import { covers, type Scope } from '../fields/keys'
import { nameFault } from '../fields/rules'
import type { Store, StoreKeys } from '../store/types'
import type { RequestSubjects } from './subjects'

/** `true`: the request may go on. `{ prefix }`: as far as it is about names that begin with this. All else: it may not. */
export type AccessAnswer = boolean | { readonly prefix: string }

/**
 * Decides whether a request may be answered, by who sends it, what it wants to do, and what it is about. `Incoming` is the
 * request of the Express that the app has: of version 5, unless the function says another one.
 */
export type AccessFunction<Incoming = Request> = (
  request: Incoming,
  scope: Scope,
  subjects: RequestSubjects,
) => AccessAnswer | Promise<AccessAnswer>

export type Access<Incoming = Request> = 'anonymous' | 'keys' | AccessFunction<Incoming>

/** What a request may do, as far as its scope does not say it. */
export interface Grant {
  /** Only names that begin with this; null is all. */
  prefix: string | null
  /** The id of the key. */
  keyId?: string
  /** Whether the request may go on. For ever when left out. */
  lasts?(): Promise<boolean>
}

/** What it depends on what the request is about. */
export interface Question {
  /** Throws `unauthorized` or `forbidden`. */
  ask(subjects: RequestSubjects): Promise<Grant>
}

/**
 * Throws `unauthorized` or `forbidden`. A scope of null is what anyone may. `isAlone`: what is asked for needs no database, so
 * that one which is away is not waited for.
 */
export type Guard = (
  request: Request,
  scope: Scope | null,
  isAlone?: boolean,
) => Grant | Question | Promise<Grant | Question>

/** How long the database is waited for by what needs none. */
export const ALONE_MS = 500

export const EVERYTHING: Grant = { prefix: null }

export function guardOf(access: Access, store: Store): Guard {
  if (access === 'anonymous') return () => EVERYTHING
  if (access === 'keys') return (request, scope) => (scope === null ? EVERYTHING : byKey(store.keys, request, scope))
  return (request, scope) => {
    if (scope === null) return EVERYTHING
    return { ask: (subjects) => byFunction(access, request, scope, subjects) }
  }
}

/** What the function allows; it is asked again for as long as the answer is not complete. */
async function byFunction(
  access: AccessFunction,
  request: Request,
  scope: Scope,
  subjects: RequestSubjects,
): Promise<Grant> {
  const prefix = prefixOf(await access(request, scope, subjects))
  const lasts = async () => {
    try {
      const now = prefixOf(await access(request, scope, subjects))
      // What was begun may be about all that the first answer allowed.
      return now === null || (prefix?.startsWith(now) ?? false)
    } catch (error) {
      if (error instanceof RecentnError && REFUSALS.has(error.code)) return false
      throw error
    }
  }
  return { prefix, lasts }
}

const REFUSALS: ReadonlySet<string> = new Set(['unauthorized', 'forbidden'])

/** What a function has answered: null for everything. Throws `forbidden` for what does not surely allow something. */
function prefixOf(answer: unknown): string | null {
  if (answer === true) return null
  if (typeof answer === 'object' && answer !== null && Object.hasOwn(answer, 'prefix')) {
    const { prefix } = answer as { prefix: unknown }
    if (nameFault(prefix) === null) return prefix as string
  }
  throw new RecentnError('forbidden')
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
  let isLooking = false
  const timer = setInterval(async () => {
    // A function may take its time: it is asked once at a time.
    if (isLooking) return
    isLooking = true
    // While the database is away nobody is told anything.
    if (!(await lasts().catch(() => true))) end()
    isLooking = false
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
