import type { Feeds } from '../../../src/shared/feed-types'
import { FeedRepository } from '../../../src/typeorm'
import { type Context, refusal, userSource } from '../context'
import { transactionTools, type Work } from '../store/transaction-tools'
import { feedTools, keysOf } from './tools'

export function describeFeedTransactions(context: Context): void {
  const feeds = () => context.store.feeds
  const { named, filled, published, readOn, known, lastOf } = feedTools(context)
  const { boom, WAYS, rolledBack, makeNotes, insert, isNoted } = transactionTools(context, 'feed_notes')

  describe('feeds: in a transaction', () => {
    beforeAll(makeNotes)

    it.each(WAYS)('entries, groups, messages and a row of the user’s are one: %s', async (_, run) => {
      const [feed, fresh] = [await filled(['old', 'gone']), named()]
      const [queue, group] = [context.unique('q'), context.unique()]
      await context.store.queues.put(queue)
      const work: Work = async (tx) => {
        expect(await tx.feeds.put(feed, 'old', 2)).toMatchObject({ version: 2, syncId: null })
        expect(await tx.feeds.delete(feed, 'gone')).toMatchObject({ deleted: true })
        await tx.feeds.putMany(fresh, [
          { key: 'a', value: 1 },
          { key: 'b', value: 1 },
        ])
        await tx.queues.send(queue, 'message')
        await tx.groups.append(group)
        await tx.manager.query(insert, [group])
        expect(await tx.feeds.get(feed, 'old')).toMatchObject({ value: 2 })
        expect(await tx.feeds.get(feed, 'gone')).toBeNull()
        expect(await tx.feeds.status(fresh)).toMatchObject({ entries: 2, unpublished: 2, lastSyncId: 0n })
        expect((await tx.feeds.list({ prefix: fresh })).feeds).toHaveLength(1)
      }
      await rolledBack(run, work)
      expect(await feeds().publish()).toEqual({ published: 0 })
      expect(await known(feed)).toEqual({ old: 1, gone: 1 })
      expect(await feeds().get(feed, 'old')).toMatchObject({ version: 1, syncId: expect.any(BigInt) })
      expect(await feeds().status(fresh)).toBeNull()
      expect([await isNoted(group), (await context.store.groups.recent(group)).totalAppended]).toEqual([false, 0n])
      expect(await context.store.queues.receive(queue)).toEqual([])
      await run(work)
      expect(await feeds().publish()).toEqual({ published: 4 })
      expect([await known(feed), await known(fresh)]).toEqual([{ old: 2 }, { a: 1, b: 1 }])
      expect([await isNoted(group), (await context.store.groups.recent(group)).totalAppended]).toEqual([true, 1n])
      expect(await context.store.queues.receive(queue)).toHaveLength(1)
    })

    it.each(WAYS)('a cursor is one with the work of its changes: %s', async (_, run) => {
      const feed = await filled(['a', 'b', 'c'])
      const note = context.unique('note')
      const work: Work = async (tx) => {
        const { changes, cursor } = await tx.feeds.changes(feed, { consumer: 'c', limit: 2 })
        expect(changes).toHaveLength(2)
        await tx.manager.query(insert, [note])
        await tx.feeds.moveCursor(feed, 'c', cursor)
        expect((await tx.feeds.changes(feed, { consumer: 'c' })).changes).toHaveLength(1)
        expect(await tx.feeds.cursor(feed, 'c')).toMatchObject({ cursor, lag: 1 })
      }
      await rolledBack(run, work)
      expect(await feeds().cursor(feed, 'c')).toMatchObject({ cursor: 0n, lag: 3 })
      expect(await isNoted(note)).toBe(false)
      await run(work)
      expect(await feeds().cursor(feed, 'c')).toMatchObject({ cursor: 2n, lag: 1 })
      expect(await isNoted(note)).toBe(true)
      await rolledBack(run, async (tx) => {
        expect(await tx.feeds.dropCursor(feed, 'c')).toBe(true)
        expect(await tx.feeds.cursor(feed, 'c')).toMatchObject({ cursor: 0n })
      })
      expect(await feeds().cursor(feed, 'c')).toMatchObject({ cursor: 2n })
    })

    it.each(WAYS)('a republish and the end of a feed roll back too: %s', async (_, run) => {
      const feed = await filled(['a', 'b'])
      await feeds().moveCursor(feed, 'c', 1n)
      await rolledBack(run, async (tx) => {
        expect(await tx.feeds.republish(feed, { prefix: '' })).toEqual({ republished: 2 })
        expect((await tx.feeds.changes(feed)).changes).toEqual([])
      })
      await rolledBack(run, async (tx) => {
        expect(await tx.feeds.drop(feed)).toBe(true)
        expect(await tx.feeds.status(feed)).toBeNull()
        expect(await tx.feeds.put(feed, 'a', 'anew')).toMatchObject({ version: 1 })
      })
      expect(await published(feed)).toBe(0)
      expect(keysOf((await readOn(feed)).changes).sort()).toEqual(['a', 'b'])
      expect(keysOf((await readOn(feed, 1n)).changes)).toHaveLength(1)
      expect(await feeds().cursor(feed, 'c')).toMatchObject({ cursor: 1n })
      await run(async (tx) => {
        await tx.feeds.drop(feed)
        await tx.feeds.put(feed, 'a', 'anew')
      })
      await published(feed)
      expect(await known(feed)).toEqual({ a: 'anew' })
      expect(await lastOf(feed)).toBeGreaterThan(2n)
    })

    it.each(WAYS)('waiting is refused, as is what is wrong elsewhere: %s', async (_, run) => {
      const feed = await filled(['a'])
      await run(async (tx) => {
        const error = await refusal(tx.feeds.changes(feed, { waitSeconds: 1 }))
        expect([error.code, error.faults.map(({ pointer }) => pointer)]).toEqual(['invalid_input', ['/waitSeconds']])
        expect((await refusal(tx.feeds.put(feed, 'a', undefined as unknown))).code).toBe('invalid_input')
        expect((await refusal(tx.feeds.moveCursor(feed, 'c', 2n))).code).toBe('invalid_input')
        expect((await refusal(tx.feeds.republish(named(), { prefix: '' }))).code).toBe('feed_not_found')
        expect((await tx.feeds.changes(feed, { waitSeconds: 0 })).changes).toHaveLength(1)
        await tx.feeds.put(feed, 'b', 1)
      })
      expect(await published(feed)).toBe(1)
    })

    it('operations begun at once take turns', async () => {
      const feed = named()
      await context.store.transaction(async (tx) => {
        const other = context.store.within(tx.manager)
        const puts = Array.from({ length: 12 }, (_, n) => (n % 2 ? tx : other).feeds.put(feed, 'k', n))
        const versions = (await Promise.all(puts)).map(({ version }) => version)
        expect(versions.sort((a, b) => a - b)).toEqual(Array.from({ length: 12 }, (_, n) => n + 1))
      })
      expect(await published(feed)).toBe(1)
    })
  })

  describe('FeedRepository', () => {
    const work = async (repository: Feeds, feed: string) => {
      await repository.putMany(feed, [
        { key: 'a', value: 1 },
        { key: 'b', value: 1 },
      ])
      await repository.put(feed, 'a', 2)
      await repository.delete(feed, 'b')
      await repository.moveCursor(feed, 'c', 0n)
      expect(await repository.get(feed, 'a')).toMatchObject({ value: 2, version: 2 })
      expect(await repository.status(feed)).toMatchObject({ consumers: [{ consumer: 'c' }] })
    }

    it('works on a DataSource and on the EntityManager of a transaction', async () => {
      const source = userSource(context.url)
      await source.initialize()
      context.afterwards(() => source.destroy())
      const feed = named()
      await work(new FeedRepository(source), feed)
      expect(await published(feed)).toBe(2)
      const { changes } = await new FeedRepository(source).changes(feed)
      expect(changes).toMatchObject([
        { key: 'a', value: 2 },
        { key: 'b', deleted: true },
      ])
      expect((await refusal(new FeedRepository(source).changes(feed, { waitSeconds: 1 }))).code).toBe('invalid_input')
      const other = named()
      const failed = source.transaction(async (manager) => {
        await work(new FeedRepository(manager), other)
        throw boom
      })
      await expect(failed).rejects.toBe(boom)
      expect(await feeds().status(other)).toBeNull()
      await source.transaction((manager) => work(new FeedRepository(manager), other))
      expect(await published(other)).toBe(2)
      expect(await known(other)).toEqual({ a: 2 })
    })
  })
}
