import { attachStore, createRouter, type ErrorCode, openStore, RecentnError, type Store } from 'recentn'
import { fromMysql2, type QueryTransaction } from 'recentn/adapters'
import { type TestStore, testStore } from 'recentn/testing'
import { entities, FeedRepository, migrations, QueueRepository, RecentRepository } from 'recentn/typeorm'
import { DataSource } from 'typeorm'

export async function use(source: DataSource): Promise<string[]> {
  const store: Store = await openStore({ url: 'sqlite::memory:' })
  const item = await store.groups.append('g', { member: 'm', payload: { a: 1 } })
  const id: bigint = item.id
  const attached = await attachStore(source)
  await attached.transaction(async ({ groups, queues, manager }) => {
    await groups.append('g', {})
    await queues.send('q', { a: 1 })
    await manager.query('SELECT 1')
  })
  const joined: QueryTransaction = { query: async () => [{ id: 1 }] }
  await store.within(joined).queues.send('q', { a: 1 })
  // @ts-expect-error: the transaction of another library has no manager
  store.within(fromMysql2({ query: async () => [[], []] })).manager
  createRouter(store, { access: (request, scope) => request.path === '/' || scope === 'read' })
  await new RecentRepository(source).recent('g')
  await new QueueRepository(source.manager).get('q')
  await new FeedRepository(source).status('f')
  new DataSource({ type: 'mysql', entities: [...entities], migrations: [...migrations] })
  const code: ErrorCode = new RecentnError('conflict').code
  const testing: TestStore = await testStore({ entities: [] })
  await testing.clock.advance('5 min')
  // @ts-expect-error: the types are there, not any
  const wrong: number = item.id
  return [String(id), code, String(wrong)]
}
