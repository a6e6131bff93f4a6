/** `join: 'ambient'` in methods whose transaction is one of a library that hides its manager. */
import { attachStore, openStore, type Store } from 'recentn'
import type { DataSource } from 'typeorm'
import { describeEngine, type EngineName, freshDatabase } from '../../support/engines'
import { moment, pause as sleep } from '../../support/timing'
import { appSource, type Insert, SURROUNDING, type Surrounding, type SurroundingLibrary } from './surrounded'

const boom = new Error('boom')

export function describeSurroundings(engine: EngineName): void {
  describeEngine(engine, 'the transaction that a library has begun around a call', () => {
    for (const library of SURROUNDING) describe(library.name, () => describeSurrounding(engine, library))
  })
}

function describeSurrounding(engine: EngineName, { typeorm, open, hasSavepoints }: SurroundingLibrary): void {
  let source: DataSource
  let store: Store
  let library: Surrounding
  let drop: () => Promise<void>
  let count = 0
  const unique = () => `${engine}-${++count}`

  beforeAll(async () => {
    const database = await freshDatabase(engine)
    drop = () => database.drop()
    await openStore({ url: database.url }).then((migrated) => migrated.close())
    source = await appSource(
      typeorm,
      engine === 'sqlite'
        ? { type: 'better-sqlite3', database: database.url.slice('sqlite:'.length) }
        : { type: 'mysql', url: database.url.replace(/^mariadb:/, 'mysql:') },
    )
    await source.query('CREATE TABLE library_notes (note varchar(100) NOT NULL PRIMARY KEY)')
    store = await attachStore(source as never, { sweep: false, publish: false, tick: false, join: 'ambient' })
    library = await open(source)
  })

  afterAll(async () => {
    await library?.close()
    await store?.close()
    await source?.destroy()
    await drop?.()
  })

  /** The counts of these that are there: rows of the app's, and items. */
  const found = async (...names: string[]) =>
    Promise.all(
      names.map(async (name) => [
        (await source.query('SELECT note FROM library_notes WHERE note = ?', [name])).length,
        (await store.groups.recent(name)).items.length,
      ]),
    )
  /** Code that knows the store, and no transaction. */
  const place = async (insert: Insert, name: string) => {
    await insert(name)
    await store.groups.append(name)
  }

  it('calls of the store commit with the rows of the method, and wake who waits', async () => {
    const name = unique()
    await store.queues.put(name)
    const received = store.queues.receive(name, { waitSeconds: 10 })
    await library.run('REQUIRED', async (insert) => {
      await place(insert, name)
      await library.run('REQUIRED', (inner) => inner(`${name}inner`).then(() => store.queues.send(name, 'mail')))
    })
    expect((await received).map(({ body }) => body)).toEqual(['mail'])
    expect(await found(name, `${name}inner`)).toEqual([
      [1, 1],
      [1, 0],
    ])
  })

  it('nothing of it where the method throws', async () => {
    const name = unique()
    const failed = library.run('REQUIRED', async (insert) => {
      await place(insert, name)
      await library.run('REQUIRED', () => store.sequences.next(name))
      throw boom
    })
    await expect(failed).rejects.toThrow('boom')
    expect([await found(name), await store.sequences.next(name)]).toEqual([[[0, 0]], 1n])
  })

  it('a handler of a worker is outside, but for the method that it calls', async () => {
    const name = unique()
    await store.queues.put(name)
    await store.queues.sendMany(name, [{ body: 'a' }, { body: 'b' }])
    const worker = await library.run('REQUIRED', async () =>
      store.queues.work(name, async ({ body }) => {
        const method = async (insert: Insert) => {
          await place(insert, `${name}${body}`)
          if (body === 'b') throw boom
        }
        await library.run('REQUIRED', method).catch((error) => expect(error).toBe(boom))
        await store.groups.append(`${name}done`)
      }),
    )
    while ((await store.groups.recent(`${name}done`)).items.length < 2) await sleep(20)
    await worker.stop()
    expect(await found(`${name}a`, `${name}b`)).toEqual([
      [1, 1],
      [0, 0],
    ])
  })

  it('a call that the method did not await is no silent write', async () => {
    const name = unique()
    let late: Promise<unknown> = Promise.resolve()
    const over = moment()
    await library.run('REQUIRED', async (insert) => {
      await place(insert, name)
      late = over.reached.then(() => store.groups.append(name))
      late.catch(() => {})
    })
    over.come()
    await expect(late).rejects.toMatchObject({ code: 'closed' })
    expect(await found(name)).toEqual([[1, 1]])
  })

  if (hasSavepoints) {
    it('a nested transaction is a savepoint', async () => {
      const name = unique()
      await library.run('REQUIRED', async (insert) => {
        await place(insert, name)
        const nested = library.run('NESTED', async (inner) => {
          await place(inner, `${name}undone`)
          await store.groups.append(name)
          throw boom
        })
        await expect(nested).rejects.toBe(boom)
        await library.run('NESTED', (inner) => place(inner, `${name}kept`))
      })
      expect(await found(name, `${name}undone`, `${name}kept`)).toEqual([
        [1, 1],
        [0, 0],
        [1, 1],
      ])
    })
  }

  // TypeORM has one connection to a file, on which a second transaction is a savepoint of the first.
  if (engine === 'sqlite') return

  it('a new transaction is its own', async () => {
    const name = unique()
    await store.groups.appendMany([{ group: name }, { group: `${name}new` }])
    const failed = library.run('REQUIRED', async (insert) => {
      await place(insert, name)
      await library.run('REQUIRES_NEW', (inner) => place(inner, `${name}new`))
      await store.groups.append(name)
      throw boom
    })
    await expect(failed).rejects.toBe(boom)
    expect(await found(name, `${name}new`)).toEqual([
      [0, 1],
      [1, 2],
    ])
  })

  it('50 methods at once: rows and items commit together, or not at all', async () => {
    const names = Array.from({ length: 50 }, unique)
    await store.groups.appendMany(names.map((group) => ({ group })))
    await Promise.all(
      names.map(async (name, n) => {
        const method = async (insert: Insert) => {
          await place(insert, name)
          if (n % 3 === 0) throw boom
        }
        await library.run('REQUIRED', method).catch((error) => expect(error).toBe(boom))
      }),
    )
    expect(await found(...names)).toEqual(names.map((_, n) => (n % 3 === 0 ? [0, 1] : [1, 2])))
  })
}
