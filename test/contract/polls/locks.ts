import { attachStore, openStore } from '../../../src/index'
import { CuttingProxy } from '../../support/cutting-proxy'
import { stopwatch } from '../../support/timing'
import { type Context, eventually, sleep, userSource } from '../context'
import { type NumberedRow, pollTools } from './tools'

const STATUS = "status varchar(30) DEFAULT 'ready'"
const OWN = 'claimed_by varchar(22), tries integer, next_at bigint'
const CLAIM = { claim: 'claimed_by', attempts: 'tries', nextTime: 'next_at' }

/** Rows that others have locked, slow claims, and commits that are cut off. The servers only: SQLite has one writer. */
export function describePollLocks(context: Context): void {
  const { query, tableOf, poll, numbersWhere, holding } = pollTools(context)
  if (context.engine === 'sqlite') return

  const made = (columns: string, rows: number) =>
    tableOf({ title: '', columns: `id integer PRIMARY KEY, ${columns}`, row: { id: 'N' }, options: {} }, rows)

  /** A transaction of the user's that has locked these rows, until it is let go. */
  const lock = async (name: string, condition: string) => {
    const runner = context.store.dataSource.createQueryRunner()
    await runner.startTransaction()
    await runner.query(`SELECT id FROM ${name} WHERE ${condition} FOR UPDATE`)
    const unlock = async () => {
      if (runner.isTransactionActive) await runner.rollbackTransaction()
      if (!runner.isReleased) await runner.release()
    }
    context.afterwards(unlock)
    return unlock
  }

  describe('polls: a row that another transaction has locked', () => {
    it('keeps none waiting that is to be tried again behind it', async () => {
      const name = await made('word varchar(9)', 3)
      const options = { batch: { max: 1 }, backoff: { minSeconds: 30, maxSeconds: 30 } }
      expect(await poll(name, () => Promise.reject(new Error('no')), options).once()).toMatchObject({ retried: 3 })
      context.clock.offsetMs += 35_000
      const unlock = await lock(name, 'id = 0')
      const poller = poll(name, () => {}, options)
      expect(await poller.once()).toMatchObject({ claimed: 2, done: 2 })
      await unlock()
      expect(await poller.once()).toMatchObject({ claimed: 1, done: 1 })
    })

    it.each([
      ['the batch key in the status', STATUS, { status: 'status' }],
      ['a word in the status', STATUS, { status: { column: 'status', claimed: 'working' } }],
      ['columns for claims', OWN, { claim: CLAIM }],
    ])('keeps no poller from stopping: %s', async (_, columns, options) => {
      const name = await made(columns, 4)
      const begun: number[] = []
      const never = ({ n }: NumberedRow) => {
        begun.push(Number(n))
        return new Promise(() => {})
      }
      const poller = poll(name, never, { ...options, auto: true, concurrency: 2, batch: { min: 4 } })
      await eventually(5000, 'two have begun', async () => begun.length === 2)
      const unlock = await lock(name, '1 = 1')
      const watch = stopwatch()
      await poller.stop({ timeoutSeconds: 0 })
      expect(watch.isBeyond(4500)).toBe(false)
      await unlock()
      // It comes back as after a crash.
      context.clock.offsetMs += 61_000
      expect(await poll(name, () => {}, options).once()).toMatchObject({ claimed: 4, done: 4 })
    })

    it('keeps no store from closing', async () => {
      const name = await made(STATUS, 1)
      const source = userSource(context.url)
      await source.initialize()
      context.afterwards(() => source.destroy())
      const store = await attachStore(source, { sweep: false, publish: false })
      let hasBegun = false
      const never = () => {
        hasBegun = true
        return new Promise(() => {})
      }
      store.poll(name, never, { status: 'status', onWarning: () => {}, onError: () => {} })
      await eventually(5000, 'it has begun', async () => hasBegun)
      await lock(name, '1 = 1')
      const watch = stopwatch()
      await store.close()
      expect(watch.isBeyond(15_000)).toBe(false)
    })
  })

  describe('polls: a claim', () => {
    it('that is slow does not skip the backoff of a row that failed in between', async () => {
      const name = await made(STATUS, 3)
      const options = { status: 'status', batch: { min: 3 }, backoff: { minSeconds: 600, maxSeconds: 600 } }
      const slow = holding()
      const fails = async (row: NumberedRow, how: Parameters<typeof slow.handler>[1]) => {
        await slow.handler(row, how)
        throw new Error('no')
      }
      const first = poll(name, fails, { ...options, where: 'id = 2' }).once()
      await slow.until(1)
      const seen: number[] = []
      const second = poll(name, ({ n }) => void seen.push(Number(n)), { ...options, where: 'SLEEP(0.5) = 0' }).once()
      await sleep(600)
      slow.letGo()
      expect(await first).toMatchObject({ retried: 1 })
      expect(await second).toMatchObject({ done: 2 })
      expect(seen.sort()).toEqual([0, 1])
    })

    it.each([
      ['in the table of claims', STATUS, { status: 'status' }],
      ['in the row', OWN, { claim: CLAIM }],
    ])('whose commit is cut off is used, or made again: %s', async (_, columns, options) => {
      const name = await made(columns, 0)
      const proxy = await CuttingProxy.before(context.url)
      context.afterwards(() => proxy.close())
      const store = await openStore({ url: proxy.through(context.url), sweep: false, publish: false })
      context.afterwards(() => store.close())
      for (const moment of ['before', 'during', 'after'] as const) {
        await query(`INSERT INTO ${name} (id, n) VALUES (1, 1), (2, 2), (3, 3)`)
        const attempts: number[] = []
        const handler = (_row: NumberedRow, { attempt }: { attempt: number }) => void attempts.push(attempt)
        const settings = { ...options, maxAttempts: 1, concurrency: 3, claimTimeoutSeconds: 30 }
        const poller = poll(name, handler, settings, store)
        await poller.counts()
        const cut = proxy.cutCommits(moment)
        expect(await poller.once()).toMatchObject({ claimed: 3, done: 3, failed: 0 })
        await cut
        expect(attempts).toEqual([1, 1, 1])
        await poller.stop()
        await query(`DELETE FROM ${name}`)
      }
    })
  })

  describe('polls: a claim that no process knows', () => {
    it('is given back when the database is there again', async () => {
      const name = await made(STATUS, 2)
      const proxy = await CuttingProxy.before(context.url)
      context.afterwards(() => proxy.close())
      const store = await openStore({ url: proxy.through(context.url), sweep: false, publish: false })
      context.afterwards(() => store.close())
      const options = { status: 'status', maxAttempts: 1, concurrency: 2 }
      const attempts: number[] = []
      const handler = (_row: NumberedRow, { attempt }: { attempt: number }) => void attempts.push(attempt)
      const poller = poll(name, handler, options, store)
      await poller.counts()
      void proxy.cutCommits('after').then(() => proxy.refuse())
      await expect(poller.once()).rejects.toMatchObject({ code: 'outcome_unknown' })
      expect(await numbersWhere(name, "status <> 'ready'")).toEqual([0, 1])
      await proxy.accept()
      expect(await poller.once()).toMatchObject({ done: 2, failed: 0 })
      expect(attempts).toEqual([1, 1])
    })
  })
}
