/** What a consumer must not miss: what happens between two statements, what another process reads, numbers from before. */
import { Column, type DataSource, Entity, PrimaryGeneratedColumn } from 'typeorm'
import { attachStore, openStore, RecentnError, type Store } from '../../../src/index'
import { type Database, freshDatabase } from '../../support/engines'
import { type Context, userSource } from '../context'
import { afterFirst } from '../statements'
import { knowledgeOf } from './tools'

@Entity({ name: 'numbered_before' })
class NumberedBefore {
  @PrimaryGeneratedColumn({ type: 'integer' })
  id!: number

  @Column({ type: 'varchar', length: 100 })
  k!: string

  @Column({ type: 'varchar', length: 100 })
  v!: string

  @Column({ type: 'bigint', nullable: true })
  sync!: string | null
}

export function describeFeedsNothingMissed(context: Context): void {
  const FEED = 'recent-groups'
  const options = { sweep: false, publish: false }
  let database: Database
  let store: Store

  describe('feeds: nothing is missed', () => {
    beforeEach(async () => {
      database = await freshDatabase(context.engine)
      store = await openStore({ ...options, url: database.url, recentGroupsFeed: true })
    })
    afterEach(async () => {
      await store.close()
      await database.drop()
    })

    it('a deletion that is numbered between the two statements of a page is in the next one', async () => {
      for (const group of ['a', 'b']) await store.groups.append(group)
      await store.feeds.publish()
      const { changes: before, cursor } = await store.feeds.changes(FEED)
      afterFirst(store, /deleted = 1 .*LIMIT/s, async () => {
        await store.groups.drop('a')
        await store.feeds.publish()
        await store.groups.append('b')
        await store.feeds.publish()
      })
      const first = await store.feeds.changes(FEED, { after: cursor })
      const second = await store.feeds.changes(FEED, { after: first.cursor })
      expect(knowledgeOf([...before, ...first.changes, ...second.changes])).toEqual({ b: { totalAppended: '2' } })
    })

    it('nothing, when a process answers a page that was opened without the option', async () => {
      const plain = await openStore({ ...options, url: database.url })
      context.afterwards(() => plain.close())
      for (const group of ['a', 'b']) await store.groups.append(group)
      await store.feeds.publish()
      const { changes: before, cursor } = await store.feeds.changes(FEED)
      await store.groups.append('a')
      await store.feeds.publish()
      await store.groups.drop('b')
      await store.feeds.publish()
      const page = await plain.feeds.changes(FEED, { after: cursor }).catch((error: unknown) => {
        // To refuse would do too.
        if (!(error instanceof RecentnError)) throw error
        return { changes: [], cursor }
      })
      const rest = await store.feeds.changes(FEED, { after: page.cursor })
      expect(knowledgeOf([...before, ...page.changes, ...rest.changes])).toEqual({ a: { totalAppended: '2' } })
    })

    it('nothing of a table whose rows have numbers when it is followed', async () => {
      const source: DataSource = userSource(database.url, [NumberedBefore])
      await source.initialize()
      const isSqlite = context.engine === 'sqlite'
      const serial = isSqlite ? 'integer PRIMARY KEY AUTOINCREMENT' : 'integer NOT NULL AUTO_INCREMENT PRIMARY KEY'
      await source.query(
        `CREATE TABLE numbered_before (id ${serial}, k varchar(100) NOT NULL, v varchar(100) NOT NULL, sync bigint NULL)`,
      )
      await source.query('CREATE INDEX numbered_before_sync ON numbered_before (sync)')
      await source.query("INSERT INTO numbered_before (k, v, sync) VALUES ('a', 'old', 1001), ('b', 'old', 1002)")
      const attached = await attachStore(source, options)
      try {
        await attached.feeds.follow(NumberedBefore, { feed: 'kv', syncColumn: 'sync', key: 'k', value: 'v' })
        await attached.feeds.publish()
        const { cursor } = await attached.feeds.changes('kv')
        await source.query("UPDATE numbered_before SET v = 'new', sync = NULL WHERE k = 'a'")
        await attached.feeds.publish()
        const { changes } = await attached.feeds.changes('kv', { after: cursor })
        expect(knowledgeOf(changes)).toEqual({ a: 'new' })
      } finally {
        await attached.close()
        await source.destroy()
      }
    })
  })
}
