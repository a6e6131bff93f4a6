/** The events of a group, as server-sent events: over real connections, and with a second store on the database. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import express from 'express'
import { createApp, messagesOf } from '../../src/http/process/app'
import { listen } from '../../src/http/process/listen'
import { createRouter } from '../../src/http/router'
import { RecentnError } from '../../src/shared/errors'
import { openStore } from '../../src/store/open'
import { soonMs } from '../support/timing'
import { fresh, memoryStore, serving } from './support/client'
import { schemaFault } from './support/documented'
import { useStreamServer, watchedOf } from './support/stream-server'
import { eventually, inShort, listening, pause } from './support/streams'

const at = useStreamServer()

describe('a stream', () => {
  test('begins with a comment, so that the client knows it is connected, and with nothing of the past', async () => {
    const group = fresh()
    await at.store.groups.append(group)
    const stream = await listening(at.server.url, `/v1/groups/${group}/stream`)
    await eventually('a place to come back to', () => stream.text().includes('id: '))
    expect(stream.text()).toBe(': connected\nretry: 1000\n\nid: 0\n\n')
    expect(stream.status).toBe(200)
    expect(Object.fromEntries(stream.headers)).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      'x-request-id': expect.any(String),
    })
    expect(stream.headers.has('content-length')).toBe(false)
  })

  test('of a busy distinct group begins with nothing of the past, and again where it was cut off with a reset', async () => {
    const group = fresh()
    const path = `/v1/groups/${group}/stream`
    await at.store.groups.put(group, { mode: 'distinct' })
    const busy = (count: number) => Array.from({ length: count }, () => ({ group, member: 'busy' }))
    await at.store.groups.appendMany([{ group, member: 'old' }, ...busy(200)])
    const streams = [
      await listening(at.server.url, path),
      await listening(at.server.url, `${path}?after=200`),
      await listening(at.server.url, path, { 'Last-Event-ID': '200' }),
    ]
    await streams[2]?.until(1)
    await at.store.groups.appendMany(busy(1))
    await Promise.all(streams.map((stream) => stream.until(1)))
    expect(streams.map((stream) => inShort(stream)[0])).toEqual(['-200', '-200', 'reset'])
  })

  test('gives items as reading them does, removals, and says when to read again, as documented', async () => {
    const group = fresh('a/ü')
    const path = `/v1/groups/${encodeURIComponent(group)}`
    const stream = await listening(at.server.url, `${path}/stream`)
    const body = '{"member":"m","payload":{"n":\r\n 1.50,\n"big":12345678901234567890}}'
    await at.server.request('POST', `${path}/items`, { body })
    await at.server.post(`${path}/items`, { eventId: 'e', occurredAt: '2026-01-01T00:00:00+01:00' })
    await stream.until(2)
    const page = await at.server.get(`${path}/items`)
    expect(stream.events).toEqual([
      { event: 'item', id: '0', data: page.json.items?.[1] },
      { event: 'item', id: '1', data: page.json.items?.[0] },
    ])
    expect(stream.text()).toContain('data: {"group"')
    expect(stream.text()).toContain('12345678901234567890')
    await at.server.delete(`${path}/items/0`)
    await stream.until(3)
    await at.server.put(path, { capacity: 3 })
    await stream.until(4)
    await at.server.delete(path)
    await stream.until(5)
    expect(stream.events.slice(2)).toEqual([
      { event: 'removed', id: null, data: { id: '0' } },
      { event: 'reset', id: '1', data: { group, capacity: 3, mode: 'history', totalAppended: '2' } },
      { event: 'reset', id: '-1', data: { group, capacity: 10, mode: 'history', totalAppended: '0' } },
    ])
    const schemas = { item: 'Item', removed: 'GroupRemoved', reset: 'GroupReset' } as Record<string, string>
    for (const { event, data } of stream.events) expect(schemaFault(schemas[event] as string, data)).toBeNull()
  })

  test('hears what another store on the database commits, and continues after a reconnection', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'recentn-stream-'))
    const url = `sqlite:${join(folder, 'groups.db')}`
    const [here, there] = [await openStore({ url }), await openStore({ url })]
    const { url: address } = await at.served(here)
    const stream = await listening(address, '/v1/groups/g/stream')
    await pause(600)
    await there.groups.appendMany([{ group: 'g' }, { group: 'g' }])
    await stream.until(2)
    stream.close()
    await there.groups.append('g')
    await there.groups.remove('g', 0n)
    const again = await listening(address, '/v1/groups/g/stream', { 'Last-Event-ID': '1' })
    await again.until(2)
    await there.groups.append('g')
    await again.until(3)
    expect([inShort(stream), inShort(again)]).toEqual([
      ['+0', '+1'],
      ['-0', '+2', '+3'],
    ])
    again.close()
    await eventually('all to be freed', () => watchedOf(here) === 0)
    await Promise.all([here.close(), there.close()])
    rmSync(folder, { recursive: true })
  })

  test('sends heartbeats while nothing happens', async () => {
    const since = performance.now()
    const stream = await listening(at.server.url, `/v1/groups/${fresh()}/stream`)
    const beats = () => stream.text().split(': heartbeat\n\n').length - 1
    await eventually('three heartbeats', () => beats() >= 3)
    // One each 300 ms, as the support of these tests has it; they are no events.
    expect(beats()).toBeLessThanOrEqual(1 + (performance.now() - since) / 290)
    expect(stream.events).toEqual([])
  })

  test('continues from `after`, unless a Last-Event-ID says more', async () => {
    const group = fresh()
    await at.store.groups.appendMany(Array.from({ length: 14 }, () => ({ group })))
    const path = `/v1/groups/${group}/stream`
    const streams = [
      await listening(at.server.url, `${path}?after=11`),
      await listening(at.server.url, `${path}?after=5`, { 'Last-Event-ID': '12' }),
      await listening(at.server.url, `${path}?after=2`),
    ]
    await pause(100)
    await at.store.groups.append(group)
    for (const stream of streams) await stream.until(2)
    expect(streams.map(inShort)).toEqual([
      ['+12', '+13', '+14'],
      ['+13', '+14'],
      ['reset', '+14'],
    ])
  })

  test('continues from -1, where nothing was yet, and says so to a client that begins then', async () => {
    const group = fresh()
    const path = `/v1/groups/${group}/stream`
    const before = await listening(at.server.url, path)
    await eventually('a place to come back to', () => before.text().endsWith('id: -1\n\n'))
    before.close()
    await at.store.groups.appendMany([{ group }, { group }, { group }])
    await at.store.groups.remove(group, 1n)
    const streams = [
      await listening(at.server.url, path, { 'Last-Event-ID': '-1' }),
      await listening(at.server.url, `${path}?after=-1`),
    ]
    for (const stream of streams) await stream.until(2)
    await at.store.groups.append(group)
    for (const stream of streams) await stream.until(3)
    expect(streams.map(inShort)).toEqual([
      ['+0', '+2', '+3'],
      ['+0', '+2', '+3'],
    ])
    await at.store.groups.appendMany(Array.from({ length: 10 }, () => ({ group })))
    const late = await listening(at.server.url, `${path}?after=-1`)
    await late.until(1)
    expect(inShort(late)).toEqual(['reset'])
  })

  test('is refused, as a problem, for what is not valid', async () => {
    const headers = { 'Last-Event-ID': '-2' }
    const answer = await at.server.get('/v1/groups/g/stream?after=x&more=1', headers)
    expect(answer.status).toBe(400)
    const parameters = answer.json.errors as unknown as { parameter: string }[]
    expect(parameters.map(({ parameter }) => parameter).sort()).toEqual(['Last-Event-ID', 'after', 'more'])
    expect((await at.server.post('/v1/groups/g/stream', {})).status).toBe(405)
  })

  test('answers HEAD without beginning', async () => {
    const answer = await at.server.request('HEAD', '/v1/groups/g/stream')
    expect([answer.status, answer.headers['content-type'], answer.text]).toEqual([200, 'text/event-stream', ''])
    expect(watchedOf(at.store)).toBe(0)
  })
})

describe('streams end', () => {
  test('at once when the server stops, and it stops', async () => {
    const stopping = new AbortController()
    const app = createApp(at.store, { allowAnonymous: false, stopping: stopping.signal })
    const { url, stop } = await listen(app, '127.0.0.1', 0, messagesOf(app))
    const streams = await Promise.all([1, 2, 3].map(() => listening(url, `/v1/groups/${fresh()}/stream`, {})))
    const begun = performance.now()
    const stopped = stop()
    stopping.abort()
    await Promise.all(streams.map(({ ended }) => ended))
    await stopped
    expect(performance.now() - begun).toBeLessThan(soonMs())
  })

  test('when the store closes; who comes later gets 503', async () => {
    const closing = await memoryStore()
    const { url } = await at.served(closing, { onError: () => {} })
    const stream = await listening(url, '/v1/groups/g/stream')
    await closing.close()
    await stream.ended
    const later = await listening(url, '/v1/groups/g/stream')
    expect(later.status).toBe(503)
  })
})

describe('in the app of a user', () => {
  test('asks for access, tells a middleware that collects what is written, and works where it is mounted', async () => {
    const scopes: string[] = []
    let flushed = 0
    const app = express()
    app.use((_request, response, next) => {
      Object.assign(response, { flush: () => void flushed++ })
      next()
    })
    const access = (request: express.Request, scope: string) => {
      scopes.push(scope)
      if (request.headers.authorization === undefined) throw new RecentnError('unauthorized')
      return true
    }
    app.use('/activity', createRouter(at.store, { access }))
    const url = await serving(app)
    const group = fresh()
    expect((await listening(url, `/activity/v1/groups/${group}/stream`)).status).toBe(401)
    const stream = await listening(url, `/activity/v1/groups/${group}/stream`, { Authorization: 'Bearer x' })
    await at.store.groups.append(group)
    await stream.until(1)
    expect([scopes, flushed >= 2, inShort(stream)]).toEqual([['read', 'read'], true, ['+0']])
  })
})
