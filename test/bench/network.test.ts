/** The network of the benchmark: what it delays, and what it leaves as it is. */
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { performance } from 'node:perf_hooks'
import { milliseconds, type Proxies, startNetwork, startProxies } from '../../bench/network'
import { freePort } from '../support/servers/program'

let echo: Server
let port: number

beforeAll(async () => {
  // Echoes at once, and ends only when the other side has ended.
  echo = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => socket.on('error', () => {}).pipe(socket))
  echo.listen(0, '127.0.0.1')
  await once(echo, 'listening')
  port = (echo.address() as AddressInfo).port
})

afterAll(() => new Promise((resolve) => echo.close(resolve)))

async function through<T>(ms: number, work: (port: number, proxies: Proxies) => Promise<T>, target = port): Promise<T> {
  const proxies = await startProxies(ms, [{ host: '127.0.0.1', port: target }])
  try {
    return await work(proxies.ports[0] as number, proxies)
  } finally {
    await proxies.stop()
  }
}

async function opened(at: number): Promise<Socket> {
  const socket = connect({ host: '127.0.0.1', port: at, allowHalfOpen: true, noDelay: true })
  await once(socket, 'connect')
  return socket
}

/** Everything that comes until the other side ends. */
async function all(socket: Socket): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of socket) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

it('passes on what is sent, in its order, and then the end', async () => {
  await through(5, async (at) => {
    const sent = randomBytes(20 * 2 ** 20)
    const socket = await opened(at)
    const received = all(socket)
    for (let start = 0; start < sent.length; start += 100_000) socket.write(sent.subarray(start, start + 100_000))
    socket.end()
    expect((await received).equals(sent)).toBe(true)
  })
})

it('delays what is sent by the given time in each direction', async () => {
  await through(30.5, async (at) => {
    const socket = await opened(at)
    for (let count = 0; count < 5; count++) {
      const start = performance.now()
      socket.write('e')
      await once(socket, 'data')
      expect(performance.now() - start).toBeGreaterThanOrEqual(61)
    }
    const received = all(socket)
    socket.end()
    await received
  })
})

it('has no chunk wait for another one, of the same connection or of others', async () => {
  await through(250, async (at) => {
    const sockets = await Promise.all(Array.from({ length: 20 }, () => opened(at)))
    const received = sockets.map(all)
    const start = performance.now()
    // 200 chunks: one after the other they would take 100 seconds.
    for (let count = 0; count < 10; count++) {
      for (const socket of sockets) socket.write(String(count))
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
    for (const socket of sockets) socket.end()
    for (const text of await Promise.all(received)) expect(text.toString()).toBe('0123456789')
    expect(performance.now() - start).toBeLessThan(50_000)
  })
})

it('ends a connection whose server is not there', async () => {
  const socket = await through(
    1,
    async (at) => {
      const refused = await opened(at)
      refused.on('error', () => {})
      const received = all(refused).catch(() => Buffer.alloc(0))
      refused.write('e')
      expect((await received).length).toBe(0)
      return refused
    },
    await freePort(),
  )
  socket.destroy()
})

it('gives the same addresses by way of the proxies, and leaves SQLite as it is', async () => {
  const urls = {
    engine: 'sqlite:/tmp/some.db',
    redis: `redis://127.0.0.1:${port}`,
    postgres: `postgres://me:secret@127.0.0.1:${port}/postgres`,
  }
  const network = await startNetwork(2, urls)
  try {
    expect([...network.servers]).toEqual(['redis', 'postgres'])
    expect(network.urls.engine).toBe(urls.engine)
    expect(network.urls.redis).toMatch(/^redis:\/\/127\.0\.0\.1:\d+$/)
    expect(network.urls.postgres).toMatch(/^postgres:\/\/me:secret@127\.0\.0\.1:\d+\/postgres$/)
    expect(new Set([String(port), ...Object.values(network.urls).map((url) => /:(\d+)/.exec(url)?.[1])]).size).toBe(
      3 + 1,
    )
    expect(network.facts.ms).toBe(2)
    expect(network.facts.roundTripMs).toBeGreaterThanOrEqual(4)
    expect(network.facts.overheadMs).toBeLessThan(network.facts.roundTripMs)
    const socket = await opened(Number(new URL(network.urls.redis as string).port))
    const received = all(socket)
    socket.end('there and back')
    expect((await received).toString()).toBe('there and back')
  } finally {
    await network.stop()
  }
})

it('takes milliseconds, whole or not, and refuses everything else', () => {
  expect(['1', '0.25', '1000'].map(milliseconds)).toEqual([1, 0.25, 1000])
  for (const text of ['', ' ', '0', '-1', '1001', 'fast', '1 ms', 'NaN', 'Infinity']) {
    expect(() => milliseconds(text)).toThrow('must be milliseconds each way')
  }
})
