/** Under fake timers of any kind an app's store continues: what docs/how-to/test-your-app.md promises. */
import { openStore } from 'recentn'
import { testStore } from 'recentn/testing'
import { describeEngine, freshDatabase } from '../support/engines'

afterEach(() => {
  jest.useRealTimers()
})

test('with all timers fake, all of it works: in memory, without one of them being moved', async () => {
  jest.useFakeTimers()
  const store = await openStore({ url: 'sqlite::memory:' })
  await store.groups.append('article:42', { member: 'ann' })
  expect((await store.groups.recent('article:42')).items).toMatchObject([{ member: 'ann' }])
  await store.queues.ensure('mail')
  const handled = new Promise((resolve) => {
    store.queues.work('mail', ({ body }) => resolve(body))
  })
  await store.queues.send('mail', { to: 'ann' })
  expect(await handled).toEqual({ to: 'ann' })
  const consumed = new Promise((resolve) => {
    store.feeds.consume('users', 'index', (changes) => resolve(changes[0]?.key))
  })
  await store.feeds.put('users', 'ann', {})
  expect(await consumed).toBe('ann')
  expect(await store.queues.receive('mail', { waitSeconds: 1 })).toEqual([])
  await store.close()
})

test('the clock of a test store moves the store, and fake timers the app', async () => {
  jest.useFakeTimers({ now: new Date('2030-01-01T00:00:00Z') })
  const store = await testStore()
  await store.queues.ensure('mail')
  await store.queues.send('mail', 'late', { delaySeconds: 300 })
  let rang = false
  setTimeout(() => {
    rang = true
  }, 300_000)
  await store.clock.advance('5 min')
  expect(rang).toBe(false)
  expect(await store.queues.receive('mail')).toMatchObject([{ body: 'late' }])
  jest.advanceTimersByTime(300_000)
  expect(rang).toBe(true)
  await store.close()
})

for (const engine of ['mariadb', 'mysql'] as const) {
  describeEngine(engine, 'fake timers', () => {
    it('leave a store alive whose driver keeps nextTick and setImmediate', async () => {
      const database = await freshDatabase(engine)
      jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate'] })
      const store = await openStore({ url: database.url })
      await store.groups.append('article:42', { member: 'ann' })
      expect((await store.groups.recent('article:42')).items).toMatchObject([{ member: 'ann' }])
      await store.close()
      jest.useRealTimers()
      await database.drop()
    })
  })
}
