/** A network between every contender and its server: the proxies of proxy.ts, and what a round trip through them takes. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { join, resolve } from 'node:path'
import { performance } from 'node:perf_hooks'
import { InvalidArgumentError } from 'commander'
import { median } from '../run'
import type { ServerName, Urls } from '../types'
import type { Target, Wish } from './proxy'

const LOADER = resolve(__dirname, '../../test/support/run-typescript.cjs')
const PROXY = join(__dirname, 'proxy.ts')
const DEFAULT_PORTS: Partial<Record<string, number>> = { 'mysql:': 3306, 'mariadb:': 3306, 'redis:': 6379 }
const POSTGRES_PORT = 5432
const MAX_MS = 1000
const ECHOES = 100

/** What a figure says of the network that it was measured over. */
export interface NetworkFacts {
  /** Milliseconds each way, as asked for. */
  ms: number
  /** Milliseconds of an echo, there and back: median. */
  roundTripMs: number
  /** What the proxy itself takes of that. */
  overheadMs: number
}

export interface Network {
  facts: NetworkFacts
  /** The same servers, by way of the proxies. */
  urls: Urls
  /** Which servers have one; SQLite runs in the process. */
  servers: ReadonlySet<ServerName>
  stop(): Promise<void>
}

/** The value of `--network`. */
export function milliseconds(text: string): number {
  const value = text.trim() === '' ? Number.NaN : Number(text)
  if (value > 0 && value <= MAX_MS) return value
  throw new InvalidArgumentError(`must be milliseconds each way: a number above 0, up to ${MAX_MS}; 0.5 is one`)
}

export interface Proxies {
  /** On 127.0.0.1, in the order of the targets. */
  ports: number[]
  stop(): Promise<void>
}

export async function startProxies(ms: number, targets: Target[]): Promise<Proxies> {
  const child = fork(PROXY, [], { execArgv: ['--require', LOADER], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  const wish: Wish = { ms, targets }
  child.send(wish)
  const [ports] = (await Promise.race([once(child, 'message'), endOf(child)])) as [number[]]
  return {
    ports,
    stop: async () => {
      const exit = once(child, 'exit')
      if (child.connected) child.disconnect()
      if (child.exitCode === null && child.signalCode === null) await exit
    },
  }
}

async function endOf(child: ChildProcess): Promise<never> {
  const [code] = await once(child, 'exit')
  throw new Error(`the network's process ended with ${code}`)
}

export async function startNetwork(ms: number, urls: Urls): Promise<Network> {
  const names = (Object.keys(urls) as ServerName[]).filter((name) => !urls[name]?.startsWith('sqlite:'))
  const echo = await startEcho()
  try {
    const targets = [...names.map((name) => targetOf(urls[name] as string)), echo.target]
    const { ports, stop } = await startProxies(ms, targets)
    const direct = await roundTrip(echo.target.port)
    const roundTripMs = await roundTrip(ports[names.length] as number)
    const through = names.map((name, at) => [name, throughPort(urls[name] as string, ports[at] as number)])
    return {
      facts: { ms, roundTripMs, overheadMs: Math.max(0, roundTripMs - direct - 2 * ms) },
      urls: { ...urls, ...(Object.fromEntries(through) as Partial<Urls>) },
      servers: new Set(names),
      stop,
    }
  } finally {
    echo.stop()
  }
}

function targetOf(url: string): Target {
  const { protocol, hostname, port } = new URL(url)
  return { host: hostname, port: Number(port) || (DEFAULT_PORTS[protocol] ?? POSTGRES_PORT) }
}

function throughPort(url: string, port: number): string {
  const own = new URL(url)
  own.hostname = '127.0.0.1'
  own.port = String(port)
  return own.toString()
}

async function startEcho(): Promise<{ target: Target; stop(): void }> {
  const server = createServer({ noDelay: true }, (socket) => socket.on('error', () => {}).pipe(socket))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    target: { host: '127.0.0.1', port: (server.address() as AddressInfo).port },
    stop: () => void server.close(),
  }
}

async function roundTrip(port: number): Promise<number> {
  const socket: Socket = connect({ host: '127.0.0.1', port, noDelay: true })
  await once(socket, 'connect')
  const times: number[] = []
  for (let count = 0; count < ECHOES; count++) {
    const start = performance.now()
    socket.write('e')
    await once(socket, 'data')
    times.push(performance.now() - start)
  }
  socket.end().destroy()
  return median(times)
}
