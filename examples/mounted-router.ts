/**
 * recentn's REST interface below `/activity` of your own Express app, behind your own login: everyone may read, who is
 * logged in may append, and only staff may work on queues, change settings or erase.
 */
import express, { type Express, type Request } from 'express'
import { createRouter, openStore, RecentnError, type Store } from '../src' // 'recentn' in a project of your own

export function createShopApp(store: Store): Express {
  const app = express()
  app.use(
    '/activity',
    createRouter(store, {
      access: (request, scope) => {
        if (scope === 'read') return true
        const user = userOf(request)
        if (user === null) throw new RecentnError('unauthorized')
        return scope === 'append' || user.isStaff
      },
    }),
  )
  app.get('/', (_request, response) => {
    response.send('the rest of the shop')
  })
  return app
}

/** Stands for your own login. */
function userOf(request: Request): { isStaff: boolean } | null {
  const name = request.get('X-User')
  return name === undefined ? null : { isStaff: name === 'anna' }
}

export async function main(url = process.env.DATABASE_URL ?? 'sqlite:./data/shop.db'): Promise<void> {
  const store = await openStore({ url })
  const server = createShopApp(store).listen(8080, '127.0.0.1', () =>
    console.log('http://127.0.0.1:8080/activity/v1/groups'),
  )
  process.once('SIGTERM', () => server.close(() => store.close()))
}

if (require.main === module) main()
