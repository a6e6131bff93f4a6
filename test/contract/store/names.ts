import type { DataSource } from 'typeorm'
import { attachStore, openStore, RecentnError, type Store } from '../../../src/index'
import { migrations, RecentItem, RecentRepository, schemaOf } from '../../../src/typeorm'
import { type Context, idsOf, refusal, userSource } from '../context'

/** Tables of the user's that recentn would name so, and what is in them. */
const USERS = {
  recentn_sequences: 'CREATE TABLE recentn_sequences (name varchar(20) PRIMARY KEY, next_val bigint)',
  recentn_polls: 'CREATE TABLE recentn_polls (id integer PRIMARY KEY, question varchar(100))',
  recentn_items: 'CREATE TABLE recentn_items (id integer PRIMARY KEY, price integer)',
}

export function describeNames(context: Context): void {
  const isSqlite = context.engine === 'sqlite'

  /** A DataSource of the user's on an empty database, without recentn's tables. */
  const emptyUser = async (tablePrefix?: string): Promise<DataSource> => {
    const source = userSource(await context.emptyDatabase(), [], schemaOf({ tablePrefix }))
    await source.initialize()
    context.afterwards(() => source.destroy())
    return source
  }

  /** The tables and views of the database, in order. */
  const tablesOf = async (source: DataSource): Promise<string[]> => {
    const rows: { name: string }[] = await source.query(
      isSqlite
        ? "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'"
        : 'SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE()',
    )
    return rows.map(({ name }) => name).sort()
  }

  const urlOf = (source: DataSource): string => {
    const { database, url } = source.options as { database?: string; url?: string }
    return isSqlite ? `sqlite:${database}` : (url as string)
  }

  /** Every way to the tables; each must refuse, and leave what is there as it is. */
  const ways: [string, (source: DataSource) => Promise<unknown>][] = [
    ['openStore', async (source) => (await openStore({ url: urlOf(source), sweep: false, publish: false })).close()],
    ['runMigrations of a DataSource', (source) => source.runMigrations()],
    ['runMigrations without a transaction', (source) => source.runMigrations({ transaction: 'none' })],
  ]

  describe('names of tables', () => {
    describe.each(ways)('%s', (_, run) => {
      it.each(Object.entries(USERS))(
        'refuses where %s is a table of the user, and makes nothing',
        async (table, made) => {
          const user = await emptyUser()
          await user.query(made)
          await user.query(`INSERT INTO ${table} VALUES (7, 42)`)
          const error = await refusal(run(user))
          expect(error.code).toBe('database_refused')
          expect(error.message).toContain(table)
          expect(error.message).toContain('tablePrefix')
          expect(await user.query(`SELECT * FROM ${table}`)).toHaveLength(1)
          // TypeORM makes its own table of migrations before the first of them runs.
          expect((await tablesOf(user)).filter((name) => name !== 'migrations')).toEqual([table])
          expect((await refusal(attachStore(user))).code).toBe('database_refused')
          // As soon as it has another name, all is well.
          await user.query(`ALTER TABLE ${table} RENAME TO other`)
          await run(user)
          expect(await tablesOf(user)).toContain(table)
        },
      )

      it('refuses where a name is a view, or several are taken, and names each', async () => {
        const user = await emptyUser()
        await user.query('CREATE TABLE answers (a integer)')
        await user.query('CREATE VIEW recentn_polls AS SELECT a AS id FROM answers')
        await user.query(USERS.recentn_sequences)
        const error = await refusal(run(user))
        expect(error.code).toBe('database_refused')
        expect(error.message).toMatch(/recentn_sequences \(a table with the columns name, next_val\)/)
        expect(error.message).toMatch(/recentn_polls \(a view\)/)
        // A view whose table is gone is still there.
        await user.query('DROP TABLE recentn_sequences')
        await user.query('DROP TABLE answers')
        expect((await refusal(run(user))).message).toContain('recentn_polls (a view)')
      })

      it('refuses a table of a version that stands alone', async () => {
        const user = await emptyUser()
        await user.query('CREATE TABLE recentn_schema (id integer PRIMARY KEY, version integer NOT NULL)')
        await user.query('INSERT INTO recentn_schema VALUES (5, 3)')
        expect((await refusal(run(user))).message).toContain('recentn_schema')
        expect(await user.query('SELECT * FROM recentn_schema')).toHaveLength(1)
      })
    })

    it('a table of migrations of another library is not shared', async () => {
      const user = await emptyUser()
      const url = urlOf(user)
      await user.query('CREATE TABLE recentn_migrations (id integer PRIMARY KEY, timestamp bigint, name varchar(100))')
      await user.query("INSERT INTO recentn_migrations VALUES (1, 1, 'Shop1763700000000')")
      const error = await refusal(openStore({ url }))
      expect([error.code, error.message]).toEqual(['database_refused', expect.stringContaining('Shop1763700000000')])
      await user.query('DROP TABLE recentn_migrations')
      await user.query('CREATE TABLE recentn_migrations (name varchar(100))')
      expect((await refusal(openStore({ url }))).message).toContain('recentn_migrations')
      expect(await tablesOf(user)).toEqual(['recentn_migrations'])
    })

    if (isSqlite) {
      it('an index of the user with the name of one of our indexes is in the way, and so is a table', async () => {
        const user = await emptyUser()
        await user.query('CREATE TABLE mine (a integer)')
        await user.query('CREATE INDEX Recentn_Items_Member ON mine (a)')
        expect((await refusal(user.runMigrations())).message).toContain('recentn_items_member (an index of mine)')
        await user.query('DROP INDEX Recentn_Items_Member')
        await user.query('CREATE TABLE recentn_feeds_feed (a integer)')
        expect((await refusal(user.runMigrations())).message).toContain('recentn_feeds_feed')
        await user.query('DROP TABLE recentn_feeds_feed')
        await user.query('CREATE INDEX recentn_queues ON mine (a)')
        expect((await refusal(user.runMigrations())).message).toContain('recentn_queues (an index of mine)')
        expect(await tablesOf(user)).toEqual(['migrations', 'mine'])
      })
    }

    it('undoing the migrations drops our tables, and none of the user', async () => {
      const user = await emptyUser()
      await user.query('CREATE TABLE sequences (name varchar(20), next_val bigint)')
      await user.query('CREATE TABLE polls (id integer)')
      await user.runMigrations()
      // The user has replaced one of our indexes.
      await user.query('DROP TABLE recentn_polls')
      await user.query(USERS.recentn_polls)
      await user.query('DROP TABLE recentn_poll_claims')
      await user.query('CREATE VIEW recentn_poll_claims AS SELECT id FROM polls')
      for (const _ of migrations) await user.undoLastMigration()
      const left = ['migrations', 'polls', 'recentn_poll_claims', 'recentn_polls', 'sequences']
      expect(await tablesOf(user)).toEqual(left)
    })

    it('a migration that was cut off continues, and so does an undo', async () => {
      const url = await context.emptyDatabase()
      const store = await openStore({ url, sweep: false, publish: false })
      await store.dataSource.query('DELETE FROM recentn_schema')
      await store.dataSource.query('DELETE FROM recentn_migrations')
      for (const table of ['recentn_polls', 'recentn_feeds']) await store.dataSource.query(`DROP TABLE ${table}`)
      await store.close()
      expect((await refusal(openStore({ url, migrate: false }))).code).toBe('schema_missing')
      const again = await openStore({ url, sweep: false, publish: false })
      expect((await again.groups.append('a')).id).toBe(0n)
      // The undo of a process that was killed after its first table.
      await again.dataSource.query('DROP TABLE recentn_schema')
      for (const _ of migrations) await again.dataSource.undoLastMigration({ transaction: 'none' })
      expect(await tablesOf(again.dataSource)).toEqual(['recentn_migrations'])
      await again.close()
    })

    it('that are there under another prefix are named by it', async () => {
      const url = await context.emptyDatabase()
      await (await openStore({ url, tablePrefix: 'shop_' })).close()
      const missing = await refusal(openStore({ url, migrate: false }))
      expect([missing.code, missing.message]).toEqual([
        'schema_missing',
        expect.stringContaining(
          'with the tablePrefix "recentn_", but with "shop_": set that (RECENTN_TABLE_PREFIX), or run',
        ),
      ])
    })

    it('a column that is missing, and one that is not ours, are named by table and column', async () => {
      const user = await emptyUser()
      await user.runMigrations()
      await user.query('ALTER TABLE recentn_queues RENAME COLUMN paused TO halted')
      await user.query('ALTER TABLE recentn_keys ADD COLUMN owner integer')
      await user.query('DROP TABLE recentn_feed_drops')
      const url = urlOf(user)
      const openings = [() => attachStore(user), () => openStore({ url }), () => openStore({ url, migrate: false })]
      for (const open of openings) {
        const error = await refusal(open())
        expect(error.code).toBe('database_refused')
        expect(error.faults.map(({ detail }) => detail).sort()).toEqual([
          "recentn_keys has a column owner, which is not recentn's",
          "recentn_queues has a column halted, which is not recentn's",
          'recentn_queues has no column paused',
          'there is no table recentn_feed_drops',
        ])
        for (const { detail } of error.faults) expect(error.message).toContain(detail)
      }
    })
  })

  describe('tablePrefix', () => {
    it.each(['', 'Shop_', '1shop', '_shop', 'sho-p', 'shop.', 'a`b', 'x'.repeat(33), 7, null])(
      'refuses %j',
      async (bad) => {
        const tablePrefix = bad as string
        const url = await context.emptyDatabase()
        const calls = [
          () => openStore({ url, tablePrefix }),
          () => attachStore(context.store.dataSource, { tablePrefix }),
        ]
        for (const call of calls) {
          const error = await refusal(call())
          expect([error.code, error.faults[0]?.pointer]).toEqual(['invalid_input', '/tablePrefix'])
        }
        expect(() => schemaOf({ tablePrefix })).toThrow(RecentnError)
      },
    )

    it('two stores in one database share nothing', async () => {
      const url = await context.emptyDatabase()
      const tablePrefix = `${'b'.repeat(31)}_`
      const opened = [{}, { tablePrefix }].map((own) => openStore({ url, sweep: false, publish: false, ...own }))
      const [one, two] = (await Promise.all(opened)) as [Store, Store]
      context.afterwards(() => Promise.all([one.close(), two.close()]))
      for (const [store, text] of [
        [one, 'one'],
        [two, 'two'],
      ] as const) {
        await store.groups.put('g', { capacity: text === 'one' ? 2 : 3 })
        for (let n = 0; n < 4; n++) await store.groups.append('g', { member: text, payload: { n } })
        await store.queues.put('q')
        await store.queues.send('q', text)
        await store.feeds.put('f', 'k', text)
        await store.feeds.publish()
        await store.sequences.next('s', text === 'one' ? 1 : 5)
        await store.keys.create({ label: text, scopes: ['read'] })
      }
      for (const [store, text] of [
        [one, 'one'],
        [two, 'two'],
      ] as const) {
        expect(idsOf(await store.groups.recent('g'))).toHaveLength(text === 'one' ? 2 : 3)
        expect((await store.groups.memberItems(text)).items.length).toBeGreaterThan(0)
        expect((await store.groups.memberItems(text === 'one' ? 'two' : 'one')).items).toEqual([])
        const [message] = await store.queues.receive('q', { limit: 10 })
        expect(message?.body).toBe(text)
        await store.queues.ackMany('q', [message?.receiptHandle ?? ''])
        expect((await store.feeds.changes('f')).changes.map(({ value }) => value)).toEqual([text])
        expect((await store.keys.list()).keys.map(({ label }) => label)).toEqual([text])
        expect(await store.dataSource.getRepository(RecentItem).count()).toBe(text === 'one' ? 2 : 3)
        expect((await new RecentRepository(store.dataSource).recent('g')).capacity).toBe(text === 'one' ? 2 : 3)
      }
      for (const _ of migrations) await two.dataSource.undoLastMigration({ transaction: 'none' })
      expect((await tablesOf(one.dataSource)).filter((name) => name.startsWith('b'))).toEqual([
        `${tablePrefix}migrations`,
      ])
      expect((await one.groups.append('g')).id).toBe(4n)
    })

    it('two stores on one DataSource, each polling one table under one name', async () => {
      const url = await context.emptyDatabase()
      const second = schemaOf({ tablePrefix: 'second_' })
      const both = schemaOf()
      const user = userSource(url, [], {
        entities: [...both.entities, ...second.entities],
        migrations: [...both.migrations, ...second.migrations],
      })
      await user.initialize()
      context.afterwards(() => user.destroy())
      await user.runMigrations()
      await user.query('CREATE TABLE orders (id integer PRIMARY KEY, what varchar(20))')
      await user.query("INSERT INTO orders VALUES (1, 'tea'), (2, 'milk')")
      const one = await attachStore(user, { sweep: false, publish: false })
      const two = await attachStore(user, { sweep: false, publish: false, tablePrefix: 'second_' })
      context.afterwards(() => Promise.all([one.close(), two.close()]))
      for (const store of [one, two]) {
        const seen: unknown[] = []
        const poller = store.poll('orders', async (row) => void seen.push(row.id), { auto: false, name: 'p' })
        await poller.once()
        await poller.stop()
        expect(seen.map(Number).sort()).toEqual([1, 2])
      }
      for (const prefix of ['recentn_', 'second_']) {
        expect(await user.query(`SELECT poll FROM ${prefix}polls`)).toEqual([{ poll: 'p' }])
        expect(await user.query(`SELECT row_key FROM ${prefix}poll_claims`)).toHaveLength(2)
      }
      await two.transaction(async (tx) => {
        await tx.groups.append('in')
        await tx.queues.put('in')
      })
      expect(await user.query('SELECT group_key FROM second_groups')).toHaveLength(1)
      expect(await user.query('SELECT group_key FROM recentn_groups')).toEqual([])
      // They take turns, by their times; the last ones but for the very first migration.
      for (const _ of both.migrations.concat(second.migrations).slice(1)) await user.undoLastMigration()
      expect((await tablesOf(user)).filter((name) => name.startsWith('second_'))).toEqual([])
      // An append needs the columns of the later ones.
      await user.runMigrations()
      expect((await one.groups.append('g')).id).toBe(0n)
    })

    it('refuses a name that is taken, also by another store', async () => {
      const url = await context.emptyDatabase()
      const store = await openStore({ url, sweep: false, publish: false })
      context.afterwards(() => store.close())
      await store.dataSource.query('CREATE TABLE shop_groups (id integer)')
      const error = await refusal(openStore({ url, tablePrefix: 'shop_' }))
      expect([error.code, error.message]).toEqual(['database_refused', expect.stringContaining('shop_groups')])
      expect((await tablesOf(store.dataSource)).filter((name) => name.startsWith('shop_'))).toEqual(['shop_groups'])
    })
  })
}
