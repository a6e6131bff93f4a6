import express from 'express'
import fc from 'fast-check'
import { Registry } from 'prom-client'
import { createMetrics, createRouter } from '../../src/index'
import { innerOf } from '../../src/store/inner'
import { stopwatch } from '../support/timing'
import { type Client, clientOf, memoryStore, send, serving, startApp } from './support/client'
import { amountOf, parsedMetrics, type Sample } from './support/exposition'
import { withKey } from './support/keys'
import { closeStreams, eventually, listening, pause } from './support/streams'

afterEach(closeStreams)

async function scrape(server: Pick<Client, 'get'>): Promise<Sample[]> {
  const answer = await server.get('/metrics')
  expect([answer.status, answer.headers['content-type']]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8'])
  return parsedMetrics(answer.text)
}

describe('the metrics', () => {
  test('of requests move by route, method and status', async () => {
    const server = await startApp()
    await server.post('/v1/groups/a%2Fb/items', { member: 'm' })
    await server.post('/v1/groups/other/items', { member: 'm' })
    await server.get('/v1/groups/a%2Fb/items')
    await server.request('HEAD', '/v1/groups/a%2Fb/items')
    await server.get('/v1/groups/nobody')
    await server.get('/v1/groups?limit=x')
    await server.request('PATCH', '/v1/groups')
    await server.get('/nowhere')
    await send(server.url, 'GET', '/v1/groups', { headers: { Host: 'example.org' } })
    const samples = await scrape(server)
    const of = (route: string, method: string, status: string) =>
      amountOf(samples, 'recentn_http_requests_total', { route, method, status })
    expect(of('/v1/groups/{group}/items', 'POST', '201')).toBe(2)
    expect(of('/v1/groups/{group}/items', 'GET', '200')).toBe(1)
    expect(of('/v1/groups/{group}/items', 'HEAD', '200')).toBe(1)
    expect(of('/v1/groups/{group}', 'GET', '404')).toBe(1)
    expect(of('/v1/groups', 'GET', '400')).toBe(1)
    expect(of('/v1/groups', 'other', '405')).toBe(1)
    expect(of('unknown', 'GET', '404')).toBe(1)
    expect(of('unknown', 'GET', '403')).toBe(1)
    const durations = { route: '/v1/groups/{group}/items', method: 'POST' }
    expect(amountOf(samples, 'recentn_http_request_duration_seconds_count', durations)).toBe(2)
    expect(amountOf(samples, 'recentn_http_request_duration_seconds_sum', durations)).toBeGreaterThan(0)
    expect(amountOf(samples, 'recentn_http_problems_total', { code: 'invalid_input' })).toBe(1)
    expect(amountOf(samples, 'recentn_http_problems_total', { code: 'forbidden' })).toBe(1)
    expect(amountOf(samples, 'recentn_http_requests_in_flight')).toBe(1)
    expect(amountOf(samples, 'recentn_build_info')).toBe(1)
  })

  test('of items, messages and entries move, batches too', async () => {
    const server = await startApp()
    await Promise.all(Array.from({ length: 20 }, (_, n) => server.post('/v1/groups/g/items', { member: `${n}` })))
    await server.post('/v1/groups/g/items', { eventId: 'e' })
    await server.post('/v1/groups/g/items', { eventId: 'e' })
    await server.get('/v1/items?group=g&group=h')
    await server.put('/v1/queues/q', {})
    await server.post('/v1/queues/q/messages', { messages: [{ body: 1 }, { body: 2 }, { body: 3, dedupId: 'd' }] })
    await server.post('/v1/queues/q/messages', { body: 3, dedupId: 'd' })
    const { json } = await server.post('/v1/queues/q/receive', { limit: 3 })
    const [first, second, third] = (json.messages as unknown as { receiptHandle: string }[]).map(
      (one) => one.receiptHandle,
    )
    await server.post('/v1/queues/q/ack', { receiptHandles: [first, 'nonsense'] })
    await server.post('/v1/queues/q/nack', { receiptHandles: [second] })
    await server.post('/v1/queues/q/extend', { receiptHandles: [third], visibilityTimeoutSeconds: 60 })
    await server.put('/v1/feeds/f/entries/k', { value: 1 })
    await eventually('published', () => innerOf(server.store).counts().entriesPublished === 1)
    const samples = await scrape(server)
    const value = (name: string, labels = {}) => amountOf(samples, `recentn_${name}`, labels)
    expect([value('items_appended_total'), value('items_deduplicated_total')]).toEqual([21, 1])
    expect([value('messages_sent_total'), value('messages_deduplicated_total')]).toEqual([3, 1])
    expect(value('messages_received_total')).toBe(3)
    for (const how of ['ack', 'nack', 'extend']) expect(value('messages_settled_total', { how })).toBe(1)
    expect([value('entries_written_total'), value('entries_published_total')]).toEqual([1, 1])
    expect(value('background_rounds_total', { task: 'publish' })).toBeGreaterThan(0)
    expect(value('batch_size_sum', { kind: 'appends' })).toBe(22)
    // Twenty calls at once do not take twenty commits.
    expect(value('batch_size_count', { kind: 'appends' })).toBeLessThan(22)
    expect(value('batch_size_sum', { kind: 'reads' })).toBe(2)
    expect(value('batch_size_sum', { kind: 'sends' })).toBe(4)
    expect(value('batch_size_sum', { kind: 'entries' })).toBe(1)
  })

  test('of what is in queues and feeds are those of the database', async () => {
    let offsetMs = 0
    const store = await memoryStore({ publish: false, clockOffsetMs: () => offsetMs })
    const metrics = createMetrics(store)
    await store.queues.put('letters', {})
    await store.queues.put('q', { maxReceives: 1 })
    await store.queues.put('kept', { onAck: 'archive' })
    await store.queues.send('q', 'claimed and dead')
    const [claimed] = await store.queues.receive('q')
    await store.queues.nackMany('q', [claimed?.receiptHandle ?? ''], { dead: true })
    await store.queues.send('kept', 'done')
    const [done] = await store.queues.receive('kept')
    await store.queues.ackMany('kept', [done?.receiptHandle ?? ''])
    await store.queues.sendMany('q', [{ body: 1 }, { body: 2 }, { body: 3, delaySeconds: 600 }])
    await store.queues.receive('q')
    await store.feeds.putMany('f', [
      { key: 'a', value: 1 },
      { key: 'b', value: 1 },
    ])
    await store.feeds.publish()
    await store.feeds.moveCursor('f', 'half', 1n)
    await store.feeds.put('f', 'b', 2)
    offsetMs = 90_000
    const samples = parsedMetrics(await metrics.text())
    const states = ['ready', 'in_flight', 'delayed', 'dead', 'archived'] as const
    expect(states.map((state) => amountOf(samples, 'recentn_queue_messages', { state }))).toEqual([1, 1, 1, 1, 1])
    expect(amountOf(samples, 'recentn_queue_oldest_age_seconds')).toBeGreaterThanOrEqual(90)
    expect(amountOf(samples, 'recentn_queue_oldest_age_seconds')).toBeLessThan(100)
    expect(amountOf(samples, 'recentn_feed_unpublished_entries')).toBe(1)
    expect(amountOf(samples, 'recentn_feed_oldest_unpublished_seconds')).toBeGreaterThanOrEqual(90)
    expect(amountOf(samples, 'recentn_feed_consumer_lag_max')).toBe(1)
    expect(amountOf(samples, 'recentn_database_up')).toBe(1)
    // An answer is kept: scraping costs the database nothing until then.
    await store.queues.send('q', 'later')
    expect(amountOf(parsedMetrics(await metrics.text()), 'recentn_queue_messages', { state: 'ready' })).toBe(1)
  })

  test('of what waits, and of workers', async () => {
    const server = await startApp()
    await server.put('/v1/queues/q', {})
    await server.put('/v1/feeds/f/entries/k', { value: 1 })
    await eventually('published', () => innerOf(server.store).counts().entriesPublished === 1)
    const stream = await listening(server.url, '/v1/groups/g/stream')
    const long = [
      server.post('/v1/queues/q/receive', { waitSeconds: 20 }),
      server.get('/v1/feeds/f/changes?after=1&waitSeconds=20'),
    ]
    const at = innerOf(server.store)
    await eventually('both wait', () => at.counts().receivesWaiting + at.counts().changesWaiting === 2)
    const samples = await scrape(server)
    for (const what of ['messages', 'changes', 'items']) {
      expect([what, amountOf(samples, 'recentn_waiting', { for: what })]).toEqual([what, 1])
    }
    expect(amountOf(samples, 'recentn_http_requests_in_flight')).toBe(4)
    const worker = server.store.queues.work('q', async () => {})
    expect(amountOf(await scrape(server), 'recentn_workers', { kind: 'worker' })).toBe(1)
    await worker.stop()
    stream.close()
    await eventually('gone', () => innerOf(server.store).counts().groupListeners === 0)
    await server.post('/v1/queues/q/messages', { body: 1 })
    await server.put('/v1/feeds/f/entries/k', { value: 2 })
    await Promise.all(long)
    const after = await scrape(server)
    expect(amountOf(after, 'recentn_http_requests_in_flight')).toBe(1)
    // The time that a stream was open does not count as the duration of an answer.
    const route = '/v1/groups/{group}/stream'
    expect(amountOf(after, 'recentn_http_requests_total', { route, status: '200' })).toBe(1)
    expect(amountOf(after, 'recentn_http_request_duration_seconds_count', { route })).toBeNaN()
  })

  test('of the sweepers: what has expired is counted', async () => {
    let offsetMs = 0
    const store = await memoryStore({ sweep: true, clockOffsetMs: () => offsetMs })
    await store.groups.put('g', { ttlSeconds: 1 })
    await store.groups.append('g', {})
    offsetMs = 5000
    await eventually('swept', () => innerOf(store).counts().itemsSwept === 1, 5000)
    expect(innerOf(store).counts().sweeperRounds).toBeGreaterThan(0)
  })

  test('of a client that goes away count as 499', async () => {
    const server = await startApp()
    await server.put('/v1/queues/q', {})
    const leaving = new AbortController()
    const headers = { 'Content-Type': 'application/json' }
    const sent = { method: 'POST', headers, body: '{"waitSeconds":20}', signal: leaving.signal }
    const answer = fetch(`${server.url}/v1/queues/q/receive`, sent)
    await eventually('it waits', () => innerOf(server.store).counts().receivesWaiting === 1)
    leaving.abort()
    await expect(answer).rejects.toThrow()
    await eventually('it is seen to be gone', () => innerOf(server.store).counts().receivesWaiting === 0)
    const labels = { route: '/v1/queues/{queue}/receive', status: '499' }
    const isCounted = async () => amountOf(await scrape(server), 'recentn_http_requests_total', labels) === 1
    while (!(await isCounted())) await pause(20)
  })

  test('are there without the database, and say so', async () => {
    const server = await startApp()
    await server.post('/v1/groups/g/items', {})
    await server.store.close()
    const samples = await scrape(server)
    expect(amountOf(samples, 'recentn_database_up')).toBe(0)
    expect(amountOf(samples, 'recentn_items_appended_total')).toBe(1)
    expect(amountOf(samples, 'recentn_queue_messages')).toBeNaN()
    expect(amountOf(samples, 'recentn_feed_unpublished_entries')).toBeNaN()
  })

  test('come soon while the database answers nothing, and it is asked once', async () => {
    const server = await startApp()
    await server.store.transaction(async () => {
      const watch = stopwatch()
      for (const samples of await Promise.all([1, 2, 3].map(() => scrape(server)))) {
        expect(amountOf(samples, 'recentn_database_up')).toBe(0)
      }
      const { connections } = innerOf(server.store).counts()
      expect(connections).toMatchObject({ max: 1, inUse: 1 })
      await scrape(server)
      expect(watch.isBeyond(4000)).toBe(false)
      // A ping and the totals wait, whoever asks (and, it may be, a look for keys).
      expect(innerOf(server.store).counts().connections.waiting).toBeLessThanOrEqual(connections.waiting + 1)
    })
    expect(amountOf(await scrape(server), 'recentn_database_up')).toBe(1)
  })
})

test('no label has a name, and there are not more of them than routes and statuses', async () => {
  const server = await startApp({ allowAnonymous: true })
  const odd = fc
    .stringMatching(/^[\x20-\x7e\u00e4\u{1f600}"\\{}=,]{1,40}$/u)
    .filter((name) => name !== '.' && name !== '..')
  const methods = ['GET', 'PUT', 'POST', 'DELETE', 'PATCH', 'TRACE', 'PROPFIND', 'OPTIONS', 'HEAD']
  const names: string[] = []
  await fc.assert(
    fc.asyncProperty(odd, fc.constantFrom(...methods), async (text, method) => {
      const name = `zz${text}zz`
      names.push(name)
      const path = encodeURIComponent(name)
      for (const route of [
        `/v1/groups/${path}/items`,
        `/v1/queues/${path}`,
        `/v1/feeds/${path}/entries/${path}`,
        `/${path}`,
      ]) {
        const json = method === 'POST' || method === 'PUT' ? { member: name, value: name, eventId: name } : undefined
        await send(server.url, method, route, { json })
      }
    }),
    { numRuns: 150 },
  )
  const samples = await scrape(server)
  const labels = samples.flatMap((one) => Object.values(one.labels))
  expect(labels.filter((label) => label.includes('zz') || names.includes(label))).toEqual([])
  expect(new Set(samples.map((one) => one.labels.route)).size).toBeLessThan(10)
  expect(new Set(samples.map((one) => one.labels.method)).size).toBeLessThanOrEqual(9)
  expect(samples.length).toBeLessThan(1000)
})

describe('/metrics', () => {
  /** Which key a path needs once there are keys. */
  const PATHS: [path: string, key: 'none' | 'read'][] = [
    ['/', 'none'],
    ['/docs', 'none'],
    ['/openapi.json', 'none'],
    ['/livez', 'none'],
    ['/readyz', 'none'],
    ['/metrics', 'read'],
  ]
  const foreign = { Host: 'recentn.example.org' }

  test.each(PATHS)('and its neighbours: %s needs as key: %s', async (path, needed) => {
    const { store, url } = await startApp()
    const ask = async (headers: Record<string, string>) => (await send(url, 'GET', path, { headers })).status
    expect([await ask({}), await ask(foreign)]).toEqual([200, 403])
    await store.keys.create({ label: 'first', scopes: ['append'] })
    const answer = needed === 'none' ? 200 : 401
    expect([await ask({}), await ask(foreign)]).toEqual([answer, answer])
  })

  test('wants a key with the scope read and without a prefix', async () => {
    const { store, url } = await startApp()
    const status = async (key: Omit<Parameters<typeof store.keys.create>[0], 'label'>) => {
      const client = withKey(url, (await store.keys.create({ label: 'l', ...key })).key)
      return (await client.get('/metrics')).status
    }
    expect(await status({ scopes: ['read'] })).toBe(200)
    expect(await status({ scopes: ['admin'] })).toBe(200)
    expect(await status({ scopes: ['append', 'queue', 'feed'] })).toBe(403)
    expect(await status({ scopes: ['read'], prefix: 'shop:' })).toBe(403)
    expect((await send(url, 'GET', '/metrics', { headers: { Authorization: 'Bearer rk_0_0' } })).status).toBe(401)
    expect((await send(url, 'POST', '/metrics', {})).status).toBe(405)
  })
})

describe('createMetrics', () => {
  test('adds to a registry of the caller’s, and counts what its router answers', async () => {
    const store = await memoryStore()
    const registry = new Registry()
    const metrics = createMetrics(store, { registry, prefix: 'activity_' })
    const app = express()
    app.use('/my/:tenant/activity', createRouter(store, { access: 'anonymous', metrics }))
    const url = await serving(app)
    await clientOf(url, '/my/tenant-7/activity').post('/v1/groups/g/items', {})
    await send(url, 'GET', '/elsewhere', {})
    const text = await registry.metrics()
    expect(text).toBe(await metrics.text())
    const samples = parsedMetrics(text)
    const labels = { route: '/v1/groups/{group}/items', method: 'POST', status: '201' }
    expect(amountOf(samples, 'activity_http_requests_total', labels)).toBe(1)
    expect(amountOf(samples, 'activity_http_requests_total')).toBe(1)
    expect(text).not.toContain('tenant-7')
    expect((await registry.getMetricsAsJSON()).length).toBeGreaterThan(20)
    expect(() => createMetrics(store, { registry, prefix: 'activity_' })).toThrow(/already been registered/)
    registry.resetMetrics()
    expect(amountOf(parsedMetrics(await metrics.text()), 'activity_items_appended_total')).toBe(1)
  })

  test('asks the database for nothing but an answer where totals are not wanted', async () => {
    const store = await memoryStore()
    const samples = parsedMetrics(await createMetrics(store, { totals: false }).text())
    expect(amountOf(samples, 'recentn_database_up')).toBe(1)
    expect(amountOf(samples, 'recentn_queue_messages')).toBeNaN()
  })

  test('counts for OpenMetrics too', async () => {
    const store = await memoryStore()
    const registry: Registry<typeof Registry.OPENMETRICS_CONTENT_TYPE> = new Registry()
    registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE)
    const metrics = createMetrics(store, { registry })
    await store.groups.append('g', {})
    for (const text of [await metrics.text(), await metrics.text()]) {
      expect(text).toContain('\n# TYPE recentn_items_appended counter\nrecentn_items_appended_total 1\n')
      expect(text.endsWith('# EOF\n')).toBe(true)
    }
    expect(metrics.contentType).toContain('application/openmetrics-text')
  })
})
