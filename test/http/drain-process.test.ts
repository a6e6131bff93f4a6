/** How a server stops under a load balancer: not ready first, then no new connections, then everything ended cleanly. */
import { once } from 'node:events'
import http from 'node:http'
import { connect } from 'node:net'
import { createApp } from '../../src/http/process/app'
import { startServer } from '../support/processes'
import { stopwatch } from '../support/timing'
import { clientOf, memoryStore, rawExchange, send, serving } from './support/client'
import { closeStreams, eventually, listening, pause } from './support/streams'
import { untilWaiting } from './support/waiting'

afterEach(closeStreams)

test('with RECENTN_DRAIN_SECONDS it serves on, not ready, and closes connections; a second signal ends that', async () => {
  const server = await startServer({ RECENTN_DRAIN_SECONDS: '60', RECENTN_LOG_FORMAT: 'json' })
  const client = clientOf(server.url)
  expect((await client.get('/readyz')).status).toBe(200)
  const stream = await listening(server.url, '/v1/groups/g/stream')
  const stopped = server.stop()
  await eventually('it drains', () => server.output().includes('drains for 60 seconds'))
  const notReady = await client.get('/readyz')
  expect([notReady.status, notReady.json.code]).toEqual([503, 'draining'])
  expect(notReady.headers['retry-after']).toBeDefined()
  expect((await client.get('/livez')).status).toBe(200)
  // Still open to clients that did not notice, on new connections too; streams continue.
  const answer = await client.post('/v1/groups/g/items', { member: 'late' })
  expect([answer.status, answer.headers.connection]).toEqual([201, 'close'])
  await stream.until(1)
  await pause(1100)
  server.process.kill('SIGTERM')
  expect(await stopped).toEqual({ code: 0, signal: null })
  await stream.ended
  await expect(send(server.url, 'GET', '/livez', {})).rejects.toThrow()
})

test('the draining lasts as long as the setting says', async () => {
  const server = await startServer({ RECENTN_DRAIN_SECONDS: '2', RECENTN_LOG_FORMAT: 'json' })
  const began = performance.now()
  expect(await server.stop()).toEqual({ code: 0, signal: null })
  expect(performance.now() - began).toBeGreaterThan(1900)
  expect(server.output()).toContain('drains for 2 seconds')
})

test('without it, waiting requests are answered, streams end as streams, and idle connections close', async () => {
  const server = await startServer()
  const client = clientOf(server.url)
  await client.put('/v1/queues/q', {})
  await client.put('/v1/feeds/f/entries/k', { value: 1 })
  const receive = client.post('/v1/queues/q/receive', { waitSeconds: 20 })
  const changes = client.get('/v1/feeds/other/changes?waitSeconds=20').catch(() => null)
  const { hostname, port } = new URL(server.url)
  const raw = rawExchange(server.url, 'GET /v1/groups/g/stream HTTP/1.1\r\nHost: localhost\r\n\r\n', 60_000)
  const idle = connect(Number(port), hostname)
  await once(idle, 'connect')
  const closed = once(idle.resume(), 'close')
  await untilWaiting(client, 'messages', 1)
  await untilWaiting(client, 'changes', 1)
  await untilWaiting(client, 'items', 1)
  const watch = stopwatch()
  const exit = server.stop()
  expect((await receive).json.messages).toEqual([])
  expect((await receive).headers.connection).toBe('close')
  await changes
  // The last chunk, of length 0: a client sees an end and no fault.
  expect(await raw).toMatch(/HTTP\/1\.1 200 OK[\s\S]*: connected[\s\S]*\r\n0\r\n\r\n$/)
  await closed
  expect(await exit).toEqual({ code: 0, signal: null })
  expect(watch.isBeyond(5000)).toBe(false)
})

test('from the signal on, readyz says so on connections that are open', async () => {
  const draining = new AbortController()
  const store = await memoryStore()
  const onError = jest.fn()
  const url = await serving(createApp(store, { allowAnonymous: false, draining: draining.signal, onError }))
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
  const status = () =>
    new Promise((resolve, reject) => {
      http
        .get(`${url}/readyz`, { agent }, (answer) => {
          answer.resume()
          resolve(answer.statusCode)
        })
        .on('error', reject)
    })
  expect(await status()).toBe(200)
  draining.abort()
  expect(await status()).toBe(503)
  // It is no fault: a line of the log for each question would be noise.
  expect(onError).not.toHaveBeenCalled()
  expect((await send(url, 'GET', '/livez', {})).status).toBe(200)
  agent.destroy()
})
