import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { messagesOf } from '../../src/http/process/app'
import { send } from './support/client'

describe('requests and responses of an Express app', () => {
  let server: http.Server
  afterEach(() => server.close())

  async function serve(app: express.Express, listener: http.RequestListener): Promise<string> {
    server = http.createServer(messagesOf(app), listener)
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  test('are born with the prototypes that Express gives them, and can all that Express says', async () => {
    const app = express()
    const seen: unknown[] = []
    app.get('/:name', (request, response) => {
      seen.push(Object.getPrototypeOf(request), Object.getPrototypeOf(response))
      seen.push(request.app === app, response.app === app)
      response.status(201).json({ name: request.params.name, host: request.hostname, q: request.query.q })
    })
    const url = await serve(app, (request, response) => {
      seen.push(Object.getPrototypeOf(request), Object.getPrototypeOf(response))
      app(request, response)
    })
    const answer = await send(url, 'GET', '/a?q=1', {})
    expect([answer.status, answer.json]).toEqual([201, { name: 'a', host: '127.0.0.1', q: '1' }])
    const [bornRequest, bornResponse, request, response, ...apps] = seen
    expect(request).toBe(bornRequest)
    expect(response).toBe(bornResponse)
    expect(apps).toEqual([true, true])
    expect(request).toBe(app.request)
    expect(response).toBe(app.response)
  })

  test('serve an app inside the app, which has its own', async () => {
    const app = express()
    const inner = express()
    inner.get('/', (request, response) => void response.json({ inner: request.app === inner, base: request.baseUrl }))
    app.use('/inner', inner)
    app.get('/outer', (request, response) => void response.json({ outer: request.app === app }))
    const url = await serve(app, app)
    expect((await send(url, 'GET', '/inner', {})).json).toEqual({ inner: true, base: '/inner' })
    expect((await send(url, 'GET', '/outer', {})).json).toEqual({ outer: true })
  })
})
