/** The memory that a process keeps for handlers that have ended. */
import { openStore } from '../../src'
import { inScope, isIn } from '../../src/shared/scopes'

/** The load of every promise, and its cost, until Node 24: a value of each `AsyncLocalStorage` that was ever used. */
const carried = () => Object.getOwnPropertySymbols(Promise.resolve()).length

let undo = async () => {}
afterAll(() => undo())

test('a process that has had many pollers and consumers is as fast as with the first ones', async () => {
  const store = await openStore({ url: 'sqlite::memory:' })
  undo = () => store.close()
  await store.dataSource.query('CREATE TABLE jobs (id integer PRIMARY KEY)')
  let handled = 0
  const poll = async (n: number) => {
    await store.dataSource.query('INSERT INTO jobs VALUES (?)', [n])
    await store.poll('jobs', () => void handled++, { name: `poller ${n}`, onDone: 'delete', auto: false }).once()
  }
  const consume = async (n: number) => {
    await new Promise<void>((resolve) => {
      const consumer = store.feeds.consume('f', `consumer ${n}`, async () => {
        handled++
        await consumer.stop()
        resolve()
      })
    })
  }
  await store.feeds.put('f', 'key', 'value')
  await store.feeds.publish('f')
  await poll(0)
  await consume(0)
  const before = carried()
  for (let n = 1; n <= 10; n++) await Promise.all([poll(n), consume(n)])
  expect(handled).toBe(22)
  expect(carried()).toBe(before)
})

test('code is in the handlers around it that have not ended, and in no other', async () => {
  const [outer, inner, other] = [{ name: 'outer' }, { name: 'inner' }, { name: 'other' }]
  const seen = () => [outer, inner, other].filter(isIn).map(({ name }) => name)
  let left: Promise<string[]> | undefined
  let end = () => {}
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  await inScope(outer, undefined, async () => {
    await inScope(inner, undefined, async () => {
      await new Promise(setImmediate)
      expect(seen()).toEqual(['outer', 'inner'])
      left = ended.then(seen)
    })
    expect(seen()).toEqual(['outer'])
    end()
    expect(await left).toEqual(['outer'])
    await expect(inScope(inner, undefined, () => Promise.reject(new Error('failed')))).rejects.toThrow('failed')
    expect(await inScope(other, undefined, () => 7)).toBe(7)
    left = new Promise<void>((resolve) => setTimeout(resolve, 20)).then(seen)
  })
  expect(await left).toEqual([])
  expect(seen()).toEqual([])
})
