/**
 * Who may do what at a process of its own. Once there was a key, every request needs one. Before, whoever reaches the
 * server may do everything: then it listens on loopback only, and takes only requests that are local by their Host, and
 * that no page of another origin has sent. There is no way back from the one to the other, so that no request ever needs neither.
 */
import type { RequestHandler } from 'express'
import type { Store } from '../../store/types'
import { ALONE_MS, byKey, EVERYTHING, type Guard, guardOf } from '../access'
import { localOnly } from './local-only'

export interface ProcessAccess {
  guard: Guard
  /** What every request must get past. */
  door: RequestHandler
}

/** `allowAnonymous`: everyone may do everything, whether or not there are keys. */
export function processAccess(store: Store, allowAnonymous: boolean, corsOrigins: readonly string[]): ProcessAccess {
  if (allowAnonymous) return { guard: guardOf('anonymous', store), door: (_request, _response, next) => next() }
  const local = localOnly(corsOrigins)
  // Known before the first request, which then need not wait for the database to be refused.
  store.keys.exist().catch(() => {})
  return {
    guard(request, scope, isAlone) {
      if (scope === null) return EVERYTHING
      const byKeyIf = (exist: boolean) => (exist ? byKey(store.keys, request, scope, isAlone) : EVERYTHING)
      const known = store.keys.known()
      if (known !== null) return byKeyIf(known)
      const asked = store.keys.exist()
      return (isAlone ? soon(asked) : asked).then(byKeyIf)
    },
    door(request, response, next) {
      const enter = (exist: boolean) => (exist ? next() : local(request, response, next))
      const known = store.keys.known()
      return known === null ? soon(store.keys.exist()).then(enter) : enter(known)
    },
  }
}

/** False where it can't be known soon: a process whose database is away, or answers nothing, must still tell that it lives. */
function soon(answer: Promise<boolean>): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ALONE_MS, false)
    const done = (known: boolean) => {
      clearTimeout(timer)
      resolve(known)
    }
    answer.then(done, () => done(false))
  })
}
