import type { DataSource, EntityManager, QueryRunner } from 'typeorm'
import { sessionOf } from '../../../src/database/attached/attach'
import type { Session, Tx } from '../../../src/database/engine'
import { attachStore, openStore, type Transaction } from '../../../src/index'
import { isIn } from '../../../src/shared/scopes'
import { innerOf } from '../../../src/store/inner'
import { CuttingProxy } from '../../support/cutting-proxy'
import { type Context, refusal } from '../context'

/** Work after a commit, whichever code began the transaction: once, and never after a rollback. */
export function describeAfterCommit(context: Context): void {
  const source = (): DataSource => context.store.dataSource
  const boom = new Error('boom')
  let heard: string[]

  beforeEach(() => {
    heard = []
  })

  beforeAll(() => context.store.dataSource.query('CREATE TABLE commit_notes (note varchar(100) NOT NULL PRIMARY KEY)'))

  /** An operation as those of the repositories: it says what to tell, and writes. */
  const noting = (name: string, error?: Error) => async (tx: Tx) => {
    tx.afterCommit(() => heard.push(name))
    await tx.run('INSERT INTO commit_notes (note) VALUES (?)', [`${name}${context.unique()}`])
    if (error) throw error
  }
  const note = (session: Session, name: string, error?: Error) => session.write(noting(name, error))
  const within = (manager: EntityManager | QueryRunner) => sessionOf(manager)

  async function onRunner(work: (runner: QueryRunner) => Promise<unknown>): Promise<void> {
    const runner = source().createQueryRunner()
    try {
      await work(runner)
    } finally {
      await runner.release()
    }
  }

  describe('a listener for commits', () => {
    it('is called once, in the order in which it was said', async () => {
      const session = sessionOf(source())
      await session.write(async (tx) => {
        await noting('a')(tx)
        await noting('b')(tx)
        expect(heard).toEqual([])
      })
      expect(heard).toEqual(['a', 'b'])
    })

    it('is counted then, whoever began the transaction, and nothing of a rollback', async () => {
      const store = await context.open()
      const [name, archived] = [context.unique(), context.unique('archived')]
      await store.queues.put(name)
      await store.queues.put(archived, { onAck: 'archive' })
      const work = async ({ groups, queues, feeds }: Transaction, event: string) => {
        await groups.append(name, { eventId: event })
        await groups.appendMany([{ group: name }, { group: name, eventId: event }])
        await queues.sendMany(name, [{ body: 1 }, { body: 2 }, { body: 3, dedupId: event }])
        await queues.send(name, 4, { dedupId: event })
        await queues.send(archived, 1)
        const handles = (await queues.receive(name, { limit: 3 })).map(({ receiptHandle }) => receiptHandle)
        const [kept] = await queues.receive(archived)
        await queues.ack(name, handles[0] as string)
        await queues.nack(name, handles[1] as string)
        await queues.extend(name, handles[2] as string, { visibilityTimeoutSeconds: 60 })
        await queues.ack(archived, kept?.receiptHandle as string)
        await feeds.putMany(name, [
          { key: 'a', value: 1 },
          { key: 'b', value: 2 },
        ])
        await refusal(queues.send(`${name}none`, 1))
        expect(counted()).toEqual(before)
      }
      const counted = () => {
        const { itemsAppended, messagesSent, messagesReceived, messagesAcked, entriesWritten, ...others } =
          innerOf(store).counts()
        const { itemsDeduplicated, messagesDeduplicated, messagesNacked, messagesExtended } = others
        return [
          [itemsAppended, itemsDeduplicated, entriesWritten],
          [messagesSent, messagesDeduplicated, messagesReceived],
          [messagesAcked, messagesNacked, messagesExtended],
        ]
      }
      const of = (times: number) =>
        [
          [2, 1, 2],
          [4, 1, 4],
          [2, 1, 1],
        ].map((row) => row.map((count) => count * times))
      let before = counted()
      await store.transaction((tx) => work(tx, 'first'))
      expect(counted()).toEqual(of(1))
      before = counted()
      await store.dataSource.transaction((manager) => work(store.within(manager), 'second'))
      expect(counted()).toEqual(of(2))
      before = counted()
      const failed = store.transaction(async (tx) => {
        await work(tx, 'third')
        throw boom
      })
      await expect(failed).rejects.toBe(boom)
      expect(counted()).toEqual(of(2))
    })

    it('is not called for a transaction that failed, or of a try that was run again', async () => {
      const session = sessionOf(source())
      await expect(note(session, 'a', boom)).rejects.toBe(boom)
      expect(heard).toEqual([])
      let tries = 0
      await session.write(async (tx) => {
        await noting(`try ${++tries}`)(tx)
        // As a deadlock is: the transaction runs again as a whole.
        if (tries === 1) throw conflictOf(context.engine)
      })
      expect(heard).toEqual(['try 2'])
    })

    it("follows a transaction of the DataSource, and a rollback of it, and TypeORM's nested ones", async () => {
      await source().transaction(async (manager) => {
        await note(within(manager), 'outer')
        await manager.transaction((inner) => note(within(inner), 'inner'))
        const failed = manager.transaction(async (inner) => {
          await note(within(inner), 'taken back')
          throw boom
        })
        await expect(failed).rejects.toBe(boom)
        await note(within(manager), 'last')
        expect(heard).toEqual([])
      })
      expect(heard).toEqual(['outer', 'inner', 'last'])
      heard = []
      const failed = source().transaction(async (manager) => {
        await note(within(manager), 'never')
        throw boom
      })
      await expect(failed).rejects.toBe(boom)
      expect(heard).toEqual([])
    })

    it('is not called for an operation that failed, where the transaction went on', async () => {
      await source().transaction(async (manager) => {
        await note(within(manager), 'before')
        await expect(note(within(manager), 'failed', boom)).rejects.toBe(boom)
        await note(within(manager), 'after')
      })
      expect(heard).toEqual(['before', 'after'])
    })

    it('follows savepoints that the caller makes by SQL', async () => {
      await source().transaction(async (manager) => {
        await note(within(manager), 'before')
        await manager.query('SAVEPOINT mine')
        await note(within(manager), 'back')
        await manager.query('rollback to savepoint MINE')
        await note(within(manager), 'after')
        await manager.query('RELEASE SAVEPOINT mine')
      })
      expect(heard).toEqual(['before', 'after'])
    })

    it("follows a query runner's transactions, one after the other, and replaces nothing of it", async () => {
      await onRunner(async (runner) => {
        const before = runner.query
        await runner.startTransaction()
        await note(within(runner), 'first')
        await note(within(runner), 'second')
        expect([Object.hasOwn(runner, 'query'), runner.query === before]).toEqual([false, true])
        await runner.commitTransaction()
        expect(heard).toEqual(['first', 'second'])
        await runner.startTransaction()
        await note(within(runner), 'rolled back')
        await runner.rollbackTransaction()
        await runner.startTransaction()
        await note(within(runner), 'third')
        await runner.commitTransaction()
        expect(heard).toEqual(['first', 'second', 'third'])
        expect([Object.hasOwn(runner, 'query'), runner.query === before]).toEqual([false, true])
      })
    })

    it('what is within a transaction takes no part in the next one of its runner', async () => {
      await onRunner(async (runner) => {
        await runner.startTransaction()
        const session = within(runner)
        await note(session, 'one')
        await runner.commitTransaction()
        await runner.startTransaction()
        expect((await refusal(note(session, 'late'))).code).toBe('closed')
        await note(within(runner), 'two')
        await runner.commitTransaction()
      })
      expect(heard).toEqual(['one', 'two'])
    })

    it('is called outside of the transaction, when its connection is free for others', async () => {
      const store = await context.open({ poolSize: 1 })
      const inside: boolean[] = []
      const told: Promise<unknown>[] = []
      const session = sessionOf(store.dataSource)
      const look = () => {
        inside.push(isIn(store.dataSource))
        told.push(store.groups.recent(context.unique()))
      }
      await session.write(async (tx) => tx.afterCommit(look))
      await store.dataSource.transaction(async (manager) => {
        await within(manager).write(async (tx) => tx.afterCommit(look))
      })
      expect(inside).toEqual([false, false])
      expect(await Promise.all(told)).toHaveLength(2)
    })

    if (context.engine === 'sqlite') return

    it.each(['during', 'after'] as const)(
      'is called for a commit that was cut off %s it, where it arrived',
      async (moment) => {
        const proxy = await CuttingProxy.before(context.url)
        context.afterwards(() => proxy.close())
        const store = await openStore({ url: proxy.through(context.url), sweep: false, publish: false })
        context.afterwards(() => store.close())
        const session = sessionOf(store.dataSource)
        const name = context.unique()
        await session.write((tx) => tx.rows('SELECT 1'))
        const cut = proxy.cutCommits(moment)
        // Locking, as a mark is looked for: it waits for a commit that is under way.
        const arrived = async (tx: Tx) =>
          (await tx.rows(`SELECT 1 FROM commit_notes WHERE note = ?${tx.engine.forUpdate}`, [name])).length === 1
        let tries = 0
        const write = async (tx: Tx) => {
          tries++
          tx.afterCommit(() => heard.push(name))
          await tx.run('INSERT INTO commit_notes (note) VALUES (?)', [name])
        }
        await session.write(write, { arrived })
        await cut
        expect([heard, tries >= 1]).toEqual([[name], true])
      },
    )

    it('is not called where it is unknown whether the commit arrived', async () => {
      const proxy = await CuttingProxy.before(context.url)
      context.afterwards(() => proxy.close())
      const { dataSource } = await context.open({ url: proxy.through(context.url) })
      // Without work in the background, of which the proxy could cut a commit in the place of this one.
      const store = await attachStore(dataSource, { sweep: false, publish: false, tick: false })
      context.afterwards(() => store.close())
      const session = sessionOf(store.dataSource)
      await session.write((tx) => tx.rows('SELECT 1'))
      const cut = proxy.cutCommits('before')
      const { code } = await refusal(note(session, 'lost'))
      await cut
      expect([code, heard]).toEqual(['outcome_unknown', []])
    })
  })
}

function conflictOf(engine: string): Error {
  const code = engine === 'sqlite' ? { code: 'SQLITE_BUSY' } : { errno: 1213, code: 'ER_LOCK_DEADLOCK' }
  return Object.assign(new Error('deadlock'), code)
}
