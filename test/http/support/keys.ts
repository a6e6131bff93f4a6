/** Clients with API keys, of an app over a store of any engine. */
import { type AppOptions, createApp, messagesOf } from '../../../src/http/process/app'
import { openStore } from '../../../src/store/open'
import type { StoreOptions } from '../../../src/store/option-types'
import type { Store } from '../../../src/store/types'
import { ENGINES, type EngineName, engineUrl, freshDatabase } from '../../support/engines'
import { type Answer, type Client, clientBy, clientOf, type Sent, serving } from './client'

export const served = ENGINES.filter((engine) => engine === 'sqlite' || engineUrl(engine) !== null)

type NewKey = Parameters<Store['keys']['create']>[0]

/** Sends with this key; `Host` is one that is not local. */
export function withKey(url: string, key: string): Client {
  const client = clientOf(url)
  const request = (method: string, path: string, sent: Sent = {}): Promise<Answer> => {
    const headers = { Host: 'recentn.example.org', Authorization: `Bearer ${key}`, ...sent.headers }
    return client.request(method, path, { ...sent, headers })
  }
  return clientBy(url, request)
}

export interface Guarded {
  store: Store
  url: string
  /** A client with a new key, and the key's id. */
  client(key: Omit<NewKey, 'label'>): Promise<Client & { id: string; key: string }>
}

/** The process's app over a new database of the engine, with one key for all. Call it in a `describe`. */
export function useGuarded(
  engine: EngineName,
  options: StoreOptions = {},
  appOptions: Partial<AppOptions> = {},
): Guarded {
  const guarded = {} as Guarded
  let drop = async () => {}
  beforeAll(async () => {
    const database = await freshDatabase(engine)
    drop = database.drop
    const store = await openStore({ url: database.url, sweep: false, publish: false, ...options })
    const app = createApp(store, { allowAnonymous: false, ...appOptions })
    const url = await serving(app, messagesOf(app))
    Object.assign(guarded, { store, url })
    guarded.client = async (key) => {
      const created = await store.keys.create({ label: 'a test', ...key })
      return { ...withKey(url, created.key), id: created.id, key: created.key }
    }
  })
  afterAll(async () => {
    await guarded.store.close()
    await drop()
  })
  return guarded
}
