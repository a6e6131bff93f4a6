// node own-app.mjs URL: an app with its own TypeORM DataSource and Express.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import express from 'express'
import { attachStore, createDashboard, createRouter } from 'recentn'
import { entities, migrations, RecentRepository } from 'recentn/typeorm'
import { DataSource, EntitySchema } from 'typeorm'

const Order = new EntitySchema({
  name: 'Order',
  tableName: 'orders',
  columns: { id: { type: 'integer', primary: true }, text: { type: 'varchar', length: 100 } },
})

const [url] = process.argv.slice(2)
const isFile = url.startsWith('sqlite:')
const source = new DataSource({
  ...(isFile ? { type: 'better-sqlite3', database: url.slice('sqlite:'.length) } : { type: 'mysql', url }),
  entities: [Order, ...entities],
  migrations,
  migrationsTransactionMode: 'none',
})
await source.initialize()
await source.runMigrations()
await source.query('CREATE TABLE orders (id integer NOT NULL PRIMARY KEY, text varchar(100) NOT NULL)')

const store = await attachStore(source)
const place = async (id, manager, groups) => {
  await manager.insert(Order, { id, text: 'a' })
  await groups.append('customer:1', { payload: { id } })
}
await source.transaction((manager) => place(1, manager, store.within(manager).groups))
const failed = source.transaction(async (manager) => {
  await place(2, manager, store.within(manager).groups)
  throw new Error('no')
})
await assert.rejects(failed, /no/)
await store.transaction(({ manager, groups }) => place(3, manager, groups))
assert.deepEqual(
  (await source.getRepository(Order).find({ order: { id: 'ASC' } })).map(({ id }) => id),
  [1, 3],
)
const { items } = await new RecentRepository(source).recent('customer:1')
assert.deepEqual(
  items.map(({ payload }) => payload.id),
  [3, 1],
)
const RecentItem = entities.find(({ name }) => name === 'RecentItem')
assert.equal(await source.getRepository(RecentItem).count(), 2)

const app = express()
// Express 4 leaves an empty body behind where it reads none.
app.use(express.urlencoded({ extended: false }))
app.use(
  '/activity',
  createRouter(store, { access: (request, scope) => scope === 'read' || request.get('X-User') === 'anna' }),
)
app.use('/admin/recentn', createDashboard(store, { access: (request) => request.get('Cookie') === 'user=anna' }))
const server = app.listen(0, '127.0.0.1')
await once(server, 'listening')
const origin = `http://127.0.0.1:${server.address().port}`
const items_ = `${origin}/activity/v1/groups/customer:1/items`
const post = (headers) =>
  fetch(items_, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: '{"payload": {"id": 4}}',
  })
assert.equal((await post({})).status, 403)
assert.equal((await post({ 'X-User': 'anna' })).status, 201)
const page = await (await fetch(`${items_}?limit=2`)).json()
assert.deepEqual(
  page.items.map(({ payload }) => payload.id),
  [4, 3],
)
assert.equal((await fetch(`${items_}?limit=0`)).status, 400)

const dashboard = await fetch(`${origin}/admin/recentn?a`)
assert.equal(dashboard.url, `${origin}/admin/recentn/?a`)
const pageText = await dashboard.text()
for (const [, name] of pageText.matchAll(/(?:src|href)="([^"]+)"/g)) {
  const file = await fetch(new URL(name, dashboard.url), { headers: { Cookie: 'user=anna' } })
  assert.equal(file.status, 200, name)
}
const purge = (headers) =>
  fetch(`${origin}/admin/recentn/v1/policies/none`, { method: 'DELETE', headers: { Cookie: 'user=anna', ...headers } })
assert.equal((await purge({})).status, 404)
assert.equal((await purge({ Origin: 'http://example.org' })).status, 403)

server.closeAllConnections()
await new Promise((resolve) => server.close(resolve))
await store.close()
await source.destroy()
