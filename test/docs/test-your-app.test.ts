/** docs/how-to/test-your-app.md: the tests on the page are run as they are printed, and what it says of an attached store. */
import 'reflect-metadata'
import { transformSync } from 'esbuild'
import { attachStore } from 'recentn'
import { entities, migrations } from 'recentn/typeorm'
import { Column, DataSource, Entity, PrimaryColumn } from 'typeorm'
import { blocksOf } from './support/pages'

const TESTS = blocksOf('docs/how-to/test-your-app.md').filter(({ code }) => /^test\(/m.test(code))

describe.each(TESTS.map(({ line, code }) => [line, code] as const))('the block at line %d', (_line, code) => {
  const tsconfigRaw = { compilerOptions: { experimentalDecorators: true, useDefineForClassFields: false } }
  const { code: made } = transformSync(code, { loader: 'ts', format: 'cjs', target: 'node20', tsconfigRaw })
  new Function('require', 'module', 'exports', made)(require, {}, {})
})

test('the page has tests', () => {
  expect(TESTS.length).toBeGreaterThan(3)
})

@Entity()
class Order {
  @PrimaryColumn({ type: 'integer' })
  id!: number

  @Column({ type: 'varchar' })
  customer!: string
}

const inMemory = (options: object) =>
  new DataSource({
    type: 'better-sqlite3',
    database: ':memory:',
    entities: [Order, ...entities],
    ...options,
  }).initialize()

test('your tables are synchronized, and the tables of recentn come from its migrations', async () => {
  const dataSource = await inMemory({ synchronize: true, migrations, migrationsRun: true })
  const store = await attachStore(dataSource)
  await store.transaction(async (tx) => {
    await tx.manager.insert(Order, { id: 1, customer: 'ann' })
    await tx.groups.append('customer:ann', { payload: { order: 1 } })
  })
  const failing = store.transaction(async (tx) => {
    await tx.manager.insert(Order, { id: 2, customer: 'ann' })
    await tx.groups.append('customer:ann', { payload: { order: 2 } })
    throw new Error('no credit')
  })
  await expect(failing).rejects.toThrow('no credit')
  expect(await dataSource.getRepository(Order).find()).toEqual([{ id: 1, customer: 'ann' }])
  expect((await store.groups.recent('customer:ann')).items).toMatchObject([{ payload: { order: 1 } }])
  await store.close()
  await dataSource.destroy()
})

test('synchronize alone makes no tables of recentn', async () => {
  const dataSource = await inMemory({ synchronize: true })
  await expect(attachStore(dataSource)).rejects.toMatchObject({ code: 'schema_missing' })
  await dataSource.destroy()
})
