import type { DataSource, EntityManager } from 'typeorm'
import { attachStore, openStore, type Store } from '../../../src/index'
import { innerOf } from '../../../src/store/inner'
import { moment } from '../../support/timing'
import { type Context, idsOf, refusal, sleep, userSource } from '../context'
import { boom, INSERT, type Joining, quietOn, until } from './joining'

/** `join: 'ambient'`: calls of the store in the callback of a transaction take part in it. */
export function describeAmbient(context: Context, joining: Joining): void {
  const { store, refusing, source, isNoted, idsIn } = joining
  const isSqlite = context.engine === 'sqlite'

  /** Code of another module, which has no manager and no `tx`. */
  async function placeOrder(name: string): Promise<void> {
    await store().groups.append(name, { payload: 1 })
    await store().queue<number>(name).send(2)
    await store().feed<number>(name).put('key', 3)
    await store().sequences.next(name)
  }
  const placed = async (name: string) => ({
    groups: (await context.store.groups.get(name))?.totalAppended ?? 0n,
    queues: (await context.store.queues.peek(name)).messages.length,
    feeds: (await context.store.feeds.get(name, 'key'))?.value ?? null,
    note: await isNoted(name),
  })

  async function another(prefix = 'other'): Promise<{ dataSource: DataSource; attached: Store }> {
    const dataSource = userSource(await context.emptyDatabase())
    await dataSource.initialize()
    context.afterwards(() => dataSource.destroy())
    await dataSource.runMigrations({ transaction: 'none' })
    await dataSource.query(`CREATE TABLE ${prefix}_notes (note varchar(100) NOT NULL PRIMARY KEY)`)
    const attached = await attachStore(dataSource, { ...quietOn(context), join: 'ambient' })
    context.afterwards(() => attached.close())
    return { dataSource, attached }
  }

  function describeTakingPart(): void {
    it('every product takes part, and commits with the rows of the caller', async () => {
      const name = context.unique()
      await context.store.queues.put(name)
      await source().transaction(async (manager) => {
        await manager.query(INSERT, [name])
        await placeOrder(name)
        expect((await store().groups.recent(name)).items).toHaveLength(1)
        expect((await store().queues.peek(name)).messages).toHaveLength(1)
        expect(await store().feeds.get(name, 'key')).toMatchObject({ value: 3 })
        if (!isSqlite) expect(await placed(name)).toEqual({ groups: 0n, queues: 0, feeds: null, note: false })
      })
      expect(await placed(name)).toEqual({ groups: 1n, queues: 1, feeds: 3, note: true })
      await store().groups.append(name)
      expect(await idsIn(name)).toBe(2)
    })

    it('every product takes part in a rollback', async () => {
      const name = context.unique()
      await context.store.queues.put(name)
      const failed = source().transaction(async (manager) => {
        await manager.query(INSERT, [name])
        await placeOrder(name)
        await store().policies.put(name, { capacity: 3, mode: 'history' })
        await store().schedules.put(name, { queue: name, body: 1, everySeconds: 60 })
        await store().group(name).append()
        throw boom
      })
      await expect(failed).rejects.toBe(boom)
      expect(await placed(name)).toEqual({ groups: 0n, queues: 0, feeds: null, note: false })
      expect([await store().policies.get(name), await store().schedules.get(name)]).toEqual([null, null])
      expect(await store().sequences.next(name)).toBe(1n)
    })

    it('calls begun at once have their own ids', async () => {
      const group = context.unique()
      const items = await source().transaction(() =>
        Promise.all(Array.from({ length: 8 }, () => store().groups.append(group))),
      )
      expect(items.map(({ id }) => id)).toEqual([0n, 1n, 2n, 3n, 4n, 5n, 6n, 7n])
    })

    it('wakes a receiver of this process at the commit, and not before', async () => {
      const queue = context.unique()
      await context.store.queues.put(queue)
      const received = store().queues.receive(queue, { waitSeconds: 10 })
      let isReceived = false
      void received.then(() => {
        isReceived = true
      })
      await sleep(20)
      await source().transaction(async () => {
        await store().queues.send(queue, 'mail')
        await sleep(600)
        expect(isReceived).toBe(false)
      })
      expect((await received).map(({ body }) => body)).toEqual(['mail'])
    })

    it('counts what is committed, and nothing of a rollback, nor of a savepoint that was left', async () => {
      const group = context.unique()
      const counted = () => innerOf(store()).counts().itemsAppended
      const before = counted()
      const failed = source().transaction(async () => {
        await store().groups.append(group)
        throw boom
      })
      await expect(failed).rejects.toBe(boom)
      expect(counted()).toBe(before)
      await source().transaction(async (manager) => {
        await store().groups.append(group)
        const nested = manager.transaction(async () => {
          await store().groups.append(group)
          throw boom
        })
        await expect(nested).rejects.toBe(boom)
        await manager.transaction(() => store().groups.append(group))
        expect(counted()).toBe(before)
      })
      expect([counted(), await idsIn(group)]).toEqual([before + 2, 2])
    })

    it('a store with its own connections joins transactions of its DataSource, and its own', async () => {
      const own = await context.open({ join: 'ambient' })
      const group = context.unique()
      const work = async (manager: EntityManager, note: string, error?: Error) => {
        await manager.query(INSERT, [note])
        await own.groups.append(group)
        if (error) throw error
      }
      await own.dataSource.transaction((manager) => work(manager, `${group}1`))
      await own.transaction((tx) => work(tx.manager, `${group}2`))
      await expect(own.dataSource.transaction((manager) => work(manager, `${group}3`, boom))).rejects.toBe(boom)
      await expect(own.transaction((tx) => work(tx.manager, `${group}4`, boom))).rejects.toBe(boom)
      expect(await Promise.all([1, 2, 3, 4].map((n) => isNoted(group + n)))).toEqual([true, true, false, false])
      expect(await idsIn(group)).toBe(2)
    })
  }

  function describeRefusals(): void {
    it('without the option, calls are refused by an error that names it', async () => {
      const group = context.unique()
      const error = await source().transaction(() => refusal(refusing().groups.append(group)))
      expect([error.code, error.message]).toEqual(['misuse', expect.stringContaining("join: 'ambient'")])
      expect(await idsIn(group)).toBe(0)
    })

    it('calls that a transaction does not have are refused by their name', async () => {
      const errors = await source().transaction(() =>
        Promise.all(
          [store().feeds.publish(), store().schedules.tick(), store().feeds.follow('t', {} as never)].map(refusal),
        ),
      )
      expect(errors.map(({ code }) => code)).toEqual(['misuse', 'misuse', 'misuse'])
      expect(errors.map(({ message }) => message.split(' ')[0])).toEqual([
        'feeds.publish',
        'schedules.tick',
        'feeds.follow',
      ])
      const waits = await source().transaction(() => refusal(store().queues.receive('q', { waitSeconds: 1 })))
      expect(waits.code).toBe('invalid_input')
      expect((await source().transaction(() => refusal(store().keys.list()))).code).toBe('misuse')
    })

    it('a closed store takes part in nothing', async () => {
      const closed = await attachStore(source(), { ...quietOn(context), join: 'ambient' })
      await closed.close()
      expect((await source().transaction(() => refusal(closed.groups.append('g')))).code).toBe('closed')
    })

    it('refuses another word for the option', async () => {
      const error = await refusal(attachStore(source(), { join: 'always' as never }))
      expect([error.code, error.message]).toEqual(['invalid_input', expect.stringContaining('join')])
    })
  }

  function describeSurroundings(): void {
    it('workers, consumers and watches stay outside of the transaction that starts them', async () => {
      const name = context.unique()
      await context.store.queues.put(name)
      await context.store.queues.sendMany(name, [{ body: 1 }, { body: 2 }])
      const events: string[] = []
      const started = await source().transaction(async () => ({
        // A handler has no transaction around it, but for one that it begins.
        worker: store().queues.work(name, async ({ body }) => {
          const work = async (manager: EntityManager) => {
            await manager.query(INSERT, [`${name}${body}`])
            await store().groups.append(name, { payload: body })
            if (body === 2) throw boom
          }
          await source()
            .transaction(work)
            .catch((error) => expect(error).toBe(boom))
          await store().groups.append(`${name}alone`)
        }),
        consumer: store().feeds.consume(name, 'c', (changes) => {
          for (const { key } of changes) events.push(key)
        }),
        watch: store().groups.watch(`${name}alone`),
      }))
      const { worker, consumer, watch } = started
      const next = watch[Symbol.asyncIterator]().next()
      await until(async () => (await idsIn(`${name}alone`)) === 2)
      await worker.stop()
      expect(await next).toMatchObject({ done: false })
      await watch.return?.()
      await store().feeds.put(name, 'key', 1)
      await store().feeds.publish(name)
      await until(() => events.length === 1)
      await consumer.stop()
      expect([await isNoted(`${name}1`), await isNoted(`${name}2`), await idsIn(name)]).toEqual([true, false, 1])
    })

    it('a worker of many messages is a worker too', async () => {
      const name = context.unique()
      await context.store.queues.put(name)
      await context.store.queues.send(name, 1)
      const handler = async () => void (await store().groups.append(name))
      const started = await source().transaction(async () => ({
        worker: store().queues.workMany(name, handler, { auto: false }),
      }))
      expect(await started.worker.once()).toEqual({ done: 1, failed: 0 })
      expect(await idsIn(name)).toBe(1)
    })

    it('a transaction of another DataSource is not joined', async () => {
      const group = context.unique()
      const { dataSource, attached } = await another()
      const failed = source().transaction(async () => {
        await attached.groups.append(group)
        await dataSource.transaction(async (manager) => {
          await manager.query('INSERT INTO other_notes (note) VALUES (?)', [group])
          await store().groups.append(group)
          await attached.groups.append(group)
        })
        throw boom
      })
      await expect(failed).rejects.toBe(boom)
      expect([await idsIn(group), idsOf(await attached.groups.recent(group)).length]).toEqual([0, 2])
    })

    it('several stores on one DataSource take part, each in its own tables', async () => {
      const group = context.unique()
      const second = await attachStore(source(), { ...quietOn(context), join: 'ambient' })
      context.afterwards(() => second.close())
      const work = async () => {
        await store().groups.append(group)
        await second.groups.append(group)
      }
      await source().transaction(work)
      await second.transaction(work)
      await expect(source().transaction(() => work().then(() => Promise.reject(boom)))).rejects.toBe(boom)
      expect(await idsIn(group)).toBe(4)
    })

    // One connection of TypeORM's has one transaction: a second one inside of it is a savepoint.
    if (isSqlite) return

    it('a new transaction inside of another is its own', async () => {
      const group = context.unique()
      // A new group may lock the place of another one.
      await context.store.groups.put(`${group}outer`)
      await context.store.groups.put(`${group}inner`)
      const failed = source().transaction(async () => {
        await store().groups.append(`${group}outer`)
        await source().transaction(() => store().groups.append(`${group}inner`))
        await store().groups.append(`${group}outer`)
        throw boom
      })
      await expect(failed).rejects.toBe(boom)
      expect([await idsIn(`${group}outer`), await idsIn(`${group}inner`)]).toEqual([0, 1])
    })

    it('a deadlock is a conflict, and all of the transaction is rolled back', async () => {
      const [a, b] = [context.unique('a'), context.unique('b')]
      await context.store.groups.appendMany([{ group: a }, { group: b }])
      const both = moment()
      let locked = 0
      const crossing = (first: string, second: string) =>
        source().transaction(async (manager) => {
          await manager.query(INSERT, [first])
          await store().groups.append(first)
          if (++locked === 2) both.come()
          await both.reached
          await store().groups.append(second)
        })
      const outcomes = await Promise.allSettled([crossing(a, b), crossing(b, a)])
      expect(outcomes.filter(({ status }) => status === 'rejected')).toMatchObject([{ reason: { code: 'conflict' } }])
      expect([await idsIn(a), await idsIn(b)]).toEqual([2, 2])
      expect((await Promise.all([a, b].map(isNoted))).filter(Boolean)).toHaveLength(1)
    })
  }

  describe("join: 'ambient'", () => {
    describeTakingPart()
    describeRefusals()
    describeSurroundings()
    if (!isSqlite) return

    it('joins on the one connection of a database in memory', async () => {
      const memory = userSource('sqlite::memory:')
      await memory.initialize()
      context.afterwards(() => memory.destroy())
      await memory.runMigrations({ transaction: 'none' })
      const attached = await attachStore(memory, { ...quietOn(context), join: 'ambient' })
      context.afterwards(() => attached.close())
      await memory.transaction(() => attached.groups.append('a'))
      const failed = memory.transaction(() => attached.groups.append('a').then(() => Promise.reject(boom)))
      await expect(failed).rejects.toBe(boom)
      expect(idsOf(await attached.groups.recent('a'))).toEqual([0n])
      const own = await openStore({ url: 'sqlite::memory:', ...quietOn(context), join: 'ambient' })
      context.afterwards(() => own.close())
      await own.dataSource.transaction(() => own.groups.append('a'))
      expect(idsOf(await own.groups.recent('a'))).toEqual([0n])
    })
  })
}
