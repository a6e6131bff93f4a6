import type { DataSource } from 'typeorm'
import { SCHEMA_VERSION } from '../../../migrations'
import { diagnose } from '../../../src/cli/doctor'
import { openStore } from '../../../src/index'
import { entities, migrations, schemaOf } from '../../../src/typeorm'
import { type Context, idsOf, refusal, userSource } from '../context'

/** Types of the entities that a server names otherwise: longer texts, and `integer`, which it calls `int`. */
const SAME_TYPE: Record<string, string> = { int: 'integer', mediumtext: 'text', longtext: 'text' }

export function describeSchema(context: Context): void {
  const tablesOf = async (source: DataSource): Promise<string[]> => {
    const runner = source.createQueryRunner()
    try {
      const names = source.entityMetadatas.map((metadata) => metadata.tableName)
      return (await runner.getTables(names)).map((table) => table.name.split('.').at(-1) ?? '').sort()
    } finally {
      await runner.release()
    }
  }

  const versionIn = async (source: DataSource): Promise<number> => {
    const [row] = await source.query('SELECT version FROM recentn_schema')
    return Number(row.version)
  }

  describe('schema', () => {
    it('is made in an empty database once, by however many that open it at once', async () => {
      const url = await context.emptyDatabase()
      const stores = await Promise.all([1, 2, 3, 4].map(() => openStore({ url, sweep: false })))
      try {
        await Promise.all(stores.map((store) => store.groups.append('a')))
        for (const store of stores) {
          expect(idsOf(await store.groups.recent('a'))).toEqual([3n, 2n, 1n, 0n])
          expect(await store.dataSource.query('SELECT * FROM recentn_schema')).toHaveLength(1)
        }
      } finally {
        await Promise.all(stores.map((store) => store.close()))
      }
      const again = await openStore({ url, migrate: false, sweep: false })
      expect((await again.groups.recent('a')).totalAppended).toBe(4n)
      await again.close()
    })

    it('is not made when asked not to', async () => {
      const url = await context.emptyDatabase()
      expect((await refusal(openStore({ url, migrate: false }))).code).toBe('schema_missing')
      expect((await refusal(openStore({ url, migrate: false }))).code).toBe('schema_missing')
      const store = await openStore({ url, sweep: false })
      expect((await store.groups.append('a')).id).toBe(0n)
      await store.close()
    })

    it('says which row it lacks where the tables were emptied, and makes it again', async () => {
      const url = await context.emptyDatabase()
      const store = await openStore({ url, sweep: false })
      context.afterwards(() => store.close())
      await store.policies.put('a', { capacity: 1, mode: 'history' })
      await store.groups.append('a')
      for (const { tableName } of store.dataSource.entityMetadatas) {
        await store.dataSource.query(`DELETE FROM ${tableName}`)
      }
      const refused = [
        () => store.groups.append('a'),
        () => store.policies.put('a', { capacity: 2, mode: 'history' }),
        () => openStore({ url, migrate: false }),
      ]
      for (const call of refused) {
        const error = await refusal(call())
        expect([error.code, error.message]).toEqual([
          'schema_missing',
          expect.stringMatching(/recentn_policy_epoch lost its row: run "recentn migrate"/),
        ])
      }
      expect(await diagnose(url)).toContainEqual({
        check: 'schema',
        state: 'wrong',
        found: expect.stringContaining('recentn_schema and recentn_policy_epoch lost its row'),
        fix: expect.stringContaining('recentn migrate'),
      })
      await (await openStore({ url, sweep: false })).close()
      expect(await versionIn(store.dataSource)).toBe(SCHEMA_VERSION)
      for (const id of [0n, 1n, 2n]) expect((await store.groups.append('a')).id).toBe(id)
      expect(idsOf(await store.groups.recent('a'))).toEqual([2n, 1n, 0n])
      await store.policies.put('a', { capacity: 2, mode: 'history' })
      await store.groups.append('a')
      expect(idsOf(await store.groups.recent('a'))).toEqual([3n, 2n])
    })

    it('that is newer or older than the code is refused, and left alone', async () => {
      const url = await context.emptyDatabase()
      const store = await openStore({ url, sweep: false })
      await store.groups.append('a')
      const before = await tablesOf(store.dataSource)
      await store.dataSource.query('UPDATE recentn_schema SET version = version + 1')
      for (const migrate of [true, false]) {
        const error = await refusal(openStore({ url, migrate }))
        expect(error.code).toBe('schema_too_new')
        expect(error.message).toMatch(/\d/)
      }
      expect(await tablesOf(store.dataSource)).toEqual(before)
      await store.dataSource.query('UPDATE recentn_schema SET version = 0')
      expect((await refusal(openStore({ url, migrate: false }))).code).toMatch(/^schema_(outdated|missing)$/)
      await store.close()
    })

    it('of version 1 gets the columns and tables that were added since, and keeps what it has; a migration that was cut off continues', async () => {
      const url = await context.emptyDatabase()
      const store = await openStore({ url, sweep: false, publish: false })
      const { dataSource, queues } = store
      await queues.put('q', { onAck: 'archive' })
      for (const body of [1, 2]) await queues.send('q', body)
      const [first] = await queues.receive('q')
      await queues.ack('q', first?.receiptHandle ?? '')
      for (let version = migrations.length; version > 1; version--) {
        expect(await versionIn(dataSource)).toBe(version)
        await dataSource.undoLastMigration({ transaction: 'none' })
      }
      expect(await versionIn(dataSource)).toBe(1)
      await store.close()
      expect((await refusal(openStore({ url, migrate: false }))).code).toBe('schema_outdated')
      const user = userSource(url, [], { entities: [], migrations: [] })
      await user.initialize()
      const text = context.engine === 'sqlite' ? 'text' : 'mediumtext'
      await user.query(`ALTER TABLE recentn_queue_messages ADD COLUMN attributes ${text} NULL`)
      await user.query('ALTER TABLE recentn_queue_messages ADD COLUMN group_place bigint NULL')
      await user.destroy()
      const again = await openStore({ url, sweep: false, publish: false })
      expect(await versionIn(again.dataSource)).toBe(migrations.length)
      await again.schedules.put('s', { queue: 'q', everySeconds: 60, body: 1 })
      expect(await again.schedules.drop('s')).toBe(true)
      await again.queues.send('q', 3, { attributes: { a: 'b' } })
      const messages = await again.queues.receive('q', { limit: 10 })
      expect(messages.map(({ body, attributes }) => [body, attributes])).toEqual([
        [2, {}],
        [3, { a: 'b' }],
      ])
      const { messages: archived } = await again.queues.peek('q', { state: 'archived' })
      expect(archived.map(({ body, attributes }) => [body, attributes])).toEqual([[1, {}]])
      await again.close()
    })

    it('goes away with its migrations undone', async () => {
      const url = await context.emptyDatabase()
      const store = await openStore({ url, sweep: false, tick: false })
      for (const _ of migrations) await store.dataSource.undoLastMigration({ transaction: 'none' })
      expect(await tablesOf(store.dataSource)).toEqual([])
      await store.close()
      const again = await openStore({ url, sweep: false })
      expect((await again.groups.append('a')).id).toBe(0n)
      await again.close()
    })

    it.each([undefined, 'shop_'])(
      'is what the entities say: tables, columns, types, nullability, keys, with the prefix %s',
      async (tablePrefix) => {
        const schema = schemaOf({ tablePrefix })
        const source = userSource(context.url, [], schema)
        await source.initialize()
        context.afterwards(() => source.destroy())
        if (tablePrefix !== undefined) await source.runMigrations()
        const runner = source.createQueryRunner()
        try {
          expect(source.entityMetadatas.map((metadata) => metadata.target)).toEqual(expect.arrayContaining(entities))
          for (const metadata of source.entityMetadatas) {
            expect(metadata.tableName.startsWith(tablePrefix ?? 'recentn_')).toBe(true)
            const table = await runner.getTable(metadata.tablePath)
            const real = (table?.columns ?? []).map((column) => ({
              name: column.name,
              // SQLite numbers rows by an INTEGER only, which is a BIGINT there.
              type:
                column.isGenerated && column.type === 'integer' ? 'bigint' : (SAME_TYPE[column.type] ?? column.type),
              length: column.length || '',
              nullable: column.isNullable,
              primary: column.isPrimary,
              generated: column.isGenerated,
            }))
            const said = metadata.columns.map((column) => {
              const type = source.driver.normalizeType(column)
              return {
                name: column.databaseName,
                type: SAME_TYPE[type] ?? type,
                length: column.length || '',
                nullable: column.isNullable,
                primary: column.isPrimary,
                generated: column.isGenerated,
              }
            })
            const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1)
            expect([metadata.tableName, real.sort(byName)]).toEqual([metadata.tableName, said.sort(byName)])
            const indices = (table?.indices ?? []).map((index) => [
              index.name,
              [...index.columnNames].sort(),
              index.isUnique,
            ])
            const saidIndices = metadata.indices.map((index) => [
              index.name,
              index.columns.map((column) => column.databaseName).sort(),
              index.isUnique,
            ])
            expect([metadata.tableName, indices.sort()]).toEqual([metadata.tableName, saidIndices.sort()])
          }
        } finally {
          await runner.release()
        }
      },
    )

    it('has one unique key on the items: (group_key, slot)', async () => {
      const runner = context.store.dataSource.createQueryRunner()
      try {
        const table = await runner.getTable('recentn_items')
        expect(table?.primaryColumns.map((column) => column.name)).toEqual(['group_key', 'slot'])
        expect(table?.uniques).toEqual([])
        expect(table?.indices.filter((index) => index.isUnique)).toEqual([])
        expect(table?.foreignKeys).toEqual([])
      } finally {
        await runner.release()
      }
    })
  })
}
