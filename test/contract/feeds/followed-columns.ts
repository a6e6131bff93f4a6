/** Which columns of a followed table are published, and which are left alone. */
import { Column, type DataSource, Entity, PrimaryGeneratedColumn } from 'typeorm'
import { attachStore, openStore, type Store } from '../../../src/index'
import { type Database, freshDatabase } from '../../support/engines'
import { type Context, sleep, userSource } from '../context'

class PersonName {
  @Column({ type: 'varchar', length: 20 })
  first!: string
}

@Entity({ name: 'people' })
class Person {
  @PrimaryGeneratedColumn({ type: 'integer' })
  id!: number

  @Column({ type: 'varchar', length: 50 })
  k!: string

  @Column({ type: 'varchar', length: 50, select: false })
  password!: string

  @Column(() => PersonName)
  name!: PersonName

  @Column({ type: 'bigint', nullable: true })
  sync!: string | null
}

export function describeFeedsFollowedColumns(context: Context): void {
  const isSqlite = context.engine === 'sqlite'
  let database: Database
  let source: DataSource
  let store: Store
  const valuesIn = async (feed: string) => (await store.feeds.changes(feed)).changes.map(({ value }) => value)

  describe('feeds: columns of followed tables', () => {
    beforeAll(async () => {
      database = await freshDatabase(context.engine)
      await (await openStore({ url: database.url, sweep: false, publish: false })).close()
      source = userSource(database.url, [Person])
      await source.initialize()
      const serial = isSqlite ? 'integer PRIMARY KEY AUTOINCREMENT' : 'integer NOT NULL AUTO_INCREMENT PRIMARY KEY'
      const touched = isSqlite ? '' : ', touched datetime(6) NOT NULL DEFAULT now(6) ON UPDATE now(6)'
      await source.query(`CREATE TABLE people (id ${serial}, k varchar(50) NOT NULL, password varchar(50) NOT NULL,
        nameFirst varchar(20) NOT NULL, sync bigint NULL${touched})`)
      await source.query('CREATE INDEX people_sync ON people (sync)')
      store = await attachStore(source, { sweep: false, publish: false })
      await source.query("INSERT INTO people (k, password, nameFirst) VALUES ('fred', 'secret', 'Fred')")
    })
    afterAll(async () => {
      await store?.close()
      await source?.destroy()
      await database?.drop()
    })

    it('the value may be a property of an embedded entity', async () => {
      const options = { syncColumn: 'sync', key: 'k' }
      await store.feeds.follow(Person, { ...options, feed: 'people', value: 'name.first' })
      await store.feeds.publish()
      expect(await valuesIn('people')).toEqual(['Fred'])
    })

    it('the whole row has no columns that are not selected unless asked for', async () => {
      await store.feeds.follow(Person, { feed: 'people', syncColumn: 'sync', key: 'k' })
      await store.feeds.publish()
      expect(await valuesIn('people')).not.toEqual([expect.objectContaining({ password: 'secret' })])
    })

    if (!isSqlite) {
      it('publishing leaves a column alone that is set by every update', async () => {
        await store.feeds.follow(Person, { feed: 'people', syncColumn: 'sync', key: 'k' })
        const touched = () => source.query('SELECT CAST(touched AS CHAR) AS touched FROM people')
        await source.query('UPDATE people SET sync = NULL')
        const before = await touched()
        await sleep(50)
        await store.feeds.publish()
        expect(await touched()).toEqual(before)
      })
    }
  })
}
