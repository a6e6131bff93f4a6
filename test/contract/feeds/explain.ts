/**
 * How the statements of feeds run, looked at from the database: the plans of those that publish, that look for what to
 * publish and that read changes, as the store sends them, and the rows that the storage engine was asked for by each.
 */
import type { QueryRunner } from 'typeorm'
import type { Store } from '../../../src/index'
import type { Context } from '../context'
import { range } from '../queues/tools'
import { watch } from '../statements'
import { feedTools } from './tools'

const MANY = 5_000

interface Step {
  table: string | null
  type: string
  key: string | null
  Extra: string | null
}

interface Sent {
  sql: string
  parameters: unknown[] | undefined
}

/** A store, and what it sends. */
async function watched(context: Context): Promise<{ store: Store; sent: Sent[] }> {
  const store = await context.open({ poolSize: 1 })
  const sent: Sent[] = []
  watch(store, (sql, run, parameters) => {
    sent.push({ sql, parameters: parameters as unknown[] | undefined })
    return run()
  })
  return { store, sent }
}

export function describeFeedExplain(context: Context): void {
  const { filled } = feedTools(context)
  const isSqlite = context.engine === 'sqlite'

  describe('feeds: how the statements run', () => {
    let feed: string
    let store: Store
    let sent: Sent[]
    let runner: QueryRunner

    beforeAll(async () => {
      const { feeds, dataSource } = context.store
      await feeds.publish()
      feed = await filled(range(1, MANY).map((n) => `k${n}`))
      await filled(range(1, 1000).map((n) => `k${n}`))
      if (!isSqlite) await dataSource.query('ANALYZE TABLE recentn_feed_entries')
      runner = dataSource.createQueryRunner()
    })
    afterAll(() => runner.release())
    beforeEach(async () => {
      ;({ store, sent } = await watched(context))
    })

    /** The statements of some work that have to do with the entries. */
    async function statementsOf(work: () => Promise<unknown>): Promise<Sent[]> {
      await work() // what is learnt once is learnt
      sent.splice(0)
      await work()
      const found = sent.filter(({ sql }) => sql.includes('recentn_feed_entries'))
      if (found.length === 0) throw new Error('no statement has to do with entries')
      return [...found]
    }

    async function planOf({ sql, parameters }: Sent): Promise<{ keys: (string | null)[]; notes: string }> {
      if (isSqlite) {
        const steps: { detail: string }[] = await runner.query(`EXPLAIN QUERY PLAN ${sql}`, parameters)
        const entries = steps
          .map(({ detail }) => detail)
          .filter((detail) => /(SEARCH|SCAN) (e|recentn_feed_entries)\b/.test(detail))
        const keys = entries.map(
          (detail) => /USING (?:COVERING )?INDEX (\w+)|(PRIMARY KEY)/.exec(detail)?.[1] ?? 'PRIMARY',
        )
        return { keys, notes: entries.filter((detail) => detail.startsWith('SCAN')).join() }
      }
      const steps: Step[] = await runner.query(`EXPLAIN FORMAT=TRADITIONAL ${sql}`, parameters)
      const entries = steps.filter(({ table }) => table === 'e' || table === 'recentn_feed_entries')
      const notes = entries.map(({ type, Extra }) => `${type}: ${Extra ?? ''}`).join('; ')
      return { keys: entries.map(({ key }) => key), notes }
    }

    const unpublish = (count: number) =>
      context.store.feeds.putMany(
        feed,
        range(1, count).map((n) => ({ key: `k${n * 7}`, value: 2 })),
      )

    const lastSyncId = async () => (await context.store.feeds.status(feed))?.lastSyncId

    it.each<[string, () => Promise<unknown>]>([
      ['publishing one feed', () => unpublish(10).then(() => store.feeds.publish(feed))],
      ['looking for what to publish, and publishing it', () => unpublish(10).then(() => store.feeds.publish())],
      ['looking where there is nothing', () => store.feeds.publish()],
      ['the first changes', () => store.feeds.changes(feed, { limit: 10 })],
      ['changes in the middle', () => store.feeds.changes(feed, { after: BigInt(MANY / 2), limit: 1000 })],
      ['changes at the end', async () => store.feeds.changes(feed, { after: await lastSyncId() })],
    ])('%s: along recentn_feed_entries_sync, without a sort', async (_, work) => {
      const statements = await statementsOf(work)
      const keys: (string | null)[] = []
      for (const one of statements) {
        const plan = await planOf(one)
        expect(plan.notes).not.toMatch(/filesort|temporary|^(ALL|index):|; (ALL|index):|SCAN/)
        keys.push(...plan.keys)
      }
      expect(keys).toContain('recentn_feed_entries_sync')
      expect(keys.filter((key) => key !== 'recentn_feed_entries_sync' && key !== 'PRIMARY')).toEqual([])
    })

    // SQLite does not say how many rows it has read.
    if (isSqlite) return

    it('no operation goes through what is published', async () => {
      const query = (sql: string) => store.dataSource.query(sql) as Promise<{ Value: string }[]>
      const counted = async () =>
        (await query("SHOW SESSION STATUS LIKE 'Handler_read%'")).reduce((sum, { Value }) => sum + Number(Value), 0)
      const touched: Record<string, number> = {}
      const touch = async (name: string, work: () => Promise<unknown>) => {
        const first = await counted()
        const before = await counted()
        await work()
        touched[name] = (await counted()) - before - (before - first)
      }
      const { feeds } = store
      const entries = range(1, 10).map((n) => ({ key: `k${n * 11}`, value: n }))
      for (let warm = 0; warm < 2; warm++) {
        await touch('put', () => feeds.put(feed, 'k1', 2))
        await touch('put 10', () => feeds.putMany(feed, entries))
        await touch('delete', () => feeds.delete(feed, warm ? 'k2' : 'k3'))
        await touch('publish 12', () => feeds.publish(feed))
        await touch('publish nothing', () => feeds.publish(feed))
        await touch('republish 10', () => feeds.republish(feed, { keys: entries.map(({ key }) => key) }))
        await touch('publish 10', () => feeds.publish(feed))
        await touch('changes 10', () => feeds.changes(feed, { limit: 10, after: BigInt(MANY / 2) }))
        const after = await lastSyncId()
        await touch('changes at the end', () => feeds.changes(feed, { after }))
        await touch('moveCursor', () => feeds.moveCursor(feed, 'c', 5n, { force: true }))
        await touch('get', () => feeds.get(feed, 'k1'))
      }
      // A publisher looks at every feed, and at each row to number a few times.
      const [{ n }] = await context.store.dataSource.query('SELECT COUNT(*) AS n FROM recentn_feeds')
      const most = (name: string) => (name.startsWith('publish') ? 200 + 3 * Number(n) : 150)
      expect(Object.entries(touched).filter(([name, rows]) => rows > most(name))).toEqual([])
      expect(most('publish')).toBeLessThan(MANY / 2)
    })
  })
}
