/**
 * recentn's REST interface below `/activity` in your own Express app, behind your own login: everyone may read, who is
 * logged in may append, and only staff may work on queues, change settings or erase. Staff have the dashboard at
 * `/admin/recentn`.
 */
import type { AddressInfo } from 'node:net'
import express, { type Express, type Request } from 'express'
import { createDashboard, createRouter, openStore, RecentnError, type Store } from 'recentn'

/** `stopping`: aborted when the server is about to stop. */
export function createShopApp(store: Store, stopping?: AbortSignal): Express {
  const app = express()
  app.use(
    '/activity',
    createRouter(store, {
      stopping,
      access: (request: Request, scope) => {
        if (scope === 'read') return true
        const user = userOf(request)
        if (user === null) throw new RecentnError('unauthorized')
        return scope === 'append' || user.isStaff
      },
    }),
  )
  app.use(
    '/admin/recentn',
    createDashboard(store, {
      stopping,
      access: (request: Request) => {
        const user = userOf(request)
        if (user === null) throw new RecentnError('unauthorized')
        return user.isStaff
      },
    }),
  )
  app.get('/', (_request, response) => {
    response.send('the rest of the shop')
  })
  return app
}

/** In place of your own login: whoever says that they are anna is. */
function userOf(request: Request): { isStaff: boolean } | null {
  const [, byCookie] = /(?:^|; )user=(\w+)/.exec(request.get('Cookie') ?? '') ?? []
  const name = byCookie ?? request.get('X-User')
  return name === undefined ? null : { isStaff: name === 'anna' }
}

export async function main(url = process.env.DATABASE_URL ?? 'sqlite:./data/shop.db'): Promise<void> {
  const store = await openStore({ url })
  const stopping = new AbortController()
  const port = Number(process.env.PORT ?? 8080)
  const server = createShopApp(store, stopping.signal).listen(port, '127.0.0.1', () => {
    const { port } = server.address() as AddressInfo
    console.log(`http://127.0.0.1:${port}/activity/v1/groups`)
  })
  process.once('SIGTERM', () => {
    // Streams end, and each answer closes its connection: a server closes only once all of them are.
    stopping.abort()
    server.close(() => store.close())
    // Clients keep connections open that were idle, or were never used.
    setTimeout(() => server.closeAllConnections(), 3000).unref()
  })
}

if (require.main === module) main()
