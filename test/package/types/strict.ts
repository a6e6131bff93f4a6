// biome-ignore-all lint/complexity/useLiteralKeys: noPropertyAccessFromIndexSignature wants them
// Compiled with every flag that is strict, beside the types of Express 4 and of Express 5.
import type { Express, Request, Response } from 'express'
import {
  attachStore,
  createMetrics,
  createRouter,
  type ErrorCode,
  openStore,
  RecentnError,
  type RouterOptions,
  type Store,
} from 'recentn'
import { RecentnError as ClientError, createClient } from 'recentn/client'
import type { DataSource } from 'typeorm'

/** Types whose optional properties do not take undefined: `never` where all do. */
type Refusing<T> = T extends object
  ? {
      [K in keyof T]-?: undefined extends T[K]
        ? Pick<T, K> extends Undefined<T, K>
          ? Undefined<T, K> extends Pick<T, K>
            ? never
            : K
          : never
        : never
    }[keyof T]
  : never
type Undefined<T, K extends keyof T> = { [Name in K]?: T[Name] | undefined }

type Groups = Store['groups']
type Queues = Store['queues']
type Feeds = Store['feeds']
type Options =
  | Parameters<typeof openStore>[0]
  | Parameters<typeof attachStore>[1]
  | Parameters<typeof createMetrics>[1]
  | Parameters<typeof createClient>[0]
  | RouterOptions
  | Parameters<Store['transaction']>[1]
  | Parameters<Store['poll']>[2]
  | Parameters<Groups['append']>[1]
  | Parameters<Groups['append']>[2]
  | Parameters<Groups['recent']>[1]
  | Parameters<Groups['recentMany']>[1]
  | Parameters<Groups['put']>[1]
  | Parameters<Groups['list']>[0]
  | Parameters<Groups['memberItems']>[1]
  | Parameters<Groups['watch']>[1]
  | Parameters<Queues['put']>[1]
  | Parameters<Queues['send']>[2]
  | Parameters<Queues['receive']>[1]
  | Parameters<Queues['peek']>[1]
  | Parameters<Queues['nack']>[2]
  | Parameters<Queues['redrive']>[1]
  | Parameters<Queues['work']>[2]
  | Parameters<Feeds['changes']>[1]
  | Parameters<Feeds['republish']>[1]
  | Parameters<Feeds['moveCursor']>[3]
  | Parameters<Feeds['consume']>[3]
  | Parameters<Store['keys']['create']>[0]
  | Parameters<ReturnType<typeof createClient>['groups']['recent']>[1]
  | Parameters<ReturnType<typeof createClient>['groups']['append']>[1]
  | Parameters<ReturnType<typeof createClient>['groups']['watch']>[1]
  | Parameters<ReturnType<typeof createClient>['queues']['put']>[1]
  | Parameters<ReturnType<typeof createClient>['queues']['receive']>[1]
export const refusing: Refusing<Options>[] = []
const none: never[] = refusing

export { none }

export async function use(app: Express, source: DataSource, signal?: AbortSignal): Promise<ErrorCode> {
  const limit = process.env['LIMIT'] === undefined ? undefined : Number(process.env['LIMIT'])
  const client = createClient({ baseUrl: 'http://127.0.0.1:3000', key: process.env['X'] })
  await client.groups.recent('g', { limit, signal })
  await client.queues.put('q', { maxReceives: limit, deadLetterQueue: undefined })
  const store = await openStore({ url: 'sqlite::memory:', poolSize: limit, publish: undefined })
  const attached: Store = await attachStore(source, { defaultCapacity: limit })
  await store.groups.recent('g', { limit, before: undefined, exclude: undefined })
  await store.groups.put('g', { capacity: limit })
  await attached.queues.receive('q', { limit: limit, signal })
  const queue = await store.queues.put('q', { maxReceives: limit })
  const maxReceives: number | null = queue.maxReceives
  const stop = store.queues.work('q', async (message) => void message.body, { onError: undefined })
  await stop.stop()
  // The request is that of the app's Express, and no any.
  const access = (request: Request, scope: string) => request.get('X-User') === 'anna' && scope === 'read'
  app.use('/a', createRouter(store, { access, stopping: signal, metrics: createMetrics(store, { prefix: undefined }) }))
  app.use(createRouter(store, { access: (request, scope) => request.headers['x-user'] === scope }))
  app.use(createRouter(store, { access: 'keys', onError: (_error, { request }) => void request.url }))
  // @ts-expect-error: a request is no any
  createRouter(store, { access: (request) => request.nothing })
  app.get('/g', async (_request: Request, response: Response) => void response.json(await store.groups.recent('g')))
  const error: RecentnError = new ClientError('conflict', undefined, { retryAfterSeconds: maxReceives ?? undefined })
  const status: number = error.status
  return status === 503 && error instanceof RecentnError ? error.code : 'internal'
}
