import 'reflect-metadata'
import { attachStore } from 'recentn'
import { entities, migrations } from 'recentn/typeorm'
import { DataSource } from 'typeorm'
import { createApp } from './app.js'
import { Invoice, Order, Product } from './entities.js'
import { Shop } from './shop.js'

const dataSource = await new DataSource({
  type: 'better-sqlite3',
  database: process.env.DATABASE ?? './shop.db',
  enableWAL: true,
  entities: [Product, Order, Invoice, ...entities],
  synchronize: true, // the shop's tables; in production by your own migrations
  migrations, // recentn's tables
  migrationsRun: true,
}).initialize()
const store = await attachStore(dataSource)
const shop = new Shop(store, async ({ to, text }) => console.log(`mail to ${to}: ${text}`))
await shop.setUp()
await shop.putProduct(1, 'a red bicycle')
shop.start()

const server = createApp(store, shop).listen(Number(process.env.PORT ?? 8080), '127.0.0.1', () => {
  console.log('the shop is at', server.address())
})
const stop = () => {
  server.close(async () => {
    await store.close() // workers finish first
    await dataSource.destroy()
  })
  setTimeout(() => server.closeAllConnections(), 3000).unref() // clients keep theirs open
}
process.once('SIGTERM', stop).once('SIGINT', stop)
