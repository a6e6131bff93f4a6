import 'reflect-metadata'
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, test } from 'node:test'
import { type TestStore, testStore } from 'recentn/testing'
import { createApp } from '../src/app.js'
import { Invoice, Order, Product } from '../src/entities.js'
import { type Mail, Shop } from '../src/shop.js'

let store: TestStore
let shop: Shop
let mails: Mail[]
let server: Server

beforeEach(async () => {
  store = await testStore({ entities: [Product, Order, Invoice] })
  mails = []
  shop = new Shop(store, async (mail) => {
    if (mail.to === 'nobody') throw new Error('there is no such address')
    mails.push(mail)
  })
  await shop.setUp()
  shop.start()
  server = createApp(store, shop).listen(0, '127.0.0.1')
  await once(server, 'listening')
})
afterEach(async () => {
  server.close()
  server.closeAllConnections()
  await store.close()
})

async function ask(
  path: string,
  user: string,
  body?: object,
): Promise<{ status: number; json: unknown; text: string }> {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`
  const answer = await fetch(url, {
    method: body ? 'POST' : 'GET',
    headers: { 'X-User': user, 'Content-Type': 'application/json' },
    body: body && JSON.stringify(body),
  })
  const text = await answer.text()
  const isJson = answer.headers.get('Content-Type')?.includes('json')
  return { status: answer.status, json: isJson ? JSON.parse(text) : null, text }
}

test('a product shows who else looked at it', async () => {
  await ask('/products/1', 'ann')
  await ask('/products/1', 'bob')
  const { json } = await ask('/products/1', 'cleo')
  assert.deepEqual(json, { alsoViewedBy: ['bob', 'ann'] })
})

test('an order is mailed, and invoiced once', async () => {
  const { status, json } = await ask('/orders', 'ann', { product: 1 })
  assert.deepEqual([status, json], [201, { order: 1 }])
  await store.drain('mail')
  assert.deepEqual(mails, [{ to: 'ann', text: 'Thank you for order 1' }])
  await store.polled(Order)
  assert.equal(await store.dataSource.getRepository(Invoice).countBy({ order: 1 }), 1)
})

test('a mail that has no valid address is tried again, and dead in the end', async () => {
  await shop.order(1, 'nobody')
  for (let attempt = 1; attempt <= 5; attempt++) {
    await store.drain('mail')
    await store.clock.advance('20 min')
  }
  const { messages } = await store.queues.peek('mail-dead', { state: 'ready' })
  assert.equal(messages[0]?.lastError, 'there is no such address')
})

test('the search follows the products', async () => {
  await shop.putProduct(1, 'a red bicycle')
  await shop.putProduct(2, 'a red car')
  await store.consumed('products')
  assert.deepEqual((await ask('/search?q=red', 'ann')).json, { products: [1, 2] })
  await shop.putProduct(2, 'a blue car')
  await store.consumed('products')
  assert.deepEqual((await ask('/search?q=red', 'ann')).json, { products: [1] })
})

test('the report is mailed at night', async () => {
  await store.clock.advance('24 h')
  await store.drain('mail')
  assert.deepEqual(mails[0], { to: 'office@shop.example', text: 'The nightly report' })
})

test('REST and the dashboard are for the admin', async () => {
  await shop.view(1, 'ann')
  assert.equal((await ask('/activity/v1/groups/product:1/items', 'ann')).status, 401)
  const { json } = await ask('/activity/v1/groups/product:1/items', 'admin')
  assert.equal((json as { items: { member: string }[] }).items[0]?.member, 'ann')
  assert.match((await ask('/dashboard/', 'admin')).text, /<!doctype html>/i)
})
