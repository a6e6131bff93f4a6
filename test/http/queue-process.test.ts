/** Queues of the built server: a signal ends requests that wait. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startServer } from '../support/processes'
import { soonMs } from '../support/timing'
import { clientOf } from './support/client'
import { untilWaiting } from './support/waiting'

const folder = mkdtempSync(join(tmpdir(), 'recentn-queues-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test.each(['SIGTERM', 'SIGINT'] as const)(
  '%s: who waits for messages is answered, and does not hold the end',
  async (signal) => {
    const url = `sqlite:${join(folder, `${signal}.db`)}`
    const server = await startServer({ DATABASE_URL: url })
    const client = clientOf(server.url)
    await client.put('/v1/queues/q', {})
    const waiting = Array.from({ length: 20 }, () => client.post('/v1/queues/q/receive', { waitSeconds: 20 }))
    await untilWaiting(client, 'messages', waiting.length)
    const start = Date.now()
    expect(await server.stop(signal)).toEqual({ code: 0, signal: null })
    expect(Date.now() - start).toBeLessThan(soonMs())
    for (const { status, json } of await Promise.all(waiting)) expect([status, json]).toEqual([200, { messages: [] }])

    const again = await startServer({ DATABASE_URL: url })
    const received = clientOf(again.url).post('/v1/queues/q/receive', { waitSeconds: 20 })
    await clientOf(again.url).post('/v1/queues/q/messages', { body: 1 })
    expect((await received).json).toMatchObject({ messages: [{ body: 1, receiveCount: 1 }] })
    await again.stop()
  },
)
