/** docs/how-to/follow-a-table.md: with the triggers that the page shows, whatever writes the table is seen by the feed. */
import 'reflect-metadata'
import { attachStore, type Store } from 'recentn'
import { entities, migrations } from 'recentn/typeorm'
import { Column, DataSource, type DataSourceOptions, Entity, Index, PrimaryColumn } from 'typeorm'
import { type Database, describeEngine, ENGINES, freshDatabase } from '../support/engines'
import { blocksOf } from './support/pages'

@Entity({ name: 'users' })
class User {
  @PrimaryColumn({ type: 'varchar', length: 100 })
  name!: string

  @Column({ type: 'varchar', length: 200 })
  about!: string

  @Index()
  @Column({ name: 'sync_id', type: 'bigint', nullable: true, select: false, update: false })
  syncId!: string | null
}

const [forServers = '', forSqlite = ''] = blocksOf('docs/how-to/follow-a-table.md')
  .filter(({ language }) => language === 'sql')
  .map(({ code }) => code)

describe.each(ENGINES)('a followed table with its trigger', (engine) => {
  describeEngine(engine, 'has', () => {
    let database: Database
    let dataSource: DataSource
    let store: Store

    beforeEach(async () => {
      database = await freshDatabase(engine)
      const place =
        engine === 'sqlite'
          ? { type: 'better-sqlite3', database: database.url.replace('sqlite:', ''), enableWAL: true }
          : { type: engine, url: database.url }
      const options = { entities: [User, ...entities], synchronize: true, migrations, migrationsRun: true }
      dataSource = await new DataSource({ ...place, ...options } as DataSourceOptions).initialize()
      store = await attachStore(dataSource)
      const trigger = await store.feeds.followTrigger(User, { syncColumn: 'syncId' })
      // The page shows it in several lines.
      expect(trigger).toBe((engine === 'sqlite' ? forSqlite : forServers).replaceAll(/\s+/g, ' ').trim())
      await dataSource.query(trigger)
      await store.feeds.follow(User, { feed: 'users', syncColumn: 'syncId', key: 'name', value: 'about' })
    })
    afterEach(async () => {
      await store.close()
      await dataSource.destroy()
      await database.drop()
    })

    it('each change in the feed, whoever writes it and however', async () => {
      const users = dataSource.getRepository(User)
      let cursor = 0n
      const next = async () => {
        const page = await store.feeds.changes('users', { after: cursor, waitSeconds: 20 })
        cursor = page.cursor
        return page.changes.map(({ key, value }) => [key, value])
      }
      await users.save({ name: 'fred', about: 'reads' })
      expect(await next()).toEqual([['fred', 'reads']])

      const fred = await users.findOneByOrFail({ name: 'fred' })
      await users.save({ ...fred, about: 'writes' })
      expect(await next()).toEqual([['fred', 'writes']])

      await users.update({ name: 'fred' }, { about: 'sings' })
      expect(await next()).toEqual([['fred', 'sings']])

      await dataSource.query("UPDATE users SET about = 'sleeps' WHERE name = 'fred'")
      expect(await next()).toEqual([['fred', 'sleeps']])

      // A writer that had read an earlier number, and writes it with the rest of the row.
      await dataSource.query("UPDATE users SET about = 'wakes', sync_id = 1 WHERE name = 'fred'")
      expect(await next()).toEqual([['fred', 'wakes']])

      await store.feeds.republish('users', { keys: ['fred'] })
      expect(await next()).toEqual([['fred', 'wakes']])
    })

    it('is refused for a column that is not there', async () => {
      await expect(store.feeds.followTrigger(User, { syncColumn: 'sync_id' })).rejects.toThrow(
        '/syncColumn: is not a column of users',
      )
    })
  })
})
