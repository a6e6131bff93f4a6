/** How many queues, schedules, policies and feeds a key that is confined to a prefix may create within it. */
import express from 'express'
import { createRouter } from '../../src/http/router'
import { type Client, clientOf, memoryStore, serving } from './support/client'
import { served, useGuarded } from './support/keys'

const KINDS = ['queues', 'schedules', 'policies', 'feeds'] as const
type Kind = (typeof KINDS)[number]

/** Creates, or changes, the thing of this name. */
const put: Record<Kind, (client: Client, name: string) => ReturnType<Client['put']>> = {
  queues: (client, name) => client.put(`/v1/queues/${name}`, {}),
  schedules: (client, name) =>
    client.put(`/v1/schedules/${name}`, { queue: `${name.slice(0, 3)}0`, everySeconds: 3600, body: null }),
  policies: (client, name) => client.put(`/v1/policies/${name}`, { capacity: 5, mode: 'history', ttlSeconds: null }),
  feeds: (client, name) => client.put(`/v1/feeds/${name}/entries/key`, { value: 1 }),
}

const MAX = { queues: 2, schedules: 3, policies: 2, feeds: 2 }

describe.each(served)('the bound of a prefix on %s', (engine) => {
  const guarded = useGuarded(engine, {}, { maxPerPrefix: MAX })
  const clients = {} as Record<'confined' | 'neighbour' | 'free', Client>
  beforeAll(async () => {
    clients.confined = await guarded.client({ scopes: ['admin', 'feed', 'queue'], prefix: 'in:' })
    clients.neighbour = await guarded.client({ scopes: ['admin', 'feed', 'queue'], prefix: 'in;' })
    clients.free = await guarded.client({ scopes: ['admin', 'feed', 'queue'] })
    // These do not begin with the prefix, but are beside it.
    for (const name of ['in', 'in;0']) {
      for (const kind of ['queues', 'policies', 'feeds'] as const) await put[kind](clients.free, name)
    }
    await put.queues(clients.free, 'in:0')
  })

  test.each(KINDS)('%s: what exists may be changed, and no more created', async (kind) => {
    const { confined, neighbour, free } = clients
    const most = MAX[kind]
    for (let n = 0; n < most; n++) expect((await put[kind](confined, `in:${n}`)).status).toBeLessThan(300)
    const refused = await put[kind](confined, 'in:more')
    expect([refused.status, refused.json.code]).toEqual([409, 'too_many'])
    const setting = `RECENTN_MAX_${kind.toUpperCase()}_PER_PREFIX`
    expect(refused.json.detail).toBe(
      `${most} ${kind} or more have names that begin with "in:", and more may not be created (${setting})`,
    )
    expect((await free.get(`/v1/${kind}/in:more`)).status).toBe(404)
    expect((await put[kind](confined, 'in:0')).status).toBe(200)

    // Neither is another prefix full, nor is there a bound for access to all names.
    expect((await put[kind](neighbour, 'in;first')).status).toBeLessThan(300)
    expect((await put[kind](free, 'in:more')).status).toBeLessThan(300)
    expect((await put[kind](confined, 'in:more')).status).toBe(200)
    expect((await put[kind](confined, 'in:other')).status).toBe(409)
    for (const name of ['in:more', 'in:1']) expect((await confined.delete(`/v1/${kind}/${name}`)).status).toBe(204)
    expect((await put[kind](confined, 'in:other')).status).toBeLessThan(300)
    // It was there a moment ago, and another one has its place now.
    expect((await put[kind](confined, 'in:1')).status).toBe(409)
  })

  test('ensuring a queue creates one, and putting many entries creates a feed', async () => {
    const { confined } = clients
    const ensured = await confined.ensure('/v1/queues/in:ensured')
    const entries = await confined.post('/v1/feeds/in:entries/entries', { entries: [{ key: 'a', value: 1 }] })
    expect([ensured.json.code, entries.json.code]).toEqual(['too_many', 'too_many'])
    expect((await confined.ensure('/v1/queues/in:0')).status).toBe(412)
  })
})

test('by default a prefix has room for 1,000, in your own app too, and nothing is asked of access to all names', async () => {
  const store = await memoryStore({ publish: false, tick: false })
  const app = express()
  app.use('/confined', createRouter(store, { access: () => ({ prefix: 'in:' }) }))
  app.use('/wider', createRouter(store, { access: () => ({ prefix: 'in:' }), maxPerPrefix: { feeds: 1002 } }))
  const url = await serving(app)
  const [confined, wider] = [clientOf(url, '/confined'), clientOf(url, '/wider')]
  for (let n = 0; n < 999; n++) await store.feeds.put(`in:${n}`, 'key', n)
  expect((await put.feeds(confined, 'in:999')).status).toBe(200)
  const refused = await put.feeds(confined, 'in:1000')
  expect([refused.status, refused.json.detail]).toEqual([409, expect.stringContaining('(maxPerPrefix.feeds)')])
  expect((await put.feeds(wider, 'in:1000')).status).toBe(200)
  expect((await put.queues(wider, 'in:queue')).status).toBe(201)
})

test('a bound is a whole number, and of a kind that there is', async () => {
  const store = await memoryStore()
  const made = (maxPerPrefix: unknown) => () => createRouter(store, { access: 'keys', maxPerPrefix } as never)
  for (const wrong of [7, null, { queues: 0 }, { feeds: 'many' }, { groups: 3 }, { policies: 1.5 }]) {
    expect(made(wrong)).toThrow('must be an object of whole numbers of at least 1')
  }
  expect(made({ queues: 5, schedules: undefined })).not.toThrow()
})
