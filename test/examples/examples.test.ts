/** Runs every example, over sockets where it is an app. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createShopApp } from '../../examples/mounted-router'
import * as invoicing from '../../examples/order-invoices'
import { main as ownTransaction } from '../../examples/own-transaction'
import { main as pollOrders } from '../../examples/poll-orders'
import * as searching from '../../examples/search-index'
import { attachStore, type Message, openStore, type Store } from '../../src/index'
import { testStore } from '../../src/testing/index'
import { serve } from './support'

/** Here, beside this file, what jest finds by itself (someone-elses.test.ts), and the folders by `npm run test:examples`. */
const KNOWN = [
  'README.md',
  'append-log.ts',
  'cron-poller.ts',
  'last-viewers.ts',
  'mounted-router.ts',
  'nestjs',
  'order-invoices.ts',
  'outbox.ts',
  'own-transaction.ts',
  'poll-orders.ts',
  'python',
  'search-index.ts',
  'shop',
  'someone-elses.test.ts',
]

describe('examples', () => {
  let store: Store
  const undo: (() => void)[] = []

  beforeEach(async () => {
    store = await openStore({ url: 'sqlite::memory:' })
  })
  afterEach(async () => {
    for (const step of undo.splice(0)) step()
    await store.close()
  })

  it('are all run', () => {
    expect(readdirSync(join(__dirname, '../../examples')).sort()).toEqual(KNOWN)
  })

  const shopFile = (): string => {
    const folder = mkdtempSync(join(tmpdir(), 'recentn-example-'))
    undo.push(() => rmSync(folder, { recursive: true, force: true }))
    return join(folder, 'shop.db')
  }

  it('own-transaction: the order and its history entry roll back together', async () => {
    const { orders, history } = await ownTransaction(shopFile())
    expect(orders.map(({ id }) => id)).toEqual([1, 3])
    expect(history).toEqual([
      { order: 3, cents: 20_000 },
      { order: 1, cents: 60_000 },
    ])
  })

  it('poll-orders: an invoice for each order of the table, by two pollers at once; an order that fails twice is refused', async () => {
    const { invoices, orders, results } = await pollOrders(shopFile())
    expect(invoices).toEqual([
      { order: 1, cents: 60_000 },
      { order: 2, cents: 20_000 },
    ])
    expect(orders.map(({ status }) => status)).toEqual(['invoiced', 'invoiced', 'refused'])
    const sum = (key: 'claimed' | 'done' | 'retried' | 'failed') => results.reduce((all, one) => all + one[key], 0)
    expect([sum('claimed'), sum('done'), sum('retried'), sum('failed')]).toEqual([4, 2, 1, 1])
  })

  it('order-invoices: an invoice for each order that there is; an order that fails twice is a dead letter', async () => {
    const { invoices, history, dead } = await invoicing.main(shopFile())
    expect(invoices).toEqual([
      { id: expect.any(Number), order: 1, cents: 60_000 },
      { id: expect.any(Number), order: 2, cents: 20_000 },
    ])
    expect(history).toEqual([{ order: 2 }, { order: 1 }])
    expect(dead).toEqual([{ body: { order: 3 }, lastError: expect.stringContaining('Order') }])
  })

  it('order-invoices: a message that is handed out twice makes one invoice', async () => {
    const source = await invoicing.createDataSource(shopFile()).initialize()
    const shop = await attachStore(source)
    try {
      await invoicing.createQueues(shop)
      await invoicing.placeOrder(shop, { id: 7, customer: 'fred', cents: 100 })
      // The first claim holds nothing, as when its visibility timeout has passed.
      const [late] = await shop.queues.receive(invoicing.QUEUE, { visibilityTimeoutSeconds: 0 })
      const [message] = await shop.queues.receive(invoicing.QUEUE, { waitSeconds: 5 })
      expect([late?.id, late?.receiveCount, message?.receiveCount]).toEqual([message?.id, 1, 2])
      await expect(invoicing.writeInvoice(shop, late as Message)).rejects.toMatchObject({ code: 'stale_receipt' })
      await invoicing.writeInvoice(shop, message as Message)
      await expect(invoicing.writeInvoice(shop, message as Message)).rejects.toMatchObject({ code: 'stale_receipt' })
      const invoices = await source.getRepository(invoicing.Invoice).find()
      expect(invoices).toEqual([expect.objectContaining({ order: 7, cents: 100 })])
      expect(await shop.queues.message(invoicing.QUEUE, (message as Message).id)).toBeNull()
    } finally {
      await shop.close()
      await source.destroy()
    }
  })

  it('search-index: sees the last change of each user, and who is gone', async () => {
    const { User } = searching
    const shop = await testStore({ entities: [User], migrations: [searching.Users1764000000001] })
    const users = shop.dataSource.getRepository(User)
    await searching.followUsers(shop)
    const index = new searching.SearchIndex()
    searching.keepUp(shop, index)
    await users.insert([
      { name: 'fred', about: 'reads and writes' },
      { name: 'anna', about: 'reads' },
    ])
    await shop.consumed('users')
    expect(index.find('reads').sort()).toEqual(['anna', 'fred'])
    // The last one that was published changes again: a number that was used before would hide it from the indexer.
    await users.update({ name: 'anna' }, { about: 'sings', syncId: null })
    await searching.removeUser(shop, 'fred')
    await users.insert({ name: 'jim', about: 'reads' })
    await shop.consumed('users')
    expect(index.find('reads')).toEqual(['jim'])
    expect((await shop.feeds.cursor('users', 'search-index')).lag).toBe(0)
    await shop.close()
  })

  it('search-index: one that is killed continues from its cursor, one that was away too long starts over', async () => {
    const { User } = searching
    const shop = await testStore({
      entities: [User],
      migrations: [searching.Users1764000000001],
      feeds: { tombstoneSeconds: 10 },
    })
    await searching.followUsers(shop)
    await shop.dataSource.getRepository(User).insert(['fred', 'anna', 'jim'].map((name) => ({ name, about: 'reads' })))
    await shop.published()
    const killed = new searching.SearchIndex()
    const { changes } = await shop.feeds.changes('users', { limit: 2 })
    for (const change of changes) killed.apply(change) // and its cursor is not saved
    const index = new searching.SearchIndex()
    const known = () => index.find('reads').sort().join()
    const consuming = searching.keepUp(shop, index)
    await shop.consumed('users')
    expect(known()).toBe('anna,fred,jim')
    await consuming.stop()

    await searching.removeUser(shop, 'fred')
    await shop.published()
    await shop.clock.advance('11 s')
    searching.keepUp(shop, index)
    await shop.consumed('users')
    expect(known()).toBe('anna,jim')
    await shop.close()
  })

  it('mounted-router: below its path, behind the login of the app', async () => {
    const { url, close } = await serve(createShopApp(store))
    undo.push(close)
    const items = `${url}/activity/v1/groups/product%3A7/items`
    const ask = async (target: string, method = 'GET', user?: string, body?: unknown) => {
      const headers = { 'Content-Type': 'application/json', ...(user !== undefined && { 'X-User': user }) }
      const answer = await fetch(target, {
        method,
        headers,
        body: body === undefined ? undefined : JSON.stringify(body),
      })
      const text = await answer.text()
      return {
        status: answer.status,
        body: answer.headers.get('Content-Type')?.includes('json') ? JSON.parse(text) : text,
      }
    }
    expect(await ask(items, 'POST', undefined, { payload: 1 })).toMatchObject({
      status: 401,
      body: { code: 'unauthorized' },
    })
    const appended = await ask(items, 'POST', 'fred', { member: 'fred', payload: { stars: 5 } })
    expect(appended).toMatchObject({ status: 201, body: { group: 'product:7', id: '0', payload: { stars: 5 } } })
    expect(await ask(items)).toMatchObject({ status: 200, body: { totalAppended: '1', items: [appended.body] } })

    const erase = `${url}/activity/v1/members/fred/items`
    expect(await ask(erase, 'DELETE', 'fred')).toMatchObject({ status: 403, body: { code: 'forbidden' } })
    expect(await ask(erase, 'DELETE', 'anna')).toEqual({ status: 200, body: { deleted: 1 } })
    expect((await ask(items)).body.items).toEqual([])

    expect((await ask(`${url}/activity/openapi.json`)).body.servers).toEqual([{ url: '/activity' }])
    expect(await ask(`${url}/`)).toEqual({ status: 200, body: 'the rest of the shop' })
    expect((await ask(`${url}/v1/groups`)).status).toBe(404)

    const dashboard = `${url}/admin/recentn`
    expect((await ask(dashboard)).body).toContain('dashboard/app.js')
    expect((await ask(`${dashboard}/v1/groups`)).status).toBe(401)
    expect((await ask(`${dashboard}/v1/groups`, 'GET', 'fred')).status).toBe(403)
    const asAnna = await fetch(`${dashboard}/v1/groups`, { headers: { Cookie: 'theme=dark; user=anna' } })
    expect(await asAnna.json()).toMatchObject({ groups: [{ group: 'product:7' }] })
  })
})
