import fc from 'fast-check'
import { JsonText } from '../../../src/index'
import type { Entry, NewEntry } from '../../../src/shared/feed-types'
import { JSON_TEXTS, JSON_VALUES } from '../../support/json-values'
import { type Context, refusal } from '../context'
import { range } from '../queues/tools'
import { feedTools, keysOf, valuesOf } from './tools'

const nested = (levels: number): unknown => JSON.parse('['.repeat(levels) + ']'.repeat(levels))

export function describeFeedEntries(context: Context): void {
  const feeds = () => context.store.feeds
  const { named, filled, pass, published, readOn, known } = feedTools(context)
  const syncIdOf = async (feed: string, key: string) => (await feeds().get(feed, key))?.syncId

  describe('feeds: put and get', () => {
    it('an entry begins unpublished with version 1, and every put raises it', async () => {
      const feed = named()
      expect(await feeds().status(feed)).toBeNull()
      expect(await feeds().get(feed, 'fred')).toBeNull()
      const first = await feeds().put(feed, 'fred', { name: 'bob' })
      const begun = { key: 'fred', value: { name: 'bob' }, version: 1, syncId: null, deleted: false }
      expect(first).toEqual({ ...begun, updatedAt: expect.any(Date) })
      expect(await feeds().get(feed, 'fred')).toEqual(first)
      expect(await published(feed)).toBe(1)
      expect(await feeds().get(feed, 'fred')).toEqual({ ...first, syncId: 1n })

      pass(60)
      const second = await feeds().put(feed, 'fred', 'jim')
      expect(second).toMatchObject({ key: 'fred', value: 'jim', version: 2, syncId: null, deleted: false })
      expect(second.updatedAt.getTime() - first.updatedAt.getTime()).toBeGreaterThanOrEqual(60_000)
      expect(second.updatedAt.getTime() - first.updatedAt.getTime()).toBeLessThan(70_000)
      expect(await feeds().get(feed, 'fred')).toEqual(second)
      expect((await feeds().put(feed, 'fred', 'jim')).version).toBe(3)
    })

    it('a feed knows nothing of another with the same keys', async () => {
      const [a, b] = [await filled(['k'], 'a'), await filled(['k'], 'b')]
      await feeds().put(a, 'k', 'a2')
      await feeds().delete(a, 'k')
      expect(await feeds().get(b, 'k')).toMatchObject({ value: 'b', version: 1, syncId: 1n })
      expect(await known(b)).toEqual({ k: 'b' })
    })

    it('many at once: versions in the order given, and of a key given twice the last value', async () => {
      const feed = await filled(['b', 'old'])
      await feeds().put(feed, 'old', 2)
      const entries = ['z', 'b', 'z', 'old', 'a'].map((key, n) => ({ key, value: n }))
      expect(await feeds().putMany(feed, entries)).toEqual({
        entries: [
          { key: 'z', version: 1 },
          { key: 'b', version: 2 },
          { key: 'z', version: 1 },
          { key: 'old', version: 3 },
          { key: 'a', version: 1 },
        ],
      })
      expect(await published(feed)).toBe(4)
      expect(await known(feed)).toEqual({ z: 2, b: 1, old: 3, a: 4 })
      expect(await feeds().put(feed, 'z', 0)).toMatchObject({ version: 2 })
    })

    it('puts of one key at the same time each get their own version', async () => {
      const feed = named()
      const other = await context.open()
      const puts = range(1, 20).map((n) => (n % 2 ? context.store : other).feeds.put(feed, 'k', n))
      const versions = (await Promise.all(puts)).map(({ version }) => version).sort((a, b) => a - b)
      expect(versions).toEqual(range(1, 20))
      expect(await published(feed)).toBe(1)
      const { changes } = await readOn(feed)
      expect(changes).toEqual([{ syncId: 1n, key: 'k', value: expect.any(Number), version: 20, deleted: false }])
    })

    it('many at once by several, in opposite orders, all arrive', async () => {
      const feed = named()
      const other = await context.open()
      const keys = range(1, 40).map((n) => `k${n}`)
      const batches = range(1, 12).map((n) => {
        const ordered = n % 2 ? keys : [...keys].reverse()
        const entries = ordered.map((key) => ({ key, value: n }))
        return (n % 3 ? context.store : other).feeds.putMany(feed, entries)
      })
      await Promise.all(batches)
      await published(feed)
      const { changes } = await readOn(feed)
      expect(changes.map(({ version }) => version)).toEqual(Array(40).fill(12))
      expect(new Set(valuesOf(changes)).size).toBe(1) // all of one batch: each was written as a whole
    })
  })

  describe('feeds: delete', () => {
    it('leaves a tombstone, once, from which a put continues', async () => {
      const feed = await filled(['k'])
      const deleted = await feeds().delete(feed, 'k')
      const tombstone = { key: 'k', value: null, version: 2, syncId: null, deleted: true }
      expect(deleted).toEqual({ ...tombstone, updatedAt: expect.any(Date) })
      expect(await feeds().get(feed, 'k')).toBeNull()
      expect(await feeds().delete(feed, 'k')).toBeNull()
      expect((await readOn(feed)).changes).toEqual([])
      expect(await published(feed)).toBe(1)
      const { changes } = await readOn(feed)
      expect(changes).toEqual([{ syncId: 2n, key: 'k', value: null, version: 2, deleted: true }])
      expect(await feeds().delete(feed, 'k')).toBeNull()
      expect(await published(feed)).toBe(0)
      expect(await feeds().put(feed, 'k', 'again')).toMatchObject({ version: 3, deleted: false, syncId: null })
      await published(feed)
      expect((await readOn(feed, 2n)).changes).toMatchObject([{ syncId: 3n, value: 'again', deleted: false }])
      expect((await readOn(feed)).changes).toHaveLength(1)
    })

    it('answers null where there is nothing', async () => {
      const feed = await filled(['k'])
      expect(await feeds().delete(feed, 'other')).toBeNull()
      expect(await feeds().delete(named(), 'k')).toBeNull()
      expect(await published(feed)).toBe(0)
    })
  })

  describe('feeds: republish', () => {
    it('by keys: published again, unchanged, tombstones too', async () => {
      const feed = await filled(['a', 'b', 'c', 'd'])
      await feeds().delete(feed, 'd')
      await published(feed)
      const before = (await feeds().get(feed, 'b')) as Entry
      const others = [await syncIdOf(feed, 'a'), await syncIdOf(feed, 'c')]
      pass(5)
      expect(await feeds().republish(feed, { keys: ['d', 'b', 'nowhere'] })).toEqual({ republished: 2 })
      expect(await feeds().get(feed, 'b')).toEqual({ ...before, syncId: null })
      const last = (await readOn(feed)).cursor
      expect(await published(feed)).toBe(2)
      const { changes } = await readOn(feed, last)
      expect(changes.map(({ key, value, version, deleted }) => [key, value, version, deleted]).sort()).toEqual([
        ['b', 1, 1, false],
        ['d', null, 2, true],
      ])
      expect([await syncIdOf(feed, 'a'), await syncIdOf(feed, 'c')]).toEqual(others)
    })

    it('by a prefix, taken by its bytes, or all', async () => {
      const feed = await filled(['a', 'ab', 'aB', 'A', 'ä', 'b', 'a%', 'a_', '\u{10ffff}', '\u{10ffff}x'])
      const again = async (prefix: string) => {
        const { cursor } = await readOn(feed)
        const { republished } = await feeds().republish(feed, { prefix })
        expect(await published(feed)).toBe(republished)
        return keysOf((await readOn(feed, cursor)).changes).sort()
      }
      expect(await again('ab')).toEqual(['ab'])
      expect(await again('a')).toEqual(['a', 'a%', 'aB', 'a_', 'ab'])
      expect(await again('a%')).toEqual(['a%'])
      expect(await again('\u{10ffff}')).toEqual(['\u{10ffff}', '\u{10ffff}x'])
      expect(await again('nothing')).toEqual([])
      expect(await again('')).toHaveLength(10)
    })

    it('by a prefix of thousands', async () => {
      const keys = range(1, 2500).map((n) => `k${n}`)
      const feed = await filled([...keys, 'other'])
      const { cursor } = await readOn(feed)
      expect(await feeds().republish(feed, { prefix: 'k' })).toEqual({ republished: 2500 })
      expect(await published(feed)).toBe(2500)
      expect(new Set(keysOf((await readOn(feed, cursor)).changes))).toEqual(new Set(keys))
    })

    it('takes one of the two, 1 to 1,000 keys, and a feed that is there', async () => {
      const feed = await filled(['a'])
      const bad = [
        {},
        { keys: ['a'], prefix: 'a' },
        { keys: [] },
        { keys: range(1, 1001).map(String) },
        { keys: ['a', ''] },
        { keys: 'a' as unknown as string[] },
        { prefix: 'x'.repeat(192) },
        { prefix: 1 as unknown as string },
      ]
      for (const selection of bad) {
        expect((await refusal(feeds().republish(feed, selection))).code).toBe('invalid_input')
      }
      expect(await published(feed)).toBe(0)
      const keys = range(1, 999).map(String)
      expect(await feeds().republish(feed, { keys: [...keys, 'a'] })).toEqual({ republished: 1 })
      for (const selection of [{ keys: ['a'] }, { prefix: '' }]) {
        expect((await refusal(feeds().republish(named(), selection))).code).toBe('feed_not_found')
      }
    })
  })

  describe('feeds: values', () => {
    it('are kept and given back, of every kind', async () => {
      const feed = named()
      const values = [...JSON_VALUES, ['null', null] as const, ['64 levels', nested(64)] as const]
      for (const [what, value] of values.slice(0, 5)) {
        expect(JSON.stringify((await feeds().put(feed, what, value)).value)).toBe(JSON.stringify(value))
      }
      await feeds().putMany(
        feed,
        values.map(([key, value]) => ({ key, value })),
      )
      await published(feed)
      const read = new Map((await readOn(feed)).changes.map(({ key, value }) => [key, value]))
      for (const [what, value] of values) {
        expect([what, JSON.stringify(read.get(what))]).toEqual([what, JSON.stringify(value)])
        expect(JSON.stringify((await feeds().get(feed, what))?.value)).toBe(JSON.stringify(value))
      }
    })

    it('are kept, whatever JSON they are', async () => {
      const values = fc.array(fc.jsonValue({ maxDepth: 6 }), { minLength: 20, maxLength: 20 })
      await fc.assert(
        fc.asyncProperty(values, async (given) => {
          const feed = named()
          await feeds().putMany(
            feed,
            given.map((value, n) => ({ key: `k${n}`, value })),
          )
          await published(feed)
          const read = new Map((await readOn(feed)).changes.map(({ key, value }) => [key, JSON.stringify(value)]))
          expect(given.map((_, n) => read.get(`k${n}`))).toEqual(given.map((value) => JSON.stringify(value)))
        }),
        { numRuns: 5 },
      )
    })

    it('as texts come back to the letter', async () => {
      const feed = named()
      const text = (value: unknown) => (value instanceof JsonText ? value.text : value)
      await feeds().putMany(
        feed,
        JSON_TEXTS.map((one) => ({ key: `k${one}`, value: new JsonText(one) })),
      )
      const entry = await feeds().put(feed, 'plain', { a: [1] })
      expect(entry.value).toEqual({ a: [1] })
      await feeds().put(feed, 'gone', 1)
      await feeds().delete(feed, 'gone')
      await published(feed)
      const { changes } = await feeds().changes(feed, { values: 'text', limit: 1000 })
      const read = new Map(changes.map(({ key, value }) => [key, text(value)]))
      expect(read.get('plain')).toBe('{"a":[1]}')
      expect(read.get('gone')).toBeNull()
      for (const one of JSON_TEXTS) {
        expect(read.get(`k${one}`)).toBe(one)
        expect(text((await feeds().get(feed, `k${one}`, { values: 'text' }))?.value)).toBe(one)
      }
    })
  })

  describe('feeds: what is refused', () => {
    it('a value of more than 256 KiB as JSON, or one that JSON has no form for', async () => {
      const feed = named()
      const exact = 'x'.repeat(262_142)
      await feeds().put(feed, 'exact', exact)
      await feeds().put(feed, 'two bytes', 'é'.repeat(131_071))
      expect((await feeds().get(feed, 'exact'))?.value).toBe(exact)
      const circle: unknown[] = []
      circle.push(circle)
      const bad = [`${exact}x`, [exact], new JsonText(`"${exact}x"`), undefined, Number.NaN, 1n, '\ud800', nested(65)]
      for (const value of [...bad, circle, [() => 1], { a: new Set() }]) {
        const error = await refusal(feeds().put(feed, 'exact', value))
        expect([error.code, error.faults.map(({ pointer }) => pointer)]).toEqual(['invalid_input', ['/value']])
      }
      expect(await feeds().get(feed, 'exact')).toMatchObject({ version: 1 })
    })

    it('every fault of many entries is named, and none is stored', async () => {
      const feed = await filled(['k0'])
      const entries = range(0, 999).map((n) => ({ key: `k${n}`, value: n })) as NewEntry[]
      entries[3] = { key: '', value: 1 }
      entries[7] = { key: '..', value: undefined }
      entries[8] = { key: 'k', value: 1, versoin: 2 } as NewEntry
      entries[999] = null as unknown as NewEntry
      const error = await refusal(feeds().putMany(feed, entries))
      expect(error.code).toBe('invalid_input')
      expect(error.faults.map(({ pointer }) => pointer?.replace(/^\/entries/, '')).sort()).toEqual([
        '/3/key',
        '/7/key',
        '/7/value',
        '/8/versoin',
        '/999',
      ])
      expect(await published(feed)).toBe(0)
      expect(await feeds().get(feed, 'k0')).toMatchObject({ version: 1, value: 1 })
      for (const many of [[], range(1, 1001).map((n) => ({ key: `k${n}`, value: 1 }))]) {
        expect((await refusal(feeds().putMany(feed, many))).code).toBe('invalid_input')
      }
      expect(await published(feed)).toBe(0)
    })
  })
}
