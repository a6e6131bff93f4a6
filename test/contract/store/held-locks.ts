/** Another process holds a lock in a transaction that stays open: only the calls that need the lock wait. */

import type { Store } from '../../../src/index'
import { innerOf } from '../../../src/store/inner'
import { soonMs, timed } from '../../support/timing'
import { type Context, eventually } from '../context'

/** Waits of a second that MySQL, which looks once a second, may notice a second late. */
const ONCE_MS = 3000

type Calls = ReturnType<Store['within']>

interface Case {
  title: string
  /** A name for the case, with what has to be there before. */
  made(store: Store, name: string): Promise<unknown>
  /** The work of the open transaction. */
  holds(tx: Calls, name: string): Promise<unknown>
  /** Needs a lock of it. */
  waits(store: Store, name: string): Promise<unknown>
  /** Needs none. */
  goesOn(store: Store, name: string, nth: number): Promise<unknown>
}

const limited = (store: Store, name: string) => store.queues.put(name, { groupConcurrency: 1 })
const toGroup = (messageGroup: string, priority = 0) => ({ messageGroup, priority })

const CASES: Case[] = [
  {
    title: 'a message group',
    made: async (store, name) => {
      await limited(store, name)
      await store.queues.send(name, 1, toGroup('m0'))
    },
    holds: ({ queues }, name) => queues.send(name, 2, toGroup('m0')),
    waits: ({ queues }, name) => queues.send(name, 3, toGroup('m0')),
    goesOn: ({ queues }, name, nth) => queues.send(name, 4, toGroup(`m${nth}`)),
  },
  {
    title: 'a message group and a priority that are new',
    made: limited,
    holds: ({ queues }, name) => queues.send(name, 1, toGroup('m0', 5)),
    waits: ({ queues }, name) => queues.send(name, 2, toGroup('m0', 5)),
    goesOn: ({ queues }, name, nth) => queues.send(name, 3, toGroup(`m${nth}`)),
  },
  {
    title: 'a priority',
    made: ({ queues }, name) => queues.put(name),
    holds: ({ queues }, name) => queues.send(name, 1, { priority: 5 }),
    waits: ({ queues }, name) => queues.send(name, 2, { priority: 5 }),
    goesOn: ({ queues }, name) => queues.send(name, 3),
  },
  {
    title: 'a dedup id',
    made: ({ queues }, name) => queues.put(name),
    holds: ({ queues }, name) => queues.send(name, 1, { dedupId: 'one', delaySeconds: 60 }),
    waits: ({ queues }, name) => queues.send(name, 2, { dedupId: 'one' }),
    goesOn: ({ queues }, name, nth) => queues.send(name, 3, { dedupId: `other ${nth}` }),
  },
  {
    title: 'a queue that is being changed',
    made: async ({ queues }, name) => {
      await queues.put(name)
      await queues.put(`${name}other`)
    },
    holds: ({ queues }, name) => queues.put(name, { maxReceives: 7 }),
    waits: ({ queues }, name) => queues.send(name, 1),
    goesOn: ({ queues }, name) => queues.send(`${name}other`, 1),
  },
  {
    title: 'a group',
    made: ({ groups }, name) => groups.append(name),
    holds: ({ groups }, name) => groups.append(name),
    waits: ({ groups }, name) => groups.append(name),
    goesOn: ({ groups }, name, nth) => groups.append(`${name}${nth}`),
  },
  {
    title: 'a group that is new',
    made: async () => {},
    holds: ({ groups }, name) => groups.append(name),
    waits: ({ groups }, name) => groups.append(name),
    goesOn: ({ groups }, name, nth) => groups.append(`${name}${nth}`),
  },
  {
    title: 'an entry',
    made: ({ feeds }, name) => feeds.put(name, 'k', 1),
    holds: ({ feeds }, name) => feeds.put(name, 'k', 2),
    waits: ({ feeds }, name) => feeds.put(name, 'k', 3),
    goesOn: ({ feeds }, name, nth) => feeds.put(name, `k${nth}`, 4),
  },
  {
    title: 'an entry that is new',
    made: ({ feeds }, name) => feeds.put(name, 'first', 1),
    holds: ({ feeds }, name) => feeds.put(name, 'k', 2),
    waits: ({ feeds }, name) => feeds.put(name, 'k', 3),
    goesOn: ({ feeds }, name, nth) => feeds.put(name, `k${nth}`, 4),
  },
]

export function describeHeldLocks(context: Context): void {
  // In SQLite a transaction has the only write lock: everybody waits for everybody.
  if (context.engine === 'sqlite') return

  it.each(CASES)('a transaction that holds $title: others wait at most a second, once', async (one) => {
    const name = context.unique('held')
    await one.made(context.store, name)
    const store = await context.open({ batching: { lanes: 1 } })
    const runner = context.store.dataSource.createQueryRunner()
    await runner.startTransaction()
    let stuck: Promise<unknown> | undefined
    try {
      await one.holds(context.store.within(runner), name)
      let isStuck = true
      stuck = one.waits(store, name).finally(() => {
        isStuck = false
      })
      const waited: number[] = []
      const goOn = async (nth: number) => waited.push((await timed(one.goesOn(store, name, nth))).ms)
      await Promise.all(Array.from({ length: 20 }, (_, n) => goOn(n + 1)))
      for (let nth = 21; nth <= 60; nth++) await goOn(nth)
      expect(isStuck).toBe(true)
      expect(Math.max(...waited)).toBeLessThan(soonMs(ONCE_MS))
      // The later ones find nothing to wait for.
      expect(waited.slice(20).reduce((sum, ms) => sum + ms)).toBeLessThan(soonMs(ONCE_MS))
    } finally {
      await runner.rollbackTransaction()
      await runner.release()
    }
    expect((await timed(stuck)).ms).toBeLessThan(soonMs(ONCE_MS))
  })

  it('a lock that keeps all writes waiting keeps no reads waiting, which have their own connections', async () => {
    const store = await context.open({ poolSize: 10 })
    const group = context.unique()
    await store.groups.append(group)
    // It keeps the writes to these tables waiting, as FLUSH TABLES WITH READ LOCK does all writes of a server.
    const holder = context.store.dataSource.createQueryRunner()
    await holder.query('LOCK TABLES recentn_groups READ')
    const writes = Array.from({ length: 20 }, () => store.transaction((tx) => tx.groups.append(group), { retries: 0 }))
    try {
      const inUse = () => innerOf(store).counts().connections.inUse
      await eventually(60_000, 'the writes have their connections', () => inUse() >= 8)
      for (let times = 0; times < 10; times++) {
        const { ms } = await timed(Promise.all([store.groups.recent(group), store.groups.list(), store.ping()]))
        expect(ms).toBeLessThan(soonMs(2000))
      }
      expect(innerOf(store).counts().connections).toMatchObject({ inUse: 8, waiting: 12 })
    } finally {
      await holder.query('UNLOCK TABLES')
      await holder.release()
    }
    const ids = (await Promise.all(writes)).map(({ id }) => Number(id))
    expect(ids.sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, n) => n + 1))
  })
}
