import type { DataSource } from 'typeorm'
import { attachStore, type Store } from '../../../src/index'
import { soonMs } from '../../support/timing'
import { type Context, refusal, sleep, userSource } from '../context'
import { range } from '../queues/tools'
import { createFollowedTables, Kv, NotIndexed, Numbered, Unknown } from './followed-tables'
import { feedTools, keysOf, valuesOf } from './tools'

const FOLLOWED = { syncColumn: 'feedSyncId', key: 'name', value: 'text' }

export function describeFeedFollowing(context: Context): void {
  let source: DataSource
  let store: Store
  const boom = new Error('boom')
  const isSqlite = context.engine === 'sqlite'
  const repository = () => source.getRepository(Kv)

  /** Its own store follows the table until the test ends. */
  const followed = async (options: Parameters<Store['feeds']['follow']>[1], entity: new () => object = Kv) => {
    const following = await store.feeds.follow(entity, { feed: context.unique('kv'), ...options })
    context.afterwards(async () => following.stop())
    return following.feed
  }
  const readAfter = async (feed: string, after = 0n) =>
    (await store.feeds.changes(feed, { after, limit: 1000 })).changes
  const add = (name: string, text: string) => repository().insert({ name, text, feedSyncId: null })
  const update = (name: string, text: string) => repository().update({ name }, { text, feedSyncId: null })

  describe('feeds: follow', () => {
    beforeAll(async () => {
      source = userSource(context.url, [Kv, Numbered, NotIndexed])
      await source.initialize()
      await createFollowedTables(source)
      store = await attachStore(source, {
        sweep: false,
        publish: false,
        clockOffsetMs: () => context.clock.offsetMs,
      })
    })
    beforeEach(async () => {
      await source.query('DELETE FROM kv')
      await store.feeds.publish()
    })
    afterAll(async () => {
      await store.close()
      await source.destroy()
    })

    it('the kv table of its author: put, publish, consume, republish the last, and see it', async () => {
      const feed = await followed(FOLLOWED)
      await add('alice', 'a')
      await add('fred', 'bob')
      expect(await readAfter(feed)).toEqual([])
      expect(await store.feeds.publish(feed)).toEqual({ published: 2 })
      const first = await store.feeds.changes(feed)
      expect(first.changes.map(({ key, value, version, deleted }) => [key, value, version, deleted]).sort()).toEqual([
        ['alice', 'a', null, false],
        ['fred', 'bob', null, false],
      ])
      const last = first.changes.at(-1)
      await update(last?.key ?? '', 'jim')
      expect(await store.feeds.publish()).toMatchObject({ published: 1 })
      const second = await store.feeds.changes(feed, { after: first.cursor })
      expect(second.changes).toMatchObject([{ key: last?.key, value: 'jim' }])
      expect(second.cursor).toBeGreaterThan(first.cursor)
      const row = await repository().findOneByOrFail({ name: last?.key ?? '' })
      expect([BigInt(row.feedSyncId ?? 0), row.text]).toEqual([second.cursor, 'jim'])
      expect(await store.feeds.get(feed, 'alice')).toMatchObject({ key: 'alice', deleted: false })
      expect(await store.feeds.get(feed, 'nobody')).toBeNull()
      expect(await store.feeds.status(feed)).toMatchObject({ lastSyncId: second.cursor, entries: 2, unpublished: 0 })
    })

    it('a table by its name, of another store', async () => {
      const own = await context.open()
      await source.query("INSERT INTO kv (k, v) VALUES ('x', '1'), ('y', '2')")
      const feed = context.unique('kv')
      const following = await own.feeds.follow('kv', { feed, syncColumn: 'feed_sync_id', key: 'k', value: ['k', 'v'] })
      expect(following.feed).toBe(feed)
      await own.feeds.publish(feed)
      const { changes } = await own.feeds.changes(feed)
      expect(changes).toMatchObject([
        { key: 'x', value: { k: 'x', v: '1' } },
        { key: 'y', value: { k: 'y', v: '2' } },
      ])
      await source.query("UPDATE kv SET feed_sync_id = NULL WHERE k = 'x'")
      await following.stop()
      expect(await own.feeds.publish()).toEqual({ published: 0 })
      const named = await own.feeds.follow('kv', { syncColumn: 'feed_sync_id', key: 'id' })
      expect(named.feed).toBe('kv')
      await named.stop()
    })

    it('the value as one property, several, what a function makes of the row, or all', async () => {
      await add('fred', 'bob')
      const { id } = await repository().findOneByOrFail({ name: 'fred' })
      const all = { id, name: 'fred', text: 'bob', version: 1 }
      const forms: [object, unknown][] = [
        [{ value: 'text' }, 'bob'],
        [{ value: 'version' }, 1],
        [{ value: ['text', 'id'] }, { text: 'bob', id }],
        [{ value: (row: Kv) => `${row.name} is ${row.text}` }, 'fred is bob'],
        [{ value: (row: Kv) => ({ is: row instanceof Kv }) }, { is: true }],
        [{}, all],
      ]
      for (const [form, value] of forms) {
        const feed = context.unique('kv')
        const following = await store.feeds.follow(Kv, { feed, syncColumn: 'feedSyncId', key: 'name', ...form })
        await update('fred', 'bob')
        await store.feeds.publish(feed)
        const [change] = await readAfter(feed)
        if (value === all) expect(change?.value).toMatchObject(all)
        else expect(change?.value).toEqual(value)
        expect((await store.feeds.get(feed, 'fred'))?.value).toEqual(change?.value)
        await following.stop()
      }
    })

    it('keys of any text, and numbers up to the last BIGINT', async () => {
      const feed = await followed(FOLLOWED)
      const names = ['a', 'A', 'ä', 'a/b', '😀', "'", '\\', '%']
      const collated = isSqlite ? names : names.filter((name) => name !== 'A' && name !== 'ä')
      for (const name of collated) await add(name, name)
      await store.feeds.publish(feed)
      const changes = await readAfter(feed)
      expect(keysOf(changes).sort()).toEqual([...collated].sort())
      expect(valuesOf(changes)).toEqual(keysOf(changes))

      await source.query('INSERT INTO numbered (id) VALUES (9007199254740993), (9223372036854775807), (-1)')
      const numbers = await followed({ syncColumn: 'sync', key: 'id', value: [] }, Numbered)
      await store.feeds.publish(numbers)
      expect(keysOf(await readAfter(numbers)).sort()).toEqual(['-1', '9007199254740993', '9223372036854775807'])
      await source.query('DELETE FROM numbered WHERE id = 9007199254740993')
      await store.feeds.delete(numbers, '9007199254740993')
      await store.feeds.publish(numbers)
      expect((await readAfter(numbers, 3n)).map(({ key, deleted }) => [key, deleted])).toEqual([
        ['9007199254740993', true],
      ])
    })

    it('a deleted row by a tombstone of its key, until there is a row with the key again', async () => {
      const feed = await followed(FOLLOWED)
      for (const name of ['a', 'b', 'c']) await add(name, name)
      await store.feeds.publish(feed)
      const after = (await readAfter(feed)).at(-1)?.syncId ?? 0n
      await repository().delete({ name: 'b' })
      expect(await store.feeds.delete(feed, 'b')).toMatchObject({ key: 'b', deleted: true, value: null, syncId: null })
      expect(await store.feeds.get(feed, 'b')).toBeNull()
      await update('a', 'a2')
      expect(await store.feeds.publish(feed)).toEqual({ published: 2 })
      const changes = await readAfter(feed, after)
      expect(changes.map(({ key, value, deleted }) => [key, value, deleted]).sort()).toEqual([
        ['a', 'a2', false],
        ['b', null, true],
      ])
      const last = changes.at(-1)?.syncId ?? 0n
      expect(last).toBe(after + 2n)
      await add('b', 'again')
      await store.feeds.publish(feed)
      expect(await readAfter(feed, last)).toMatchObject([{ key: 'b', value: 'again', deleted: false }])
      expect((await readAfter(feed)).filter(({ key }) => key === 'b')).toMatchObject([{ deleted: false }])
    })

    it('the deletion and the row’s are one transaction', async () => {
      const feed = await followed(FOLLOWED)
      await add('a', 'a')
      await store.feeds.publish(feed)
      for (const isRolledBack of [true, false]) {
        const done = store.transaction(async (tx) => {
          await tx.manager.delete(Kv, { name: 'a' })
          await tx.feeds.delete(feed, 'a')
          if (isRolledBack) throw boom
        })
        if (isRolledBack) await expect(done).rejects.toBe(boom)
        else await done
        expect(await store.feeds.publish(feed)).toEqual({ published: isRolledBack ? 0 : 1 })
        expect((await readAfter(feed)).map(({ deleted }) => deleted)).toEqual([!isRolledBack])
      }
    })

    it('rows of a transaction once it is committed, and none of one that is rolled back', async () => {
      const feed = await followed(FOLLOWED)
      await add('a', 'a')
      await store.feeds.publish(feed)
      const after = (await readAfter(feed)).at(-1)?.syncId
      const failed = source.transaction(async (manager) => {
        await manager.update(Kv, { name: 'a' }, { text: 'never', feedSyncId: null })
        throw boom
      })
      await expect(failed).rejects.toBe(boom)
      expect(await store.feeds.publish(feed)).toEqual({ published: 0 })
      await source.transaction((manager) => manager.update(Kv, { name: 'a' }, { text: 'new', feedSyncId: null }))
      await store.feeds.publish(feed)
      expect(valuesOf(await readAfter(feed, after))).toEqual(['new'])
    })

    it('is written by its owner only, and may be republished', async () => {
      const feed = await followed(FOLLOWED)
      for (const name of ['a', 'ab', 'b']) await add(name, name)
      await store.feeds.publish(feed)
      for (const call of [store.feeds.put(feed, 'a', 1), store.feeds.putMany(feed, [{ key: 'a', value: 1 }])]) {
        const error = await refusal(call)
        expect([error.code, error.faults.map(({ parameter }) => parameter)]).toEqual(['invalid_input', ['feed']])
      }
      expect(await store.feeds.republish(feed, { keys: ['b', 'nobody'] })).toEqual({ republished: 1 })
      await store.feeds.publish(feed)
      expect(keysOf(await readAfter(feed, 3n))).toEqual(['b'])
      expect(await store.feeds.republish(feed, { prefix: 'a' })).toEqual({ republished: 2 })
      await store.feeds.publish(feed)
      expect(keysOf(await readAfter(feed, 4n)).sort()).toEqual(['a', 'ab'])
    })

    it('by several stores at once: every row gets one number, in pages as in one', async () => {
      const feed = await followed(FOLLOWED)
      const others = [await context.open(), await context.open()]
      const columns = { feed, syncColumn: 'feed_sync_id', key: 'k', value: 'v' }
      for (const other of others) await other.feeds.follow('kv', columns)
      await repository().insert(range(1, 600).map((n) => ({ name: `k${n}`, text: `${n}`, feedSyncId: null })))
      await Promise.all([store, ...others].map((one) => one.feeds.publish(feed)))
      await store.feeds.publish(feed)
      const { changes } = await feedTools({ ...context, store: others[0] as Store }).readOn(feed, 0n, 70)
      expect(changes.map(({ syncId }) => syncId)).toEqual(range(1, 600).map(BigInt))
      expect(new Set(keysOf(changes)).size).toBe(600)
    })

    it('answers who waits, whoever wrote', async () => {
      const feed = await followed(FOLLOWED)
      await add('a', 'a')
      await store.feeds.publish(feed)
      const waiter = await context.open({ publish: true })
      await waiter.feeds.follow('kv', { feed, syncColumn: 'feed_sync_id', key: 'k', value: 'v' })
      const waiting = waiter.feeds
        .changes(feed, { after: 1n, waitSeconds: 10 })
        .then(({ changes }) => ({ changes, at: performance.now() }))
      await sleep(250)
      await update('a', 'new')
      const begin = performance.now()
      const { changes, at } = await waiting
      expect(changes).toMatchObject([{ key: 'a', value: 'new' }])
      expect(at - begin).toBeLessThan(soonMs())
      // A store that does not follow the table must not answer as if there were nothing.
      expect((await refusal(context.store.feeds.changes(feed))).message).toMatch(/rows of the table .*kv/)
    })

    it('refuses a table without an index, with the statement that makes it', async () => {
      const options = { feed: context.unique('kv'), syncColumn: 'sync', key: 'id' }
      const error = await refusal(store.feeds.follow(NotIndexed, options))
      expect(error.code).toBe('invalid_input')
      const [statement] = /CREATE INDEX .*\)/.exec(error.message) ?? []
      await source.query(statement ?? 'there is no statement')
      const following = await store.feeds.follow(NotIndexed, options)
      await following.stop()
    })

    it('refuses what is no table, no column, and no feed', async () => {
      const own = { syncColumn: 'feedSyncId', key: 'name' }
      const wrong: [Promise<unknown>, string[]][] = [
        [store.feeds.follow(Kv, { ...own, syncColumn: 'feed_sync_id', key: 'k' }), ['/key', '/syncColumn']],
        [store.feeds.follow(Kv, { ...own, syncColumn: 'version', value: 'v' }), ['/syncColumn', '/value']],
        [store.feeds.follow(Kv, { ...own, value: ['text', 'v'], feed: '..' }), ['/feed', '/value/1']],
      ]
      for (const [call, pointers] of wrong) {
        const error = await refusal(call)
        expect(error.code).toBe('invalid_input')
        expect(error.faults.map(({ pointer }) => pointer).sort()).toEqual(pointers)
      }
      for (const target of [Unknown, 'no_such_table']) {
        expect((await refusal(store.feeds.follow(target, own))).code).toBe('invalid_input')
      }
    })
  })
}
