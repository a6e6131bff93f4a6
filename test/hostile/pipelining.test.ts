/** Requests that are sent one behind the other by a client that reads no answer. */
import type { Socket } from 'node:net'
import { pause } from '../support/timing'
import { type Attacked, expectUnharmed, startAttacked } from './support/attacked'

const get = (target: string) => `GET ${target} HTTP/1.1\r\nHost: localhost\r\n\r\n`

/** Writes to connections that read nothing, as often as the server takes it, for a while. */
async function flood(attacked: Attacked, connections: number, bytes: Buffer, ms: number): Promise<void> {
  const until = Date.now() + ms
  const pour = (socket: Socket) => {
    while (Date.now() < until && socket.write(bytes));
    socket.once('drain', () => pour(socket))
  }
  for (let i = 0; i < connections; i++) pour(await attacked.connection())
  await pause(until - Date.now())
}

test('the document, 1,600 times on each of 12 connections', async () => {
  const attacked = await startAttacked()
  const requests = Buffer.from(get('/openapi.json').repeat(1600))
  const harm = await attacked.harmOf(async () => {
    for (let i = 0; i < 12; i++) (await attacked.connection()).write(requests)
    await pause(5000)
  })
  expectUnharmed(harm)
})

test.each([
  ['short ones', 'GET / HTTP/1.1\r\n\r\n'],
  ['reads', get('/v1/groups')],
  ['ones that wait', get('/v1/feeds/none/changes?waitSeconds=20')],
  [
    'ones with a body',
    'POST /v1/groups/g/items HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}',
  ],
])('without an end on 20 connections: %s', async (_name, request) => {
  const attacked = await startAttacked()
  const many = Buffer.from(request.repeat(Math.ceil(65_536 / request.length)))
  expectUnharmed(await attacked.harmOf(() => flood(attacked, 20, many, 5000)))
})
