/**
 * A queue under fire. Worker processes handle its messages while they are killed at random and started again, and the
 * handlers keep a ledger outside of the database, a file that all append to. Its lines:
 * - `start <id> <claim> <receive count> <visible at, ms> <now, ms>`, then one of
 * - `end <id> <claim> <now>`, `failed <id> <claim> <now>`, or nothing when the process was killed in between
 * - `lost <id> <claim> <now>`: the handler learned that its claim is lost
 * - `fault <code> <text>`: an error of the database that a worker reported
 */
import path from 'node:path'
import type { Store } from '../../src'
import type { MessagePage, MessageState } from '../../src/shared/queue-types'
import { describeEngine } from '../support/engines'
import { useStore } from '../support/use-store'
import { linesOf } from './ledger-lines'
import { QueueWorkers } from './queue-workers'
import { report } from './report'

const MESSAGES = Number(process.env.RECENTN_FIRE_MESSAGES ?? 20_000)
const PROCESSES = 4
const BULK = 250
const BULK_EVERY_MS = 60
const KILL_EVERY_MS = 500
const MAX_RECEIVES = 8
const VISIBILITY_SECONDS = 4
/** Longer than the visibility: such a handler lives by being extended. */
const LONG_MS = 6000
const LONG_EVERY = 1000
const FAILING_EVERY = 50
const QUICK_EVERY = 3
/** The server's clock and ours are one; both are cut to milliseconds. */
const TICK_MS = 2
const QUEUE = 'fire'
const WORKER = { concurrency: 20, batchSize: 100, longMs: LONG_MS }

jest.setTimeout(120_000 + MESSAGES * 5)

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

interface Handling {
  claim: string
  receiveCount: number
  visibleAt: number
  start: number
  end: number | null
  outcome: 'end' | 'failed' | null
}

interface Ledger {
  handlings: Map<string, Handling[]>
  faults: string[]
  lost: number
}

function readLedger(file: string): Ledger {
  const ledger: Ledger = { handlings: new Map(), faults: [], lost: 0 }
  const claims = new Map<string, Handling>()
  for (const [word, id = '', claim = '', ...rest] of linesOf(file)) {
    if (word === 'start') {
      const [receiveCount = 0, visibleAt = 0, start = 0] = rest.map(Number)
      const handling: Handling = { claim, receiveCount, visibleAt, start, end: null, outcome: null }
      claims.set(claim, handling)
      ledger.handlings.set(id, [...(ledger.handlings.get(id) ?? []), handling])
    } else if (word === 'end' || word === 'failed') {
      Object.assign(claims.get(claim) as Handling, { end: Number(rest[0]), outcome: word })
    } else if (word === 'lost') ledger.lost++
    else if (word === 'fault') ledger.faults.push([id, claim, ...rest].join(' '))
  }
  return ledger
}

function kindOf(n: number): string {
  if (n % LONG_EVERY === 7) return 'long'
  if (n % FAILING_EVERY === 3) return 'failing'
  return n % QUICK_EVERY === 0 ? 'quick' : 'usual'
}

async function sendAll(store: Store): Promise<string[]> {
  const ids: string[] = []
  for (let from = 0; from < MESSAGES; from += BULK) {
    const length = Math.min(BULK, MESSAGES - from)
    const messages = Array.from({ length }, (_, at) => ({ body: { kind: kindOf(from + at) } }))
    const sent = await store.queues.sendMany(QUEUE, messages)
    ids.push(...sent.map(({ id }) => String(id)))
    await sleep(BULK_EVERY_MS)
  }
  return ids
}

/** Looked at in both orders, for a message may move on between two looks. */
async function isEmpty(store: Store): Promise<boolean> {
  const states: MessageState[] = ['ready', 'in-flight', 'delayed', 'in-flight', 'ready']
  for (const state of states) {
    if ((await store.queues.peek(QUEUE, { state, limit: 1 })).messages.length > 0) return false
  }
  return true
}

/** The dead, with their receive counts. */
async function theDead(store: Store): Promise<Map<string, number>> {
  const dead = new Map<string, number>()
  let after: string | undefined
  do {
    const page: MessagePage = await store.queues.peek(QUEUE, { state: 'dead', limit: 1000, after })
    for (const { id, receiveCount } of page.messages) dead.set(String(id), receiveCount)
    after = page.nextAfter ?? undefined
  } while (after !== undefined)
  return dead
}

/** The rule for two handlings of one message, one after the other. */
function faultsOf(id: string, handlings: readonly Handling[]): string[] {
  const faults: string[] = []
  const ordered = [...handlings].sort((a, b) => a.receiveCount - b.receiveCount)
  for (const [at, one] of ordered.entries()) {
    const say = (what: string) => faults.push(`${id} ${what}: ${JSON.stringify(ordered)}`)
    if (one.receiveCount > MAX_RECEIVES) say('was handed out too often')
    if (one.start >= one.visibleAt + TICK_MS) say('began after its visibility')
    const next = ordered[at + 1]
    if (next === undefined) continue
    if (next.receiveCount === one.receiveCount) say('was handed out twice with one receive count')
    // Whether its process is alive or dead: until it has ended, or its visibility has expired, no other worker begins.
    if (next.start + TICK_MS < Math.min(one.end ?? Number.POSITIVE_INFINITY, one.visibleAt)) say('was held by two')
    // Extended again and again: no other worker begins at all.
    if (one.end !== null && next.start + TICK_MS < one.end) say('was held by two, one of them extended')
    if (one.outcome === 'end' && next.start < one.visibleAt) say('was handed out again after it was done, too early')
  }
  return faults
}

export function describeQueueFire(engine: 'mariadb' | 'mysql'): void {
  describeEngine(engine, `${PROCESSES} worker processes, killed at random`, () => {
    const at = useStore(engine, 'fire')

    it(`do each of ${MESSAGES} messages, none is lost, none is held by two`, async () => {
      const file = path.join(at.folder, 'ledger')
      await at.store.queues.put(QUEUE, { visibilityTimeoutSeconds: VISIBILITY_SECONDS, maxReceives: MAX_RECEIVES })
      const workers = new QueueWorkers(PROCESSES, { url: at.url, queue: QUEUE, ledger: file }, WORKER)
      const began = performance.now()
      let ids: string[] = []
      try {
        await workers.start()
        let isSending = true
        const killing = (async () => {
          while (isSending) {
            await sleep(KILL_EVERY_MS * (0.5 + Math.random()))
            workers.killOne()
          }
        })()
        ids = await sendAll(at.store).finally(() => {
          isSending = false
        })
        await killing
        while (!(await isEmpty(at.store))) await sleep(100)
        await workers.end('SIGTERM')
      } finally {
        await workers.end('SIGKILL')
      }
      const seconds = (performance.now() - began) / 1000

      const { handlings, faults, lost } = readLedger(file)
      const dead = await theDead(at.store)
      const isDone = (id: string) => handlings.get(id)?.some(({ outcome }) => outcome === 'end') ?? false
      const sent = new Set(ids)
      expect(sent.size).toBe(MESSAGES)
      expect(faults).toEqual([])
      expect(workers.crashes).toEqual([])
      expect(ids.filter((id) => !isDone(id) && !dead.has(id))).toEqual([])
      expect([...handlings.keys()].filter((id) => !sent.has(id))).toEqual([])
      expect([...dead].filter(([, count]) => count !== MAX_RECEIVES)).toEqual([])
      expect([...handlings].flatMap(([id, all]) => faultsOf(id, all)).slice(0, 10)).toEqual([])

      const again = [...handlings.values()].filter((all) => all.length > 1).length
      let most = 0
      for (const { receiveCount } of [...handlings.values()].flat()) most = Math.max(most, receiveCount)
      // The fire was one.
      expect(workers.kills).toBeGreaterThan(3)
      expect(again).toBeGreaterThan(MESSAGES / FAILING_EVERY / 2)
      const text =
        `${MESSAGES} messages in ${seconds.toFixed(1)} s, ${workers.kills} kills, ${again} handled again, ` +
        `at most ${most} receives, ${dead.size} dead, ${lost} claims lost`
      report({ type: 'run', engine, what: 'a queue whose workers are killed', text })
    })
  })
}
