import express, { type Express, type Request } from 'express'
import { createDashboard, createRouter, RecentnError, type Store } from 'recentn'
import type { Shop } from './shop.js'

export function createApp(store: Store, shop: Shop): Express {
  const app = express()
  const access = (request: Request) => {
    if (userOf(request) !== 'admin') throw new RecentnError('unauthorized')
    return true
  }
  // Before your own body parser.
  app.use('/activity', createRouter(store, { access }))
  app.use('/dashboard', createDashboard(store, { access }))
  app.use(express.json())
  app.get('/products/:id', async (request, response) => {
    response.json({ alsoViewedBy: await shop.view(Number(request.params.id), userOf(request)) })
  })
  app.post('/orders', async (request, response) => {
    response.status(201).json({ order: await shop.order(request.body.product, userOf(request)) })
  })
  app.get('/search', (request, response) => {
    response.json({ products: shop.find(String(request.query.q)) })
  })
  return app
}

/** In place of your login. */
function userOf(request: Request): string {
  return request.get('X-User') ?? 'somebody'
}
