import { pause } from '../../support/timing'
import { type Context, refusal } from '../context'
import { range } from '../queues/tools'
import { feedTools } from './tools'

/** Names that some collation or padding rule takes for the same. */
const TRICKY = [
  ...['a', 'A', 'a ', 'a  ', ' a', 'ä', 'a\u0308', 'ß', 'ss', 'ﬁ', 'fi', '😀', '😁', '\ufeffa', 'a\u200b'],
  ...['/', '%2F', '\\', "'", '"', '`', '?', ';--', '0', '00', '__proto__', 'constructor', 'null', '\u{10ffff}'],
]
const BAD_NAMES = ['', 'x'.repeat(192), '😀'.repeat(192), 'a\u0000b', '\n', '\u0085', 'a\ud800', '.', '..']

const byBytes = (names: readonly string[]) => [...names].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))

const TIME = expect.any(Date)

export function describeFeedConsumers(context: Context): void {
  const feeds = () => context.store.feeds
  const { named, filled, published, readOn, lastOf, known } = feedTools(context)
  const keys = (count: number) => range(1, count).map((n) => `k${n}`)

  describe('feeds: consumers', () => {
    it('begin at 0, where there is the feed', async () => {
      const feed = await filled(keys(5))
      expect(await feeds().cursor(feed, 'c')).toEqual({ consumer: 'c', cursor: 0n, lag: 5, movedAt: null })
      expect((await refusal(feeds().cursor(named(), 'c'))).code).toBe('feed_not_found')
      expect((await feeds().status(feed))?.consumers).toEqual([])
    })

    it('move forward only, unless forced', async () => {
      const feed = await filled(keys(5))
      expect(await feeds().moveCursor(feed, 'c', 2n)).toEqual({ consumer: 'c', cursor: 2n, lag: 3, movedAt: TIME })
      const moved = await feeds().moveCursor(feed, 'c', 4n)
      expect(moved).toEqual({ consumer: 'c', cursor: 4n, lag: 1, movedAt: TIME })
      await pause(2)
      expect(await feeds().moveCursor(feed, 'c', 3n)).toEqual(moved)
      expect(await feeds().moveCursor(feed, 'c', 3n, { force: false })).toMatchObject({ cursor: 4n })
      expect(await feeds().moveCursor(feed, 'c', 4n)).toMatchObject({ cursor: 4n })
      expect(await feeds().cursor(feed, 'c')).toEqual(moved)
      expect(await feeds().moveCursor(feed, 'c', 1n, { force: true })).toEqual({
        consumer: 'c',
        cursor: 1n,
        lag: 4,
        movedAt: TIME,
      })
      expect((await feeds().changes(feed, { consumer: 'c' })).changes).toHaveLength(4)
      expect(await feeds().moveCursor(feed, 'c', 0n, { force: true })).toMatchObject({ cursor: 0n, lag: 5 })
      expect(await feeds().moveCursor(feed, 'c', 5n)).toMatchObject({ cursor: 5n, lag: 0 })
      await feeds().put(feed, 'k1', 2)
      await published(feed)
      expect(await feeds().cursor(feed, 'c')).toMatchObject({ lag: 1 })
    })

    it('end at the greatest, when several move one at the same time', async () => {
      const feed = await filled(keys(20))
      const other = await context.open()
      const moves = range(1, 20).map((n) => (n % 2 ? context.store : other).feeds.moveCursor(feed, 'c', BigInt(n)))
      await Promise.all(moves)
      expect(await feeds().cursor(feed, 'c')).toEqual({ consumer: 'c', cursor: 20n, lag: 0, movedAt: TIME })
    })

    it('stay where another process has put them back, with `from`, and continue without it', async () => {
      const feed = await filled(['a', 'b', 'c', 'd'])
      await feeds().moveCursor(feed, 'c', 2n)
      expect(await feeds().moveCursor(feed, 'c', 3n, { from: 2n })).toMatchObject({ cursor: 3n })
      await feeds().moveCursor(feed, 'c', 1n, { force: true })
      expect(await feeds().moveCursor(feed, 'c', 4n, { from: 3n })).toMatchObject({ cursor: 1n })
      await feeds().moveCursor(feed, 'c', 0n, { force: true })
      expect(await feeds().moveCursor(feed, 'c', 4n, { from: 1n })).toMatchObject({ cursor: 0n })
      expect(await feeds().moveCursor(feed, 'c', 4n)).toMatchObject({ cursor: 4n })
      const { faults } = await refusal(feeds().moveCursor(feed, 'c', 4n, { from: -1n }))
      expect(faults.map(({ pointer }) => pointer)).toEqual(['/from'])
    })

    it('do not go beyond the last sync id, nor to what is no cursor', async () => {
      const feed = await filled(keys(5))
      await feeds().put(feed, 'unpublished', 1)
      await feeds().moveCursor(feed, 'c', 2n)
      const bad = [6n, 2n ** 63n - 1n, 2n ** 63n + 6n, -1n, 1 as unknown as bigint, '1' as unknown as bigint]
      for (const cursor of bad) {
        for (const force of [false, true]) {
          const error = await refusal(feeds().moveCursor(feed, 'c', cursor, { force }))
          expect([error.code, error.faults.map(({ pointer }) => pointer)]).toEqual(['invalid_input', ['/cursor']])
        }
      }
      expect(await feeds().cursor(feed, 'c')).toMatchObject({ cursor: 2n })
    })

    it('may be made before the feed begins, at 0', async () => {
      const feed = named()
      expect((await refusal(feeds().moveCursor(feed, 'c', 1n))).code).toBe('invalid_input')
      expect(await feeds().status(feed)).toBeNull()
      expect(await feeds().moveCursor(feed, 'c', 0n)).toEqual({ consumer: 'c', cursor: 0n, lag: 0, movedAt: TIME })
      const begun = await feeds().status(feed)
      expect(begun).toMatchObject({ feed, lastSyncId: 0n, entries: 0, unpublished: 0, oldestUnpublishedSeconds: null })
      expect(begun?.consumers).toEqual([{ consumer: 'c', cursor: 0n, lag: 0, movedAt: TIME }])
      await feeds().put(feed, 'k', 1)
      await published(feed)
      expect((await feeds().changes(feed, { consumer: 'c' })).changes).toHaveLength(1)
    })

    it('are listed by name, and forgotten when deleted', async () => {
      const feed = await filled(keys(3))
      const names = ['b', 'a', 'A', 'ä', 'a ', '😀', '\ufb01']
      for (const [n, name] of names.entries()) await feeds().moveCursor(feed, name, BigInt(n % 4))
      const listed = (await feeds().status(feed))?.consumers ?? []
      expect(listed.map(({ consumer }) => consumer)).toEqual(byBytes(names))
      for (const one of listed) expect(one).toEqual(await feeds().cursor(feed, one.consumer))
      expect(await feeds().dropCursor(feed, 'a')).toBe(true)
      expect(await feeds().dropCursor(feed, 'a')).toBe(false)
      expect(await feeds().dropCursor(named(), 'a')).toBe(false)
      expect(await feeds().cursor(feed, 'a')).toMatchObject({ cursor: 0n })
      expect(await feeds().cursor(feed, 'A')).toMatchObject({ cursor: 2n })
      expect((await feeds().status(feed))?.consumers).toHaveLength(6)
    })

    it('of which there are many are listed up to 1,000', async () => {
      const feed = await filled(['k'])
      await feeds().moveCursor(feed, 'zz', 1n)
      const { dataSource } = context.store
      const [{ id }] = await dataSource.query('SELECT id FROM recentn_feeds WHERE feed = ?', [feed])
      const rows = range(1, 1005).map((n) => `(${id}, 'c${String(n).padStart(4, '0')}', 1, 0, 0)`)
      await dataSource.query(
        `INSERT INTO recentn_feed_consumers (feed_id, consumer, cursor_id, knows_horizon, updated_at_ms) VALUES ${rows.join(', ')}`,
      )
      const listed = (await feeds().status(feed))?.consumers ?? []
      expect([listed.length, listed[0]?.consumer, listed[999]?.consumer]).toEqual([1000, 'c0001', 'c1000'])
    })
  })

  describe('feeds: names', () => {
    it('are the same only when they are the same bytes: of keys, consumers and feeds', async () => {
      const feed = named()
      await feeds().putMany(
        feed,
        TRICKY.map((key) => ({ key, value: key })),
      )
      expect(await published(feed)).toBe(TRICKY.length)
      expect(new Map(Object.entries(await known(feed)))).toEqual(new Map(TRICKY.map((key) => [key, key])))
      const { changes } = await readOn(feed)
      for (const { key, syncId } of changes) await feeds().moveCursor(feed, key, syncId)
      for (const { key, syncId } of changes) {
        expect(await feeds().get(feed, key)).toMatchObject({ key, value: key, version: 1 })
        expect(await feeds().cursor(feed, key)).toMatchObject({ consumer: key, cursor: syncId })
      }
      expect(await feeds().delete(feed, 'a')).toMatchObject({ key: 'a' })
      expect(await feeds().get(feed, 'a ')).not.toBeNull()
      expect(await feeds().get(feed, 'A')).not.toBeNull()

      const base = named()
      const names = [...TRICKY.map((name) => base + name), base + '😀'.repeat(191 - base.length)]
      for (const [n, name] of names.entries()) await feeds().put(name, 'k', n)
      await feeds().publish()
      for (const [n, name] of names.entries()) {
        expect((await feeds().changes(name)).changes).toMatchObject([{ key: 'k', value: n, syncId: 1n }])
      }
      expect(await feeds().drop(`${base}a`)).toBe(true)
      expect(await lastOf(`${base}a `)).toBe(1n)
      expect(await lastOf(`${base}A`)).toBe(1n)
    })

    it.each(BAD_NAMES.map((name) => [JSON.stringify(name).slice(0, 20), name]))('refuse %s', async (_, name) => {
      const feed = await filled(['k'])
      const calls: Promise<unknown>[] = [
        feeds().put(name, 'k', 1),
        feeds().put(feed, name, 1),
        feeds().putMany(name, [{ key: 'k', value: 1 }]),
        feeds().putMany(feed, [{ key: name, value: 1 }]),
        feeds().get(name, 'k'),
        feeds().get(feed, name),
        feeds().delete(name, 'k'),
        feeds().delete(feed, name),
        feeds().republish(name, { keys: ['k'] }),
        feeds().republish(feed, { keys: [name] }),
        feeds().changes(name),
        feeds().changes(feed, { consumer: name }),
        feeds().cursor(name, 'c'),
        feeds().cursor(feed, name),
        feeds().moveCursor(name, 'c', 0n),
        feeds().moveCursor(feed, name, 0n),
        feeds().dropCursor(name, 'c'),
        feeds().dropCursor(feed, name),
        feeds().status(name),
        feeds().drop(name),
      ]
      // A name may begin with what is none by itself.
      if (!['', '.', '..'].includes(name)) {
        calls.push(feeds().republish(feed, { prefix: name }), feeds().list({ prefix: name }))
      }
      const codes = await Promise.all(calls.map(async (call) => (await refusal(call)).code))
      expect(codes).toEqual(calls.map(() => 'invalid_input'))
      expect(await published(feed)).toBe(0)
      const both = await refusal(feeds().moveCursor(name, name, -1n))
      const places = both.faults.map(({ parameter, pointer }) => parameter ?? pointer)
      expect(places.sort()).toEqual(['/cursor', 'consumer', 'feed'])
    })
  })
}
