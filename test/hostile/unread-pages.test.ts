/** Pages of 4 MiB that the client does not read. */
import type { Socket } from 'node:net'
import { eventually } from '../http/support/streams'
import { pause } from '../support/timing'
import { type Attacked, expectUnharmed, startAttacked } from './support/attacked'

const page = (more = '') => `GET /v1/groups/big/items?limit=100 HTTP/1.1\r\nHost: localhost\r\n${more}\r\n`

/** A group whose newest page is 4 MiB. */
async function fill({ url }: Attacked): Promise<void> {
  const headers = { 'Content-Type': 'application/json' }
  const settings = { method: 'PUT', headers, body: JSON.stringify({ capacity: 100 }) }
  expect((await fetch(`${url}/v1/groups/big`, settings)).status).toBe(201)
  const items = Array.from({ length: 15 }, () => ({ group: 'big', payload: 'x'.repeat(65_000) }))
  for (let i = 0; i < 5; i++) {
    const answer = await fetch(`${url}/v1/items`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ items }),
    })
    expect(answer.status).toBe(201)
  }
}

test('200 connections with three pages each; all are cut', async () => {
  const attacked = await startAttacked()
  await fill(attacked)
  const sockets: Socket[] = []
  let closed = 0
  const harm = await attacked.harmOf(async () => {
    for (let i = 0; i < 200; i++) {
      const socket = await attacked.connection()
      socket.pause()
      sockets.push(socket)
      socket.once('close', () => closed++)
      socket.write(page().repeat(2) + page('Connection: close\r\n'))
    }
    await pause(20_000)
  })
  expectUnharmed(harm)
  for (const socket of sockets) socket.resume()
  await eventually('all are cut', () => closed === 200)
})

test('20 connections with 100 pages each', async () => {
  const attacked = await startAttacked()
  await fill(attacked)
  const harm = await attacked.harmOf(async () => {
    for (let i = 0; i < 20; i++) (await attacked.connection()).pause().write(page().repeat(100))
    await pause(5000)
  })
  expectUnharmed(harm)
})
