/**
 * Polls under fire: processes poll tables of several shapes while they are killed at random and started again, and the
 * handlers keep a ledger outside of the database, a file that all append to. Its lines:
 * - `start <table> <n> <claim> <attempt> <now, ms>`, then one of
 * - `end <table> <n> <claim> <attempt> <now>`, `failed …`, or nothing when the process was killed in between
 * - `lost <table> <n> <claim> <now>`: the handler was told that its claim is lost
 * - `fault <code> <text>`: what a poller was told by the database
 *
 * A process that lives holds its claims, so that a row which two had at once is seen by the order of the lines: a second
 * `start` before the `end` of one whose process was not killed.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describeEngine, type EngineName } from '../support/engines'
import { createSql, insertSql, POLL_TABLES, type PollTable } from '../support/poll-shapes'
import { useStore } from '../support/use-store'

/** Of each table. */
const ROWS = Number(process.env.RECENTN_FIRE_ROWS ?? 300)
/** Of each table without a key, whose claims are one row. */
const SINGLE_ROWS = Math.ceil(ROWS / 50) * 10
const BULKS = 10
const BULK_EVERY_MS = 400
const PROCESSES = 3

const TITLES = [
  'an id and a status: soft delete',
  'an id, a status, and columns for claims',
  'an id and no status: done rows are remembered',
  'an id and no status: hard delete',
  'a unique sequence and no status',
  'a date of which there are several alike, and a status',
  'a composite key and a status',
  'no key at all, with rows that are alike: hard delete',
]

jest.setTimeout(120_000 + ROWS * 100)

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

interface FireTable {
  name: string
  table: PollTable
  rows: number
  options: PollTable['options']
}

interface Handling {
  claim: string
  attempt: number
  isOver: boolean
  outcome: 'end' | 'failed' | null
}

/** Reads the ledger in its order; says who began a row that a living process still had. */
class Ledger {
  readonly handlings = new Map<string, Handling[]>()
  readonly faults: string[] = []
  readonly twice: string[] = []
  lost = 0

  constructor(file: string) {
    for (const line of readFileSync(file, 'utf8').split('\n')) this.#read(line)
  }

  #read(line: string): void {
    const [word, table, n, claim = '', attempt] = line.split(' ')
    const row = `${table} ${n}`
    if (word === 'start') {
      const all = this.handlings.get(row) ?? []
      this.handlings.set(row, all)
      const held = all.find(({ isOver }) => !isOver)
      if (held) this.twice.push(`${row}: ${claim} beside ${held.claim}`)
      all.push({ claim, attempt: Number(attempt), isOver: false, outcome: null })
    } else if (word === 'end' || word === 'failed') {
      const one = this.handlings.get(row)?.find((handling) => handling.claim === claim) as Handling
      Object.assign(one, { isOver: true, outcome: word })
    } else if (word === 'killed') {
      // Written by the test when the process was gone: what it had is nobody's.
      for (const all of this.handlings.values()) {
        for (const handling of all) if (handling.claim.startsWith(`${table}-`)) handling.isOver = true
      }
    } else if (word === 'lost') this.lost++
    else if (word === 'fault') this.faults.push(line)
  }
}

/** The processes, of which there are always so many, however often one is killed. */
class Processes {
  readonly #arguments: string[]
  readonly #alive = new Set<ChildProcess>()
  readonly #onKilled: (pid: number) => void
  #isEnding = false
  kills = 0
  readonly crashes: string[] = []

  constructor(args: string[], onKilled: (pid: number) => void) {
    this.#arguments = args
    this.#onKilled = onKilled
  }

  async start(): Promise<void> {
    const children = Array.from({ length: PROCESSES }, () => this.#spawn())
    await Promise.all(children.map((child) => once(child, 'message')))
  }

  #spawn(): ChildProcess {
    const child = fork(path.join(__dirname, 'poll-fire-child.mjs'), this.#arguments, { execArgv: [] })
    this.#alive.add(child)
    child.on('exit', (code, signal) => {
      this.#alive.delete(child)
      if (signal === 'SIGKILL') this.#onKilled(child.pid as number)
      else if (!(this.#isEnding && code === 0)) this.crashes.push(`${signal ?? code}`)
      if (!this.#isEnding) this.#spawn()
    })
    return child
  }

  killOne(): void {
    const one = [...this.#alive][Math.floor(Math.random() * this.#alive.size)]
    if (one?.kill('SIGKILL')) this.kills++
  }

  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    this.#isEnding = true
    const exits = [...this.#alive].map((child) => once(child, 'exit'))
    for (const child of this.#alive) child.kill(signal)
    await Promise.all(exits)
  }
}

export function describePollFire(engine: EngineName): void {
  describeEngine(engine, `${PROCESSES} polling processes, killed at random`, () => {
    const at = useStore(engine, 'poll-fire')

    it(`do each row of ${TITLES.length} tables, none is forgotten, none is had by two`, async () => {
      const file = path.join(at.folder, 'ledger')
      const { dataSource } = at.store
      const tables = TITLES.map((title, number): FireTable => {
        const table = POLL_TABLES.find((one) => one.title === title) as PollTable
        const options = { ...table.options, lateSeconds: 3600 }
        return { name: `fire_${number}`, table, options, rows: table.single ? SINGLE_ROWS : ROWS }
      })
      for (const { name, table } of tables) {
        for (const statement of createSql(table, name)) await dataSource.query(statement)
      }
      writeFileSync(file, '')
      const processes = new Processes(
        [at.url, file, JSON.stringify(tables.map(({ name, options }) => ({ name, options })))],
        (pid) => appendFileSync(file, `killed ${pid}\n`),
      )
      const pollers = tables.map(({ name, options }) => at.store.poll(name, () => {}, { ...options, auto: false }))
      const isDone = async () => {
        for (const poller of pollers) {
          const { ready, claimed, waiting } = await poller.counts()
          if (ready + claimed + waiting > 0) return false
        }
        return true
      }
      const began = performance.now()
      try {
        await processes.start()
        for (let bulk = 0; bulk < BULKS; bulk++) {
          for (const { name, table, rows } of tables) {
            const numbers = Array.from({ length: rows / BULKS }, (_, n) => bulk * (rows / BULKS) + n)
            await dataSource.query(insertSql(table, name, numbers))
          }
          // In the midst of the work, not before anybody has seen the rows.
          await sleep(50 + Math.random() * 100)
          processes.killOne()
          await sleep(BULK_EVERY_MS)
        }
        while (!(await isDone())) await sleep(100)
        await processes.end('SIGTERM')
      } finally {
        await processes.end('SIGKILL')
      }
      const seconds = (performance.now() - began) / 1000

      const ledger = new Ledger(file)
      const isEnded = (row: string) => ledger.handlings.get(row)?.some(({ outcome }) => outcome === 'end') ?? false
      const rows = tables.flatMap(({ name, rows: count }) => Array.from({ length: count }, (_, n) => `${name} ${n}`))
      expect(ledger.twice).toEqual([])
      expect(rows.filter((row) => !isEnded(row))).toEqual([])
      expect(processes.crashes).toEqual([])
      expect(ledger.faults).toEqual([])
      // Who ended was recorded, but for what was killed between the end and its record.
      const again = [...ledger.handlings.values()].filter(
        (all) => all.filter(({ outcome }) => outcome === 'end').length > 1,
      )
      expect(again.length).toBeLessThan(processes.kills * 4 * TITLES.length)
      for (const { name, table, rows: count } of tables) {
        const left: { found: unknown }[] = await dataSource.query(
          `SELECT COUNT(*) AS found FROM ${name}${table.done ? ` WHERE ${table.done}` : ''}`,
        )
        expect([table.title, Number(left[0]?.found)]).toEqual([table.title, table.done === null ? 0 : count])
      }
      // The fire was one.
      expect(processes.kills).toBeGreaterThan(5)
      const cut = [...ledger.handlings.values()].flat().filter(({ isOver, outcome }) => isOver && outcome === null)
      expect(cut.length + again.length).toBeGreaterThan(0)
      process.stdout.write(
        `${engine}: ${rows.length} rows of ${TITLES.length} tables in ${seconds.toFixed(1)} s, ${processes.kills} kills, ` +
          `${cut.length} handlers cut off, ${again.length} rows done again, ${ledger.lost} claims lost\n`,
      )
    })
  })
}
