/** Obstacles for queues: a user's open transaction, an old memory, a garbled handle, much at once. */
import type { DataSource } from 'typeorm'
import { attachStore, type Store } from '../../../src/index'
import { SOON_MS, soonMs } from '../../support/timing'
import { type Context, eventually, refusal, sleep, userSource } from '../context'
import { bodiesOf, handlesOf, queueTools, range, timed } from './tools'

/** Runs the statement on each connection to come. */
function eachConnection({ driver }: DataSource, statement: string): void {
  const { pool } = driver as unknown as {
    pool: { on(event: string, work: (one: { query(sql: string): void }) => void): void }
  }
  pool.on('connection', (connection) => connection.query(statement))
}

/** A statement that waits for a lock takes so long at least. */
const LOCK_WAIT_MS = 4_500

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
      'an open transaction that has sent keeps no other caller from receiving, nor other queues from their dead',
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
          const { answer, ms } = await timed(queues().receive(busy, { limit: 2 }))
          expect(bodiesOf(answer)).toEqual([1, 2])
          expect(ms).toBeLessThan(soonMs())
          expect((await timed(queues().get(busy))).ms).toBeLessThan(soonMs())
          await context.open({ sweep: true })
          await eventually(SOON_MS, 'the other is dead', async () => (await idsIn(other, 'dead')).length === 1)
        } finally {
          await runner.rollbackTransaction()
          await runner.release()
        }
        expect(await queues().receive(busy, { limit: 5 })).toHaveLength(1)
      },
    )

    /** Runs `test` while a transaction of a user's, which has done `work`, is open. */
    async function whileOpen(work: (held: Store['queues']) => Promise<unknown>, test: () => Promise<void>) {
      const runner = context.store.dataSource.createQueryRunner()
      await runner.startTransaction()
      try {
        await work(context.store.within(runner).queues as Store['queues'])
        await test()
      } finally {
        await runner.rollbackTransaction()
        await runner.release()
      }
    }

    /** A queue with messages of two priorities of which one is about to die, while the other comes back. */
    async function nearDeath(letters: string) {
      const queue = await made({ visibilityTimeoutSeconds: 1, maxReceives: 9, deadLetterQueue: letters })
      await queues().send(queue, 'dying', { maxReceives: 1 })
      await queues().send(queue, 'back', { priority: 1 })
      expect(await queues().receive(queue, { limit: 2 })).toHaveLength(2)
      pass(2)
      return queue
    }

    onServers('who looks at what is due waits for no open transaction that changes the queue', async () => {
      const queue = await madeOf(2, { visibilityTimeoutSeconds: 1 })
      await queues().receive(queue, { limit: 2 })
      pass(2)
      await whileOpen(
        (held) => held.put(queue, { maxReceives: 7 }),
        async () => {
          const { answer, ms } = await timed(queues().peek(queue, { state: 'in-flight' }))
          expect([bodiesOf(answer.messages), ms < soonMs(LOCK_WAIT_MS)]).toEqual([[1, 2], true])
        },
      )
      expect(await queues().receive(queue, { limit: 5 })).toHaveLength(2)
    })

    onServers('an open transaction that has sent to the dead-letter queue keeps no caller waiting', async () => {
      const letters = await made()
      const queue = await nearDeath(letters)
      await whileOpen(
        // Delayed, or of another priority, it holds nothing that a dead letter needs.
        (held) =>
          held.sendMany(letters, [
            { body: 1, delaySeconds: 100 },
            { body: 2, priority: 5 },
          ]),
        async () => {
          const { answer, ms } = await timed(queues().receive(queue, { limit: 5 }))
          expect([bodiesOf(answer), ms < soonMs(LOCK_WAIT_MS)]).toEqual([['back'], true])
          expect(bodiesOf((await queues().peek(letters)).messages)).toEqual(['dying'])
        },
      )
    })

    onServers(
      'what is to die waits for an open transaction that has sent there alike, and nothing else does',
      async () => {
        const letters = await madeOf(1)
        await queues().pause(letters)
        const queue = await nearDeath(letters)
        await whileOpen(
          (held) => held.send(letters, 'open'),
          async () => {
            const { answer, ms } = await timed(queues().receive(queue, { limit: 5 }))
            expect([bodiesOf(answer), ms < soonMs(LOCK_WAIT_MS)]).toEqual([['back'], true])
            expect(bodiesOf((await queues().peek(letters)).messages)).toEqual([1])
          },
        )
        await queues().peek(queue)
        expect(bodiesOf((await queues().peek(letters)).messages)).toEqual([1, 'dying'])
      },
    )

    onServers('a caller that was late learns it, however long its delete has waited for one that was not', async () => {
      const source = userSource(context.url)
      await source.initialize()
      context.afterwards(() => source.destroy())
      const soon = 'SET SESSION innodb_lock_wait_timeout = 1'
      eachConnection(source, soon)
      await source.query(soon) // by the connection that was there before
      const late = await attachStore(source, { sweep: false, publish: false })
      context.afterwards(() => late.close())
      for (const count of [1, 2]) {
        const queue = await madeOf(count)
        const old = handlesOf(await queues().receive(queue, { limit: count }))
        pass(31)
        const good = handlesOf(await queues().receive(queue, { limit: count }))
        const runner = context.store.dataSource.createQueryRunner()
        await runner.startTransaction()
        const { acked: deleted } = await context.store.within(runner).queues.ackMany(queue, good)
        const told = late.queues.ackMany(queue, old)
        await sleep(1_500) // its first try has waited in vain, the second one waits
        await runner.commitTransaction()
        await runner.release()
        expect(deleted).toEqual(good)
        expect(await told).toEqual({
          acked: [],
          failed: old.map((receiptHandle) => ({ receiptHandle, code: 'stale_receipt' })),
        })
      }
    })

    onServers(
      'an open transaction that has received keeps no caller from receiving of another queue, where there are few messages',
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
          expect(ms).toBeLessThan(soonMs())
        } finally {
          await runner.rollbackTransaction()
          await runner.release()
        }
      },
    )

    it('a receiver round and round knows a queue that was made again', async () => {
      const other = context.engine === 'sqlite' ? context.store : await context.open()
      const queue = await madeOf(1)
      expect(await other.queues.cycle(queue)).toHaveLength(1)
      await queues().drop(queue)
      await queues().put(queue, { maxReceives: 9 })
      await filled(queue, 2)
      const [message, second] = await other.queues.cycle(queue, { limit: 2 })
      expect(message?.maxReceives).toBe(9)
      const handle = message?.receiptHandle ?? ''
      expect(await queues().ackMany(queue, [handle])).toEqual({ acked: [handle], failed: [] })
      const last = second?.receiptHandle ?? ''
      expect(await other.queues.ackMany(queue, [last])).toEqual({ acked: [last], failed: [] })
    })

    it('a process that knows the queue from before sees what is due in the one that was made again', async () => {
      const other = await context.open()
      const queue = await madeOf(1)
      expect(await other.queues.receive(queue)).toHaveLength(1)
      await queues().drop(queue)
      await queues().put(queue)
      await filled(queue, 1, () => ({ delaySeconds: 10 }))
      pass(11)
      expect(bodiesOf((await other.queues.peek(queue)).messages)).toEqual([1])
    })

    it('an old handle beside the good one of the same message is distinguished', async () => {
      const queue = await madeOf(1, { visibilityTimeoutSeconds: 1 })
      const [old] = handlesOf(await queues().receive(queue)) as [string]
      pass(2)
      const [good] = handlesOf(await queues().receive(queue)) as [string]
      const failed = [{ receiptHandle: old, code: 'stale_receipt' }]
      const visibility = { visibilityTimeoutSeconds: 30 }
      expect(await queues().extendMany(queue, [old, good], visibility)).toEqual({ extended: [good], failed })
      expect(await queues().ackMany(queue, [old, good])).toEqual({ acked: [good], failed })
    })

    it('a handle with an id beyond the last BIGINT is none', async () => {
      const queue = await madeOf(1)
      const [handle] = handlesOf(await queues().receive(queue)) as [string]
      const forged = Buffer.from(handle, 'base64url')
      forged.writeBigUInt64BE(2n ** 63n, 0)
      const { failed } = await queues().ackMany(queue, [forged.toString('base64url')])
      expect(failed.map(({ code }) => code)).toEqual(['invalid_receipt'])
    })

    it('a visibility timeout of 0 counts no receive that no caller got', async () => {
      const stores = isServer ? [context.store, await context.open(), await context.open()] : [context.store]
      const queue = await madeOf(20, { visibilityTimeoutSeconds: 0, maxReceives: null })
      const got: unknown[] = []
      await Promise.all(
        stores.map(async (store) => {
          for (const _ of range(1, 20)) got.push(...(await store.queues.receive(queue, { limit: 5 })))
        }),
      )
      const { messages } = await queues().peek(queue, { limit: 100 })
      expect(messages).toHaveLength(20)
      expect(messages.reduce((sum, { receiveCount }) => sum + receiveCount, 0)).toBe(got.length)
    })

    it('many large bodies, in letters that take the most room, are sent whole and come a few at a time', async () => {
      const queue = await made()
      const body = `${'語'.repeat(66_000)}\n`
      await queues().sendMany(
        queue,
        Array.from({ length: 250 }, () => ({ body })),
      )
      const first = await queues().receive(queue, { limit: 1000 })
      const more = await queues().receive(queue, { limit: 1000 })
      expect(first.length).toBeGreaterThan(1)
      expect(first.length + more.length).toBe(250)
      expect([...first, ...more].every((message) => message.body === body)).toBe(true)
    })

    it('a clock that was set back does not keep a dedup id for longer', async () => {
      const queue = await made()
      pass(3600)
      await queues().send(queue, 1, { dedupId: 'd' })
      pass(-3600)
      expect(await queues().send(queue, 2, { dedupId: 'd' })).toMatchObject({ sent: true })
      expect(await queues().send(queue, 3, { dedupId: 'd' })).toMatchObject({ sent: false })
      pass(3600) // the clock of the file only ever goes forward
    })

    onServers('a DataSource whose connections don’t commit by themselves is refused', async () => {
      const source = userSource(context.url)
      await source.initialize()
      context.afterwards(() => source.destroy())
      eachConnection(source, 'SET SESSION autocommit = 0')
      const first = source.createQueryRunner() // the connection that was there before
      await first.connect()
      try {
        expect((await refusal(attachStore(source))).code).toBe('database_refused')
      } finally {
        await first.release()
      }
    })

    it('hundreds of due messages keep no caller waiting that asks for one', async () => {
      const queue = await madeOf(3000, {}, () => ({ delaySeconds: 1 }))
      pass(2)
      await one(queue).catch(() => {})
      expect(await idsIn(queue, 'delayed')).not.toEqual([])
      const rest: unknown[] = []
      for (let got = 1; got > 0; ) {
        got = (await queues().receive(queue, { limit: 1000 })).length
        rest.push(...Array(got))
      }
      expect(rest.length).toBeGreaterThanOrEqual(2990)
    })
  })
}
