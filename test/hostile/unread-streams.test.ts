/** Streams of a group that the client does not read, while much happens in the group. */
import { send } from '../http/support/client'
import { eventually } from '../support/timing'
import { expectUnharmed, startAttacked } from './support/attacked'

const STREAMS = 100
const BATCHES = 20

/** As the metrics count them. */
async function openStreams(url: string): Promise<number> {
  const { text } = await send(url, 'GET', '/metrics', {})
  return Number(/^recentn_waiting\{for="items"\} (\d+)/m.exec(text)?.[1])
}

test('100 streams that read nothing, each with 20 MB to come', async () => {
  const attacked = await startAttacked()
  const { url } = attacked
  await send(url, 'PUT', '/v1/groups/big', { json: { capacity: 400 } })
  const items = Array.from({ length: 15 }, () => ({ group: 'big', payload: 'x'.repeat(65_000) }))
  const harm = await attacked.harmOf(async () => {
    for (let n = 0; n < STREAMS; n++) {
      const socket = await attacked.connection()
      socket.pause()
      socket.write('GET /v1/groups/big/stream HTTP/1.1\r\nHost: localhost\r\n\r\n')
    }
    await eventually(30_000, 'all are open', async () => (await openStreams(url)) === STREAMS)
    for (let n = 0; n < BATCHES; n++) {
      expect((await send(url, 'POST', '/v1/items', { json: { items } })).status).toBe(201)
    }
    await eventually(90_000, 'all are cut', async () => (await openStreams(url)) === 0)
  })
  expectUnharmed(harm)
})
