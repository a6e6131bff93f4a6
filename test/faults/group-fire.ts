/**
 * `groupConcurrency` under fire: worker processes handle messages of groups while they are killed at random and started again.
 * The judge is a ledger outside of the database, a file that all append to; queue-fire.ts says what its lines are.
 */
import path from 'node:path'
import type { Store } from '../../src'
import { describeEngine, type EngineName } from '../support/engines'
import { pause } from '../support/timing'
import { useStore } from '../support/use-store'
import { linesOf } from './ledger-lines'
import { QueueWorkers } from './queue-workers'
import { report } from './report'

const MESSAGES = Number(process.env.RECENTN_FIRE_MESSAGES ?? 20_000) / 25
const PROCESSES = 4
const GROUPS = 40
const BULK = 25
const BULK_EVERY_MS = 100
const KILL_EVERY_MS = 700
const VISIBILITY_SECONDS = 2
const FAILING_EVERY = 50
/** The server's clock and ours are one; both are cut to milliseconds. */
const TICK_MS = 2
const WORKER = { concurrency: 10, batchSize: 50, longMs: 0 }

jest.setTimeout(180_000 + MESSAGES * 50)

interface GroupHandling {
  /** The place of the message in its group, as they were sent. */
  place: number
  start: number
  visibleAt: number
  end: number | null
}

interface SentTo {
  group: number
  place: number
}

async function sendAll(store: Store, queue: string): Promise<Map<string, SentTo>> {
  const sent = new Map<string, SentTo>()
  const places = Array.from({ length: GROUPS }, () => 0)
  for (let from = 0; from < MESSAGES; from += BULK) {
    const groups = Array.from({ length: BULK }, () => Math.floor(Math.random() * GROUPS))
    const kindOf = (at: number) => ((from + at) % FAILING_EVERY === 3 ? 'failing' : 'usual')
    const messages = groups.map((group, at) => ({ body: { kind: kindOf(at) }, messageGroup: `g${group}` }))
    for (const [at, { id }] of (await store.queues.sendMany(queue, messages)).entries()) {
      const group = groups[at] as number
      sent.set(String(id), { group, place: places[group] as number })
      places[group] = (places[group] as number) + 1
    }
    await pause(BULK_EVERY_MS)
  }
  return sent
}

/** The faults in the ledger, and how many messages were done. */
function judge(file: string, sent: ReadonlyMap<string, SentTo>, most: number) {
  const faults: string[] = []
  const claims = new Map<string, GroupHandling>()
  const groups = Array.from({ length: GROUPS }, () => ({ handlings: [] as GroupHandling[], done: new Set<number>() }))
  let again = 0
  for (const [word, id = '', claim = '', ...rest] of linesOf(file)) {
    if (word === 'fault') faults.push([id, claim, ...rest].join(' '))
    const one = sent.get(id)
    if (!one) continue
    const { handlings, done } = groups[one.group] as (typeof groups)[number]
    if (word === 'start') {
      const [, visibleAt = 0, start = 0] = rest.map(Number)
      const isHeld = (other: GroupHandling) =>
        Math.min(other.end ?? Number.POSITIVE_INFINITY, other.visibleAt) > start + TICK_MS
      const places = new Set([one.place, ...handlings.filter(isHeld).map(({ place }) => place)])
      if (places.size > most) faults.push(`group ${one.group}: ${[...places]} at once`)
      if (handlings.some((other) => other.place === one.place && isHeld(other))) faults.push(`${id} was held by two`)
      let before = 0
      for (let place = 0; place < one.place; place++) if (!done.has(place)) before++
      if (before >= most)
        faults.push(`group ${one.group}: ${one.place} began before ${before} that were sent before it`)
      if (handlings.some(({ place }) => place === one.place)) again++
      const handling = { place: one.place, start, visibleAt, end: null }
      claims.set(claim, handling)
      handlings.push(handling)
    } else if (word === 'end' || word === 'failed') {
      const handling = claims.get(claim)
      if (handling) handling.end = Number(rest[0])
      if (word === 'end') done.add(one.place)
    }
  }
  return { faults, again, done: groups.reduce((sum, { done }) => sum + done.size, 0) }
}

export function describeGroupFire(engine: EngineName): void {
  describeEngine(engine, `groups whose messages are handled by ${PROCESSES} processes, killed at random`, () => {
    const at = useStore(engine, 'group-fire')

    it.each([1, 3])(
      `have at most %i of them handled at once, in the order sent, and none of ${MESSAGES} is lost`,
      async (most) => {
        const queue = `fire${most}`
        const ledger = path.join(at.folder, queue)
        await at.store.queues.put(queue, {
          ...{ visibilityTimeoutSeconds: VISIBILITY_SECONDS, maxReceives: null, groupConcurrency: most },
        })
        const workers = new QueueWorkers(PROCESSES, { url: at.url, queue, ledger }, WORKER)
        const began = performance.now()
        let sent = new Map<string, SentTo>()
        let isSending = true
        try {
          await workers.start()
          const killing = (async () => {
            while (isSending) {
              await pause(KILL_EVERY_MS * (0.5 + Math.random()))
              workers.killOne()
            }
          })()
          sent = await sendAll(at.store, queue).finally(() => {
            isSending = false
          })
          await killing
          for (let left = 1; left > 0; await pause(100)) left = await waitingIn(at.store, queue)
        } finally {
          await workers.end('SIGKILL')
        }
        const { faults, again, done } = judge(ledger, sent, most)
        expect(sent.size).toBe(MESSAGES)
        expect(faults.slice(0, 10)).toEqual([])
        expect(workers.crashes).toEqual([])
        expect(done).toBe(MESSAGES)
        // The fire was one.
        expect(workers.kills).toBeGreaterThan(3)
        expect(again).toBeGreaterThan(MESSAGES / FAILING_EVERY / 2)
        const seconds = (performance.now() - began) / 1000
        const text = `${MESSAGES} messages, ${most} of a group at once, in ${seconds.toFixed(1)} s, ${workers.kills} kills, ${again} handled again`
        report({ type: 'run', engine, what: 'messages of groups whose workers are killed', text })
      },
    )
  })
}

/** Of the rows: the counts of the store are some seconds old. */
async function waitingIn(store: Store, queue: string): Promise<number> {
  const [row] = await store.dataSource.query(
    'SELECT COUNT(*) AS messages FROM recentn_queue_messages WHERE queue_id = (SELECT id FROM recentn_queues WHERE queue = ?)',
    [queue],
  )
  return Number(row.messages)
}
