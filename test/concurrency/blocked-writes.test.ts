/** Another program holds the lock of the SQLite file: writes wait for it, and reads do not wait for the writes. */
import BetterSqlite3 from 'better-sqlite3'
import { DataSource } from 'typeorm'
import { attachStore, openStore, type Store } from '../../src'
import { type Database, describeEngine, freshDatabase } from '../support/engines'

describeEngine('sqlite', 'a write that waits for another program', () => {
  let database: Database
  let other: BetterSqlite3.Database
  const undo: (() => Promise<unknown>)[] = []

  beforeEach(async () => {
    database = await freshDatabase('sqlite')
    await (await openStore({ url: database.url })).close()
    other = new BetterSqlite3(database.url.slice('sqlite:'.length))
  })
  afterEach(async () => {
    for (const step of undo.splice(0).reverse()) await step()
    other.close()
    await database.drop()
  })

  async function opened(): Promise<Store> {
    const store = await openStore({ url: database.url, sweep: false, publish: false })
    undo.push(() => store.close())
    return store
  }

  async function attached(): Promise<Store> {
    const source = new DataSource({ type: 'better-sqlite3', database: database.url.slice('sqlite:'.length) })
    await source.initialize()
    const store = await attachStore(source, { sweep: false, publish: false })
    undo.push(
      () => source.destroy(),
      () => store.close(),
    )
    return store
  }

  it.each<[string, () => Promise<Store>]>([
    ['an opened store', opened],
    ['an attached store', attached],
  ])('keeps no read of %s waiting, and is done when the other has ended', async (_, open) => {
    const store = await open()
    await store.groups.append('g', { member: 'first' })
    await store.queues.put('q')
    other.exec('BEGIN IMMEDIATE')
    const done: string[] = []
    const writes = [
      store.groups.append('g', { member: 'second' }).then(() => done.push('append')),
      store.transaction((tx) => tx.groups.append('g', { member: 'third' })).then(() => done.push('transaction')),
      store.queues.send('q', 1).then(() => done.push('send')),
    ]
    // Reads that come before the writes notice the lock, and reads that come later.
    for (let n = 0; n < 20; n++) {
      const [recent, page] = await Promise.all([store.groups.recent('g'), store.groups.list(), store.ping()])
      expect([recent.totalAppended, page.groups.length]).toEqual([1n, 1])
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    expect(done).toEqual([])
    other.exec('COMMIT')
    await Promise.all(writes)
    expect(done.sort()).toEqual(['append', 'send', 'transaction'])
    const { items } = await store.groups.recent('g')
    expect(items.map(({ member }) => member).sort()).toEqual(['first', 'second', 'third'])
  })

  it('and reads beside it see each write that is acknowledged, and no transaction that is not', async () => {
    const store = await opened()
    await store.groups.append('g')
    let isOver = false
    let passed = 0
    const faults: string[] = []
    /** Rolled back in the end: no read may see it. */
    const transactions = async () => {
      while (!isOver) {
        await store
          .transaction(async (tx) => {
            await tx.groups.append('undone')
            await new Promise(setImmediate)
            throw new Error('undo')
          })
          .catch(() => {})
      }
    }
    const readers = async () => {
      while (!isOver) {
        const { groups } = await store.groups.list()
        if (groups.some(({ group }) => group === 'undone')) faults.push('a read saw what was rolled back')
        passed++
      }
    }
    const appends = async () => {
      for (let n = 1; n <= 40; n++) {
        const { id } = await store.groups.append('g')
        const { totalAppended } = await store.groups.recent('g')
        if (totalAppended < id + 1n) faults.push(`read ${totalAppended} after ${id} was acknowledged`)
      }
      isOver = true
    }
    const locks = async () => {
      while (!isOver) {
        try {
          other.exec('BEGIN IMMEDIATE')
          await new Promise((resolve) => setTimeout(resolve, 10))
          other.exec('COMMIT')
        } catch (error) {
          if ((error as { code?: string }).code !== 'SQLITE_BUSY') throw error
        }
        await new Promise((resolve) => setTimeout(resolve, 3))
      }
    }
    other.pragma('busy_timeout = 0')
    await Promise.all([transactions(), readers(), readers(), appends(), locks()])
    expect(faults).toEqual([])
    expect(passed).toBeGreaterThan(0)
  })
})
