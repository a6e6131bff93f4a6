/** The built server on a SQLite file, and clients of its routes: what the page shows, others do. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openStore } from '../../../src/store/open'
import type { Store } from '../../../src/store/types'
import { type RunningServer, startServer } from '../../support/processes'

export interface Server extends RunningServer {
  databaseUrl: string
  /** One request to `/v1/…`; throws for an answer that is not good. */
  call(method: string, path: string, body?: unknown): Promise<unknown>
  createKey(key: Omit<Parameters<Store['keys']['create']>[0], 'label'>): Promise<{ id: string; key: string }>
  revokeKey(id: string): Promise<void>
}

const started: (() => Promise<unknown>)[] = []

afterAll(async () => {
  for (const end of started.splice(0).reverse()) await end()
})

/** Stopped when the test file ends. */
export async function startWithFile(env: Record<string, string> = {}): Promise<Server> {
  const folder = mkdtempSync(join(tmpdir(), 'recentn-browser-'))
  const databaseUrl = `sqlite:${join(folder, 'recentn.db')}`
  const server = await startServer({ DATABASE_URL: databaseUrl, ...env })
  started.push(async () => {
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  })
  let key: string | undefined
  const withStore = async <T>(work: (store: Store) => Promise<T>): Promise<T> => {
    const store = await openStore({ url: databaseUrl, sweep: false, publish: false })
    return await work(store).finally(() => store.close())
  }
  return {
    ...server,
    databaseUrl,
    async call(method, path, body) {
      const response = await fetch(`${server.url}/v1/${path}`, {
        method,
        headers: { 'Content-Type': 'application/json', ...(key !== undefined && { Authorization: `Bearer ${key}` }) },
        body: body === undefined ? undefined : JSON.stringify(body),
      })
      const text = await response.text()
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
      return text === '' ? null : JSON.parse(text)
    },
    async createKey(wanted) {
      const made = await withStore(({ keys }) => keys.create({ label: 'a test', ...wanted }))
      if (wanted.scopes.includes('admin') && wanted.prefix === undefined) key = made.key
      return made
    },
    revokeKey: async (id) => {
      await withStore(({ keys }) => keys.revoke(id))
    },
  }
}
