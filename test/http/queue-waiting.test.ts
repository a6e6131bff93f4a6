/** Receives that wait: what answers them, and what ends the waiting. */

import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import http from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createApp } from '../../src/http/process/app'
import { listen } from '../../src/http/process/listen'
import { innerOf } from '../../src/store/inner'
import { openStore } from '../../src/store/open'
import { pause, soonMs, timed } from '../support/timing'
import { clientOf, fresh, memoryStore, serving } from './support/client'
import { eventually } from './support/streams'
import { expectAnsweredAtClose, expectAnsweredAtStop, useWaitedOn } from './support/waiting'

const at = useWaitedOn()

async function made(): Promise<{ queue: string; path: string }> {
  const queue = fresh('queue')
  await at.store.queues.put(queue)
  return { queue, path: `/v1/queues/${queue}` }
}

function rawReceive(path: string, body: string): string {
  const head = `POST ${path}/receive HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n`
  return `${head}Content-Length: ${body.length}\r\n\r\n${body}`
}

describe('a receive with waitSeconds', () => {
  test('answers at once when there is a message', async () => {
    const { queue, path } = await made()
    await at.store.queues.send(queue, 1)
    const { answer, ms } = await timed(at.server.post(`${path}/receive`, { waitSeconds: 20 }))
    expect(answer.json).toMatchObject({ messages: [{ body: 1 }] })
    expect(ms).toBeLessThan(soonMs())
  })

  test('answers without messages when the time has passed', async () => {
    const { path } = await made()
    const { answer, ms } = await timed(at.server.post(`${path}/receive`, { waitSeconds: 1 }))
    expect([answer.status, answer.json]).toEqual([200, { messages: [] }])
    expect([ms > 900, ms < 900 + soonMs()]).toEqual([true, true])
  })

  test('answers soon after a send', async () => {
    const { path } = await made()
    const received = at.server.post(`${path}/receive`, { waitSeconds: 20 })
    await pause(300)
    await at.server.post(`${path}/messages`, { body: 'here' })
    const { answer, ms } = await timed(received)
    expect(answer.json).toMatchObject({ messages: [{ body: 'here', receiveCount: 1 }] })
    expect(ms).toBeLessThan(soonMs())
  })

  test('answers soon after a send from another store', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'recentn-waiting-'))
    const url = `sqlite:${join(folder, 'queues.db')}`
    const [waiting, sending] = [await openStore({ url }), await openStore({ url })]
    await waiting.queues.put('q')
    const app = createApp(waiting, { allowAnonymous: false })
    const { url: address, stop } = await listen(app, '127.0.0.1', 0)
    const received = clientOf(address).post('/v1/queues/q/receive', { waitSeconds: 20, limit: 5 })
    await pause(700)
    await sending.queues.sendMany('q', [{ body: 1 }, { body: 2 }])
    const { answer, ms } = await timed(received)
    await Promise.all([stop(), waiting.close(), sending.close()])
    rmSync(folder, { recursive: true })
    expect(answer.json).toMatchObject({ messages: [{ body: 1 }, { body: 2 }] })
    expect(ms).toBeLessThan(soonMs())
  })

  test('many on one connection leave nothing behind', async () => {
    const { path } = await made()
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
    for (let n = 0; n < 30; n++) {
      const options = { agent, method: 'POST', headers: { 'Content-Type': 'application/json' } }
      const request = http.request(`${at.server.url}${path}/receive`, options)
      request.end('{"waitSeconds":0}')
      const [response] = (await once(request, 'response')) as [http.IncomingMessage]
      await once(response.resume(), 'end')
      expect([response.statusCode, request.reusedSocket]).toEqual([200, n > 0])
    }
    agent.destroy()
    await pause(20)
    expect(at.warnings).toEqual([])
  })
})

describe('a client that goes away while it waits', () => {
  /** A connection on which a receive is asked for, and nothing is read. */
  const receiver = (path: string, body: string) => {
    const { hostname, port } = new URL(at.server.url)
    const socket = connect(Number(port), hostname)
    socket.on('error', () => {})
    socket.write(rawReceive(path, body))
    return socket
  }
  const untilReceiving = (count: number) =>
    eventually(`${count} receives wait`, () => innerOf(at.store).counts().receivesWaiting === count)

  test.each(['destroy', 'end'] as const)('by socket.%s: nothing is claimed for it', async (leave) => {
    const { queue, path } = await made()
    const socket = receiver(path, '{"waitSeconds":20,"limit":10}')
    await untilReceiving(1)
    socket[leave]()
    await untilReceiving(0)
    await at.store.queues.send(queue, 'not for the one who left')
    // Longer than it takes to look for messages of other processes.
    await pause(800)
    const [message] = JSON.parse((await at.server.get(`${path}/messages`)).text).messages
    expect(message).toMatchObject({ body: 'not for the one who left', receiveCount: 0, lastReceivedAt: null })
  })

  test('takes none from those who stay', async () => {
    const { queue, path } = await made()
    const gone = Array.from({ length: 5 }, () => receiver(path, '{"waitSeconds":20}'))
    // First come, first served: they would get it.
    await untilReceiving(5)
    const stays = at.server.post(`${path}/receive`, { waitSeconds: 20 })
    await untilReceiving(6)
    for (const socket of gone) socket.destroy()
    await untilReceiving(1)
    await at.store.queues.send(queue, 1)
    const { answer, ms } = await timed(stays)
    expect(answer.json).toMatchObject({ messages: [{ body: 1, receiveCount: 1 }] })
    expect(ms).toBeLessThan(soonMs())
  })
})

describe('who waits is answered', () => {
  test('when the server stops: at once, with no messages, as the last answer of the connection', async () => {
    const { path } = await made()
    await expectAnsweredAtStop(at.store, (client) => client.post(`${path}/receive`, { waitSeconds: 20 }), {
      messages: [],
    })
  })

  test('when the server is stopping already', async () => {
    const { path } = await made()
    const app = createApp(at.store, { allowAnonymous: false, stopping: AbortSignal.abort() })
    const client = clientOf(await serving(app))
    const { answer, ms } = await timed(client.post(`${path}/receive`, { waitSeconds: 20 }))
    expect([answer.status, answer.json]).toEqual([200, { messages: [] }])
    expect(ms).toBeLessThan(soonMs())
  })

  test('when the store is closed; who comes later gets 503', async () => {
    const closing = await memoryStore()
    await closing.queues.put('q')
    const receive = { json: { waitSeconds: 20 } }
    await expectAnsweredAtClose(closing, ['POST', '/v1/queues/q/receive', receive], { messages: [] })
  })
})
