import { DataSource, type DataSourceOptions, type QueryRunner } from 'typeorm'
import { attachStore, type Store, type StoreOptions } from '../../../src/index'
import { innerOf } from '../../../src/store/inner'
import { RecentRepository } from '../../../src/typeorm'
import { moment, soonMs } from '../../support/timing'
import { type Context, eventually, refusal, sleep, userSource } from '../context'

/** "At once", beside timeouts that are ten times as long. */
const AT_ONCE_MS = 5000
const LONG_MS = 60_000
const HINT = /store\.within\(manager\)/

/** Calls that need their own connection, one of each way to it. */
function callsOf(store: Store, name: string): Record<string, () => Promise<unknown>> {
  return {
    append: () => store.groups.append(name),
    appendMany: () => store.groups.appendMany([{ group: name }, { group: `${name}2` }]),
    recent: () => store.groups.recent(name),
    list: () => store.groups.list(),
    put: () => store.groups.put(name, { capacity: 3 }),
    eraseMember: () => store.groups.eraseMember(name),
    send: () => store.queues.send(name, 1),
    receive: () => store.queues.receive(name),
    delete: () => store.queues.ackMany(name, ['x']),
    'queues.get': () => store.queues.get(name),
    'feeds.put': () => store.feeds.put(name, 'key', 1),
    changes: () => store.feeds.changes(name),
    next: () => store.sequences.next(name),
    'keys.list': () => store.keys.list(),
    transaction: () => store.transaction((tx) => tx.groups.append(name)),
    ping: () => store.ping(),
  }
}

/** The same, of calls that may wait for something else: inside a transaction their own refusal comes first. */
const waitingCallsOf = (store: Store, name: string) => ({
  receive: () => store.queues.receive(name, { waitSeconds: 20 }),
  changes: () => store.feeds.changes(name, { waitSeconds: 20 }),
})

/** Calls until it is answered, as it should be: on a busy machine a connection may be free later than its short time limit. */
function answered<A>(what: string, call: () => Promise<A>, isFine: (answer: A) => boolean = () => true): Promise<void> {
  const look = async () => {
    try {
      return isFine(await call())
    } catch (error) {
      if ((error as { code?: string }).code === 'overloaded') return false
      throw error
    }
  }
  return eventually(LONG_MS, what, look)
}

/** A call that waits for a connection is refused in a bounded time, and at once where it can be seen that it waits for itself. */
export function describeConnections(context: Context): void {
  const isSqlite = context.engine === 'sqlite'

  /** A DataSource of the user's with our tables; with SQLite's only connection where it is in memory. */
  async function userPool(poolSize: number): Promise<DataSource> {
    const plain = userSource(isSqlite ? 'sqlite::memory:' : context.url)
    const source = new DataSource({ ...plain.options, poolSize } as DataSourceOptions)
    await source.initialize()
    context.afterwards(() => source.destroy())
    if (isSqlite) await source.runMigrations({ transaction: 'none' })
    return source
  }

  async function attached(source: DataSource, options: StoreOptions = {}): Promise<Store> {
    const store = await attachStore(source, { sweep: false, publish: false, tick: false, ...options })
    context.afterwards(() => store.close())
    return store
  }

  /** Begins transactions that no callback shows, on all connections; resolves to their end. */
  async function holdAll(source: DataSource, count: number): Promise<() => Promise<void>> {
    const runners: QueryRunner[] = []
    for (let n = 0; n < count; n++) {
      const runner = source.createQueryRunner()
      await runner.startTransaction()
      runners.push(runner)
    }
    return async () => {
      for (const runner of runners.splice(0)) {
        await runner.rollbackTransaction()
        await runner.release()
      }
    }
  }

  async function expectRefused(calls: Record<string, () => Promise<unknown>>, code: string): Promise<void> {
    const since = performance.now()
    const refused = Object.entries(calls).map(async ([name, call]) => {
      const { code, message } = await refusal(Promise.resolve().then(call))
      return [name, code, HINT.test(message)]
    })
    expect(await Promise.all(refused)).toEqual(Object.keys(calls).map((name) => [name, code, true]))
    expect(performance.now() - since).toBeLessThan(soonMs(AT_ONCE_MS))
  }

  describe('a store call inside a transaction of the DataSource', () => {
    it('is refused at once, also by as many transactions as the pool has connections twice over', async () => {
      const source = await userPool(10)
      const store = await attached(source, { connectionTimeoutSeconds: LONG_MS / 1000 })
      const name = context.unique()
      const since = performance.now()
      const stuck = Array.from({ length: isSqlite ? 1 : 20 }, (_, n) =>
        source.transaction(async () => {
          await store.groups.append(name, { payload: n })
        }),
      )
      for (const one of stuck) {
        const error = await refusal(one)
        expect([error.code, HINT.test(error.message)]).toEqual(['misuse', true])
      }
      expect(performance.now() - since).toBeLessThan(soonMs(AT_ONCE_MS))
      expect((await store.groups.append(name)).id).toBe(0n)
      const { inUse, waiting } = innerOf(store).counts().connections
      expect([inUse, waiting]).toEqual([0, 0])
    })

    it('is refused whatever it is, and the transaction continues', async () => {
      const source = await userPool(2)
      const store = await attached(source, { connectionTimeoutSeconds: LONG_MS / 1000 })
      const name = context.unique()
      await source.manager.transaction('SERIALIZABLE', async (manager) => {
        await expectRefused(callsOf(store, name), 'misuse')
        expect((await store.within(manager).groups.append(name)).id).toBe(0n)
        await manager.transaction(() => expectRefused({ append: () => store.groups.append(name) }, 'misuse'))
      })
      expect((await store.groups.recent(name)).totalAppended).toBe(1n)
    })

    it('is refused inside store.transaction too', async () => {
      const store = await context.open({ connectionTimeoutSeconds: LONG_MS / 1000 })
      const name = context.unique()
      await store.transaction(async (tx) => {
        await expectRefused(callsOf(store, name), 'misuse')
        await tx.groups.append(name)
      })
      await store.dataSource.transaction(() => expectRefused(callsOf(store, name), 'misuse'))
      expect((await store.groups.recent(name)).totalAppended).toBe(1n)
    })

    it('is refused of a RecentRepository of the DataSource, once that knows it', async () => {
      const source = await userPool(2)
      const repository = new RecentRepository(source)
      const name = context.unique()
      await repository.append(name)
      await source.transaction(() => expectRefused({ append: () => repository.append(name) }, 'misuse'))
    })

    it('is none where the transaction is over, is not around it, or is one of another database', async () => {
      const [source, other] = [await userPool(3), await userPool(3)]
      const [store, elsewhere] = [await attached(source), await attached(other)]
      const name = context.unique()
      let late: Promise<unknown> = Promise.resolve()
      const over = moment()
      await source.transaction(async () => {
        late = over.reached.then(() => store.groups.append(name))
      })
      over.come()
      await late
      await source.transaction(() => elsewhere.groups.append(context.unique()))
      if (isSqlite) return // where a transaction of the only connection keeps all others waiting
      let end: () => void = () => {}
      const open = source.transaction(() => new Promise<void>((resolve) => (end = resolve)))
      await store.groups.append(name)
      end()
      await open
      expect((await store.groups.recent(name)).totalAppended).toBe(2n)
    })

    it('is seen as long as any store is attached, and no longer', async () => {
      const source = await userPool(3)
      const { transaction } = source.manager
      const [first, second] = [await attached(source), await attached(source)]
      const name = context.unique()
      await first.close()
      await source.transaction(() => expectRefused({ append: () => second.groups.append(name) }, 'misuse'))
      await second.close()
      await second.close()
      expect(source.manager.transaction).toBe(transaction)
      expect(await source.transaction(async () => 'done')).toBe('done')
    })

    it('leaves alone what others have wrapped since', async () => {
      const source = await userPool(3)
      const store = await attached(source)
      const ours = source.manager.transaction
      let calls = 0
      source.manager.transaction = ((...given: never[]) => {
        calls++
        return (ours as (...given: never[]) => unknown).apply(source.manager, given)
      }) as typeof ours
      await store.close()
      expect(await source.transaction(async () => 'done')).toBe('done')
      const again = await attached(source)
      await source.transaction(() => expectRefused({ ping: () => again.ping() }, 'misuse'))
      expect(calls).toBe(2)
    })
  })

  describe('a connection', () => {
    it('is waited for until its time limit, by every call; and none is lost', async () => {
      const source = await userPool(2)
      const store = await attached(source, { connectionTimeoutSeconds: 0.3 })
      const name = context.unique()
      await store.queues.put(name)
      const end = await holdAll(source, isSqlite ? 1 : 2)
      try {
        await expectRefused(callsOf(store, name), 'overloaded')
        await expectRefused(waitingCallsOf(store, name), 'overloaded')
        const { max, waiting } = innerOf(store).counts().connections
        // Those that gave up have left no more places behind than waited at the same time.
        for (let n = 0; n < 3; n++) await expectRefused(callsOf(store, name), 'overloaded')
        if (!isSqlite) expect([max, innerOf(store).counts().connections.waiting]).toEqual([2, waiting])
      } finally {
        await end()
      }
      const idle = () => innerOf(store).counts().connections
      await eventually(AT_ONCE_MS, 'all are free', async () => idle().inUse === 0 && idle().waiting === 0)
      const calls: (() => Promise<unknown>)[] = [
        () => store.groups.append(name),
        () => store.ping(),
        () => store.groups.list(),
      ]
      for (let n = 0; n < 5; n++) await Promise.all(calls.map((call) => answered('a call', call)))
      expect((await store.groups.recent(name)).totalAppended).toBe(5n)
      const both = isSqlite ? async () => {} : await holdAll(source, 2)
      await both()
    })

    it('that comes late goes to a caller who waits', async () => {
      const source = await userPool(1)
      const store = await attached(source, { connectionTimeoutSeconds: 4 })
      const end = await holdAll(source, 1)
      expect((await refusal(store.ping())).code).toBe('overloaded')
      const pings = Promise.all([store.ping(), store.ping(), store.ping()])
      await sleep(50)
      await end()
      await pings
    })

    it('of a store that has its own pool is waited for until its time limit, too', async () => {
      const store = await context.open({ connectionTimeoutSeconds: 0.3, poolSize: 1 })
      const name = context.unique()
      let end: () => void = () => {}
      let begun: () => void = () => {}
      const isOpen = new Promise<void>((resolve) => (begun = resolve))
      const open = store.transaction(async () => {
        begun()
        await new Promise<void>((resolve) => (end = resolve))
      })
      await isOpen
      try {
        await expectRefused(callsOf(store, name), 'overloaded')
      } finally {
        end()
      }
      await open
      await store.groups.append(name)
    })

    it('is waited for no longer while a store is attached', async () => {
      if (isSqlite) return // which opens its own connection, or asks nothing
      const source = await userPool(1)
      const end = await holdAll(source, 1)
      expect((await refusal(attachStore(source, { connectionTimeoutSeconds: 0.2 }))).code).toBe('overloaded')
      await end()
      const store = await attached(source)
      await store.ping()
    })

    it('that a pool refuses at once is reported in the same way', async () => {
      if (isSqlite) return // no pool
      const plain = userSource(context.url)
      const source = new DataSource({
        ...plain.options,
        poolSize: 1,
        extra: { waitForConnections: false },
      } as DataSourceOptions)
      await source.initialize()
      context.afterwards(() => source.destroy())
      const store = await attached(source)
      const end = await holdAll(source, 1)
      expect((await refusal(store.ping())).code).toBe('overloaded')
      await end()
      await store.ping()
    })
  })

  describe('what runs in the background', () => {
    it('says that it has no connection, and continues once there are some', async () => {
      const source = await userPool(2)
      const told: [string, string][] = []
      const store = await attached(source, {
        sweep: true,
        publish: true,
        connectionTimeoutSeconds: 0.2,
        onBackgroundError: (error, doing) => told.push([doing, (error as { code?: string }).code ?? String(error)]),
      })
      const name = context.unique()
      await answered('the queue is put', () => store.queues.put(name))
      const handled: unknown[] = []
      const faults: unknown[] = []
      store.queues.work(name, async ({ body }) => void handled.push(body), {
        onError: (error) => faults.push((error as { code?: string }).code),
      })
      const end = await holdAll(source, isSqlite ? 1 : 2)
      try {
        const all = ['publish', 'sweep-groups', 'sweep-queues', 'sweep-feeds', 'move-sends', 'move-appends']
        await eventually(30_000, 'all have said so', async () => all.every((one) => told.some(([is]) => is === one)))
        await eventually(30_000, 'the worker too', async () => faults.length > 0)
      } finally {
        await end()
      }
      expect(new Set([...told.map(([, code]) => code), ...faults])).toEqual(new Set(['overloaded']))
      await answered('the message is sent', () => store.queues.send(name, 'late'))
      await answered('the entry is put', () => store.feeds.put(name, 'key', 1))
      await eventually(30_000, 'the message is handled', async () => handled.length === 1)
      const reads = async () => (await store.feeds.changes(name)).changes.length === 1
      await answered('the entry is published', reads, (isPublished) => isPublished)
    })
  })
}
