/** The router in the app of a user whose server stops: nothing that the router began keeps it from closing. */

import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { createClient } from '../../src/client'
import { createRouter } from '../../src/http/router'
import { innerOf } from '../../src/store/inner'
import type { Store } from '../../src/store/types'
import { openedOf } from '../support/opened'
import { pause, soonMs, timed } from '../support/timing'
import { memoryStore } from './support/client'
import { eventually } from './support/streams'

let store: Store
let stopping: AbortController
let server: http.Server
let url: string

beforeEach(async () => {
  store = await memoryStore()
  stopping = new AbortController()
  const app = express()
  app.use('/activity', createRouter(store, { access: 'anonymous', stopping: stopping.signal }))
  app.get('/own', (_request, response) => void response.send('mine'))
  server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // The time that a load balancer would have: Node's 5 s are nearly soon.
  server.keepAliveTimeout = 60_000
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterEach(() => {
  server.closeAllConnections()
  server.close()
})

/** Over a connection that is kept. */
async function ask(agent: http.Agent, method: string, path: string, body?: object) {
  const request = http.request(`${url}${path}`, { agent, method, headers: { 'Content-Type': 'application/json' } })
  request.end(body && JSON.stringify(body))
  const [response] = (await once(request, 'response')) as [http.IncomingMessage]
  let text = ''
  for await (const data of response) text += data
  return { status: response.statusCode, connection: response.headers.connection, text }
}

test('closes soon, while clients watch, wait and ask', async () => {
  const client = createClient({ baseUrl: `${url}/activity` })
  await client.queues.put('q', {})
  const leaving = new AbortController()
  let begun = 0
  const watching = Array.from({ length: 5 }, async () => {
    const events = client.groups.watch('g', { signal: leaving.signal })
    try {
      for await (const _ of events) begun++
    } catch {
      // No client is left to come back to.
    }
  })
  const agent = new http.Agent({ keepAlive: true })
  await eventually('all watch', () => openedOf(store).groups.streams.watched > 0)
  while (begun < 5) {
    await store.groups.append('g', {})
    await pause(50)
  }
  const waiting = ask(agent, 'POST', '/activity/v1/queues/q/receive', { waitSeconds: 20 })
  await eventually('the receive waits', () => innerOf(store).counts().receivesWaiting === 1)
  stopping.abort()
  const closed = once(server, 'close')
  const { ms } = await timed(
    (async () => {
      server.close()
      await closed
    })(),
  )
  expect(ms).toBeLessThan(soonMs())
  expect(await waiting).toMatchObject({ status: 200, connection: 'close' })
  leaving.abort()
  await Promise.all(watching)
  agent.destroy()
})

test('every answer of the router closes its connection, and no stream begins', async () => {
  const agent = new http.Agent({ keepAlive: true })
  expect((await ask(agent, 'GET', '/activity/v1/groups')).connection).toBe('keep-alive')
  stopping.abort()
  const stream = await ask(agent, 'GET', '/activity/v1/groups/g/stream')
  expect([stream.status, stream.connection, JSON.parse(stream.text).code]).toEqual([503, 'close', 'draining'])
  const others: [number, string, string, object?][] = [
    [200, 'GET', '/activity/v1/groups'],
    [201, 'POST', '/activity/v1/groups/g/items', {}],
    [400, 'POST', '/activity/v1/groups/g/items', { none: 1 }],
    [404, 'GET', '/activity/v1/none'],
    [405, 'PUT', '/activity/v1/groups'],
    [200, 'GET', '/activity/openapi.json'],
    [200, 'HEAD', '/activity/openapi.json'],
    [204, 'OPTIONS', '/activity/v1/groups'],
  ]
  for (const [status, method, path, body] of others) {
    const answer = await ask(agent, method, path, body)
    expect([method, path, answer.status, answer.connection]).toEqual([method, path, status, 'close'])
  }
  expect((await ask(agent, 'GET', '/own')).connection).toBe('keep-alive')
  agent.destroy()
})
