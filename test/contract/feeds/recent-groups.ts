import { openStore, type Store } from '../../../src/index'
import { type Database, freshDatabase } from '../../support/engines'
import { sweepGroups } from '../../support/opened'
import { stopwatch } from '../../support/timing'
import { type Context, refusal, sleep } from '../context'
import { range } from '../queues/tools'
import { expectGrowing, keysOf, knowledgeOf, syncIdsOf } from './tools'

const FEED = 'recent-groups'

export function describeRecentGroupsFeed(context: Context): void {
  let database: Database
  /** Has the feed. */
  let store: Store
  /** Opened without the option, as another process may be. */
  let plain: Store
  let cursor = 0n
  const boom = new Error('boom')
  const groups = () => store.groups
  const options = { sweep: false, publish: false, clockOffsetMs: () => context.clock.offsetMs }

  const pass = (seconds: number) => {
    context.clock.offsetMs += seconds * 1000
  }

  /** What was published since it was last asked: the totals by group, null for a group that was deleted. */
  async function seen(): Promise<Record<string, string | null>> {
    await store.feeds.publish(FEED)
    const answer: Record<string, string | null> = {}
    for (let hasMore = true; hasMore; ) {
      const page = await store.feeds.changes(FEED, { after: cursor, limit: 1000 })
      expectGrowing(syncIdsOf(page.changes), cursor)
      for (const { key, value, deleted, version } of page.changes) {
        if (!deleted) expect(version).toBeNull()
        if (key in answer) throw new Error(`${key} is there twice`)
        answer[key] = deleted ? null : (value as { totalAppended: string }).totalAppended
      }
      ;({ cursor, hasMore } = page)
    }
    return answer
  }

  async function swept(of: Store): Promise<void> {
    await sweepGroups(of)
  }

  describe('feeds: recent-groups', () => {
    beforeAll(async () => {
      database = await freshDatabase(context.engine)
      plain = await openStore({ ...options, url: database.url })
      await plain.groups.appendMany(['before', 'before', 'before too'].map((group) => ({ group })))
      await plain.groups.append('before and gone')
      await plain.groups.drop('before and gone')
      store = await openStore({ ...options, url: database.url, recentGroupsFeed: true })
    })
    afterAll(async () => {
      await store?.close()
      await plain?.close()
      await database?.drop()
    })

    it('has the groups that were there when it was switched on', async () => {
      expect(await seen()).toEqual({ before: '2', 'before too': '1' })
      expect(await seen()).toEqual({})
      expect(cursor).toBe(2n)
      expect(await store.feeds.status(FEED)).toMatchObject({ feed: FEED, lastSyncId: 2n })
    })

    it.each(['with the option', 'without it'])('has a group again with every change, by a store %s', async (which) => {
      const writer = which === 'without it' ? plain : store
      const [a, b] = [context.unique('a'), context.unique('b')]
      const member = context.unique('m')
      const item = await writer.groups.append(a, { member })
      expect(await seen()).toEqual({ [a]: '1' })
      await writer.groups.appendMany([{ group: b, member }, { group: a }, { group: b }])
      expect(await seen()).toEqual({ [a]: '2', [b]: '2' })
      await Promise.all(range(1, 50).map(() => writer.groups.append(b)))
      expect(await seen()).toEqual({ [b]: '52' })
      expect(await writer.groups.remove(a, item.id)).toBe(true)
      expect(await seen()).toEqual({ [a]: '2' })
      await writer.groups.append(a, { member })
      expect(await seen()).toEqual({ [a]: '3' })
      expect(await writer.groups.eraseMember(member)).toEqual({ deleted: 1 }) // that of b is pushed out by now
      expect(await seen()).toEqual({ [a]: '3' })
      expect((await writer.groups.clear(b)).deleted).toBe(10)
      expect(await seen()).toEqual({ [b]: '52' })
      await writer.groups.put(a, { capacity: 3 })
      expect(await seen()).toEqual({ [a]: '3' })
      await writer.groups.put(`${a}new`)
      expect(await seen()).toEqual({ [`${a}new`]: '0' })
      await writer.groups.recent(a)
      expect(await seen()).toEqual({})
    })

    it.each(['with the option', 'without it'])('has a group whose items expire, by a store %s', async (which) => {
      const writer = which === 'without it' ? plain : store
      const [own, byPolicy] = [context.unique('own'), context.unique('p')]
      await writer.policies.put(byPolicy, { capacity: 5, mode: 'history', ttlSeconds: 20 })
      await writer.groups.put(own, { ttlSeconds: 20 })
      await writer.groups.appendMany([{ group: own }, { group: `${byPolicy}g` }])
      expect(await seen()).toEqual({ [own]: '1', [`${byPolicy}g`]: '1' })
      pass(21)
      await swept(writer)
      expect(await seen()).toEqual({ [own]: '1', [`${byPolicy}g`]: '1' })
      await swept(writer)
      expect(await seen()).toEqual({})
    })

    it('has no group again because a policy changes, or because the sweeper finds nothing to delete', async () => {
      const prefix = context.unique('p')
      const names = range(1, 3).map((n) => `${prefix}${n}`)
      await seen()
      await context.store.policies.put(prefix, { capacity: 5, mode: 'history', ttlSeconds: 1000 })
      await groups().appendMany(names.flatMap((group) => [{ group }, { group }]))
      await swept(store)
      expect(await seen()).toEqual(Object.fromEntries(names.map((group) => [group, '2'])))
      await context.store.policies.put(prefix, { capacity: 4, mode: 'history', ttlSeconds: 20 })
      await swept(store)
      expect(await seen()).toEqual({})
      // Its head still says that there is something to look for.
      await groups().remove(names[0] as string, 0n)
      await groups().remove(names[0] as string, 1n)
      expect(await seen()).toEqual({ [names[0] as string]: '2' })
      pass(21)
      await swept(store)
      expect(await seen()).toEqual({ [names[1] as string]: '2', [names[2] as string]: '2' })
    })

    it.each(['with the option', 'without it'])('has a tombstone of a deleted group, by a store %s', async (which) => {
      const writer = which === 'without it' ? plain : store
      const group = context.unique()
      await writer.groups.append(group)
      await seen()
      expect(await writer.groups.drop(group)).toBe(true)
      expect(await seen()).toEqual({ [group]: null })
      expect(await writer.groups.drop(group)).toBe(false)
      expect(await seen()).toEqual({})
      const { changes } = await store.feeds.changes(FEED, { limit: 1000 })
      expect(changes.find(({ key }) => key === group)).toMatchObject({ deleted: true, value: null })
      await writer.groups.append(group)
      await writer.groups.append(group)
      expect(await seen()).toEqual({ [group]: '2' })
      const all = (await store.feeds.changes(FEED, { limit: 1000 })).changes.filter(({ key }) => key === group)
      expect(all).toMatchObject([{ deleted: false, value: { totalAppended: '2' } }])
      await writer.groups.drop(group)
      expect(await seen()).toEqual({ [group]: null })
    })

    it('has nothing of a transaction that was rolled back, and all of one that was not', async () => {
      const [a, b, gone] = [context.unique('a'), context.unique('b'), context.unique('gone')]
      await groups().appendMany([{ group: a }, { group: gone }])
      await seen()
      for (const isRolledBack of [true, false]) {
        const done = store.transaction(async (tx) => {
          await tx.groups.append(a)
          await tx.groups.put(b)
          await tx.groups.drop(gone)
          if (isRolledBack) throw boom
        })
        if (isRolledBack) {
          await expect(done).rejects.toBe(boom)
          expect(await seen()).toEqual({})
        } else {
          await done
          expect(await seen()).toEqual({ [a]: '2', [b]: '0', [gone]: null })
        }
      }
      const [c, d] = [context.unique('c'), context.unique('d')]
      await store.dataSource.transaction((manager) => store.within(manager).groups.append(c))
      await plain.transaction((tx) => tx.groups.append(d))
      expect(await seen()).toEqual({ [c]: '1', [d]: '1' })
    })

    it('has exact totals up to the last id', async () => {
      const group = context.unique()
      await groups().append(group)
      await store.dataSource.query('UPDATE recentn_groups SET last_id = 9007199254740992 WHERE group_key = ?', [group])
      await groups().append(group)
      expect((await seen())[group]).toBe('9007199254740994')
    })

    it('is read in pages, groups and tombstones in one order, and its end is what the groups are', async () => {
      const prefix = context.unique('p')
      const names = range(1, 40).map((n) => `${prefix}${n}`)
      const tombs = new Set(names.filter((_, n) => n % 3 === 0))
      await groups().appendMany(names.map((group) => ({ group })))
      await store.feeds.publish(FEED)
      for (const group of tombs) await groups().drop(group)
      await groups().append(names[1] as string)
      await store.feeds.publish(FEED)
      const read = [] as Awaited<ReturnType<typeof store.feeds.changes>>['changes']
      let after = 0n
      for (let hasMore = true; hasMore; ) {
        const page = await store.feeds.changes(FEED, { after, limit: 3 })
        expect(page.changes.length).toBeLessThanOrEqual(3)
        read.push(...page.changes)
        hasMore = page.hasMore
        after = page.cursor
      }
      expectGrowing(syncIdsOf(read))
      expect(new Set(keysOf(read)).size).toBe(read.length)
      const { groups: listed } = await groups().list({ limit: 1000 })
      const known = new Map(Object.entries(knowledgeOf(read)))
      expect(known).toEqual(
        new Map(listed.map(({ group, totalAppended }) => [group, { totalAppended: String(totalAppended) }])),
      )
      await seen()
    })

    it('is written by nobody else, and may be republished', async () => {
      const group = context.unique()
      await groups().append(group)
      await seen()
      const calls = [
        store.feeds.put(FEED, group, 1),
        store.feeds.putMany(FEED, [{ key: group, value: 1 }]),
        store.feeds.delete(FEED, group),
        store.transaction((tx) => tx.feeds.put(FEED, group, 1)),
      ]
      for (const call of calls) {
        const error = await refusal(call)
        expect([error.code, error.faults.map(({ parameter }) => parameter)]).toEqual(['invalid_input', ['feed']])
      }
      expect(await seen()).toEqual({})
      expect(await store.feeds.republish(FEED, { keys: [group, 'nowhere'] })).toEqual({ republished: 1 })
      expect(await seen()).toEqual({ [group]: '1' })
      await store.feeds.republish(FEED, { prefix: group })
      expect(await seen()).toEqual({ [group]: '1' })
      // By a store without the option too.
      expect(await plain.feeds.republish(FEED, { keys: [group] })).toEqual({ republished: 1 })
      expect(await seen()).toEqual({ [group]: '1' })
    })

    it('answers who waits for it within a second, from any process', async () => {
      const group = context.unique()
      await seen()
      const waiter = await openStore({ ...options, url: database.url, recentGroupsFeed: true, publish: true })
      try {
        let total = 0
        for (const writer of [plain, store, waiter]) {
          const waiting = waiter.feeds.changes(FEED, { after: cursor, waitSeconds: 10 })
          await sleep(250)
          await writer.groups.append(group)
          const watch = stopwatch()
          const answer = await waiting
          // Publishers look twice a second.
          expect(watch.isBeyond(1500)).toBe(false)
          expect(answer.changes).toMatchObject([{ key: group, value: { totalAppended: String(++total) } }])
          cursor = answer.cursor
        }
      } finally {
        await waiter.close()
      }
    })
  })
}
