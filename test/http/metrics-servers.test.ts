/** Metrics that only a server has: what it makes us do again, by its numbers of errors, and the pool. */

import { createConnection } from 'mysql2/promise'
import { createApp } from '../../src/http/process/app'
import { createMetrics } from '../../src/index'
import { innerOf } from '../../src/store/inner'
import { openStore } from '../../src/store/open'
import type { Store } from '../../src/store/types'
import { createFollowedTables } from '../contract/feeds/followed-tables'
import { CuttingProxy } from '../support/cutting-proxy'
import { describeEngine, freshDatabase } from '../support/engines'
import { stopwatch } from '../support/timing'
import { serving } from './support/client'
import { amountOf, parsedMetrics } from './support/exposition'
import { withKey } from './support/keys'
import { eventually, pause } from './support/streams'

for (const engine of ['mariadb', 'mysql'] as const) {
  describeEngine(engine, 'metrics of a store', () => {
    let database: Awaited<ReturnType<typeof freshDatabase>>
    let store: Store
    const POOL = 4

    beforeAll(async () => {
      database = await freshDatabase(engine)
      store = await openStore({ url: database.url, sweep: false, publish: false, poolSize: POOL })
    })
    afterAll(async () => {
      await store.close()
      await database.drop()
    })
    const scraped = async () => parsedMetrics(await createMetrics(store).text())
    const another = () => createConnection({ uri: database.url.replace(/^mariadb:/, 'mysql:') })

    it('tell what is in queues and feeds, followed tables too', async () => {
      const followed = await freshDatabase(engine)
      const other = await openStore({ url: followed.url, sweep: false, publish: false })
      await other.queues.put('q')
      await other.queues.sendMany('q', [{ body: 1 }, { body: 2, delaySeconds: 60 }])
      await createFollowedTables(other.dataSource)
      await other.feeds.follow('kv', { syncColumn: 'feed_sync_id', key: 'k' })
      await other.dataSource.query("INSERT INTO kv (k, v) VALUES ('row', '1')")
      await other.feeds.put('f', 'k', 1)
      await other.feeds.publish('f')
      await other.feeds.moveCursor('f', 'late', 0n)
      await other.feeds.put('f', 'k', 2)
      const samples = parsedMetrics(await createMetrics(other).text())
      expect(amountOf(samples, 'recentn_queue_messages', { state: 'ready' })).toBe(1)
      expect(amountOf(samples, 'recentn_queue_messages')).toBe(2)
      // The entry and the row.
      expect(amountOf(samples, 'recentn_feed_unpublished_entries')).toBe(2)
      expect(amountOf(samples, 'recentn_feed_consumer_lag_max')).toBe(1)
      await other.close()
      await followed.drop()
    })

    it('count deadlocks that were run again', async () => {
      for (const name of ['a', 'b']) await store.groups.put(name)
      const locked = { first: 0 }
      let meet: () => void = () => {}
      const met = new Promise<void>((resolve) => {
        meet = resolve
      })
      const crossing = (first: string, second: string) =>
        store.transaction(async (tx) => {
          await tx.groups.append(first)
          locked.first++
          if (locked.first === 2) meet()
          await met
          await tx.groups.append(second)
        })
      await Promise.all([crossing('a', 'b'), crossing('b', 'a')])
      const samples = await scraped()
      expect(amountOf(samples, 'recentn_database_retries_total', { error: '1213' })).toBeGreaterThanOrEqual(1)
      const [a] = await store.groups.recentMany(['a'])
      expect(a?.totalAppended).toBe(2n)
    })

    it('count lock timeouts, and what failed in the end', async () => {
      await store.groups.put('held')
      const holder = await another()
      await holder.query('BEGIN')
      await holder.query("SELECT * FROM recentn_groups WHERE group_key = 'held' FOR UPDATE")
      await store.dataSource.query('SELECT 1')
      const failing = store.transaction((tx) => tx.groups.append('held'), { retries: 0 })
      await expect(failing).rejects.toMatchObject({ code: 'conflict' })
      await holder.query('ROLLBACK')
      holder.destroy()
      expect(amountOf(await scraped(), 'recentn_database_failures_total', { error: '1205' })).toBe(1)
    })

    it('tell the pool: in use, idle, waiting', async () => {
      const state = async (name: string) => amountOf(await scraped(), 'recentn_database_connections', { state: name })
      expect(innerOf(store).counts().connections.max).toBe(POOL)
      let release: () => void = () => {}
      const held = new Promise<void>((resolve) => {
        release = resolve
      })
      const busy = Array.from({ length: POOL + 2 }, () =>
        store.transaction(async (tx) => {
          await tx.manager.query('SELECT 1')
          await held
        }),
      )
      await eventually('all are taken', () => innerOf(store).counts().connections.waiting >= 2)
      expect(innerOf(store).counts().connections).toMatchObject({ inUse: POOL, idle: 0 })
      // A scrape does not wait for a connection.
      const samples = await scraped()
      expect(amountOf(samples, 'recentn_database_connections_waiting')).toBeGreaterThanOrEqual(2)
      expect(amountOf(samples, 'recentn_database_connections_max')).toBe(POOL)
      release()
      await Promise.all(busy)
      await eventually('all are back', () => innerOf(store).counts().connections.inUse === 0)
      expect(await state('idle')).toBeGreaterThan(0)
    })

    it('count connections that were lost', async () => {
      const before = innerOf(store).counts().retries
      const killer = await another()
      const sum = (counts: Readonly<Record<string, number>>) => Object.values(counts).reduce((all, one) => all + one, 0)
      let killed = 0
      const retried = store.transaction(async (tx) => {
        const [row] = await tx.manager.query('SELECT CONNECTION_ID() AS id')
        if (killed++ === 0) await killer.query(`KILL ${row.id}`)
        await tx.manager.query('SELECT 1')
        return 'done'
      })
      expect(await retried).toBe('done')
      killer.destroy()
      expect(sum(innerOf(store).counts().retries)).toBeGreaterThan(sum(before))
    })

    describe.each(['refuses', 'hangs'] as const)('whose database %s, where there are keys', (how) => {
      it('are given to a key that was good, and to no other one', async () => {
        const proxy = await CuttingProxy.before(database.url)
        const through = await openStore({ url: proxy.through(database.url), sweep: false, publish: false })
        const make = () => through.keys.create({ label: 'scraper', scopes: ['read'] })
        const [known, unknown] = [await make(), await make()]
        const url = await serving(createApp(through, { allowAnonymous: false, onError: () => {} }))
        const scrape = async (key: string) => {
          const watch = stopwatch()
          const { status, text } = await withKey(url, key).get('/metrics')
          expect(watch.isBeyond(4000)).toBe(false)
          return { status, text }
        }
        expect(amountOf(parsedMetrics((await scrape(known.key)).text), 'recentn_database_up')).toBe(1)
        // Until what is known of the key would have to be looked up again.
        await pause(3200)
        if (how === 'refuses') proxy.refuse()
        else proxy.stall()
        const away = await scrape(known.key)
        expect([away.status, amountOf(parsedMetrics(away.text), 'recentn_database_up')]).toEqual([200, 0])
        expect((await scrape(unknown.key)).status).toBe(503)
        expect((await scrape(`${known.key.slice(0, -1)}${known.key.endsWith('A') ? 'B' : 'A'}`)).status).toBe(401)
        await proxy.close()
        await through.close()
      })
    })
  })
}
