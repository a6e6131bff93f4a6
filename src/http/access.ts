/** Decides what a request may do: everything, what its API key allows, or what a function of the user's allows. */
import type { Request, Response } from 'express'
import { covers, SCOPES } from '../fields/keys'
import { nameFault } from '../fields/rules'
import { RecentnError } from '../shared/errors'
import type { Scope } from '../shared/key-types'
import { clearInterval, setInterval } from '../shared/platform'
import { type InnerKeys, innerOf } from '../store/inner'
import type { Store } from '../store/types'
import { toRecentnError } from './output/problem'
import { type RequestSubjects, subjectsOf } from './subjects'

/**
 * `true` allows the request. `{ prefix }` allows it for names that begin with the prefix. Any other answer refuses it.
 */
export type AccessAnswer = boolean | { readonly prefix: string }

/**
 * Decides whether a request may be answered, by its sender, its scope and the names that it is about. `Incoming` is the
 * type of the app's requests: Express 5's, unless the function names another one.
 */
export type AccessFunction<Incoming = Request> = (
  request: Incoming,
  scope: Scope,
  subjects: RequestSubjects,
) => AccessAnswer | Promise<AccessAnswer>

export type Access<Incoming = Request> = 'anonymous' | 'keys' | AccessFunction<Incoming>

interface Grant {
  /** The names that the request may see and change begin with this; null is all names. */
  prefix: string | null
  keyId?: string
  /** Asks again whether the request may continue. A grant without it does not end. */
  lasts?(): Promise<boolean>
}

/** A decision that depends on the names that the request is about. */
export interface Question {
  /** Throws `unauthorized` or `forbidden`. */
  ask(subjects: RequestSubjects): Promise<Grant>
}

/**
 * Throws `unauthorized` or `forbidden`. A scope of null allows everyone. `isAlone`: the route answers without the
 * database, so the guard must not wait long for a database that is away.
 */
export type Guard = (
  request: Request,
  scope: Scope | null,
  isAlone?: boolean,
) => Grant | Question | Promise<Grant | Question>

/** How long a route that needs no database waits for the database to check a key. */
export const ALONE_MS = 500

export const EVERYTHING: Grant = { prefix: null }

export function guardOf(access: Access, store: Store): Guard {
  if (access === 'anonymous') return () => EVERYTHING
  if (access === 'keys')
    return (request, scope) => (scope === null ? EVERYTHING : byKey(innerOf(store).keys, request, scope))
  return (request, scope) => {
    if (scope === null) return EVERYTHING
    return { ask: (subjects) => byFunction(access, request, scope, subjects) }
  }
}

/** The grant of the user's function, which is called again while the answer is not complete. */
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
      // The request may have begun with anything that the first answer allowed.
      return now === null || (prefix?.startsWith(now) ?? false)
    } catch (error) {
      if (error instanceof RecentnError && REFUSALS.has(error.code)) return false
      throw error
    }
  }
  return { prefix, lasts }
}

const REFUSALS: ReadonlySet<string> = new Set(['unauthorized', 'forbidden'])

/** The prefix of a function's answer; null is all names. Throws `forbidden` unless the answer allows the request. */
function prefixOf(answer: unknown): string | null {
  if (answer === true) return null
  if (typeof answer === 'object' && answer !== null && Object.hasOwn(answer, 'prefix')) {
    const { prefix } = answer as { prefix: unknown }
    if (nameFault(prefix) === null) return prefix as string
  }
  throw new RecentnError('forbidden')
}

/** The grant of the key in the request. Throws `unauthorized` or `forbidden`. */
export async function byKey(keys: InnerKeys, { headers }: Request, scope: Scope, isAlone?: boolean): Promise<Grant> {
  const text = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1]
  if (text === undefined) throw new RecentnError('unauthorized', 'An API key is required: Authorization: Bearer rk_…')
  const key = await keys.verify(text, isAlone ? { timeLimitMs: ALONE_MS } : undefined)
  if (key === null) throw new RecentnError('unauthorized', 'The API key is not valid')
  if (!covers(key.scopes, scope)) {
    throw new RecentnError('forbidden', `The key ${key.id} does not have the scope ${scope}`)
  }
  return { prefix: key.prefix, keyId: key.id, lasts: async () => (await keys.verify(text)) !== null }
}

/** Together with the age of a cached key this stays below 5 seconds. */
const LOOK_AGAIN_MS = 1000

/** A signal for waits and streams that is also aborted when the grant ends before the answer is complete. */
export function whileGranted({ lasts }: Grant, signal: AbortSignal, response: Response): AbortSignal {
  if (lasts === undefined) return signal
  const ending = new AbortController()
  let isLooking = false
  const timer = setInterval(async () => {
    // A function may be slow: only one call runs at a time.
    if (isLooking) return
    isLooking = true
    // While the database is away the grant stays.
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

export interface Allowance {
  scopes: Scope[]
  /** All names must begin with this; null is all names. */
  prefix: string | null
  keyId?: string
}

/** The rights of the request in each scope. Throws the errors of the guard, except `forbidden`. */
export async function allowanceOf(guard: Guard, request: Request): Promise<Allowance> {
  const granted: [Scope, Grant][] = []
  for (const scope of SCOPES) {
    try {
      const given = await guard(request, scope)
      // A function that decides by names gets none.
      granted.push([scope, 'ask' in given ? await given.ask(subjectsOf('getAccess', [])) : given])
    } catch (error) {
      if (toRecentnError(error).code !== 'forbidden') throw error
    }
  }
  const [, shown] = granted.find(([scope]) => scope === 'read') ?? granted[0] ?? []
  return { scopes: granted.map(([scope]) => scope), prefix: shown?.prefix ?? null, keyId: shown?.keyId }
}
