/**
 * A server that is attacked: the built one, in a separate process, over SQLite. Whatever is done to it, its resident
 * size stays within bounds throughout, and others are answered soon.
 */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { type RunningServer, spawnScript, startServer } from '../../support/processes'
import { pause } from '../../support/timing'

export const MOST_RESIDENT_MB = 400
export const LONGEST_WAIT_MS = 500

/** An attack that succeeds is ended by then, so that the machine survives it. */
const KILLED_AT_MB = 1500
const SAMPLE_MS = 50

export interface Harm {
  /** The greatest resident size of the server until the end of the attack. */
  peakMb: number
  /**
   * The longest that one who asks for little things had to wait for an answer, without the time in which a busy
   * machine had no processor for the server.
   */
  longestWaitMs: number
  /** How many answers that one had, and what was wrong with some. */
  asked: number
  failures: string[]
}

export interface Attacked {
  url: string
  server: RunningServer
  /** A connection to the server that reads nothing until it is asked to; destroyed at the end of the test. */
  connection(): Promise<Socket>
  /** Cuts all of these connections. */
  disconnect(): void
  /** The harm that the attack does. */
  harmOf(attack: () => Promise<unknown>): Promise<Harm>
}

const sockets = new Set<Socket>()
const servers = new Set<RunningServer>()

afterEach(async () => {
  disconnect()
  for (const server of servers) await server.stop('SIGKILL')
  servers.clear()
})

function disconnect(): void {
  for (const socket of sockets) socket.destroy()
  sockets.clear()
}

/** Starts a server for one test. `env` as for the server; the database is in memory where it names none. */
export async function startAttacked(env: Record<string, string> = {}): Promise<Attacked> {
  const server = await startServer(env)
  servers.add(server)
  const { hostname, port } = new URL(server.url)
  return {
    url: server.url,
    server,
    async connection() {
      const socket = connect(Number(port), hostname)
      sockets.add(socket)
      // That it is cut off is what some attacks end with.
      socket.on('error', () => {})
      await once(socket, 'connect')
      return socket
    },
    disconnect,
    harmOf: (attack) => harmOf(server, attack),
  }
}

/** Fails where the server was harmed. */
export function expectUnharmed({ peakMb, longestWaitMs, asked, failures }: Harm): void {
  const harm = { peakMb, longestWaitMs, failures }
  expect({ ...harm, isSmall: peakMb < MOST_RESIDENT_MB, isSoon: longestWaitMs < LONGEST_WAIT_MS }).toEqual({
    ...harm,
    failures: [],
    isSmall: true,
    isSoon: true,
  })
  expect(asked).toBeGreaterThan(0)
}

async function harmOf(server: RunningServer, attack: () => Promise<unknown>): Promise<Harm> {
  const bystander = spawnScript('test/hostile/support/bystander.mjs', [server.url, String(server.process.pid)])
  await bystander.next()
  let peakMb = 0
  const sample = () => {
    peakMb = Math.max(peakMb, peakMbOf(server))
    if (peakMb > KILLED_AT_MB) server.process.kill('SIGKILL')
  }
  const sampling = setInterval(sample, SAMPLE_MS)
  try {
    await attack()
    // A moment more, for what the attack has left behind.
    await pause(10 * SAMPLE_MS)
  } finally {
    clearInterval(sampling)
  }
  sample()
  bystander.send('stop')
  const { asked, longestMs, failures } = (await bystander.next()) as {
    asked: number
    longestMs: number
    failures: string[]
  }
  return { peakMb, longestWaitMs: Math.round(longestMs), asked, failures }
}

/**
 * The greatest resident size that the process ever had. The kernel keeps it, so that no peak is between two samples. 0
 * where the process is gone, or the system keeps none (it is not Linux).
 */
function peakMbOf({ process: { pid } }: RunningServer): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    return Math.round(Number(/^VmHWM:\s*(\d+) kB$/m.exec(status)?.[1] ?? 0) / 1024)
  } catch {
    return 0
  }
}
