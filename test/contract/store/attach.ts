import { Column, DataSource, type DataSourceOptions, Entity, PrimaryColumn } from 'typeorm'
import { attachStore, RecentnError, type Store } from '../../../src/index'
import { moment, stopwatch } from '../../support/timing'
import { type Context, expectSound, idsOf, refusal, sleep, userSource } from '../context'

@Entity({ name: 'user_orders' })
class UserOrder {
  @PrimaryColumn({ type: 'integer' })
  id!: number

  @Column({ type: 'varchar', length: 100 })
  text!: string
}

export function describeAttach(context: Context): void {
  const boom = new Error('boom')
  let source: DataSource
  let store: Store

  describe('attachStore', () => {
    beforeAll(async () => {
      source = userSource(context.url, [UserOrder])
      await source.initialize()
      await source.query('CREATE TABLE user_orders (id integer NOT NULL PRIMARY KEY, text varchar(100) NOT NULL)')
      store = await attachStore(source, { sweep: false })
    })
    afterAll(async () => {
      await store.close()
      await source.destroy()
    })

    const order = (id: number) => Object.assign(new UserOrder(), { id, text: `order ${id}` })

    it('works on the same data as a store with its own connections', async () => {
      const group = context.unique()
      await store.groups.append(group, { member: 'm', payload: { a: 1 }, eventId: 'e' })
      await context.store.groups.append(group)
      const [mine, theirs] = [await store.groups.recent(group), await context.store.groups.recent(group)]
      expect(mine).toEqual(theirs)
      expect(idsOf(mine)).toEqual([1n, 0n])
    })

    it('keeps BIGINTs exact whatever the connection is set to', async () => {
      const group = context.unique()
      const id = 9_007_199_254_740_993n
      await store.groups.put(group)
      await source.query(`UPDATE recentn_groups SET last_id = ${id - 1n} WHERE group_key = ?`, [group])
      expect((await store.groups.append(group)).id).toBe(id)
      expect((await store.groups.appendMany([{ group }]))[0]?.id).toBe(id + 1n)
      const recent = await store.groups.recent(group)
      expect([idsOf(recent), recent.totalAppended]).toEqual([[id + 1n, id], id + 2n])
      expectSound(recent)
      await source.transaction(async (manager) => {
        expect((await store.within(manager).groups.append(group)).id).toBe(id + 2n)
      })
      expect((await store.groups.get(group))?.totalAppended).toBe(id + 3n)
    })

    it('keeps them exact also where the user asked the driver for plain numbers', async () => {
      if (context.engine === 'sqlite') return // there it is the default, and was the test before
      const plain = new DataSource({
        ...source.options,
        supportBigNumbers: false,
        bigNumberStrings: false,
      } as DataSourceOptions)
      await plain.initialize()
      context.afterwards(() => plain.destroy())
      const attached = await attachStore(plain, { sweep: false })
      context.afterwards(() => attached.close())
      const group = context.unique()
      const id = 9_223_372_036_854_775_805n
      await attached.groups.put(group)
      await plain.query(`UPDATE recentn_groups SET last_id = ${id - 1n} WHERE group_key = ?`, [group])
      expect((await attached.groups.append(group, { eventId: 'e' })).id).toBe(id)
      expect((await attached.groups.append(group, { eventId: 'e' })).id).toBe(id)
      expect((await attached.groups.append(group, { member: context.unique('m') })).id).toBe(id + 1n)
      const recent = await attached.groups.recent(group)
      expect([idsOf(recent), recent.totalAppended]).toEqual([[id + 1n, id], id + 2n])
    })

    it('within: an append commits and rolls back with the row of the user', async () => {
      const group = context.unique()
      await source.transaction(async (manager) => {
        await manager.save(order(1))
        await store.within(manager).groups.append(group, { payload: 1 })
      })
      const failed = source.transaction(async (manager) => {
        await store.within(manager).groups.append(group, { payload: 2 })
        await manager.save(order(2))
        throw boom
      })
      await expect(failed).rejects.toBe(boom)
      expect((await source.getRepository(UserOrder).find()).map((row) => row.id)).toEqual([1])
      const recent = await store.groups.recent(group)
      expect(recent.items.map((item) => item.payload)).toEqual([1])
      expect((await store.groups.append(group)).id).toBe(1n)
    })

    it('within: every operation works beside rows of the user', async () => {
      const group = context.unique()
      const member = context.unique('m')
      await source.transaction(async (manager) => {
        const { groups } = store.within(manager)
        await groups.put(group, { capacity: 3 })
        await groups.appendMany(Array.from({ length: 5 }, (_, n) => ({ group, member, payload: n })))
        await groups.remove(group, 3n)
        expect(idsOf(await groups.recent(group))).toEqual([4n, 2n])
        expect(await groups.memberItems(member)).toMatchObject({ nextBefore: null })
        expect(await groups.eraseMember(member)).toEqual({ deleted: 2 })
        expect(await groups.get(group)).toMatchObject({ totalAppended: 5n })
        expect((await groups.list({ prefix: group })).groups).toHaveLength(1)
        expect(await groups.clear(group)).toEqual({ deleted: 0 })
        expect(await groups.drop(group)).toBe(true)
      })
      expect(await context.store.groups.get(group)).toBeNull()
    })

    it('within: a statement that cannot continue throws conflict, and the store does not try again', async () => {
      const [a, b] = [context.unique('a'), context.unique('b')]
      await store.groups.appendMany([{ group: a }, { group: b }])
      const [inside, ended] = [moment(), moment()]
      let [runs, locked] = [0, 0]
      const crossing = (first: string, second: string) =>
        source.transaction(async (manager) => {
          runs++
          await store.within(manager).groups.append(first)
          if (++locked === 2) inside.come()
          await inside.reached
          await store.within(manager).groups.append(second)
        })
      const others: Promise<unknown>[] = []
      if (context.engine !== 'sqlite') others.push(crossing(b, a))
      else {
        // One connection of the user can't have two transactions: another process has the file.
        const elsewhere = userSource(context.url, [UserOrder])
        await elsewhere.initialize()
        context.afterwards(() => elsewhere.destroy())
        // better-sqlite3 waits by blocking the process, where "another process" could then not continue.
        await source.query('PRAGMA busy_timeout = 20')
        context.afterwards(() => source.query('PRAGMA busy_timeout = 5000'))
        const writing = elsewhere.transaction(async (manager) => {
          await manager.insert(UserOrder, order(20))
          inside.come()
          await ended.reached
        })
        others.push(writing)
        await inside.reached
      }
      others.push(crossing(a, b).finally(ended.come))
      const outcomes = await Promise.allSettled(others)
      const reasons = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []))
      expect(reasons).toHaveLength(1)
      expect(reasons[0]).toBeInstanceOf(RecentnError)
      expect(reasons[0]).toMatchObject({ code: 'conflict' })
      expect(runs).toBe(context.engine === 'sqlite' ? 1 : 2)
    })

    it('an open transaction of the user makes our append wait, without blocking the process', async () => {
      const group = context.unique()
      await store.groups.append(group)
      const [begun, over] = [moment(), moment()]
      const inOrder: string[] = []
      const user = source.transaction(async (manager) => {
        await manager.save(order(10))
        begun.come()
        await over.reached
        inOrder.push('the user')
      })
      await begun.reached
      const appending = store.groups.append(group).then((item) => {
        inOrder.push('the append')
        return item
      })
      const watch = stopwatch()
      for (let turn = 0; turn < 30; turn++) await sleep(5)
      // Blocked, the process would have run no timers.
      expect(watch.isBeyond(2000)).toBe(false)
      // On the servers rows are locked, and not the file.
      if (context.engine !== 'sqlite') await appending
      over.come()
      await user
      const appended = await appending
      expect(appended.id).toBe(1n)
      expect(inOrder).toEqual(context.engine === 'sqlite' ? ['the user', 'the append'] : ['the append', 'the user'])
      expect(idsOf(await store.groups.recent(group))).toEqual([1n, 0n])
    })

    it('an own transaction of the store does not mix with those of the user', async () => {
      const group = context.unique()
      const ours = Array.from({ length: 10 }, (_, n) =>
        store
          .transaction(async (tx) => {
            await tx.groups.append(group, { payload: n })
            await tx.manager.query('INSERT INTO user_orders (id, text) VALUES (?, ?)', [100 + n, 'ours'])
            await sleep(n % 4)
            if (n % 3 === 0) throw boom
          })
          .catch((error) => expect(error).toBe(boom)),
      )
      const plain = Array.from({ length: 10 }, (_, n) => store.groups.append(group, { payload: 50 + n }))
      const users = (async () => {
        for (let n = 0; n < 5; n++) {
          const outcome = await source
            .transaction(async (manager) => {
              await manager.insert(UserOrder, order(200 + n))
              await sleep(3)
              if (n % 2) throw boom
            })
            .catch((error) => error)
          expect(outcome).toBe(n % 2 ? boom : undefined)
        }
      })()
      await Promise.all([...ours, ...plain, users])
      const rows = await source.getRepository(UserOrder).find({ order: { id: 'ASC' } })
      expect(rows.map((row) => row.id).filter((id) => id >= 100)).toEqual([101, 102, 104, 105, 107, 108, 200, 202, 204])
      const recent = await store.groups.recent(group)
      expect(recent.totalAppended).toBe(16n)
      expectSound(recent)
    })

    it('shares the connection of a database in memory, through store.transaction', async () => {
      const memory = userSource('sqlite::memory:', [UserOrder])
      await memory.initialize()
      context.afterwards(() => memory.destroy())
      await memory.runMigrations({ transaction: 'none' })
      await memory.query('CREATE TABLE user_orders (id integer NOT NULL PRIMARY KEY, text varchar(100) NOT NULL)')
      const attached = await attachStore(memory, { sweep: false })
      context.afterwards(() => attached.close())
      const work = Array.from({ length: 20 }, (_, n) =>
        attached
          .transaction(async (tx) => {
            await tx.manager.save(order(n))
            await tx.groups.append('a', { payload: n })
            await sleep(n % 3)
            if (n % 4 === 0) throw boom
          })
          .catch((error) => expect(error).toBe(boom)),
      )
      const plain = Array.from({ length: 10 }, () => attached.groups.append('b'))
      await Promise.all([...work, ...plain])
      expect(await memory.getRepository(UserOrder).count()).toBe(15)
      expect((await attached.groups.recentMany(['a', 'b'])).map((recent) => recent.totalAppended)).toEqual([15n, 10n])
    })

    it('closing the store leaves the DataSource of the user open', async () => {
      const second = await attachStore(source, { sweep: false })
      await source.getRepository(UserOrder).save(order(9000))
      await second.close()
      await second.close()
      expect((await refusal(second.groups.recent('a'))).code).toBe('closed')
      expect(source.isInitialized).toBe(true)
      expect(await source.getRepository(UserOrder).countBy({ id: 9000 })).toBe(1)
    })

    it('says that the tables are missing where the migrations did not run, and works once they ran', async () => {
      const url = await context.emptyDatabase()
      const empty = userSource(url)
      await empty.initialize()
      context.afterwards(() => empty.destroy())
      expect((await refusal(attachStore(empty, { sweep: false }))).code).toBe('schema_missing')
      await empty.runMigrations({ transaction: 'none' })
      const attached = await attachStore(empty, { sweep: false })
      expect((await attached.groups.append('a')).id).toBe(0n)
      await attached.close()
    })
  })
}
