/** A consumer must not miss events between two statements, or numbers from before. */
import { Column, type DataSource, Entity, PrimaryGeneratedColumn } from 'typeorm'
import { attachStore, openStore, type Store } from '../../../src/index'
import { type Database, freshDatabase } from '../../support/engines'
import { type Context, userSource } from '../context'
import { afterFirst } from '../statements'
import { createFollowedTables } from './followed-tables'
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
  const options = { sweep: false, publish: false }
  let database: Database
  let store: Store

  describe('feeds: nothing is missed', () => {
    beforeEach(async () => {
      database = await freshDatabase(context.engine)
      store = await openStore({ ...options, url: database.url })
      await createFollowedTables(store.dataSource)
      await store.feeds.follow('kv', { syncColumn: 'feed_sync_id', key: 'k', value: 'v' })
    })
    afterEach(async () => {
      await store.close()
      await database.drop()
    })

    it('a deletion that is numbered between the two statements of a page is in the next one', async () => {
      const { dataSource, feeds } = store
      for (const key of ['a', 'b']) await dataSource.query("INSERT INTO kv (k, v) VALUES (?, 'old')", [key])
      await feeds.publish()
      const { changes: before, cursor } = await feeds.changes('kv')
      // Where nothing is new there are no two statements.
      await dataSource.query("INSERT INTO kv (k, v) VALUES ('c', 'old')")
      await feeds.publish()
      afterFirst(store, /deleted = 1 .*LIMIT/s, async () => {
        await dataSource.query("DELETE FROM kv WHERE k = 'a'")
        await feeds.delete('kv', 'a')
        await feeds.publish()
        await dataSource.query("UPDATE kv SET v = 'new', feed_sync_id = NULL WHERE k = 'b'")
        await feeds.publish()
      })
      const first = await feeds.changes('kv', { after: cursor })
      const second = await feeds.changes('kv', { after: first.cursor })
      expect(knowledgeOf([...before, ...first.changes, ...second.changes])).toEqual({ b: 'new', c: 'old' })
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
        await attached.feeds.follow(NumberedBefore, { feed: 'numbered', syncColumn: 'sync', key: 'k', value: 'v' })
        await attached.feeds.publish()
        const { cursor } = await attached.feeds.changes('numbered')
        await source.query("UPDATE numbered_before SET v = 'new', sync = NULL WHERE k = 'a'")
        await attached.feeds.publish()
        const { changes } = await attached.feeds.changes('numbered', { after: cursor })
        expect(knowledgeOf(changes)).toEqual({ a: 'new' })
      } finally {
        await attached.close()
        await source.destroy()
      }
    })
  })
}
