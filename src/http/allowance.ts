/** What a request may do at all: the guard is asked scope by scope, as it is for the routes that need each. */
import type { Request } from 'express'
import { SCOPES, type Scope } from '../fields/keys'
import type { Grant, Guard } from './access'
import { toRecentnError } from './output/problem'
import { subjectsOf } from './subjects'

export interface Allowance {
  scopes: Scope[]
  /** What the names must begin with; null is all names. */
  prefix: string | null
  keyId?: string
}

/** Throws what the guard throws, except `forbidden`. */
export async function allowanceOf(guard: Guard, request: Request): Promise<Allowance> {
  const granted: [Scope, Grant][] = []
  for (const scope of SCOPES) {
    try {
      const given = await guard(request, scope)
      // A function that decides by names is asked about none.
      granted.push([scope, 'ask' in given ? await given.ask(subjectsOf('getAccess', [])) : given])
    } catch (error) {
      if (toRecentnError(error).code !== 'forbidden') throw error
    }
  }
  const [, shown] = granted.find(([scope]) => scope === 'read') ?? granted[0] ?? []
  return { scopes: granted.map(([scope]) => scope), prefix: shown?.prefix ?? null, keyId: shown?.keyId }
}
