/** A server that is not recentn, or that an attacker has taken over: what is sent stays there, and memory is bounded. */
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { createClient } from '../../src/client'

const open: http.Server[] = []
afterEach(async () => {
  for (const server of open.splice(0)) {
    server.closeAllConnections()
    await new Promise((done) => server.close(done))
  }
})

async function serving(listener: http.RequestListener): Promise<string> {
  const server = http.createServer(listener)
  open.push(server)
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test.each([301, 307, 308])('a redirect (%i) to another origin is not followed', async (status) => {
  const seen: string[] = []
  const other = await serving((request, response) => {
    seen.push(request.url ?? '')
    response.end()
  })
  const baseUrl = await serving((request, response) => {
    response.writeHead(status, { Location: other + request.url }).end()
  })
  const { queues, groups } = createClient({ baseUrl, key: 'rk_x', retries: 0 })
  const refused = { code: 'unexpected_answer', status }
  await expect(queues.send('q', { card: 4242 })).rejects.toMatchObject(refused)
  await expect(groups.get('g')).rejects.toMatchObject(refused)
  await expect(groups.watch('g').ready).rejects.toMatchObject(refused)
  expect(seen).toEqual([])
})

test('an event of a stream that does not end is given up', async () => {
  let sent = 0
  const baseUrl = await serving((request, response) => {
    if (!request.headers.accept?.includes('event-stream')) return response.writeHead(404).end()
    response.writeHead(200, { 'Content-Type': 'text/event-stream' }).write('data: ')
    const more = () => {
      while (!response.destroyed && sent < 64 << 20 && response.write('x'.repeat(65_536))) sent += 65_536
    }
    response.on('drain', more)
    more()
  })
  const ending = new AbortController()
  const gone = new Promise((resolve) => {
    const watch = createClient({ baseUrl }).groups.watch('g', {
      after: 0n,
      signal: ending.signal,
      onDisconnect: resolve,
    })
    void (async () => {
      for await (const _ of watch);
    })().catch(resolve)
  })
  expect(await gone).toMatchObject({ code: 'unexpected_answer', message: 'An event of the stream is too long' })
  ending.abort()
  expect(sent).toBeLessThan(32 << 20)
})
