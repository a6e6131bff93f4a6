/**
 * Polls under fire: several processes poll tables of every shape at the same time while they are killed at random moments
 * and started again. Every kill is of a process that runs a handler, of the shape that was cut off least. Rows come all the
 * while, some behind others that are higher. Then by the ledger of the handlers and the marks of the database: no row was
 * had by two at once, none was taken from a claim that still held, none is forgotten, each has one result, and the attempts
 * are as many as there were.
 */
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Poller } from '../../src'
import { describeEngine, type EngineName } from '../support/engines'
import { useStore } from '../support/use-store'
import { appendLine } from './ledger-lines'
import { Ledger } from './poll-ledger'
import { noteMarks, readMarks } from './poll-marks'
import { Processes } from './poll-processes'
import { createTables, type FireTable, fireTables, insertRows } from './poll-tables'
import { Verdict } from './poll-verdict'
import { report } from './report'

const SECONDS = Math.max(Number(process.env.RECENTN_FIRE_SECONDS ?? 12), 5)
/** How long the fire may last until each shape was cut off: seconds on a machine that has nothing else to do. */
const MOST_FURTHER_SECONDS = 120
const PROCESSES = 3
const BULK_EVERY_MS = 500
/** Rows of each bulk of each table; of a table whose claims are one row. */
const [BULK, SINGLE_BULK] = [8, 2]
const KILL_EVERY_MS = 700
const ROUNDS = 4
const TIMEOUT_SECONDS = 4
const MAX_ATTEMPTS = 6
const SHARED = {
  concurrency: 4,
  batch: { max: 20 },
  intervalSeconds: 0.25,
  claimTimeoutSeconds: TIMEOUT_SECONDS,
  maxAttempts: MAX_ATTEMPTS,
  backoff: { minSeconds: 0, maxSeconds: 1 },
}
const HANDLERS = { failsOnce: 3, failsAlways: 7, every: 25, usualMs: 30, longMs: 1500 }

jest.setTimeout(120_000 + SECONDS * 5000 + MOST_FURTHER_SECONDS * 1000)

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** Puts rows into every table, half of each bulk behind the half of the next. */
class Rows {
  readonly put: ReadonlyMap<FireTable, Map<number, number>>
  #bulk = 0

  constructor(tables: readonly FireTable[]) {
    this.put = new Map(tables.map((table) => [table, new Map()]))
  }

  async more(insert: (table: FireTable, numbers: number[]) => Promise<void>, isLast = false): Promise<void> {
    for (const [table, put] of this.put) {
      const size = table.table.single ? SINGLE_BULK : BULK
      const from = this.#bulk * size
      const ahead = isLast ? [] : Array.from({ length: size / 2 }, (_, at) => from + 2 * at + 1)
      const behind = this.#bulk === 0 ? [] : Array.from({ length: size / 2 }, (_, at) => from - size + 2 * at)
      const numbers = [...ahead, ...behind]
      for (const n of numbers) put.set(n, Date.now())
      await insert(table, numbers)
    }
    this.#bulk++
  }
}

/**
 * Kills until it has ended, each time a process that runs a handler of the table that was cut off least. For tables that were
 * not cut off at all it waits some rounds: on a busy machine it takes a while until each is at work.
 */
async function keepKilling(file: string, processes: Processes, names: string[], isOver: () => boolean): Promise<void> {
  for (let waited = 0; !isOver(); ) {
    await sleep(KILL_EVERY_MS * (0.5 + Math.random()))
    const ledger = new Ledger(file)
    const cuts = ledger.cuts()
    const uncut = names.filter((name) => !cuts.get(name))
    const byCuts = [...names].sort((a, b) => (cuts.get(a) ?? 0) - (cuts.get(b) ?? 0))
    const aims = uncut.length > 0 && waited < ROUNDS ? uncut : byCuts
    const pids = aims.map((name) => ledger.pidsIn(name)).find((all) => all.length > 0)
    if (pids) processes.kill(pids)
    waited = pids ? 0 : waited + 1
  }
}

async function untilDone(pollers: readonly Poller[]): Promise<void> {
  for (const poller of pollers) {
    for (;;) {
      const { ready, claimed, waiting } = await poller.counts()
      if (ready + claimed + waiting === 0) break
      await sleep(200)
    }
  }
}

export function describePollFire(engine: EngineName): void {
  describeEngine(engine, `${PROCESSES} polling processes, killed at random`, () => {
    const at = useStore(engine, 'poll-fire')

    it('do each row of tables of every shape, none is forgotten, none is had by two', async () => {
      const file = path.join(at.folder, 'ledger')
      const { store } = at
      const { dataSource } = store
      const tables = fireTables()
      await createTables(dataSource, tables)
      await noteMarks(store, tables)
      writeFileSync(file, '')
      const given = {
        tables: tables.map(({ name, options }) => ({ name, options })),
        shared: SHARED,
        ...HANDLERS,
      }
      const processes = new Processes([at.url, file, JSON.stringify(given)], (pid) => appendLine(file, 'killed', pid))
      const rows = new Rows(tables)
      const insert = (table: FireTable, numbers: number[]) => insertRows(dataSource, table, numbers)
      const began = performance.now()
      const seconds = () => (performance.now() - began) / 1000
      let drainedAfter = 0
      try {
        await processes.start(PROCESSES)
        const names = tables.map(({ name }) => name)
        const isUncut = () => {
          const cuts = new Ledger(file).cuts()
          return names.some((name) => !cuts.get(name))
        }
        const putting = { isOver: false }
        const until = seconds() + SECONDS
        const killing = keepKilling(file, processes, names, () => putting.isOver)
        try {
          while (seconds() < until || (seconds() < until + MOST_FURTHER_SECONDS && isUncut())) {
            await rows.more(insert)
            await sleep(BULK_EVERY_MS)
          }
        } finally {
          putting.isOver = true
          await killing
        }
        await rows.more(insert, true)
        drainedAfter = seconds()
        await untilDone(
          tables.map(({ name, options: { batchSize: _, ...options } }) =>
            store.poll(name, () => {}, { ...options, auto: false }),
          ),
        )
        await processes.end('SIGTERM')
      } finally {
        await processes.end('SIGKILL')
      }
      const tookSeconds = seconds()

      const ledger = new Ledger(file)
      const marks = await readMarks(store)
      const verdict = new Verdict({
        maxAttempts: MAX_ATTEMPTS,
        timeoutMs: TIMEOUT_SECONDS * 1000,
        fails: (n) => n % HANDLERS.every === HANDLERS.failsAlways,
      })
      for (const [table, put] of rows.put) verdict.judge(table, put, ledger, marks)
      const cuts = ledger.cuts()
      const taken = marks.filter(({ word }) => word === 'over').length
      const count = [...rows.put].reduce((sum, [{ copies }, put]) => sum + copies * put.size, 0)
      const cut = [...cuts.values()].reduce((sum, one) => sum + one, 0)
      const text =
        `${count} rows of ${tables.length} tables in ${tookSeconds.toFixed(1)} s (${drainedAfter.toFixed(1)} s of ` +
        `fire), ${processes.kills} kills, ${cut} handlers cut off, ${taken} claims taken over, ${verdict.again} rows ` +
        `done again, ${verdict.givenUp} given up, ${ledger.lost.size} claims lost`
      report({ type: 'run', engine, what: 'polled tables whose processes are killed', text })
      expect(ledger.twice).toEqual([])
      expect(processes.crashes).toEqual([])
      expect(ledger.faults).toEqual([])
      expect(verdict.faults.slice(0, 10)).toEqual([])
      // The fire was one, for every shape.
      expect(tables.filter(({ name }) => !cuts.get(name)).map(({ title }) => title)).toEqual([])
      expect(processes.kills).toBeGreaterThan(5)
      // A kill has those begun again whose handlers had ended, and nothing else.
      expect(verdict.again).toBeLessThan(processes.kills * SHARED.concurrency * tables.length)
      expect(taken).toBeGreaterThan(0)
    })
  })
}
