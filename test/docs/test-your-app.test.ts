/** What docs/how-to/test-your-app.md says of a DataSource in memory and of fake timers. */
import 'reflect-metadata'
import { attachStore, entities, migrations, openStore } from 'recentn'
import { Column, DataSource, Entity, PrimaryColumn } from 'typeorm'

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

test('with nextTick and setImmediate left real, a store works under fake timers', async () => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate'] })
  try {
    const store = await openStore({ url: 'sqlite::memory:' })
    await store.groups.append('article:42', { member: 'ann' })
    expect((await store.groups.recent('article:42')).items).toMatchObject([{ member: 'ann' }])
    await store.queues.ensure('mail')
    const handled = new Promise((resolve) => {
      store.queues.work('mail', (message) => resolve(message.body))
    })
    await store.queues.send('mail', { to: 'ann' })
    expect(await handled).toEqual({ to: 'ann' })
    await store.close()
  } finally {
    jest.useRealTimers()
  }
})
