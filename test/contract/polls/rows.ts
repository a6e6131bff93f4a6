import { insertSql } from '../../support/poll-shapes'
import { type Context, eventually, sleep } from '../context'
import { type NumberedRow, PLACES, pollTools, upTo } from './tools'

const TIMEOUT_SECONDS = 60

/** A poller and rows that change, come, go, and are alike; and how it ends. */
export function describePollRows(context: Context): void {
  const { query, tableOf, poll, numbersWhere, holding } = pollTools(context)
  const later = (seconds: number) => {
    context.clock.offsetMs += seconds * 1000
  }

  describe('polls', () => {
    const [, table] = PLACES[0] as (typeof PLACES)[number]

    it('continue by themselves, with what comes in, until the store closes', async () => {
      const name = await tableOf(table, 5)
      const store = await context.open()
      const done: number[] = []
      const options = { ...table.options, auto: true, intervalSeconds: 0.02, concurrency: 4 }
      const poller = poll(name, async ({ n }) => void done.push(Number(n)), options, store)
      await eventually(5000, 'all done', async () => (await numbersWhere(name, table.done as string)).length === 5)
      await query(insertSql(table, name, [5, 6]))
      await eventually(5000, 'these too', async () => (await numbersWhere(name, table.done as string)).length === 7)
      const slow = holding()
      poll(name, slow.handler, options, store)
      await poller.stop()
      await query(insertSql(table, name, [7]))
      await slow.until(1)
      const closed = store.close()
      await sleep(50)
      slow.letGo()
      await closed
      expect(await numbersWhere(name, table.done as string)).toEqual(upTo(8))
      expect(done.sort((a, b) => a - b)).toEqual(upTo(7))
      expect(() => store.poll(name, () => {}, table.options)).toThrow('closed')
    })

    it.each(PLACES.slice(0, 2))('leave a row alone that its owner has changed since: %s', async (_, one) => {
      const name = await tableOf(one, 2)
      const slow = holding()
      const result = poll(name, slow.handler, { ...one.options, concurrency: 2 }).once()
      await slow.until(2)
      await query(`UPDATE ${name} SET status = 'cancelled' WHERE n = 0`)
      slow.letGo()
      expect(await result).toMatchObject({ claimed: 2, done: 1, lost: 1 })
      expect(await numbersWhere(name, "status = 'cancelled'")).toEqual([0])
    })

    it('leave a row alone that its owner changed before its claim ran out', async () => {
      const name = await tableOf(table, 2)
      const [slow, next] = [holding(), holding()]
      const late = poll(name, slow.handler, { ...table.options, concurrency: 2 }).once()
      await slow.until(2)
      await query(`UPDATE ${name} SET status = 'cancelled' WHERE n = 0`)
      later(TIMEOUT_SECONDS + 1)
      next.letGo()
      expect(await poll(name, next.handler, table.options).once()).toMatchObject({ claimed: 1, done: 1 })
      expect(next.begun).toEqual([1])
      expect(await numbersWhere(name, "status = 'cancelled'")).toEqual([0])
      slow.letGo()
      await late
    })

    it.each([
      ['hard delete', { onDone: 'delete' }, ''],
      ['a status', { status: 'status', sequence: 'word' }, "status = 'done'"],
    ] as const)(
      'handle rows that are alike in every column one after the other, each: %s',
      async (_, options, done) => {
        const name = await tableOf(
          { title: '', columns: "word varchar(9), status varchar(22) DEFAULT 'ready'", row: {}, options },
          0,
        )
        await query(`INSERT INTO ${name} (word, n) VALUES ${upTo(6).map(() => "('same', 1)")}`)
        let [running, most, times] = [0, 0, 0]
        const handler = async (_row: NumberedRow, { attempt }: { attempt: number }) => {
          most = Math.max(most, ++running)
          await sleep(5)
          running--
          if (++times === 2) throw new Error(`attempt ${attempt}`)
        }
        const stores = [context.store, await context.open()]
        const settings = { ...options, concurrency: 3, backoff: { minSeconds: 0, maxSeconds: 0 } }
        await Promise.all(stores.map((store) => poll(name, handler, settings, store).once()))
        await poll(name, handler, settings).once()
        expect([most, times]).toEqual([1, 7])
        expect(await numbersWhere(name, done || undefined)).toHaveLength(done ? 6 : 0)
        expect(
          await query(
            `SELECT 1 FROM recentn_poll_claims c JOIN recentn_polls p ON p.id = c.poll_id WHERE p.poll = '${name}'`,
          ),
        ).toEqual([])
      },
    )

    it.each(PLACES)('forget a claim whose row is not there any more: %s', async (_, table) => {
      const name = await tableOf(table, 2)
      const slow = holding()
      const late = poll(name, slow.handler, { ...table.options, concurrency: 2 }).once()
      await slow.until(2)
      await query(`DELETE FROM ${name} WHERE n = 0`)
      later(TIMEOUT_SECONDS + 1)
      const next = poll(name, () => {}, table.options)
      expect(await next.once()).toMatchObject({ claimed: 1, done: 1 })
      expect(await next.counts()).toEqual({ ready: 0, claimed: 0, waiting: 0, failed: 0, done: 1 })
      slow.letGo()
      expect(await late).toMatchObject({ done: 0, lost: 2 })
    })

    it.each([PLACES[0], PLACES[2]] as typeof PLACES)(
      'do not count rows as waiting that are not there: %s',
      async (_, table) => {
        const name = await tableOf(table, 4)
        const fails = () => Promise.reject(new Error('no'))
        const options = { ...table.options, backoff: { minSeconds: 100, maxSeconds: 100 } }
        const poller = poll(name, fails, options)
        await poller.once()
        await query(`DELETE FROM ${name} WHERE n = 0`)
        if (options.status) await query(`UPDATE ${name} SET status = 'cancelled' WHERE n = 1`)
        else await query(`DELETE FROM ${name} WHERE n = 1`)
        expect(await poller.counts()).toMatchObject({ ready: 0, waiting: 2 })
        // When their time has come nothing is left of them, and the others are as they were.
        later(100 + 2 * TIMEOUT_SECONDS)
        await poll(name, fails, { ...options, where: 'n = 3' }).once()
        const [{ id }] = await query(`SELECT id FROM recentn_polls WHERE poll = '${name}'`)
        const notes = await query(`SELECT attempts FROM recentn_poll_claims WHERE poll_id = ${id} ORDER BY attempts`)
        expect(notes.map(({ attempts }: { attempts: unknown }) => Number(attempts))).toEqual([1, 2])
      },
    )

    it('remove the notes of rows that are not ready any more, however many', async () => {
      const name = await tableOf({ ...table, columns: table.columns.replace('bigint', 'integer') }, 0)
      const poller = poll(name, () => {}, { ...table.options, where: 'n < 0' })
      await poller.once()
      await query(insertSql({ ...table, row: { id: 'N' } }, name, upTo(1200)))
      await query(`UPDATE ${name} SET status = 'cancelled' WHERE n % 4 <> 1`)
      const [{ id }] = await query(`SELECT id FROM recentn_polls WHERE poll = '${name}'`)
      // Several of one time, as the pages of notes go by time and name.
      await query(
        'INSERT INTO recentn_poll_claims (poll_id, row_key, state, due_at_ms, claim_key, attempts, first_claimed_at_ms, row_values) ' +
          `SELECT ${id}, CAST(id AS CHAR), 2, CASE WHEN n % 7 < 5 THEN 5 ELSE n END, 'key', 1, 1, ` +
          `${context.engine === 'sqlite' ? `'["' || id || '"]'` : `CONCAT('["', id, '"]')`} FROM ${name}`,
      )
      expect(await poller.once()).toMatchObject({ claimed: 0 })
      const [{ notes }] = await query(`SELECT COUNT(*) AS notes FROM recentn_poll_claims WHERE poll_id = ${id}`)
      expect(Number(notes)).toBe(300)
      expect(await poll(name, () => {}, table.options).once()).toMatchObject({ done: 300 })
    })

    it.each(PLACES.slice(0, 2))('begin a row again that its owner made ready: %s', async (_, table) => {
      const ready = table.options.claim ? 'new' : 'ready'
      const name = await tableOf(table, 1)
      const attempts: number[] = []
      const fails = async (_row: NumberedRow, { attempt }: { attempt: number }) => {
        attempts.push(attempt)
        throw new Error('no')
      }
      const options = { ...table.options, maxAttempts: 2, backoff: { minSeconds: 0, maxSeconds: 0 } }
      expect(await poll(name, fails, options).once()).toMatchObject({ failed: 1 })
      await query(`UPDATE ${name} SET status = '${ready}'`)
      expect(await poll(name, fails, options).once()).toMatchObject({ failed: 1 })
      expect(attempts).toEqual([1, 2, 1, 2])
      await query(`UPDATE ${name} SET status = '${ready}'`)
      expect(await poll(name, () => {}, options).once()).toMatchObject({ done: 1 })
      await query(`UPDATE ${name} SET status = '${ready}'`)
      expect(await poll(name, fails, options).once()).toMatchObject({ failed: 1 })
      expect(attempts).toEqual([1, 2, 1, 2, 1, 2])
    })

    it('give rows back whose time must not be null, and no attempt counts', async () => {
      const columns =
        'id integer NOT NULL PRIMARY KEY, claimed_by varchar(22), tries integer, next_at bigint NOT NULL DEFAULT 0'
      const name = await tableOf({ title: '', columns, row: { id: 'N' }, options: {} }, 4)
      const claim = { claim: 'claimed_by', attempts: 'tries', nextTime: 'next_at' }
      const told: unknown[] = []
      const onError = (error: unknown) => told.push(error)
      const slow = holding()
      const poller = poll(name, slow.handler, { claim, auto: true, batch: { min: 4 }, onError })
      await slow.until(1)
      slow.letGo()
      await poller.stop()
      expect(told).toEqual([])
      const { ready, done } = await poller.counts()
      expect([ready + (done as number), done]).toEqual([4, slow.begun.length])
      const next = holding()
      next.letGo()
      expect(await poll(name, next.handler, { claim }).once()).toMatchObject({ done: ready })
      expect(new Set(next.attempts)).toEqual(new Set(ready > 0 ? [1] : []))
    })

    it('continue behind rows that where leaves out between two attempts, however many', async () => {
      const columns = 'id integer NOT NULL PRIMARY KEY, held integer DEFAULT 0'
      const name = await tableOf({ title: '', columns, row: { id: 'N' }, options: {} }, 30)
      const options = { where: { held: 0 }, batch: { max: 1 }, backoff: { minSeconds: 100, maxSeconds: 100 } }
      const failing = poll(name, () => Promise.reject(new Error('no')), options)
      expect(await failing.once()).toMatchObject({ retried: 30 })
      await query(`UPDATE ${name} SET held = 1 WHERE n < 29`)
      later(105)
      expect(await poll(name, () => {}, options).once()).toMatchObject({ claimed: 1, done: 1 })
    })

    it('of two purposes on one table without a status each see every row', async () => {
      const [, plain] = PLACES[2] as (typeof PLACES)[number]
      const name = await tableOf(plain, 10)
      for (const purpose of ['invoice', 'e-mail']) {
        expect(await poll(name, () => {}, { name: `${name} ${purpose}` }).once()).toMatchObject({ done: 10 })
      }
    })

    it('whose last attempt failed may delete the row', async () => {
      const name = await tableOf(table, 4)
      const options = { ...table.options, maxAttempts: 1, onDone: 'delete', onFailed: 'delete' } as const
      const poller = poll(name, async ({ n }) => (Number(n) < 2 ? Promise.reject(new Error('no')) : null), options)
      expect(await poller.once()).toMatchObject({ done: 2, failed: 2 })
      expect(await numbersWhere(name)).toEqual([])
      expect(await poller.counts()).toEqual({ ready: 0, claimed: 0, waiting: 0, failed: null, done: null })
    })
  })
}
