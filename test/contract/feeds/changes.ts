import { bounded } from '../../../src/fields/options'
import type { Store } from '../../../src/index'
import type { Changes, ChangesOptions } from '../../../src/shared/feed-types'
import { SOON_MS, soonMs } from '../../support/timing'
import { type Context, eventually, refusal, sleep } from '../context'
import { range, timed } from '../queues/tools'
import { expectGrowing, feedTools, keysOf, syncIdsOf, valuesOf } from './tools'

export function describeFeedChanges(context: Context): void {
  const feeds = () => context.store.feeds
  const { named, filled, published, readOn, known, lastOf } = feedTools(context)
  const keys = (count: number) => range(1, count).map((n) => `k${n}`)
  const nothing = (cursor: bigint): Changes => ({ changes: [], cursor, hasMore: false })

  describe('feeds: changes', () => {
    it('come in pages in the order of their sync ids, and say whether there is more', async () => {
      const feed = await filled(keys(25))
      const all = await feeds().changes(feed)
      expect([all.changes.length, all.hasMore, all.cursor]).toEqual([25, false, all.changes.at(-1)?.syncId])
      expectGrowing(syncIdsOf(all.changes))
      expect(all.changes[0]).toEqual({ syncId: 1n, key: expect.any(String), value: 1, version: 1, deleted: false })
      const pages: Changes[] = []
      for (let after = 0n; pages.at(-1)?.hasMore !== false; after = pages.at(-1)?.cursor ?? 0n) {
        pages.push(await feeds().changes(feed, { after, limit: 10 }))
      }
      expect(pages.map(({ changes, hasMore }) => [changes.length, hasMore])).toEqual([
        [10, true],
        [10, true],
        [5, false],
      ])
      expect(pages.flatMap(({ changes }) => changes)).toEqual(all.changes)
      for (const { changes, cursor } of pages) expect(cursor).toBe(changes.at(-1)?.syncId)
      expect((await feeds().changes(feed, { limit: 25 })).hasMore).toBe(false)
      expect((await feeds().changes(feed, { limit: 24 })).hasMore).toBe(true)
    })

    it('are 100 unless asked for others, at most 1,000', async () => {
      const feed = await filled(keys(1001))
      expect((await feeds().changes(feed)).changes).toHaveLength(100)
      const many = await feeds().changes(feed, { limit: 1000 })
      expect([many.changes.length, many.hasMore]).toEqual([1000, true])
    })

    it('are the last of each key, and none that is not published', async () => {
      const feed = await filled(['a', 'b', 'c'])
      await feeds().put(feed, 'a', 2)
      await feeds().delete(feed, 'b')
      // An entry that waits to be numbered has left its old place.
      expect(keysOf((await readOn(feed)).changes)).toEqual(['c'])
      await feeds().put(feed, 'a', 3)
      await published(feed)
      const { changes } = await readOn(feed)
      expect(changes.map(({ key, value, version, deleted }) => [key, value, version, deleted]).sort()).toEqual([
        ['a', 3, 3, false],
        ['b', null, 2, true],
        ['c', 1, 1, false],
      ])
      expect(changes[0]).toMatchObject({ key: 'c' })
    })

    it('of a cursor at the end are none, and the cursor stays; one beyond it is expired', async () => {
      const feed = await filled(keys(3))
      const last = await lastOf(feed)
      expect(await feeds().changes(feed, { after: last })).toEqual(nothing(last))
      for (const after of [last + 1n, 2n ** 63n - 1n, ((last + 1n) << 63n) | 1n]) {
        for (const waitSeconds of [0, 20]) {
          expect((await refusal(feeds().changes(feed, { after, waitSeconds }))).code).toBe('cursor_expired')
        }
      }
      expect((await feeds().changes(feed, { after: last - 1n })).changes).toHaveLength(1)
    })

    it('of a feed that has not begun are none', async () => {
      const feed = named()
      expect(await feeds().changes(feed, { after: 0n })).toEqual(nothing(0n))
      expect((await refusal(feeds().changes(feed, { after: 7n }))).code).toBe('cursor_expired')
      expect(await feeds().changes(feed, { consumer: 'c' })).toEqual(nothing(0n))
      expect(await feeds().status(feed)).toBeNull()
    })

    it('stop after about so many bytes, with at least one, and lose none', async () => {
      const feed = await filled(keys(20), 'x'.repeat(10_000))
      const page = await feeds().changes(feed, bounded({}, 50_000))
      expect(page.changes.length).toBeGreaterThanOrEqual(4)
      expect(page.changes.length).toBeLessThanOrEqual(6)
      expect([page.hasMore, page.cursor]).toEqual([true, page.changes.at(-1)?.syncId])
      const seen: string[] = []
      let cursor = 0n
      for (let hasMore = true; hasMore; ) {
        const one = await feeds().changes(feed, bounded({ after: cursor }, 1))
        expect(one.changes).toHaveLength(1)
        seen.push(...keysOf(one.changes))
        ;({ cursor, hasMore } = one)
      }
      expect(seen).toEqual(keysOf((await readOn(feed)).changes))
    })

    it('of a stored consumer begin at its cursor, and move nothing', async () => {
      const feed = await filled(keys(10))
      expect((await feeds().changes(feed, { consumer: 'new' })).changes).toHaveLength(10)
      const { cursor } = await feeds().changes(feed, { limit: 4 })
      await feeds().moveCursor(feed, 'c', cursor)
      for (let twice = 0; twice < 2; twice++) {
        expect(await feeds().changes(feed, { consumer: 'c' })).toEqual(await feeds().changes(feed, { after: cursor }))
      }
      expect(await feeds().cursor(feed, 'c')).toMatchObject({ cursor })
    })

    it('refuse what is wrong, all of it at once', async () => {
      const feed = await filled(['a'])
      const wrong: [ChangesOptions, string[]][] = [
        [
          { limit: 0, waitSeconds: 21, maxBytes: 1, after: -1n } as object,
          ['/after', '/limit', '/maxBytes', '/waitSeconds'],
        ],
        [{ limit: 1001, waitSeconds: 1.5 }, ['/limit', '/waitSeconds']],
        [{ after: 1 as unknown as bigint }, ['/after']],
        [{ consumer: '' }, ['/consumer']],
        [{ after: 10n ** 38n }, ['/after']],
        [{ values: 'json' as 'text', signal: {} as AbortSignal }, ['/signal', '/values']],
        [{ from: 1n } as ChangesOptions, ['/from']],
      ]
      for (const [options, pointers] of wrong) {
        const error = await refusal(feeds().changes(feed, options))
        expect(error.code).toBe('invalid_input')
        expect(error.faults.map(({ pointer }) => pointer).sort()).toEqual(pointers)
      }
      expect((await refusal(feeds().changes(feed, { after: 0n, consumer: 'c' }))).code).toBe('invalid_input')
    })
  })

  describe('feeds: a waiting call', () => {
    /** Waits on `store` for changes while `event` makes some; how long they took from its end. */
    async function awaited(feed: string, event: () => Promise<unknown>, store: Store, options: ChangesOptions = {}) {
      const waiting = store.feeds
        .changes(feed, { waitSeconds: 10, after: await lastOf(feed), ...options })
        .then((answer) => ({ answer, at: performance.now() }))
      await sleep(300)
      await event()
      const begin = performance.now()
      const { answer, at } = await waiting
      expect(at - begin).toBeLessThan(soonMs())
      return answer
    }

    it('answers at once when there is something, and with waitSeconds 0', async () => {
      const feed = await filled(keys(2))
      const some = await timed(feeds().changes(feed, { waitSeconds: 20 }))
      expect([some.answer.changes.length, some.ms < soonMs()]).toEqual([2, true])
      const { answer, ms } = await timed(feeds().changes(feed, { waitSeconds: 0, after: some.answer.cursor }))
      expect([answer, ms < soonMs()]).toEqual([nothing(some.answer.cursor), true])
    })

    it('answers nothing after its time and not before, whatever other feeds do', async () => {
      const [feed, other] = [await filled(['a']), await filled(['a'])]
      const store = await context.open({ publish: true })
      const after = await lastOf(feed)
      const waiting = timed(store.feeds.changes(feed, { waitSeconds: 1, after }))
      await store.feeds.put(other, 'a', 2)
      const { answer, ms } = await waiting
      expect(answer).toEqual(nothing(after))
      expect(ms).toBeGreaterThan(950)
      expect(ms).toBeLessThan(soonMs())
      await eventually(SOON_MS, 'the other feed has it', async () => (await known(other)).a === 2)
    })

    it('gets what this store writes, and another one, and a statement of anybody', async () => {
      const feed = await filled(['a', 'b'])
      const store = await context.open({ publish: true })
      const own = await awaited(feed, () => store.feeds.put(feed, 'a', 'own'), store)
      expect(valuesOf(own.changes)).toEqual(['own'])
      const others = await awaited(feed, () => feeds().put(feed, 'a', 'other'), store)
      expect(valuesOf(others.changes)).toEqual(['other'])
      const deleted = await awaited(feed, () => feeds().delete(feed, 'a'), store)
      expect(deleted.changes).toMatchObject([{ key: 'a', deleted: true }])
      const committed = await awaited(feed, () => store.transaction((tx) => tx.feeds.put(feed, 'a', 'tx')), store)
      expect(valuesOf(committed.changes)).toEqual(['tx'])
      const raw = await awaited(
        feed,
        () =>
          context.store.dataSource.query(
            "UPDATE recentn_feed_entries SET sync_id = 0 WHERE entry_key = 'b' AND feed_id = (SELECT id FROM recentn_feeds WHERE feed = ?)",
            [feed],
          ),
        store,
      )
      expect(raw.changes).toMatchObject([{ key: 'b', value: 1, version: 1 }])
    })

    it('gets what another store publishes, where this one publishes nothing itself', async () => {
      const feed = await filled(['a'])
      const store = await context.open()
      const publish = async () => {
        await feeds().put(feed, 'a', 'x')
        await published(feed)
      }
      expect(valuesOf((await awaited(feed, publish, store)).changes)).toEqual(['x'])
      const publisher = await context.open({ publish: true })
      const put = () => publisher.feeds.put(feed, 'a', 'y')
      await feeds().moveCursor(feed, 'c', await lastOf(feed))
      const answer = await awaited(feed, put, store, { after: undefined, consumer: 'c' } as ChangesOptions)
      expect(valuesOf(answer.changes)).toEqual(['y'])
    })

    it('gets the first entry of a feed that had not begun', async () => {
      const feed = named()
      const store = await context.open({ publish: true })
      const answer = await awaited(feed, () => feeds().put(feed, 'first', 1), store, { after: 0n })
      expect(answer).toMatchObject({ changes: [{ key: 'first', syncId: 1n }], cursor: 1n, hasMore: false })
    })

    it('of many get it all', async () => {
      const feed = await filled(['a'])
      const store = await context.open({ publish: true })
      const after = await lastOf(feed)
      const waiting = range(1, 40).map(() => store.feeds.changes(feed, { waitSeconds: 10, after }))
      await sleep(100)
      await store.feeds.put(feed, 'a', 'x')
      const { answer, ms } = await timed(Promise.all(waiting))
      expect(ms).toBeLessThan(soonMs())
      expect(answer.map(({ changes }) => valuesOf(changes))).toEqual(Array(40).fill(['x']))
    })

    it('ends with its signal', async () => {
      const feed = await filled(['a'])
      const controller = new AbortController()
      const after = await lastOf(feed)
      const waiting = timed(feeds().changes(feed, { waitSeconds: 20, after, signal: controller.signal }))
      setTimeout(() => controller.abort(), 200)
      const { answer, ms } = await waiting
      expect(answer).toEqual(nothing(after))
      expect(ms).toBeLessThan(soonMs())
      const aborted = timed(feeds().changes(feed, { waitSeconds: 20, after, signal: AbortSignal.abort() }))
      expect((await aborted).ms).toBeLessThan(soonMs())
    })

    it('ends when the store closes', async () => {
      const feed = await filled(['a'])
      const store = await context.open({ publish: true })
      const options = { waitSeconds: 20, after: await lastOf(feed) }
      const waiting = timed(Promise.allSettled(range(1, 5).map(() => store.feeds.changes(feed, options))))
      await sleep(200)
      const closing = timed(store.close())
      const { answer, ms } = await waiting
      expect(ms).toBeLessThan(200 + soonMs())
      for (const one of answer) {
        const outcome = one.status === 'fulfilled' ? one.value.changes : one.reason.code
        expect(outcome).toEqual(one.status === 'fulfilled' ? [] : 'closed')
      }
      expect((await closing).ms).toBeLessThan(soonMs())
      expect((await refusal(store.feeds.changes(feed))).code).toBe('closed')
    })
  })
}
