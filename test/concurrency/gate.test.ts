/**
 * SQLite has one connection for everybody. These tests fail on TypeORM as it comes: there, concurrent transactions
 * nest into each other, and a plain write made in between vanishes with another's rollback.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { openStore } from '../../src'
import type { Store } from '../../src/store/types'
import { RecentRepository } from '../../src/typeorm'
import { type Database, describeEngine, freshDatabase } from '../support/engines'

const TRANSACTIONS = 60

describeEngine('sqlite', 'the gate', () => {
  describe.each(['in memory', 'in a file'])('%s', (where) => {
    let database: Database
    let store: Store

    beforeEach(async () => {
      database = await freshDatabase('sqlite', { memory: where === 'in memory' })
      // How long a turn is waited for is tested elsewhere: here a slow disk has time for a hundred commits.
      store = await openStore({ url: database.url, connectionTimeoutSeconds: 60 })
      await store.dataSource.query('CREATE TABLE own (n integer NOT NULL, step integer NOT NULL)')
    })

    afterEach(async () => {
      await store.close()
      await database.drop()
    })

    test('callers who never pause leave timers their turn', async () => {
      const repository = new RecentRepository(store.dataSource)
      let due = false
      setTimeout(() => {
        due = true
      }, 20)
      const deadline = Date.now() + 5000
      let appended = 0
      const call = async () => {
        for (; !due && Date.now() < deadline; appended++) await repository.append('busy')
      }
      await Promise.all(Array.from({ length: 20 }, call))
      expect(due).toBe(true)
      // On the way out each caller has appended: they did work while the timer waited.
      expect(appended).toBeGreaterThanOrEqual(20)
    })

    test('a poll records what was done, though its claim could not be renewed', async () => {
      await store.dataSource.query('CREATE TABLE jobs (id integer PRIMARY KEY, status varchar(40) NOT NULL)')
      await store.dataSource.query("INSERT INTO jobs VALUES (1, 'ready')")
      let work: (signal: AbortSignal) => void
      const begun = new Promise<AbortSignal>((resolve) => {
        work = resolve
      })
      const handler = async (_row: unknown, { signal }: { signal: AbortSignal }) => {
        work(signal)
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
      }
      const poller = store.poll('jobs', handler, { status: 'status', auto: false, claimTimeoutSeconds: 1 })
      const once = poller.once()
      const signal = await begun
      // Nothing gets through until the claim has expired, and the handler knows it.
      await store.transaction(async () => {
        while (!signal.aborted) await new Promise((resolve) => setTimeout(resolve, 20))
      })
      expect(await once).toMatchObject({ claimed: 1, done: 1, lost: 0 })
      expect(await store.dataSource.query('SELECT status FROM jobs')).toEqual([{ status: 'done' }])
    })

    test('one transaction at a time, each whole or not at all, and plain writes outlive every rollback', async () => {
      let inside = 0
      let most = 0
      const outcomes = await Promise.all(
        Array.from({ length: TRANSACTIONS }, async (_, n) => {
          await dawdle()
          const [plain, transaction] = await Promise.allSettled([
            store.groups.append('plain', { payload: n }),
            store.transaction(async (tx) => {
              most = Math.max(most, ++inside)
              try {
                await tx.groups.append('pairs', { payload: n })
                await dawdle()
                await tx.manager.query('INSERT INTO own VALUES (?, ?)', [n, 1])
                await tx.groups.append(`solo-${n}`)
                await dawdle()
                if (n % 3 === 0) throw new Error(`rolled back ${n}`)
                await tx.groups.append('pairs', { payload: n })
                await tx.manager.query('INSERT INTO own VALUES (?, ?)', [n, 2])
              } finally {
                inside--
              }
            }),
          ])
          expect(plain.status).toBe('fulfilled')
          return transaction.status === 'fulfilled' ? 'committed' : (transaction.reason as Error).message
        }),
      )
      expect(most).toBe(1)
      expect(outcomes).toEqual(outcomes.map((_, n) => (n % 3 === 0 ? `rolled back ${n}` : 'committed')))
      await expectWholeTransactions(store)
      expect((await store.groups.recent('plain')).totalAppended).toBe(BigInt(TRANSACTIONS))
    })

    test('no caller reads what is not committed', async () => {
      let open = true
      const reader = (async () => {
        let reads = 0
        for (; open; reads++) {
          const [own] = await store.dataSource.query('SELECT COUNT(*) AS count FROM own')
          expect(Number(own.count) % 2).toBe(0)
          expect((await store.groups.recent('pairs')).totalAppended % 2n).toBe(0n)
          await sleep(0)
        }
        return reads
      })()
      // A few writers in turn, so that the reader gets in between: who asks first is served first.
      const writers = Array.from({ length: 3 }, async (_, writer) => {
        for (let n = writer; n < TRANSACTIONS; n += 3) await writePair(store, n)
      })
      await Promise.all(writers)
      open = false
      expect(await reader).toBeGreaterThan(3)
      expect((await store.groups.recent('pairs')).totalAppended).toBe(BigInt(TRANSACTIONS * 1.5))
    })

    test('transactions and statements of the DataSource itself go through it as well', async () => {
      await Promise.all(
        Array.from({ length: TRANSACTIONS }, async (_, n) => {
          const doomed = store.dataSource.transaction(async (manager) => {
            await manager.query('INSERT INTO own VALUES (?, 1)', [n])
            await store.within(manager).groups.append('doomed')
            await dawdle()
            throw new Error('rolled back')
          })
          const kept = store.dataSource.query('INSERT INTO own VALUES (?, 9)', [n])
          const whole = store.dataSource.transaction(async (manager) => {
            await store.within(manager).groups.append('kept')
            await dawdle()
            await store.within(manager).groups.append('kept')
          })
          await expect(doomed).rejects.toThrow('rolled back')
          await Promise.all([kept, whole])
        }),
      )
      const rows: { step: bigint; count: bigint }[] = await store.dataSource.query(
        'SELECT step, COUNT(*) AS count FROM own GROUP BY step',
      )
      expect(rows.map((row) => [Number(row.step), Number(row.count)])).toEqual([[9, TRANSACTIONS]])
      expect((await store.groups.recent('doomed')).totalAppended).toBe(0n)
      expect((await store.groups.recent('kept')).totalAppended).toBe(BigInt(2 * TRANSACTIONS))
    })

    test('a savepoint that is rolled back leaves the rest of its transaction, and of all others, alone', async () => {
      await Promise.all(
        Array.from({ length: TRANSACTIONS }, async (_, n) => {
          await store.transaction(async (tx) => {
            await tx.groups.append('outer', { payload: n })
            const nested = tx.manager.transaction(async (manager) => {
              await store.within(manager).groups.append('nested')
              await dawdle()
              throw new Error('rolled back to the savepoint')
            })
            await expect(nested).rejects.toThrow('savepoint')
            await tx.groups.append('outer', { payload: n })
          })
        }),
      )
      expect((await store.groups.recent('outer')).totalAppended).toBe(BigInt(2 * TRANSACTIONS))
      expect((await store.groups.recent('nested')).totalAppended).toBe(0n)
    })

    test('a call of the store inside its own transaction is refused in place of waiting for ever', async () => {
      const stuck = store.transaction(async () => {
        await store.groups.append('outside')
      })
      await expect(stuck).rejects.toMatchObject({ code: 'misuse' })
      await store.groups.append('outside')
      expect((await store.groups.recent('outside')).totalAppended).toBe(1n)
    })
  })
})

/** Writes both of a pair, with an await between; every fourth time, one and then nothing. */
async function writePair(store: Store, n: number): Promise<void> {
  const pair = store.transaction(async (tx) => {
    await tx.groups.append('pairs')
    await tx.manager.query('INSERT INTO own VALUES (?, 1)', [n])
    await dawdle()
    if (n % 4 === 0) throw new Error('rolled back')
    await tx.groups.append('pairs')
    await tx.manager.query('INSERT INTO own VALUES (?, 2)', [n])
  })
  if (n % 4 === 0) await expect(pair).rejects.toThrow('rolled back')
  else await pair
}

async function dawdle(): Promise<void> {
  const random = Math.random()
  if (random < 0.4) await sleep(random * 5)
  else if (random < 0.7) await new Promise(setImmediate)
}

async function expectWholeTransactions(store: Store): Promise<void> {
  const committed = Array.from({ length: TRANSACTIONS }, (_, n) => n).filter((n) => n % 3 !== 0)
  const rows: { n: bigint; step: bigint }[] = await store.dataSource.query('SELECT n, step FROM own ORDER BY n, step')
  expect(rows.map((row) => [Number(row.n), Number(row.step)])).toEqual(
    committed.flatMap((n) => [
      [n, 1],
      [n, 2],
    ]),
  )
  expect((await store.groups.recent('pairs')).totalAppended).toBe(BigInt(2 * committed.length))
  const solo = await store.groups.list({ prefix: 'solo-', limit: 1000 })
  expect(solo.groups.map((each) => each.group).sort()).toEqual(committed.map((n) => `solo-${n}`).sort())
}
