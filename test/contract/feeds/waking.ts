/**
 * Publishers and waiting readers of a process are woken by commits, of every kind of transaction, and by nothing that was
 * rolled back. The stores here find nothing by polling, so that only waking can lead to what the tests wait for.
 */

import type { QueryRunner } from 'typeorm'
import type { Store, Transaction } from '../../../src/index'
import { innerOf } from '../../../src/store/inner'
import { SOON_MS, soonMs } from '../../support/timing'
import { type Context, eventually } from '../context'
import { watch } from '../statements'
import { feedTools } from './tools'

/** The look for all feeds with something to publish, and the look at the last sync ids for waiting readers. */
const LOOKS = [/EXISTS \(SELECT 1 FROM recentn_feed_entries/, /sequence_name IN \(/]

/** A store that publishes, and whose looks find nothing. */
async function blindStore(context: Context): Promise<Store> {
  const store = await context.open({ publish: true })
  watch(store, async (sql, run) => (LOOKS.some((look) => look.test(sql)) ? [] : run()))
  return store
}

type Work = (tx: Transaction) => Promise<unknown>

async function onRunner(store: Store, work: Work, end: (runner: QueryRunner) => Promise<void>): Promise<void> {
  const runner = store.dataSource.createQueryRunner()
  try {
    await runner.connect()
    await runner.startTransaction()
    await work(store.within(runner))
    await end(runner)
  } finally {
    await runner.release()
  }
}

const COMMITS: readonly (readonly [string, (store: Store, work: Work) => Promise<unknown>])[] = [
  ['store.transaction', (store, work) => store.transaction(work)],
  [
    'store.within in dataSource.transaction',
    (store, work) => store.dataSource.transaction((manager) => work(store.within(manager))),
  ],
  ['store.within on a query runner', (store, work) => onRunner(store, work, (runner) => runner.commitTransaction())],
]

const boom = new Error('boom')

const failing = (work: Work) => async (tx: Transaction) => {
  await work(tx)
  throw boom
}

const ROLLBACKS: readonly (readonly [string, (store: Store, work: Work) => Promise<unknown>])[] = [
  ['store.transaction', (store, work) => store.transaction(failing(work)).catch(expectBoom)],
  ['store.within on a query runner', (store, work) => onRunner(store, work, (runner) => runner.rollbackTransaction())],
  [
    'a savepoint',
    (store, work) =>
      store.dataSource.transaction((manager) =>
        manager.transaction((inner) => failing(work)(store.within(inner))).catch(expectBoom),
      ),
  ],
]

function expectBoom(error: unknown): void {
  if (error !== boom) throw error
}

export function describeFeedWaking(context: Context): void {
  const { named } = feedTools(context)

  describe('feeds: waking', () => {
    const syncIdOf = async (feed: string, key: string) => (await context.store.feeds.get(feed, key))?.syncId
    const published = (feed: string, key: string) =>
      eventually(SOON_MS, `${key} is published`, async () => (await syncIdOf(feed, key)) !== null)

    it.each(COMMITS)('what is written is published once it is committed: %s', async (_, run) => {
      const store = await blindStore(context)
      const feed = named()
      await run(store, (tx) => tx.feeds.put(feed, 'put', 1))
      await published(feed, 'put')
      await run(store, (tx) => tx.feeds.putMany(feed, [{ key: 'put', value: 2 }]))
      await published(feed, 'put')
      await run(store, (tx) => tx.feeds.republish(feed, { keys: ['put'] }))
      await published(feed, 'put')
      const { cursor } = await store.feeds.changes(feed)
      await run(store, (tx) => tx.feeds.delete(feed, 'put'))
      await eventually(SOON_MS, 'the tombstone is published', async () => {
        return (await store.feeds.changes(feed, { after: cursor })).changes[0]?.deleted === true
      })
    })

    it.each(COMMITS)('readers that wait have it at once: %s', async (_, run) => {
      const store = await blindStore(context)
      const feed = named()
      const waiting = store.feeds.changes(feed, { waitSeconds: 20 })
      await eventually(SOON_MS, 'the reader waits', async () => innerOf(store).counts().changesWaiting === 1)
      const since = performance.now()
      await run(store, (tx) => tx.feeds.put(feed, 'k', 1))
      expect((await waiting).changes).toMatchObject([{ key: 'k', value: 1 }])
      expect(performance.now() - since).toBeLessThan(soonMs())
    })

    it.each(ROLLBACKS)('a write that is rolled back wakes no reader: %s', async (_, run) => {
      const store = await blindStore(context)
      const [feed, other] = [named(), named()]
      // Written by another process, so that only a wake-up for this feed could publish it.
      await context.store.feeds.put(feed, 'waits', 1)
      await run(store, (tx) => tx.feeds.put(feed, 'k', 1))
      await store.feeds.put(other, 'k', 1)
      await published(other, 'k')
      expect(await syncIdOf(feed, 'waits')).toBeNull()
      expect(await context.store.feeds.get(feed, 'k')).toBeNull()
    })

    it('an operation that is refused wakes no reader, and the others of its transaction do', async () => {
      const store = await blindStore(context)
      const [feed, followed, other] = [named(), named(), named()]
      await context.store.feeds.put(feed, 'waits', 1)
      await store.transaction(async (tx) => {
        const refused = tx.feeds.republish(followed, { prefix: '' })
        await expect(refused).rejects.toMatchObject({ code: 'feed_not_found' })
        await expect(tx.feeds.moveCursor(feed, 'c', 7n)).rejects.toMatchObject({ code: 'invalid_input' })
        await tx.feeds.put(other, 'k', 1)
      })
      await published(other, 'k')
      expect(await syncIdOf(feed, 'waits')).toBeNull()
    })
  })
}
