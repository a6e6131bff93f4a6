import type { PollResult } from '../../../src/index'
import { insertSql, POLL_TABLES } from '../../support/poll-shapes'
import type { Context } from '../context'
import { type NumberedRow, pollTools, upTo } from './tools'

const ROWS = 40
/** Without a key a claim is one row. */
const FEW_ROWS = 20
const FAILS_ONCE = 3
const FAILS_ALWAYS = 7

/** The notes of handlers: how often each row was begun, and which did two at once. */
class Ledger {
  readonly begun = new Map<number, number>()
  readonly done: number[] = []
  readonly attempts = new Map<number, number[]>()
  readonly #running = new Set<number>()
  readonly twice: number[] = []

  async handle(row: NumberedRow, { attempt }: { attempt: number }): Promise<void> {
    const n = Number(row.n)
    if (this.#running.has(n)) this.twice.push(n)
    this.#running.add(n)
    this.attempts.set(n, [...(this.attempts.get(n) ?? []), attempt])
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 4))
    this.#running.delete(n)
    if (n % 10 === FAILS_ALWAYS || (n % 10 === FAILS_ONCE && attempt === 1)) throw new Error(`row ${n} failed`)
    this.done.push(n)
  }
}

function sum(results: readonly PollResult[]): PollResult {
  const total = { claimed: 0, done: 0, retried: 0, failed: 0, lost: 0 }
  for (const result of results) {
    for (const key of Object.keys(total) as (keyof PollResult)[]) total[key] += result[key]
  }
  return total
}

export function describePollShapes(context: Context): void {
  const { tableOf, poll, numbersWhere, query } = pollTools(context)

  describe('polls: a table with', () => {
    it.each(POLL_TABLES.map((table) => [table.title, table] as const))('%s', async (_, table) => {
      const rows = table.single ? FEW_ROWS : ROWS
      const name = await tableOf(table, rows)
      const stores = [context.store, await context.open(), await context.open()]
      const ledger = new Ledger()
      const errors: string[] = []
      const pollers = stores.map((store) =>
        poll(
          name,
          (row, how) => ledger.handle(row, how),
          {
            ...table.options,
            concurrency: 3,
            batch: { max: 7 },
            maxAttempts: 2,
            backoff: { minSeconds: 0, maxSeconds: 0 },
            onError: (error) => errors.push((error as Error).message),
          },
          store,
        ),
      )
      const results = await Promise.all(pollers.map((poller) => poller.once()))

      const all = upTo(rows)
      const failing = all.filter((n) => n % 10 === FAILS_ALWAYS)
      const once = all.filter((n) => n % 10 === FAILS_ONCE)
      const good = all.filter((n) => n % 10 !== FAILS_ALWAYS)
      expect(ledger.twice).toEqual([])
      expect(ledger.done.sort((a, b) => a - b)).toEqual(good)
      for (const n of [...failing, ...once]) expect([n, ledger.attempts.get(n)]).toEqual([n, [1, 2]])
      expect(errors.sort()).toEqual([...failing, ...failing, ...once].map((n) => `row ${n} failed`).sort())
      expect(sum(results)).toEqual({
        claimed: rows + failing.length + once.length,
        done: good.length,
        retried: failing.length + once.length,
        failed: failing.length,
        lost: 0,
      })
      if (table.done) expect(await numbersWhere(name, table.done)).toEqual(good)
      if (table.done === null) expect(await numbersWhere(name, '1 = 1')).toEqual(failing)
      if (table.failed) expect(await numbersWhere(name, table.failed)).toEqual(failing)
      if (table.done === undefined) expect(await numbersWhere(name, '1 = 1')).toEqual(all)

      // Nothing is left to do, and what comes later is done.
      expect(sum([await (pollers[0] as (typeof pollers)[number]).once()]).claimed).toBe(0)
      const counts = await (pollers[0] as (typeof pollers)[number]).counts()
      expect(counts).toMatchObject({ ready: 0, claimed: 0, waiting: 0, failed: failing.length })
      await query(insertSql(table, name, [rows, rows + 1]))
      await (pollers[1] as (typeof pollers)[number]).once()
      expect(ledger.done.slice(-2).sort((a, b) => a - b)).toEqual([rows, rows + 1])
    })
  })
}
