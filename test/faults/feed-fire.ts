/**
 * A feed under fire: processes write the same keys, others number them, others consume, each of them killed at random and
 * started again: publishers and consumers from outside, writers by themselves right behind a statement, in the middle of a
 * transaction or before they could say that it is done. feed-ledger.ts reads the lines of the processes.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import type { Store } from '../../src'
import { describeEngine } from '../support/engines'
import { useStore } from '../support/use-store'
import {
  type Consumed,
  contradictionsIn,
  lossesOf,
  lostWrites,
  readConsumed,
  readWrites,
  type Truth,
  waitsOf,
} from './feed-ledger'
import { report } from './report'

const SECONDS = Number(process.env.RECENTN_FIRE_SECONDS ?? 6)
/** Writers without any publisher, for the comparison. */
const ALONE_SECONDS = Math.min(2 + SECONDS / 10, 20)
const SETTLE_SECONDS = 60
const KILL_EVERY_MS = 600
const KEYS = 300
const FEED = 'fire'
const WRITERS = 8
/** Writers that publish as well. */
const PUBLISHING_WRITERS = 3
const PUBLISHERS = 3
const CONSUMERS = 4

jest.setTimeout(180_000 + SECONDS * 1500)

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
const labels = (role: string, count: number) => Array.from({ length: count }, (_, at) => `${role}-${at}`)
const writers = labels('writer', WRITERS)
const publishers = labels('publisher', PUBLISHERS)
const consumers = labels('consumer', CONSUMERS)

/** The processes, each of which is started again when it is killed, until it is ordered to end. */
class Processes {
  readonly #alive = new Map<string, ChildProcess>()
  readonly #working = new Set<string>()
  readonly #ending = new Set<ChildProcess>()
  /** Of every role, how often one of it was killed. */
  readonly kills: Record<string, number> = { writer: 0, publisher: 0, consumer: 0 }
  /** How processes ended that were not killed. */
  readonly crashes: string[] = []
  phase = 'alone'

  constructor(
    readonly url: string,
    readonly folder: string,
  ) {}

  /** Resolves when they work. `publish`: their stores do so in the background. */
  async start(names: readonly string[], publish: (at: number) => boolean): Promise<void> {
    await Promise.all(names.map((label, at) => once(this.#spawn(label, publish(at)), 'message')))
  }

  #spawn(label: string, publish: boolean): ChildProcess {
    const [role = '', number] = label.split('-')
    const file = path.join(this.folder, role === 'consumer' ? label : 'writes')
    // Half of the consumers let the library read their stored cursor, the others remember it and only store it.
    const consumer = { name: label, stored: Number(number) % 2 === 0 }
    const task = { role, url: this.url, feed: FEED, file, publish, keys: KEYS, consumer }
    const args = [JSON.stringify(task), this.phase]
    const child = fork(path.join(__dirname, 'feed-fire-child.mjs'), args, { execArgv: [] })
    this.#alive.set(label, child)
    child.once('message', () => this.#working.add(label))
    child.on('exit', (code, signal) => {
      this.#working.delete(label)
      const isEnding = this.#ending.has(child)
      if (signal === 'SIGKILL' && !isEnding) {
        this.kills[role] = (this.kills[role] ?? 0) + 1
        this.#spawn(label, publish)
      } else if (!isEnding || (code !== 0 && signal === null)) {
        // By SIGTERM itself ends who has only just begun.
        this.crashes.push(`${label}: ${signal ?? code}`)
      }
    })
    return child
  }

  enter(phase: string): void {
    this.phase = phase
    for (const [label, child] of this.#alive) {
      // To one that has just killed itself nothing can be said.
      if (label.startsWith('writer') && child.connected) child.send(phase, () => {})
    }
  }

  /** One of these, at any moment of its work: on a busy machine they would else hardly come to it. */
  killOneOf(labels: readonly string[]): void {
    const working = labels.filter((label) => this.#working.has(label))
    const label = working[Math.floor(Math.random() * working.length)]
    if (label === undefined) return
    this.#working.delete(label)
    this.#alive.get(label)?.kill('SIGKILL')
  }

  async end(names: readonly string[], signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<void> {
    const children = names.flatMap((label) => this.#alive.get(label) ?? [])
    for (const child of children) this.#ending.add(child)
    const running = children.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null)
    const exits = running.map((child) => once(child, 'exit'))
    for (const child of running) child.kill(signal)
    await Promise.all(exits)
  }
}

async function burn(processes: Processes): Promise<void> {
  await processes.start(writers, () => false)
  await sleep(ALONE_SECONDS * 1000)
  const publishing = writers.slice(0, PUBLISHING_WRITERS)
  await processes.end(publishing)
  processes.phase = 'fire'
  await Promise.all([
    processes.start(publishing, () => true),
    processes.start(publishers, () => true),
    processes.start(consumers, (at) => at === 0),
  ])
  processes.enter('fire')
  const targets = [...publishers, ...consumers]
  for (const end = performance.now() + SECONDS * 1000; performance.now() < end; ) {
    await sleep(KILL_EVERY_MS * (0.5 + Math.random()))
    processes.killOneOf(targets)
  }
  await processes.end(writers)
}

/** Every entry of the feed, deleted ones too, as the tables have them. */
async function truthIn(store: Store): Promise<Truth> {
  const rows: Record<string, string>[] = await store.dataSource.query(
    `SELECT e.entry_key AS name, CAST(e.sync_id AS CHAR) AS syncId, e.version AS version, e.deleted AS deleted, e.value AS value
     FROM recentn_feed_entries e JOIN recentn_feeds f ON f.id = e.feed_id WHERE f.feed = ?`,
    [FEED],
  )
  return new Map(
    rows.map(({ name = '', syncId, version, deleted, value = '' }) => {
      const stamp = Number(deleted) === 1 ? '-' : JSON.parse(value).stamp
      return [name, { syncId: BigInt(syncId ?? -1), key: name, version: Number(version), stamp }]
    }),
  )
}

/** Until everything is numbered and every consumer has stored the last number. */
async function settled(store: Store): Promise<Truth> {
  for (const end = performance.now() + SETTLE_SECONDS * 1000; ; await sleep(100)) {
    const truth = await truthIn(store)
    const unpublished = [...truth.values()].filter(({ syncId }) => syncId < 0n).length
    const { lastSyncId } = (await store.feeds.status(FEED)) ?? { lastSyncId: -1n }
    const cursors = await Promise.all(consumers.map((name) => store.feeds.cursor(FEED, name)))
    if (unpublished === 0 && cursors.every(({ cursor }) => cursor === lastSyncId)) return truth
    if (performance.now() < end) continue
    const where = cursors.map(({ cursor }) => cursor).join(', ')
    throw new Error(`not at rest: ${unpublished} unpublished, last sync id ${lastSyncId}, the consumers at ${where}`)
  }
}

export function describeFeedFire(engine: 'mariadb' | 'mysql'): void {
  describeEngine(engine, `${WRITERS} writers, ${PUBLISHERS} publishers, ${CONSUMERS} consumers, all killed`, () => {
    const at = useStore(engine, 'feed-fire', { publish: false })

    it('every consumer ends with the final value of every key', async () => {
      const processes = new Processes(at.url, at.folder)
      // Whatever a writer does first, there is a feed.
      await at.store.feeds.put(FEED, 'key-0', { stamp: 'first' })
      let truth: Truth
      try {
        await burn(processes)
        truth = await settled(at.store)
        await processes.end([...consumers, ...publishers])
      } finally {
        await processes.end([...writers, ...publishers, ...consumers], 'SIGKILL')
      }

      const writes = readWrites(path.join(at.folder, 'writes'))
      const consumed: Consumed[] = consumers.map((name) => readConsumed(path.join(at.folder, name)))
      const all = consumed.flatMap(({ seen }) => seen)
      const { writer = 0, publisher = 0, consumer = 0 } = processes.kills
      const text =
        `${SECONDS} s, ${writes.acks.length} writes of ${truth.size} keys, ` +
        `${all.length} changes seen by ${CONSUMERS} consumers in ${consumed.reduce((sum, { starts }) => sum + starts, 0)} lives; ` +
        `killed: ${publisher} publishers, ${consumer} consumers, ${writer} writers; ` +
        `a put without publishers: ${waitsOf(writes.took.get('alone') ?? [])}; ` +
        `with them: ${waitsOf(writes.took.get('fire') ?? [])}`
      report({ type: 'run', engine, what: 'a feed whose writers, publishers and consumers are killed', text })
      expect(processes.crashes).toEqual([])
      expect(writes.faults.slice(0, 10)).toEqual([])
      expect(consumed.flatMap(({ faults }) => faults).slice(0, 10)).toEqual([])
      expect(contradictionsIn([...all, ...truth.values()]).slice(0, 10)).toEqual([])
      expect(lostWrites(writes, all, truth).slice(0, 10)).toEqual([])
      for (const [index, { seen }] of consumed.entries()) {
        expect({ consumer: index, losses: lossesOf(seen, truth).slice(0, 10) }).toEqual({ consumer: index, losses: [] })
      }

      // The fire was one.
      expect(publisher + consumer).toBeGreaterThan(SECONDS / 4)
      expect(writes.acks.length).toBeGreaterThan(SECONDS * 20)
      expect(all.length).toBeGreaterThan(SECONDS * 20)
    })
  })
}
