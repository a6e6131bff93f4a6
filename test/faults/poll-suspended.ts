/**
 * A process that is suspended (SIGSTOP) in the midst of its handlers, for longer than its claims hold, and wakes up when
 * another one has its rows. Whatever its handlers then come back with is not recorded, in tables of every shape.
 */
import { type ChildProcess, fork } from 'node:child_process'
import path from 'node:path'
import { describeEngine, type EngineName } from '../support/engines'
import { useStore } from '../support/use-store'
import { noteMarks, readMarks } from './poll-marks'
import { createTables, fireTables, insertRows } from './poll-tables'
import { report } from './report'

/** For each table: one that ends well, one that fails, and one that waits for an order. */
const ROWS = 3
const TIMEOUT_SECONDS = 4

jest.setTimeout(120_000)

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

interface Said {
  begun?: number
  results?: Record<string, Record<string, number>>
  told?: number
  attempts?: number[]
}

/** A child, and what it says. */
class Child {
  readonly process: ChildProcess
  readonly said: Said = {}

  constructor(url: string, role: 'late' | 'next', given: object) {
    const script = path.join(__dirname, 'poll-suspended-child.mjs')
    this.process = fork(script, [url, role, JSON.stringify(given)], { execArgv: [] })
    this.process.on('message', (message: Said) => Object.assign(this.said, message))
  }

  async until(isSo: () => boolean): Promise<void> {
    while (!isSo()) {
      if (this.process.exitCode !== null) throw new Error(`The child ended with ${this.process.exitCode}`)
      await sleep(20)
    }
  }
}

export function describePollSuspended(engine: EngineName): void {
  describeEngine(engine, 'a polling process that was suspended', () => {
    const at = useStore(engine, 'poll-suspended')

    it('comes back late and records nothing over its successor', async () => {
      const { store, url } = at
      const tables = fireTables().filter(({ copies, options }) => copies === 1 && options.batchSize === undefined)
      await createTables(store.dataSource, tables)
      await noteMarks(store, tables)
      for (const table of tables) await insertRows(store.dataSource, table, [0, 1, 2])
      const given = {
        tables: tables.map(({ name, options }) => ({ name, options })),
        rows: ROWS,
        timeoutSeconds: TIMEOUT_SECONDS,
      }
      const began = performance.now()
      const results = (marks: Awaited<ReturnType<typeof readMarks>>) => marks.filter(({ word }) => word !== 'over')
      const late = new Child(url, 'late', given)
      let next: Child | null = null
      try {
        await late.until(() => late.said.begun !== undefined)
        const successor = new Child(url, 'next', given)
        next = successor
        // All claims ran out: the first process is suspended, otherwise it would have renewed them.
        await successor.until(() => successor.said.begun !== undefined)
        expect(late.said.results).toBeUndefined()

        late.process.kill('SIGCONT')
        await late.until(() => late.said.results !== undefined)
        const nothing = { claimed: ROWS, done: 0, retried: 0, failed: 0, lost: ROWS }
        expect(late.said.results).toEqual(Object.fromEntries(tables.map(({ name }) => [name, nothing])))
        expect(late.said.told).toBe(tables.length)
        expect(results(await readMarks(store))).toEqual([])

        successor.process.send('end')
        await successor.until(() => successor.said.results !== undefined)
        expect(successor.said.attempts).toHaveLength(tables.length * ROWS)
        expect(new Set(successor.said.attempts)).toEqual(new Set([2]))
      } finally {
        for (const child of [late, next]) child?.process.kill('SIGKILL')
      }
      const marks = await readMarks(store)
      expect(marks.filter(({ word }) => word === 'error' || word === 'early')).toEqual([])
      for (const { name, title, options } of tables) {
        const isRemembered = !options.onDone && !options.status && !options.claim
        const of = results(marks).filter(({ table }) => table === (isRemembered ? `notes of ${name}` : name))
        expect([title, of.length, new Set(of.map(({ row }) => row)).size]).toEqual([title, ROWS, ROWS])
        for (const { attempts } of of) expect([null, 2]).toContain(attempts)
      }
      const text = `${tables.length * ROWS} rows of ${tables.length} tables in ${((performance.now() - began) / 1000).toFixed(1)} s`
      report({ type: 'run', engine, what: 'rows taken from a suspended process, and kept', text })
    })
  })
}
