/**
 * One load through many faults. Two processes do everything at once; a fault begins, lasts, and ends; then every kind of
 * call must be good again before the next one. In the end the ledger of the processes is held against the database.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { openStore, type Store } from '../../src'
import { eventually, pause } from '../support/timing'
import { Load, VISIBILITY_SECONDS } from './load'
import { clock, type Good, KINDS, LoadLedger } from './load-ledger'
import { report } from './report'
import { judge, type Verdict } from './verdict'

export const IS_LONG = process.env.RECENTN_FAULTS === 'long'
/** A fault that is never over, or a call that hangs, ends the test; the report says what it took. */
const PATIENCE_MS = 60_000
const WARM_MS = 3000
/** A database that is away keeps no call longer than this, where a statement has 5 seconds. */
const REFUSED_WITHIN_MS = 6000
/** From the end of a fault to the first good answer of each process. */
const GOOD_WITHIN_MS = 2000
const GROWTH_PERCENT = 10
/** The time that these calls wait by themselves. */
const OWN_WAIT_MS: Record<string, number> = { receive: 1000, consume: 1000 }

export const STEADY = 'steady'
export const KILLED = 'killed'

export interface Fault {
  name: string
  /** How long it lasts: in the short form, and in the long one. */
  seconds: readonly [short: number, long: number]
  /** The database does not answer during it, so that each call is refused soon. */
  isAway?: boolean
  /** Calls that have nothing to do with it, and how long it may keep them waiting. */
  others?: { are(call: Good): boolean; withinMs: number }
  begin(run: FaultRun): unknown
  end?(run: FaultRun): unknown
}

export class FaultRun {
  readonly folder = mkdtempSync(path.join(tmpdir(), 'recentn-faults-'))
  readonly load: Load
  /** By another way to the database. */
  readonly direct: Store
  readonly ledger: LoadLedger
  readonly #engine: string
  #heapBytes = 0

  private constructor(engine: string, url: string, direct: Store) {
    const file = path.join(this.folder, 'ledger')
    this.#engine = engine
    this.direct = direct
    this.ledger = new LoadLedger(file)
    this.load = new Load(url, file)
  }

  /** `url` is what the load opens; `directUrl` is the way to the same database that no fault is on. */
  static async begin(engine: string, url: string, directUrl: string): Promise<FaultRun> {
    const direct = await openStore({ url: directUrl, publish: false, sweep: false, defaultCapacity: 10_000 })
    const run = new FaultRun(engine, url, direct)
    for (const queue of ['received', 'worked']) {
      await direct.queues.put(queue, { visibilityTimeoutSeconds: VISIBILITY_SECONDS, maxReceives: 1000 })
    }
    await Promise.all([run.load.start(STEADY), run.load.start(KILLED)])
    await run.#goodAgain(clock())
    await pause(WARM_MS)
    run.#heapBytes = (await run.load.measure(STEADY)).heapBytes
    return run
  }

  /** Resolves when the fault is over and every kind of call of both processes was good again. */
  async suffer({ name, seconds: [short, long], isAway, others, begin, end }: Fault): Promise<void> {
    const from = clock()
    await begin(this)
    await pause((IS_LONG ? long : short) * 1000)
    await end?.(this)
    const back = clock()
    const goodAgainMs = Math.round(await this.#goodAgain(back))
    const refused: Record<string, number> = {}
    let slowestErrorMs = 0
    const late: string[] = []
    for (const one of this.ledger.refused) {
      const { code, kind, asked, answered, text } = one
      if (answered < from) continue
      refused[code] = (refused[code] ?? 0) + 1
      // A wait before the fault began does not count.
      const ms = Math.round(answered - Math.max(asked, from) - (OWN_WAIT_MS[kind] ?? 0))
      slowestErrorMs = Math.max(ms, slowestErrorMs)
      // A process without a processor is late with all that it does.
      const starvedMs = Math.round(this.ledger.starvedMs(one))
      if (ms > REFUSED_WITHIN_MS + starvedMs) late.push(`${ms} ms (starved ${starvedMs} ms), ${kind}: ${code} ${text}`)
    }
    const acknowledged = this.ledger.good.filter(({ answered }) => answered >= from).length
    const seconds = Math.round((clock() - from) / 100) / 10
    const line = { fault: name, seconds, acknowledged, refused, slowestErrorMs, goodAgainMs }
    report({ type: 'fault', engine: this.#engine, ...line })
    expect(this.load.crashes).toEqual([])
    expect(this.#slowToReturn(back)).toEqual([])
    if (isAway) expect(late.slice(0, 5)).toEqual([])
    if (others) expect(this.#keptWaiting(others, from, back)).toEqual([])
  }

  /** Such calls that were answered too late, or that none was made. */
  #keptWaiting({ are, withinMs }: NonNullable<Fault['others']>, from: number, back: number): string[] {
    const calls = this.ledger.good.filter((one) => one.answered >= from && one.asked < back && are(one))
    if (calls.length === 0) return ['none was made']
    return calls.flatMap((one) => {
      const [ms, starvedMs] = [one.answered - Math.max(one.asked, from), this.ledger.starvedMs(one)]
      return ms > withinMs + starvedMs ? [`${one.kind} ${one.words.join(' ')}: ${Math.round(ms)} ms`] : []
    })
  }

  /** The processes that had their first good answer too late, without the time for which they had no processor. */
  #slowToReturn(since: number): string[] {
    return this.load.names.flatMap((process) => {
      const isFirst = (one: { process: string; answered: number }) => one.process === process && one.answered >= since
      const answered = this.ledger.good.find(isFirst)?.answered ?? Number.POSITIVE_INFINITY
      const starvedMs = this.ledger.starvedMs({ process, asked: since, answered })
      const ms = answered - since - starvedMs
      return ms > GOOD_WITHIN_MS ? [`${process}: ${Math.round(ms)} ms (starved ${Math.round(starvedMs)} ms)`] : []
    })
  }

  /** Milliseconds until every kind of call of every process was good after `since`. */
  async #goodAgain(since: number): Promise<number> {
    let last = since
    const missing = new Set(this.load.names.flatMap((name) => KINDS.map((kind) => `${kind} of ${name}`)))
    let looked = 0
    await eventually(PATIENCE_MS, `good again: every kind of call`, () => {
      this.ledger.read()
      const { good } = this.ledger
      for (; looked < good.length; looked++) {
        const { kind, process, answered } = good[looked] as (typeof good)[number]
        if (answered >= since && missing.delete(`${kind} of ${process}`)) last = Math.max(last, answered)
      }
      return missing.size === 0
    }).catch((error: Error) => {
      throw new Error(`${error.message}: ${[...missing].join(', ')}`)
    })
    return last - since
  }

  /**
   * Lets the load come to its end, and judges it. `connections` counts what the load has left on the server; `excused` is
   * what cannot be kept under such faults.
   */
  async judge(connections: () => Promise<number>, excused: readonly (keyof Verdict)[] = []): Promise<void> {
    const { load, ledger, direct } = this
    load.tell('calm')
    await eventually(2 * PATIENCE_MS, 'all is handled and consumed', () => this.#isAtRest(), 200)
    const [steady] = await load.stop()
    const measured = steady as NonNullable<typeof steady>
    let open = 0
    const isClosed = async () => {
      open = await connections()
      return open === 0
    }
    await eventually(10_000, 'all connections are closed', isClosed, 100).catch(() => {})
    ledger.read()
    const verdict = await judge(ledger, direct)
    for (const kind of excused) verdict[kind] = []
    const counts = Object.fromEntries(Object.entries(verdict).map(([name, all]) => [name, all.length]))
    const { lost = 0, twice = 0, gaps = 0, together = 0, missed = 0, raw = 0, unhandled = 0, stored = 0 } = counts
    const growthPercent = Math.round((measured.heapBytes / this.#heapBytes - 1) * 100)
    report({
      type: 'verdict',
      engine: this.#engine,
      acknowledged: ledger.good.length,
      lost,
      twice: twice + stored,
      gaps,
      together,
      missed,
      raw,
      unhandled,
      leaked: open + measured.busy.length + measured.waiting,
      growthPercent,
    })
    const firstOfEach = Object.fromEntries(Object.entries(verdict).map(([name, all]) => [name, all.slice(0, 5)]))
    expect(firstOfEach).toEqual(Object.fromEntries(Object.keys(verdict).map((name) => [name, []])))
    const { busy, waiting } = measured
    expect({ crashes: load.crashes, open, busy, waiting }).toEqual({ crashes: [], open: 0, busy: [], waiting: 0 })
    expect(growthPercent).toBeLessThan(GROWTH_PERCENT)
  }

  async #isAtRest(): Promise<boolean> {
    for (const queue of ['received', 'worked']) {
      // In both orders, for a message may move on between two looks.
      for (const state of ['ready', 'in-flight', 'delayed', 'in-flight', 'ready'] as const) {
        if ((await this.direct.queues.peek(queue, { state, limit: 1 })).messages.length > 0) return false
      }
    }
    const [row] = await this.direct.dataSource.query('SELECT COUNT(*) AS n FROM recentn_feed_entries WHERE sync_id < 0')
    if (Number(row?.n) > 0) return false
    const last = (await this.direct.feeds.status('load'))?.lastSyncId
    this.ledger.read()
    const cursors = new Map<string, string>()
    for (const { kind, process, words } of this.ledger.good)
      if (kind === 'consume') cursors.set(process, words[1] ?? '')
    return this.load.names.every((name) => cursors.get(name) === String(last))
  }

  async end(): Promise<void> {
    await this.load.killAll()
    await this.direct.close()
    this.ledger.close()
    rmSync(this.folder, { recursive: true, force: true })
  }
}

/** Faults of the processes, which are the same on every engine. */
export const PROCESS_FAULTS: Fault[] = [
  {
    name: 'a process of the app killed, and started again',
    seconds: [1, 2],
    begin: ({ load }) => load.kill(KILLED),
    end: ({ load }) => load.start(KILLED),
  },
  {
    name: 'all connections of a pool taken',
    seconds: [3, 5],
    begin: ({ load }) => load.tell('hog', IS_LONG ? 5000 : 3000, STEADY),
  },
  {
    name: "the app's clock jumps by an hour, forth and back",
    seconds: [2, 6],
    begin: async ({ load }) => {
      for (const hours of [1, -1, 0, -1, 1]) {
        load.tell('clock', hours * 3_600_000)
        await pause(300)
      }
    },
    end: ({ load }) => load.tell('clock', 0),
  },
  {
    name: 'the hour that comes twice when summer time ends',
    seconds: [4, 6],
    begin: ({ load }) => load.tell('autumn'),
    end: ({ load }) => load.tell('clock', 0),
  },
]
