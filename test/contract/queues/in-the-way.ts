/** What stands in the way of queues: a user's open transaction, an old memory, a garbled handle, much at once. */
import { attachStore } from '../../../src/index'
import { type Context, eventually, refusal, userSource } from '../context'
import { bodiesOf, handlesOf, queueTools, range, timed } from './tools'

interface Connection {
  query(sql: string): void
}

export function describeQueuesInTheWay(context: Context): void {
  const queues = () => context.store.queues
  const { made, madeOf, filled, one, pass, idsIn } = queueTools(context)
  const isServer = context.engine !== 'sqlite'
  /** SQLite has one connection, whose transactions follow each other, and commits by itself. */
  const onServers = (title: string, test: () => Promise<void>, ms?: number) => {
    if (isServer) it(title, test, ms)
  }

  describe('queues: in the way', () => {
    onServers(
      'an open transaction that has sent keeps nobody from receiving, nor other queues from their dead',
      async () => {
        const busy = await madeOf(2)
        const other = await madeOf(1, { maxReceives: 1, visibilityTimeoutSeconds: 1 })
        await one(other)
        await filled(busy, 1, () => ({ delaySeconds: 1 }))
        const runner = context.store.dataSource.createQueryRunner()
        await runner.startTransaction()
        try {
          await context.store.within(runner).queues.send(busy, 'open')
          pass(2)
          const { answer, ms } = await timed(queues().receive(busy, { max: 2 }))
          expect(bodiesOf(answer)).toEqual([1, 2])
          expect(ms).toBeLessThan(2000)
          expect((await timed(queues().get(busy))).ms).toBeLessThan(2000)
          await context.open({ sweep: true })
          await eventually(2000, 'the other is dead', async () => (await idsIn(other, 'dead')).length === 1)
        } finally {
          await runner.rollbackTransaction()
          await runner.release()
        }
        expect(await queues().receive(busy, { max: 5 })).toHaveLength(1)
      },
      20_000,
    )

    onServers(
      'an open transaction that has received keeps nobody from receiving of another queue, where there are few messages',
      async () => {
        const store = await context.open({ url: await context.emptyDatabase() })
        for (const queue of ['a', 'b']) await store.queues.put(queue)
        for (const queue of ['a', 'b']) await store.queues.send(queue, 1)
        const runner = store.dataSource.createQueryRunner()
        await runner.startTransaction()
        try {
          expect(await store.within(runner).queues.receive('a')).toHaveLength(1)
          const { answer, ms } = await timed(store.queues.receive('b'))
          expect(bodiesOf(answer)).toEqual([1])
          expect(ms).toBeLessThan(3000)
        } finally {
          await runner.rollbackTransaction()
          await runner.release()
        }
      },
      30_000,
    )

    it('a receiver round and round knows a queue that was made anew', async () => {
      const other = context.engine === 'sqlite' ? context.store : await context.open()
      const queue = await madeOf(1)
      expect(await other.queues.receive(queue, { order: 'cycle' })).toHaveLength(1)
      await queues().deleteQueue(queue)
      await queues().put(queue, { maxReceives: 9 })
      await filled(queue, 2)
      const [message, second] = await other.queues.receive(queue, { order: 'cycle', max: 2 })
      expect(message?.maxReceives).toBe(9)
      const handle = message?.receiptHandle ?? ''
      expect(await queues().delete(queue, handle)).toEqual({ deleted: [handle], failed: [] })
      const last = second?.receiptHandle ?? ''
      expect(await other.queues.delete(queue, last)).toEqual({ deleted: [last], failed: [] })
    })

    it('an old handle beside the good one of the same message is told apart', async () => {
      const queue = await madeOf(1, { visibilityTimeoutSeconds: 1 })
      const [old] = handlesOf(await queues().receive(queue)) as [string]
      pass(2)
      const [good] = handlesOf(await queues().receive(queue)) as [string]
      const failed = [{ receiptHandle: old, code: 'stale_receipt' }]
      const visibility = { visibilityTimeoutSeconds: 30 }
      expect(await queues().extend(queue, [old, good], visibility)).toEqual({ extended: [good], failed })
      expect(await queues().delete(queue, [old, good])).toEqual({ deleted: [good], failed })
    })

    it('a handle with an id beyond the last BIGINT is none', async () => {
      const queue = await madeOf(1)
      const [handle] = handlesOf(await queues().receive(queue)) as [string]
      const forged = Buffer.from(handle, 'base64url')
      forged.writeBigUInt64BE(2n ** 63n, 0)
      const { failed } = await queues().delete(queue, forged.toString('base64url'))
      expect(failed.map(({ code }) => code)).toEqual(['invalid_receipt'])
    })

    it('a visibility timeout of 0 counts no receive that nobody got', async () => {
      const stores = isServer ? [context.store, await context.open(), await context.open()] : [context.store]
      const queue = await madeOf(20, { visibilityTimeoutSeconds: 0 })
      const got: unknown[] = []
      await Promise.all(
        stores.map(async (store) => {
          for (const _ of range(1, 20)) got.push(...(await store.queues.receive(queue, { max: 5 })))
        }),
      )
      const { messages } = await queues().peek(queue, { limit: 100 })
      expect(messages).toHaveLength(20)
      expect(messages.reduce((sum, { receiveCount }) => sum + receiveCount, 0)).toBe(got.length)
    }, 20_000)

    it('many large bodies, in letters that take the most room, are sent whole and come a few at a time', async () => {
      const queue = await made()
      const body = `${'語'.repeat(66_000)}\n`
      await queues().sendMany(
        queue,
        Array.from({ length: 250 }, () => ({ body })),
      )
      const first = await queues().receive(queue, { max: 1000 })
      const more = await queues().receive(queue, { max: 1000 })
      expect(first.length).toBeGreaterThan(1)
      expect(first.length + more.length).toBe(250)
      expect([...first, ...more].every((message) => message.body === body)).toBe(true)
    }, 30_000)

    it('a clock that was set back does not keep a dedup id for longer', async () => {
      const queue = await made()
      pass(3600)
      await queues().send(queue, 1, { dedupId: 'd' })
      pass(-3600)
      expect(await queues().send(queue, 2, { dedupId: 'd' })).toMatchObject({ sent: true })
      expect(await queues().send(queue, 3, { dedupId: 'd' })).toMatchObject({ sent: false })
      pass(3600) // the clock of the file only ever goes on
    })

    onServers('a DataSource whose connections don’t commit by themselves is refused', async () => {
      const source = userSource(context.url)
      await source.initialize()
      context.afterwards(() => source.destroy())
      const { pool } = source.driver as unknown as {
        pool: { on(event: string, work: (one: Connection) => void): void }
      }
      pool.on('connection', (connection) => connection.query('SET SESSION autocommit = 0'))
      const first = source.createQueryRunner() // the connection that was there before
      await first.connect()
      try {
        expect((await refusal(attachStore(source))).code).toBe('database_refused')
      } finally {
        await first.release()
      }
    })

    it('what is due by the hundreds keeps nobody waiting who asks for one', async () => {
      const queue = await madeOf(3000, {}, () => ({ delaySeconds: 1 }))
      pass(2)
      await one(queue).catch(() => {})
      expect(await idsIn(queue, 'delayed')).not.toEqual([])
      const rest: unknown[] = []
      for (let got = 1; got > 0; ) {
        got = (await queues().receive(queue, { max: 1000 })).length
        rest.push(...Array(got))
      }
      expect(rest.length).toBeGreaterThanOrEqual(2990)
    }, 30_000)
  })
}
