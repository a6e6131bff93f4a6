import type { Store } from '../../../src/index'
import type { Change } from '../../../src/shared/feed-types'
import { SOON_MS } from '../../support/timing'
import { type Context, eventually, sleep } from '../context'
import { range } from '../queues/tools'
import { expectGrowing, feedTools, knowledgeOf, sweptFeeds, syncIdsOf } from './tools'

/** Something that numbers rows for a consumer. */
interface Numbered {
  put(value: string): Promise<unknown>
  publish(): Promise<unknown>
  fetch(after: bigint): Promise<{ values: unknown[]; cursor: bigint }>
}

/** The last record by its number is written and published again after the consumer had it: what of that it sees. */
async function republishTheLast({ put, publish, fetch }: Numbered) {
  let cursor = 0n // t = 0
  await put('bob')
  await publish()
  const first = await fetch(cursor)
  cursor = first.cursor
  await put('jim')
  await publish()
  const second = await fetch(cursor)
  return { first: first.values, second: second.values }
}

export function describeFeedPublishing(context: Context): void {
  const feeds = () => context.store.feeds
  const { named, filled, published, readOn, known, pass } = feedTools(context)
  const query = (sql: string, parameters: unknown[] = []) => context.store.dataSource.query(sql, parameters)

  describe('feeds: the missed update', () => {
    beforeAll(() =>
      query('CREATE TABLE naive_kv (k varchar(20) NOT NULL PRIMARY KEY, v varchar(20), sync bigint NULL)'),
    )

    it.each([[[]], [['alice', 'zoe']]])(
      'is seen, when the numbers come from a sequence (beside %j)',
      async (others) => {
        const feed = await filled(others)
        const outcome = await republishTheLast({
          put: (value) => feeds().put(feed, 'fred', value),
          publish: () => feeds().publish(feed),
          async fetch(after) {
            const { changes, cursor } = await feeds().changes(feed, { after })
            return { values: changes.filter(({ key }) => key === 'fred').map(({ value }) => value), cursor }
          },
        })
        expect(outcome).toEqual({ first: ['bob'], second: ['jim'] })
      },
    )

    it.each([[[]], [['alice', 'zoe']]])('is missed, when they are MAX + 1 (beside %j)', async (others) => {
      await query('DELETE FROM naive_kv')
      for (const [n, key] of others.entries()) await query('INSERT INTO naive_kv VALUES (?, ?, ?)', [key, 'v', n + 1])
      const outcome = await republishTheLast({
        async put(value) {
          await query("DELETE FROM naive_kv WHERE k = 'fred'")
          await query("INSERT INTO naive_kv VALUES ('fred', ?, NULL)", [value])
        },
        async publish() {
          const [{ next }] = await query('SELECT COALESCE(MAX(sync), 0) + 1 AS next FROM naive_kv')
          await query('UPDATE naive_kv SET sync = ? WHERE sync IS NULL', [String(next)])
        },
        async fetch(after) {
          const rows: { k: string; v: string; sync: string }[] = await query(
            'SELECT k, v, sync FROM naive_kv WHERE sync > ? ORDER BY sync',
            [String(after)],
          )
          const cursor = BigInt(rows.at(-1)?.sync ?? after)
          return { values: rows.filter(({ k }) => k === 'fred').map(({ v }) => v), cursor }
        },
      })
      expect(outcome).toEqual({ first: ['bob'], second: [] })
    })
  })

  describe('feeds: publish', () => {
    it('numbers what is unpublished right now, of one feed or of all', async () => {
      const [a, b] = [named(), named()]
      await feeds().publish()
      for (const feed of [a, b])
        await feeds().putMany(feed, [
          { key: 'x', value: 1 },
          { key: 'y', value: 2 },
        ])
      expect(await feeds().publish(a)).toEqual({ published: 2 })
      expect([(await readOn(a)).changes.length, (await readOn(b)).changes.length]).toEqual([2, 0])
      await feeds().put(a, 'x', 3)
      expect(await feeds().publish()).toEqual({ published: 3 })
      expect(await feeds().publish()).toEqual({ published: 0 })
      expect(await feeds().publish(named())).toEqual({ published: 0 })
      expect(await known(a)).toEqual({ x: 3, y: 2 })
    })

    it('numbers thousands, each once, from 1', async () => {
      const feed = await filled(range(1, 3000).map((n) => `k${n}`))
      const { changes, cursor } = await readOn(feed)
      expectGrowing(syncIdsOf(changes))
      expect([changes.length, changes[0]?.syncId, cursor]).toEqual([3000, 1n, changes.at(-1)?.syncId])
      expect((await feeds().status(feed))?.lastSyncId).toBe(cursor)
    })

    it('happens in the background, of what anybody has written, and before the store closes', async () => {
      const feed = named()
      const store = await context.open({ publish: true })
      await feeds().put(feed, 'other', 1)
      await eventually(SOON_MS, 'it is published', async () => (await readOn(feed)).changes.length === 1)
      await store.feeds.put(feed, 'own', 1)
      await eventually(SOON_MS, 'its own is too', async () => (await readOn(feed)).changes.length === 2)
      await store.feeds.putMany(feed, [{ key: 'last', value: 1 }])
      await store.close()
      expect(await known(feed)).toEqual({ other: 1, own: 1, last: 1 })
    })

    it('never gives a number twice: after puts, deletes, a swept tombstone, and the feed begun again', async () => {
      const feed = named()
      const store = await context.open({ feeds: { tombstoneSeconds: 10 } })
      const seen: bigint[] = []
      const round = async (...work: (() => Promise<unknown>)[]) => {
        for (const one of work) await one()
        await published(feed)
        seen.push(...syncIdsOf((await readOn(feed)).changes).filter((id) => id > (seen.at(-1) ?? 0n)))
      }
      await round(
        () => feeds().put(feed, 'a', 1),
        () => feeds().put(feed, 'b', 1),
      )
      await round(() => store.feeds.delete(feed, 'b'))
      await round(() => feeds().put(feed, 'b', 2))
      await round(
        () => store.feeds.delete(feed, 'b'),
        () => store.feeds.delete(feed, 'a'),
      )
      pass(11)
      await sweptFeeds(store)
      expect((await readOn(feed)).changes).toEqual([])
      await round(() => feeds().put(feed, 'b', 3))
      await feeds().drop(feed)
      await round(() => feeds().put(feed, 'b', 4))
      await feeds().drop(feed)
      await feeds().drop(feed)
      await round(
        () => feeds().put(feed, 'a', 5),
        () => feeds().put(feed, 'b', 5),
      )
      expectGrowing(seen)
      expect(seen).toHaveLength(10)
      expect(new Set(seen).size).toBe(10)
    })

    it('by several at once, while others write: in order for every reader, and nothing behind its cursor', async () => {
      const feed = await filled(['k0'])
      const [p, q, r] = [await context.open(), await context.open(), await context.open()]
      let isWriting = true
      const publisher = async (store: Store) => {
        // Writers and readers have their turn between two rounds.
        for (; isWriting; await sleep(1)) await store.feeds.publish(feed)
      }
      const key = () => `k${Math.floor(Math.random() * 60)}`
      const writer = async (store: Store, name: number) => {
        for (const n of range(1, 25)) {
          const value = `${name}.${n}`
          const entries = range(1, 1 + Math.floor(Math.random() * 20)).map(() => ({ key: key(), value }))
          await store.feeds.putMany(feed, entries)
          if (n % 4 === 0) await store.feeds.delete(feed, key())
          if (n % 5 === 0) await store.feeds.republish(feed, { keys: [key(), key()] })
          if (n % 6 === 0) await store.transaction((tx) => tx.feeds.put(feed, key(), value).then(() => sleep(2)))
        }
      }
      const log: Change[] = []
      const late: Change[] = []
      const reader = async (store: Store, limit: number) => {
        let cursor = 0n
        const own: Change[] = []
        const seen = new Set<bigint>()
        for (let isLast = false; ; ) {
          const page = await store.feeds.changes(feed, { after: cursor, limit })
          own.push(...page.changes)
          cursor = page.cursor
          // Entries that show up behind the cursor, and were not there when it went by.
          for (const { syncId } of page.changes) seen.add(syncId)
          const behind = (await store.feeds.changes(feed, { limit: 1000 })).changes
          late.push(...behind.filter(({ syncId }) => syncId <= cursor && !seen.has(syncId)))
          if (isLast && !page.hasMore) break
          isLast = !isWriting
        }
        log.push(...own)
        expectGrowing(syncIdsOf(own))
        return own
      }
      const writing = Promise.all([writer(context.store, 1), writer(p, 2), writer(q, 3), writer(r, 4)])
      const work = [publisher(p), publisher(q), publisher(r)]
      const reading = [reader(context.store, 1000), reader(r, 7)]
      await writing.finally(() => {
        isWriting = false
      })
      await Promise.all(work)
      await published(feed)
      const logs = await Promise.all(reading)
      expect(late).toEqual([])
      // Once more for what was published after the last look of a reader.
      for (const own of logs) {
        const rest = await readOn(feed, own.at(-1)?.syncId)
        expect(knowledgeOf([...own, ...rest.changes])).toEqual(await known(feed))
      }
      // A number means one change, whoever saw it.
      const versions = new Map<bigint, string>()
      for (const { syncId, key, version } of log) {
        expect(versions.get(syncId) ?? `${key} ${version}`).toBe(`${key} ${version}`)
        versions.set(syncId, `${key} ${version}`)
      }
    })
  })
}
