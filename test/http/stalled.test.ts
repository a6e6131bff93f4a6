/** Clients that stall while they send or read; and those that are slow, which are served. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { createApp, messagesOf } from '../../src/http/process/app'
import { pause, soonMs } from '../support/timing'
import { type Client, clientOf, memoryStore, serving } from './support/client'
import { mounted } from './support/mounting'

/** A slow client does something so much more often that a busy machine does not make it one that stalls. */
const STALL_MS = 3000
const limits = { stallMs: STALL_MS }

async function started(kind: string): Promise<Client> {
  const store = await memoryStore()
  if (kind === 'the router in an app') {
    return mounted(store, { access: 'anonymous', streams: limits, bodyLimitBytes: 8 << 20 }, { mount: '/' })
  }
  const app = createApp(store, { allowAnonymous: false, streams: limits, bodyLimitBytes: 8 << 20 })
  return clientOf(await serving(app, messagesOf(app)))
}

async function connectionTo({ url }: Client): Promise<Socket> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  return socket
}

describe.each(['the process', 'the router in an app'])('%s', (kind) => {
  const head = 'POST /v1/groups/g/items HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n'

  test('answers 408 to a body that stalls, and closes the connection', async () => {
    const socket = await connectionTo(await started(kind))
    socket.write(`${head}Content-Length: 20\r\n\r\n{"member`)
    let text = ''
    socket.on('data', (data) => {
      text += data
    })
    const since = Date.now()
    await once(socket, 'close')
    expect(Date.now() - since).toBeLessThan(STALL_MS + soonMs())
    expect(text).toMatch(/^HTTP\/1.1 408 [\s\S]*Connection: close[\s\S]*"type":"about:blank"/)
  })

  test('takes a body that comes slowly', async () => {
    const client = await started(kind)
    const socket = await connectionTo(client)
    const body = '{"member":"slow one"}'
    socket.write(`${head}Content-Length: ${body.length}\r\n\r\n`)
    for (const letter of body) {
      socket.write(letter)
      await pause(STALL_MS / 8)
    }
    const [data] = await once(socket, 'data')
    expect(String(data)).toMatch(/^HTTP\/1.1 201 /)
    socket.destroy()
  })

  test('cuts an answer that the client does not read, and serves a client that reads slowly', async () => {
    const client = await started(kind)
    await client.put('/v1/groups/big', { capacity: 100 })
    const payload = 'x'.repeat(65_000)
    for (let i = 0; i < 5; i++) {
      const items = Array.from({ length: 13 }, () => ({ group: 'big', payload }))
      expect((await client.post('/v1/items', { items })).status).toBe(201)
    }
    const ask = async (times: number) => {
      const socket = await connectionTo(client)
      socket.pause()
      const request = (connection: string) =>
        `GET /v1/groups/big/items?limit=1000 HTTP/1.1\r\nHost: localhost\r\nConnection: ${connection}\r\n\r\n`
      socket.write(`${request('keep-alive').repeat(times - 1)}${request('close')}`)
      return socket
    }
    // More than the buffers of both ends, which may take one answer whole.
    const ANSWERS = 6
    const stalled = await ask(ANSWERS)
    const slow = await ask(1)
    let bytes = 0
    const since = Date.now()
    for await (const data of slow) {
      bytes += data.length
      await pause(data.length / 500)
    }
    expect(Date.now() - since).toBeGreaterThan(2 * STALL_MS)
    expect(bytes).toBeGreaterThan(4_000_000)
    // The bytes on their way are there, and no more.
    let rest = 0
    stalled.on('data', (data) => {
      rest += data.length
    })
    await once(stalled.resume(), 'close')
    expect(rest).toBeLessThan(ANSWERS * bytes)
  })
})
