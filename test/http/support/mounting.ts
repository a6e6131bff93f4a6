/** The router in the app of a user: below a prefix, behind its body parsers and its `access`. */
import express, { type Express, type Request } from 'express'
import { createRouter, type RouterOptions } from '../../../src/http/router'
import type { Store } from '../../../src/store/types'
import { type Client, clientOf, serving } from './client'

/** An app's treatment of a body before the router, by name. */
export const BEFORE: [string, (app: Express) => void][] = [
  ['by itself', () => {}],
  ['after express.json()', (app) => void app.use(express.json())],
  ['after express.text()', (app) => void app.use(express.text({ type: () => true }))],
]

interface Mounting {
  /** The app's middleware before the router. */
  prepare?: (app: Express) => void
  mount?: string
}

/** A client of the router in an app that answers `GET /own` after it. */
export async function mounted(
  store: Store,
  options: RouterOptions,
  { prepare = () => {}, mount = '/activity' }: Mounting = {},
): Promise<Client> {
  const app = express()
  prepare(app)
  app.use(mount, createRouter(store, options))
  app.get('/own', (_request, response) => void response.send('mine'))
  return clientOf(await serving(app), mount === '/' ? '' : mount)
}

/** A request, with what `access` must be asked for it. */
export type GuardedCall = [scope: string, method: string, path: string, json?: unknown]

/** Checks that `access` is asked once for each call, and with its scope. */
export async function expectAsked(store: Store, calls: readonly GuardedCall[]): Promise<void> {
  const scopes: string[] = []
  const access = (_request: Request, scope: string) => scopes.push(scope) > 0
  const client = await mounted(store, { access })
  for (const [, method, path, json] of calls) {
    const { status } = await client.request(method, path, { json })
    expect([method, path, status]).not.toEqual([method, path, 403])
  }
  expect(scopes).toEqual(calls.map(([scope]) => scope))
}

/**
 * Checks that each call is 403 for a caller without a scope, whatever its body, and for one with `only`, where it needs
 * another; resolves to the clients of both.
 */
export async function expectGuarded(
  store: Store,
  calls: readonly GuardedCall[],
  only: string,
): Promise<{ nobody: Client; holder: Client }> {
  const access = (_request: Request, scope: string) => scope === only
  const nobody = await mounted(store, { access: () => false })
  const holder = await mounted(store, { access })
  for (const [scope, method, path] of calls) {
    const refused = await nobody.request(method, path, { body: '{', headers: { 'Content-Type': 'text/plain' } })
    expect([method, path, refused.status, refused.json.code]).toEqual([method, path, 403, 'forbidden'])
    if (scope === only) continue
    expect([method, path, (await holder.request(method, path)).status]).toEqual([method, path, 403])
  }
  return { nobody, holder }
}
