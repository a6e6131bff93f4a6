import 'reflect-metadata'
import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import type { INestApplication } from '@nestjs/common'
import { Test } from '@nestjs/testing'
import { type TestStore, testStore } from 'recentn/testing'
import { ShopModule } from '../src/app.module.js'
import { Invoice, Order, Product } from '../src/entities.js'
import { Mailer } from '../src/mailer.js'
import { STORE } from '../src/recentn.module.js'
import { ShopService } from '../src/shop.service.js'

let store: TestStore
let app: INestApplication
let url: string
let mails: unknown[]

beforeEach(async () => {
  store = await testStore({ entities: [Product, Order, Invoice] })
  mails = []
  const built = await Test.createTestingModule({ imports: [ShopModule] })
    .overrideProvider(STORE)
    .useValue(store)
    .overrideProvider(Mailer)
    .useValue({ deliver: async (mail: unknown) => mails.push(mail) })
    .compile()
  app = built.createNestApplication()
  await app.listen(0, '127.0.0.1')
  url = await app.getUrl()
})
afterEach(() => app.close()) // closes the store, too

const headers = { 'X-User': 'ann', 'Content-Type': 'application/json' }

test('a product shows who else looked at it', async () => {
  await fetch(`${url}/products/1`, { headers: { 'X-User': 'bob' } })
  const answer = await fetch(`${url}/products/1`, { headers })
  assert.deepEqual(await answer.json(), { alsoViewedBy: ['bob'] })
})

test('an order is mailed, and invoiced', async () => {
  const answer = await fetch(`${url}/orders`, { method: 'POST', headers, body: JSON.stringify({ product: 1 }) })
  assert.deepEqual(await answer.json(), { order: 1 })
  await store.drain('mail')
  assert.deepEqual(mails, [{ to: 'ann', text: 'Thank you for order 1' }])
  await store.polled(Order)
  assert.equal(await store.dataSource.getRepository(Invoice).countBy({ order: 1 }), 1)
})

test('the search follows the products', async () => {
  await app.get(ShopService).putProduct(1, 'a red bicycle')
  await store.consumed('products')
  const answer = await fetch(`${url}/search?q=red`, { headers })
  assert.deepEqual(await answer.json(), { products: [1] })
})

test('the report is mailed at night', async () => {
  await store.clock.advance('24 h')
  await store.drain('mail')
  assert.deepEqual(mails[0], { to: 'office@shop.example', text: 'The nightly report' })
})
