import type { Store } from '../../../src/index'
import { type Context, idsOf, refusal, userSource } from '../context'
import { transactionTools, type Work } from '../store/transaction-tools'
import { bodiesOf, queueTools } from './tools'

const ROUNDS = 8

export function describeQueueTransactions(context: Context): void {
  const queues = () => context.store.queues
  const { made, madeOf, one, pass, idsIn } = queueTools(context)
  const { boom, WAYS, inTransaction, rolledBack, makeNotes, insert, isNoted } = transactionTools(context, 'queue_notes')

  describe('queues: in a transaction', () => {
    beforeAll(makeNotes)

    it.each(WAYS)('a send, an append and a row of the user’s are one: %s', async (_, run) => {
      const queue = await made()
      const group = context.unique()
      const work: Work = async (tx) => {
        const sent = await tx.queues.send(queue, { n: 1 }, { dedupId: 'd', messageGroup: 'g' })
        expect(sent.sent).toBe(true)
        await tx.queues.sendMany(queue, [{ body: 2 }, { body: 3, delaySeconds: 5 }])
        await tx.groups.append(group, { payload: String(sent.id) })
        await tx.manager.query(insert, [group])
        expect(await tx.queues.message(queue, sent.id)).toMatchObject({ body: { n: 1 } })
      }
      await rolledBack(run, work)
      expect(await queues().receive(queue, { limit: 10 })).toEqual([])
      expect(await idsIn(queue, 'delayed')).toEqual([])
      expect([await isNoted(group), (await context.store.groups.recent(group)).totalAppended]).toEqual([false, 0n])
      await run(work)
      expect(bodiesOf(await queues().receive(queue, { limit: 10 }))).toEqual(expect.arrayContaining([{ n: 1 }, 2]))
      expect(await idsIn(queue, 'delayed')).toHaveLength(1)
      expect([await isNoted(group), idsOf(await context.store.groups.recent(group))]).toEqual([true, [0n]])
    })

    it.each(WAYS)('a delete is one with the work that it ends: %s', async (_, run) => {
      const queue = await made()
      const note = context.unique('note')
      await queues().send(queue, note)
      const message = await one(queue)
      const work: Work = async (tx) => {
        await tx.manager.query(insert, [note])
        const settled = await tx.queues.ackMany(queue, [message.receiptHandle])
        expect(settled).toEqual({ acked: [message.receiptHandle], failed: [] })
        expect(await tx.queues.message(queue, message.id)).toBeNull()
      }
      await rolledBack(run, work)
      expect(await isNoted(note)).toBe(false)
      expect(await queues().message(queue, message.id)).toMatchObject({ state: 'in-flight', receiveCount: 1 })
      pass(25)
      expect(await queues().receive(queue)).toEqual([])
      await run(work)
      expect(await isNoted(note)).toBe(true)
      pass(31)
      expect(await queues().receive(queue)).toEqual([])
    })

    it('first messages of a priority, in transactions of the user at REPEATABLE READ, wait for each other', async () => {
      if (context.engine === 'sqlite') return // one writer at a time
      const queue = await made()
      const source = userSource(context.url)
      await source.initialize()
      context.afterwards(() => source.destroy())
      const begun = async () => {
        const runner = source.createQueryRunner()
        // MariaDB's would refuse what another transaction has written since; MySQL has no such variable.
        await runner.query('SET SESSION innodb_snapshot_isolation = OFF').catch(() => {})
        await runner.startTransaction('REPEATABLE READ')
        await runner.query('SELECT COUNT(*) FROM queue_notes')
        return runner
      }
      for (let priority = 1; priority <= ROUNDS; priority++) {
        const messageGroup = priority % 2 === 0 ? 'group' : undefined
        const sends = [await begun(), await begun(), await begun()].map(async (runner) => {
          await context.store.within(runner).queues.send(queue, priority, { priority, messageGroup })
          await runner.commitTransaction()
          await runner.release()
        })
        await Promise.all(sends)
      }
      const messages = await queues().receive(queue, { limit: 100 })
      expect(messages.map(({ body }) => body)).toEqual(
        Array.from({ length: 3 * ROUNDS }, (_, n) => ROUNDS - Math.floor(n / 3)),
      )
    })

    it.each(WAYS)('a message whose delete was rolled back comes again: %s', async (_, run) => {
      const queue = await madeOf(1)
      const first = await one(queue)
      await rolledBack(run, (tx) => tx.queues.ackMany(queue, [first.receiptHandle]))
      pass(31)
      expect(await one(queue)).toMatchObject({ id: first.id, receiveCount: 2 })
      await run(async (tx) => {
        const { failed } = await tx.queues.ackMany(queue, [first.receiptHandle])
        expect(failed).toEqual([{ receiptHandle: first.receiptHandle, code: 'stale_receipt' }])
      })
    })

    it.each(WAYS)('a receive that is rolled back gives the messages back: %s', async (_, run) => {
      const queue = await madeOf(3)
      for (const call of ['receive', 'cycle'] as const) {
        await rolledBack(run, async (tx) => {
          const received = await tx.queues[call](queue, { limit: 2 })
          expect(received.map(({ body, receiveCount }) => [body, receiveCount])).toEqual([
            [1, 1],
            [2, 1],
          ])
        })
      }
      expect(await idsIn(queue, 'in-flight')).toEqual([])
      let handles: string[] = []
      await run(async (tx) => {
        const received = await tx.queues.receive(queue, { limit: 2 })
        expect(bodiesOf(received)).toEqual([1, 2])
        handles = received.map(({ receiptHandle }) => receiptHandle)
        await tx.queues.ack(queue, handles[0] ?? '')
      })
      expect((await queues().ackMany(queue, handles)).acked).toEqual([handles[1]])
      expect(bodiesOf(await queues().receive(queue, { limit: 9 }))).toEqual([3])
    })

    it.each(WAYS)('nack, extend, redrive, purge and the attributes roll back too: %s', async (_, run) => {
      const queue = await madeOf(4)
      const [a, b, c] = (await queues().receive(queue, { limit: 3 })).map(({ receiptHandle }) => receiptHandle) as [
        string,
        string,
        string,
      ]
      await queues().nack(queue, c, { dead: true })
      await rolledBack(run, async (tx) => {
        await tx.queues.nack(queue, a, { dead: true })
        await tx.queues.extend(queue, b, { visibilityTimeoutSeconds: 1000 })
        expect(await tx.queues.redrive(queue)).toEqual({ moved: 2 })
        expect((await tx.queues.purge(queue)).deleted).toBe(3)
        await tx.queues.put(queue, { visibilityTimeoutSeconds: 1 })
        await tx.queues.pause(queue)
        expect(await tx.queues.receive(queue)).toEqual([])
      })
      expect(await queues().get(queue)).toMatchObject({ paused: false, visibilityTimeoutSeconds: 30 })
      expect(await idsIn(queue, 'dead')).toHaveLength(1)
      expect(bodiesOf(await queues().receive(queue))).toEqual([4])
      pass(31)
      expect(bodiesOf(await queues().receive(queue, { limit: 9 })).sort()).toEqual([1, 2, 4])
    })

    it.each(WAYS)('a queue is made and dropped in one: %s', async (_, run) => {
      const [queue, kept] = [context.unique('q'), await madeOf(2)]
      await rolledBack(run, async (tx) => {
        expect(await tx.queues.put(queue)).toMatchObject({ created: true })
        await tx.queues.send(queue, 1)
        expect(await tx.queues.drop(kept)).toBe(true)
        expect(await tx.queues.get(kept)).toBeNull()
      })
      expect(await queues().get(queue)).toBeNull()
      expect((await refusal(queues().send(queue, 1))).code).toBe('queue_not_found')
      expect(bodiesOf(await queues().receive(kept, { limit: 9 }))).toEqual([1, 2])
      await run(async (tx) => {
        await tx.queues.put(queue)
        await tx.queues.send(queue, 'x')
        await tx.queues.drop(kept)
      })
      expect(await one(queue)).toMatchObject({ body: 'x' })
      expect((await refusal(queues().receive(kept))).code).toBe('queue_not_found')
    })

    it.each(WAYS)('waiting is refused, as is what is wrong elsewhere: %s', async (_, run) => {
      const queue = await madeOf(1)
      await run(async (tx) => {
        expect((await refusal(tx.queues.receive(queue, { waitSeconds: 1 }))).code).toBe('invalid_input')
        expect((await refusal(tx.queues.send(queue, undefined as unknown))).code).toBe('invalid_input')
        expect((await refusal(tx.queues.send(context.unique('no'), 1))).code).toBe('queue_not_found')
        expect(bodiesOf(await tx.queues.receive(queue, { waitSeconds: 0 }))).toEqual([1])
      })
    })

    it('operations begun at once take turns', async () => {
      const queue = await made()
      await context.store.transaction(async (tx) => {
        const within = context.store.within(tx.manager)
        const sends = Array.from({ length: 12 }, (_, n) => (n % 2 ? tx : within).queues.send(queue, n))
        expect(new Set((await Promise.all(sends)).map(({ id }) => id)).size).toBe(12)
        const received = await Promise.all([
          tx.queues.receive(queue, { limit: 5 }),
          within.queues.receive(queue, { limit: 5 }),
          tx.queues.receive(queue, { limit: 5 }),
        ])
        expect(received.map(({ length }) => length).sort()).toEqual([2, 5, 5])
      })
      expect(await idsIn(queue, 'in-flight')).toHaveLength(12)
    })

    it('effectively once: each message moves its own count, whatever is rolled back', async () => {
      const [from, to] = [await made({ maxReceives: null }), await made()]
      await queues().sendMany(
        from,
        Array.from({ length: 30 }, (_, n) => ({ body: n })),
      )
      const other = await context.open()
      const mover = async (store: Store, n: number) => {
        for (let round = 0; ; round++) {
          const received = await store.queues.receive(from, { limit: 4, visibilityTimeoutSeconds: 0 })
          if (received.length === 0) return
          for (const { receiptHandle, body } of received) {
            const move = inTransaction(async (tx) => {
              const { acked: deleted } = await tx.queues.ackMany(from, [receiptHandle])
              if (deleted.length === 1) await tx.queues.send(to, body)
              if ((round + n) % 3 === 0) throw boom
            }, store)
            await move.catch((error) => {
              if (error !== boom) throw error
            })
          }
        }
      }
      await Promise.all([mover(context.store, 0), mover(other, 1), mover(context.store, 2)])
      const moved = bodiesOf(await queues().receive(to, { limit: 100 })) as number[]
      expect(moved.sort((a, b) => a - b)).toEqual(Array.from({ length: 30 }, (_, n) => n))
    })
  })
}
