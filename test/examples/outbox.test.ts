/** examples/outbox.ts: what commits is delivered, what rolls back is not, and a worker that is killed packs nothing twice. */
import express, { type Express } from 'express'
import type { DataSource } from 'typeorm'
import {
  createQueues,
  createShopSource,
  createWarehouseApp,
  Order,
  OUTBOX,
  openWarehouse,
  Parcel,
  placeOrder,
  startDelivering,
} from '../../examples/outbox'
import { attachStore, type Store } from '../../src/index'
import { type Database, describeEngine, ENGINES, freshDatabase } from '../support/engines'
import { spawnScript } from '../support/processes'
import { serve, until } from './support'

describe.each(ENGINES)('outbox', (engine) => {
  describeEngine(engine, 'delivers', () => {
    let database: Database
    let shop: DataSource
    let store: Store
    let warehouse: DataSource
    const undo: (() => unknown)[] = []

    beforeEach(async () => {
      database = await freshDatabase(engine)
      shop = await createShopSource(database.url).initialize()
      await shop.runMigrations()
      store = await attachStore(shop)
      await createQueues(store)
      const other = await freshDatabase(engine)
      warehouse = await openWarehouse(other.url)
      undo.push(
        () => store.close(),
        () => shop.destroy(),
        database.drop,
        () => warehouse.destroy(),
        other.drop,
      )
    })
    afterEach(async () => {
      for (const step of undo.splice(0)) await step()
    })

    const open = async (app: Express) => {
      const { url, close } = await serve(app)
      undo.unshift(close)
      return `${url}/events`
    }
    const packed = async () =>
      (await warehouse.getRepository(Parcel).find({ order: { order: 'ASC' } })).map(({ order }) => order)
    const waiting = async () => {
      const { counts } = (await store.queues.get(OUTBOX)) ?? {}
      return (counts?.ready ?? 0) + (counts?.inFlight ?? 0) + (counts?.delayed ?? 0)
    }

    it('what was committed, in spite of errors, and nothing of what was rolled back', async () => {
      let refusals = 2
      const app = express()
      app.use((_request, response, next) => {
        if (refusals-- > 0) response.sendStatus(503)
        else next()
      })
      const endpoint = await open(app.use(createWarehouseApp(warehouse)))
      await placeOrder(store, { id: 1, customer: 'fred' })
      await expect(placeOrder(store, { id: 1, customer: 'anna' })).rejects.toThrow(/UNIQUE|Duplicate/)
      await placeOrder(store, { id: 2, customer: 'anna' })
      startDelivering(store, endpoint)
      await until('both are packed', async () => (await packed()).length === 2)
      await until('nothing is left to deliver', async () => (await waiting()) === 0)
      expect(await packed()).toEqual([1, 2])
      expect(await shop.getRepository(Order).count()).toBe(2)
    })

    it('once, by the parcels, when the worker is killed before it has heard the answer', async () => {
      let arrivals = 0
      let deaf = true
      const real = createWarehouseApp(warehouse)
      const app = express()
      app.use((request, response, next) => {
        arrivals += 1
        // Packed, and the answer is kept from the worker.
        if (deaf) response.sendStatus = () => response
        real(request, response, next)
      })
      const env = { DATABASE_URL: database.url, ENDPOINT: await open(app) }
      await placeOrder(store, { id: 7, customer: 'fred' })
      const killed = spawnScript('examples/outbox.ts', [], env)
      await until('it is packed', async () => (await packed()).length === 1)
      expect(await killed.stop('SIGKILL')).toMatchObject({ signal: 'SIGKILL' })
      expect(await waiting()).toBe(1)
      deaf = false
      const next = spawnScript('examples/outbox.ts', [], env)
      await until('it is delivered again', async () => arrivals === 2 && (await waiting()) === 0)
      expect(await packed()).toEqual([7])
      expect(await next.stop()).toEqual({ code: 0, signal: null })
    })
  })
})
