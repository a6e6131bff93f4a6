import BetterSqlite3 from 'better-sqlite3'
import { createConnection, createPool } from 'mysql2/promise'
import { fromBetterSqlite3, fromMysql2, type QueryTransaction } from '../../../src/adapters'
import type { Transaction } from '../../../src/index'
import { mysqlUri } from '../../support/servers/server'
import { soonMs } from '../../support/timing'
import { type Context, idsOf, refusal } from '../context'

type Joined = Omit<Transaction, 'manager'>

/** A connection of a driver's, which TypeORM knows nothing of. */
interface Driver {
  transaction: QueryTransaction
  run(sql: string): Promise<unknown>
}

/** `store.within` in a transaction that a bare driver has opened. The suite of `test/adapters` does it with each library. */
export function describeOtherLibraries(context: Context): void {
  const isSqlite = context.engine === 'sqlite'
  const boom = new Error('boom')

  async function connected(): Promise<Driver> {
    if (isSqlite) {
      const db = new BetterSqlite3(context.url.slice('sqlite:'.length))
      context.afterwards(async () => db.close())
      return { transaction: fromBetterSqlite3(db), run: async (sql) => db.exec(sql) }
    }
    const connection = await createConnection({ uri: mysqlUri(context.url) })
    context.afterwards(async () => connection.destroy())
    return { transaction: fromMysql2(connection), run: (sql) => connection.query(sql) }
  }

  async function inTransaction(work: (tx: Joined, driver: Driver) => Promise<unknown>, driver?: Driver): Promise<void> {
    const own = driver ?? (await connected())
    await own.run('BEGIN')
    try {
      await work(context.store.within(own.transaction), own)
      await own.run('COMMIT')
    } catch (error) {
      await own.run('ROLLBACK')
      throw error
    }
  }

  describe('within a transaction of another library', () => {
    beforeAll(() =>
      context.store.dataSource.query('CREATE TABLE library_notes (note varchar(100) NOT NULL PRIMARY KEY)'),
    )

    const notes = async () => (await context.store.dataSource.query('SELECT note FROM library_notes')).length

    it('all is committed with its rows, or nothing is', async () => {
      const { groups, queues, feeds } = context.store
      const name = context.unique()
      await queues.put(name)
      const work = async (tx: Joined, { run }: Driver) => {
        await run(`INSERT INTO library_notes VALUES ('${name}')`)
        expect((await tx.groups.append(name, { payload: { a: '?:x$1%\\😀' } })).id).toBe(0n)
        expect((await tx.queues.sendMany(name, [{ body: 1 }, { body: 2 }])).map(({ sent }) => sent)).toEqual([
          true,
          true,
        ])
        await tx.feeds.put(name, 'key', { value: 1 })
        expect((await tx.groups.recent(name)).items[0]?.payload).toEqual({ a: '?:x$1%\\😀' })
        expect('manager' in tx).toBe(false)
      }
      const failed = inTransaction(async (tx, driver) => {
        await work(tx, driver)
        throw boom
      })
      await expect(failed).rejects.toBe(boom)
      expect([await notes(), await groups.get(name), await feeds.get(name, 'key')]).toEqual([0, null, null])
      await inTransaction(work)
      expect([await notes(), idsOf(await groups.recent(name))]).toEqual([1, [0n]])
      expect((await queues.receive(name, { limit: 10 })).map(({ body }) => body).sort()).toEqual([1, 2])
      expect(await feeds.get(name, 'key')).toMatchObject({ value: { value: 1 } })
    })

    it('a receive that waits gets what is committed, by its next poll', async () => {
      const name = context.unique()
      await context.store.queues.put(name)
      const waiting = context.store.queues.receive(name, { waitSeconds: 20 })
      let committedAt = 0
      await inTransaction(async (tx) => {
        await tx.queues.send(name, 1)
        committedAt = performance.now()
      })
      expect((await waiting).map(({ body }) => body)).toEqual([1])
      expect(performance.now() - committedAt).toBeLessThan(soonMs())
    })

    it('operations take turns, also by two handles of one transaction', async () => {
      const name = context.unique()
      await inTransaction(async (tx, { transaction }) => {
        const handles = [tx, context.store.within(transaction)]
        const appended = await Promise.all(Array.from({ length: 20 }, (_, n) => handles[n % 2]?.groups.append(name)))
        expect(appended.map((item) => item?.id)).toEqual(Array.from({ length: 20 }, (_, n) => BigInt(n)))
      })
    })

    it('an operation whose error is caught stores nothing, and the transaction continues', async () => {
      const [name, other] = [context.unique(), context.unique('other')]
      await context.store.queues.put(name)
      await inTransaction(async (tx) => {
        await tx.groups.append(name)
        expect((await refusal(tx.queues.send(other, 1))).code).toBe('queue_not_found')
        await tx.groups.append(name)
      })
      expect((await context.store.groups.recent(name)).totalAppended).toBe(2n)
    })

    it('one that is not open, or has ended, is refused before anything is written', async () => {
      const name = context.unique()
      const driver = await connected()
      const { groups } = context.store.within(driver.transaction)
      expect(await refusal(groups.append(name))).toMatchObject({ code: 'invalid_input' })
      await inTransaction(async () => groups.append(name), driver)
      expect(await refusal(groups.append(name))).toMatchObject({ code: 'closed' })
      expect(await refusal(groups.recent(name))).toMatchObject({ code: 'closed' })
      expect((await context.store.groups.recent(name)).totalAppended).toBe(1n)
    })

    it.each([null, undefined, {}, () => {}, 'BEGIN'])('what is no transaction is refused: %p', (given) => {
      expect(() => context.store.within(given as never)).toThrow(expect.objectContaining({ code: 'invalid_input' }))
    })

    it('a function that gives no rows is refused by name', async () => {
      const wrong = { query: async () => ({ affectedRows: 0 }) }
      if (isSqlite) return
      const { groups } = context.store.within(wrong)
      expect((await refusal(groups.append(context.unique()))).message).toContain('recentn/adapters')
    })

    if (isSqlite) {
      it('the connection may be that of the store', async () => {
        const name = context.unique()
        const { databaseConnection: db } = context.store.dataSource.driver as unknown as {
          databaseConnection: BetterSqlite3.Database
        }
        db.exec('BEGIN IMMEDIATE')
        await context.store.within(fromBetterSqlite3(db)).groups.append(name)
        db.exec('ROLLBACK')
        expect(await context.store.groups.get(name)).toBeNull()
      })
      return
    }

    it('a pool is refused, whichever connections it hands out', async () => {
      const name = context.unique()
      const pool = createPool({ uri: mysqlUri(context.url), connectionLimit: 4 })
      context.afterwards(() => pool.end())
      const { groups } = context.store.within(fromMysql2(pool))
      expect(await refusal(groups.append(name))).toMatchObject({ code: 'invalid_input' })
      const two = await Promise.all([pool.getConnection(), pool.getConnection()])
      for (const one of two) await one.beginTransaction()
      let turn = 0
      const query = (sql: string) => fromMysql2(two[turn++ % 2] as never).query(sql, [])
      const error = await refusal(context.store.within({ query }).groups.append(name))
      expect(error.code).toBe('invalid_input')
      for (const one of two) {
        await one.commit()
        one.release()
      }
      expect(await context.store.groups.get(name)).toBeNull()
    })

    it('settings of the session that lose texts or rows are refused by name', async () => {
      const name = context.unique()
      const driver = await connected()
      await inTransaction(async ({ groups }) => {
        await driver.run('SET NAMES latin1')
        const error = await refusal(groups.append(name))
        expect([error.code, error.message]).toEqual(['database_refused', expect.stringContaining('latin1')])
        await driver.run('SET NAMES utf8mb4')
        await driver.run('SET sql_select_limit = 1')
        expect((await refusal(groups.append(name))).message).toContain('sql_select_limit')
        await driver.run('SET sql_select_limit = DEFAULT')
        await groups.append(name)
      }, driver)
      expect((await context.store.groups.recent(name)).totalAppended).toBe(1n)
    })

    it('after a wait for a lock that was too long, nothing of the operation is committed', async () => {
      const [free, held] = [context.unique('a'), context.unique('b')]
      await context.store.groups.appendMany([{ group: free }, { group: held }])
      const [holder, waiter] = [await connected(), await connected()]
      await waiter.run('SET SESSION innodb_lock_wait_timeout = 1')
      await inTransaction(async (first) => {
        await first.groups.append(held)
        await inTransaction(async ({ groups }) => {
          await groups.append(free)
          const both = groups.appendMany([{ group: free }, { group: held }])
          expect((await refusal(both)).code).toBe('conflict')
        }, waiter)
      }, holder)
      const [one, two] = await context.store.groups.recentMany([free, held])
      expect([one?.totalAppended, two?.totalAppended]).toEqual([2n, 2n])
    })
  })
}
