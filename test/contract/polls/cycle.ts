import { sessionOf } from '../../../src/database/attached/attach'
import { ownConditions } from '../../../src/repositories/polls/own-columns'
import { inTurns } from '../../../src/repositories/polls/place'
import { freshConditions } from '../../../src/repositories/polls/ready'
import { PollRepository } from '../../../src/repositories/polls/repository'
import { chooseSql } from '../../../src/repositories/polls/rows'
import { insertSql, POLL_TABLES, type PollTable } from '../../support/poll-shapes'
import type { Context } from '../context'
import { type NumberedRow, pollTools, upTo } from './tools'

const TABLES = POLL_TABLES.filter(({ options }) => options.order === 'cycle')
const [STATUS] = TABLES as [PollTable]
const ROUNDS = 4

/** Rows that come in turns, round and round from a stored place. */
export function describePollCycles(context: Context): void {
  const { query, tableOf, made, poll, faultsOf, numbersWhere } = pollTools(context)

  const repositoryOf = (name: string, { options }: PollTable) => {
    const { dataSource } = context.store
    return new PollRepository(dataSource, sessionOf(dataSource), name, options)
  }
  const claimed = async (repository: PollRepository, max: number) => {
    const { claims } = await repository.claim({ max, ranOut: max })
    return { claims, rows: claims.map(({ row }) => Number((row.load() as NumberedRow).n)) }
  }

  describe.each(TABLES.map((table) => [table.title, table] as const))('polls: %s', (_, table) => {
    it('come round after round, until their attempts are used up', async () => {
      const name = await tableOf(table, 6)
      const seen: number[] = []
      const fails = ({ n }: NumberedRow) => {
        seen.push(Number(n))
        throw new Error('not yet')
      }
      const poller = poll(name, fails, { ...table.options, maxAttempts: 3, batch: { max: 2 } })
      expect(await poller.once()).toMatchObject({ claimed: 18, retried: 12, failed: 6 })
      expect(seen).toEqual([...upTo(6), ...upTo(6), ...upTo(6)])
      expect(await poller.counts()).toMatchObject({ ready: 0, claimed: 0, waiting: 0, failed: 6 })
    })

    it('that are inserted behind the place come with the next round, those before it with this one', async () => {
      const name = await tableOf(table, 0)
      await query(insertSql(table, name, [1, 3, 5]))
      const seen: number[] = []
      const handler = async ({ n }: NumberedRow, { attempt }: { attempt: number }) => {
        seen.push(Number(n))
        if (Number(n) === 3 && attempt === 1) await query(insertSql(table, name, [2, 4]))
        if (attempt === 1) throw new Error('not yet')
      }
      await poll(name, handler, { ...table.options, batch: { max: 1 } }).once()
      expect(seen).toEqual([1, 3, 4, 5, 1, 2, 3, 4, 5, 2])
    })

    it('have one place for all pollers, and no row is given to two', async () => {
      const name = await tableOf(table, 7)
      const [one, other] = [repositoryOf(name, table), repositoryOf(name, table)]
      const first = await claimed(one, 2)
      expect(first.rows).toEqual([0, 1])
      expect((await claimed(other, 3)).rows).toEqual([2, 3, 4])
      // As if they had not been claimed; they wait for their turn.
      for (const claim of first.claims) expect(await one.giveBack(claim)).toBe('given back')
      expect((await claimed(one, 3)).rows).toEqual([5, 6, 0])
      expect((await claimed(other, 5)).rows).toEqual([1])
      expect((await claimed(one, 5)).rows).toEqual([])
    })

    it('are done once by several pollers, and each is met before another is met twice more', async () => {
      const rows = 30
      const name = await tableOf(table, rows)
      const begun = new Map(upTo(rows).map((n) => [n, 0]))
      const running = new Set<number>()
      const faults: string[] = []
      const handler = async ({ n }: NumberedRow, { attempt }: { attempt: number }) => {
        const row = Number(n)
        if (running.has(row)) faults.push(`${row} is had by two`)
        running.add(row)
        if (attempt !== (begun.get(row) ?? 0) + 1) faults.push(`${row} begins as attempt ${attempt}`)
        begun.set(row, attempt)
        const fewest = Math.min(...begun.values())
        if (attempt > fewest + 2) faults.push(`${row} begins attempt ${attempt}, and another had ${fewest}`)
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 3))
        running.delete(row)
        if (attempt < ROUNDS) throw new Error('not yet')
      }
      const stores = [context.store, await context.open(), await context.open()]
      const options = { ...table.options, concurrency: 2, batch: { max: 3 }, maxAttempts: ROUNDS }
      await Promise.all(stores.map((store) => poll(name, handler, options, store).once()))
      expect(faults).toEqual([])
      expect([...begun.values()]).toEqual(upTo(rows).map(() => ROUNDS))
      expect(await poll(name, handler, options).counts()).toMatchObject({ ready: 0, failed: 0 })
      if (table.done) expect(await numbersWhere(name, table.done)).toEqual(upTo(rows))
    })

    it('are found along an index, on both sides of the place', async () => {
      const name = await tableOf(table, 300)
      const repository = repositoryOf(name, table)
      await claimed(repository, 10)
      const plan = await repository.plan()
      expect(plan.advice).toBeNull()
      const sides = await sessionOf(context.store.dataSource).read(async (reader) => {
        const conditions = plan.own ? ownConditions(reader, plan) : freshConditions(reader, plan, null)
        const how = context.engine === 'sqlite' ? 'EXPLAIN QUERY PLAN' : 'EXPLAIN FORMAT=TRADITIONAL'
        const explained = []
        for (const { sql, parameters } of inTurns(reader, plan, '1100', conditions)) {
          const chosen = chooseSql(reader.engine, plan, { sql, parameters }, 10)
          const steps = await reader.rows(`${how} ${chosen}`, parameters)
          explained.push(steps.map((step) => Object.values(step).join(' ')).join('\n'))
        }
        return explained
      })
      expect(sides).toHaveLength(2)
      for (const side of sides) {
        expect(side).not.toMatch(/filesort|temporary|TEMP B-TREE/i)
        expect(side).toMatch(plan.status ? new RegExp(`${name}_0`) : /PRIMARY/)
      }
    })
  })

  describe('polls: rows in turns', () => {
    it('that wait for a backoff are passed over until then', async () => {
      const name = await tableOf(STATUS, 3)
      const seen: number[] = []
      const handler = ({ n }: NumberedRow, { attempt }: { attempt: number }) => {
        seen.push(Number(n))
        if (Number(n) === 1 && attempt === 1) throw new Error('not yet')
      }
      const backoff = { minSeconds: 100, maxSeconds: 100 }
      const poller = poll(name, handler, { ...STATUS.options, backoff })
      expect(await poller.once()).toMatchObject({ done: 2, retried: 1 })
      context.clock.offsetMs += 101_000
      expect(await poller.once()).toMatchObject({ done: 1 })
      expect(seen).toEqual([0, 1, 2, 1])
    })

    it('whose claim ran out come again, as the next attempt', async () => {
      const name = await tableOf(STATUS, 3)
      expect((await claimed(repositoryOf(name, STATUS), 2)).rows).toEqual([0, 1])
      context.clock.offsetMs += 61_000
      const attempts: string[] = []
      const handler = ({ n }: NumberedRow, { attempt }: { attempt: number }) => void attempts.push(`${n}: ${attempt}`)
      await poll(name, handler, { ...STATUS.options }).once()
      expect(attempts.sort()).toEqual(['0: 2', '1: 2', '2: 1'])
    })

    it('whose row was deleted while it waited leave no note', async () => {
      const table = TABLES.find(({ options }) => !options.status && !options.onDone) as PollTable
      const name = await tableOf(table, 3)
      const repository = repositoryOf(name, table)
      for (const claim of (await claimed(repository, 3)).claims) {
        await repository.end(claim, { is: 'retry', delayMs: 0, error: 'not yet' })
      }
      await query(`DELETE FROM ${name} WHERE n = 1`)
      const own = `poll_id = (SELECT id FROM recentn_polls WHERE poll = '${name}')`
      // They have waited for longer than a claim lasts.
      await query(`UPDATE recentn_poll_claims SET due_at_ms = due_at_ms - 61000 WHERE ${own}`)
      await repository.tidy()
      const [{ found }] = await query(`SELECT COUNT(*) AS found FROM recentn_poll_claims WHERE ${own}`)
      expect(Number(found)).toBe(2)
    })

    it('need a key of one column that is ordered whole, and another name than rows that do not take turns', async () => {
      const columns =
        'shop integer NOT NULL, no integer NOT NULL, n integer, status varchar(30), PRIMARY KEY (shop, no)'
      const pairs = await made(columns)
      expect(await faultsOf(pairs, { status: 'status', order: 'cycle' })).toContain('/order')
      expect(await faultsOf(pairs, { status: 'status', order: 'cycle', sequence: 'n' })).toContain('/sequence')
      const name = await tableOf(STATUS, 1)
      await poll(name, () => {}, { ...STATUS.options }).once()
      expect(await faultsOf(name, { status: 'status' })).toContain('/name')
      expect(await poll(name, () => {}, { status: 'status', name: `${name} first` }).once()).toMatchObject({
        claimed: 0,
      })
    })
  })
}
