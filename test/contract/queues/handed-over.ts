import { CuttingProxy } from '../../support/cutting-proxy'
import { openedOf } from '../../support/opened'
import { soonMs } from '../../support/timing'
import { type Context, sleep } from '../context'
import { statementsOf } from '../statements'
import { bodiesOf, queueTools, range } from './tools'

/** Messages that a send gives to a receive of its process that waits. */
export function describeHandedOver(context: Context): void {
  const queues = () => context.store.queues
  const { made } = queueTools(context)
  const isInsert = (sql: string) => /^INSERT INTO recentn_queue_messages/.test(sql)
  const isClaim = (sql: string) => /^(UPDATE|WITH) .*queue_messages/s.test(sql)

  /** A store that knows the queue, and the statements that it has run since. */
  async function known(queue: string, before?: (sql: string) => Promise<unknown>) {
    const { store, statements } = await statementsOf(context, before)
    await store.queues.send(queue, 'first')
    const [first] = await store.queues.receive(queue)
    await store.queues.ack(queue, first?.receiptHandle as string)
    statements.length = 0
    return { store, statements }
  }

  const untilWaiting = async (store: typeof context.store, queue: string) => {
    while (!openedOf(store).queues.waits.awaited.includes(queue)) await sleep(5)
  }

  describe('queues: a message that is sent while a receive waits', () => {
    it('is in flight with its commit, and is as any other', async () => {
      const queue = await made({ visibilityTimeoutSeconds: 77 })
      const { store, statements } = await known(queue)
      const waiting = store.queues.receive(queue, { waitSeconds: 20, limit: 5 })
      await untilWaiting(store, queue)
      statements.length = 0
      const sent = await store.queues.sendMany(queue, [
        { body: { a: 1 }, maxReceives: 3, attributes: { trace: 'x' } },
        { body: null },
      ])
      const messages = await waiting
      // The others read the queue first.
      if (context.engine !== 'sqlite') expect(statements.filter(isClaim)).toEqual([])
      expect(messages.map(({ id, body, attributes, maxReceives }) => [id, body, attributes, maxReceives])).toEqual([
        [sent[0]?.id, { a: 1 }, { trace: 'x' }, 3],
        [sent[1]?.id, null, {}, 5],
      ])
      for (const message of messages) {
        const { receiptHandle: _, receivedAt, ...shown } = message
        expect(await queues().message(queue, message.id)).toMatchObject({
          ...shown,
          lastReceivedAt: receivedAt,
          state: 'in-flight',
        })
        expect(message).toMatchObject({ receiveCount: 1, firstReceivedAt: receivedAt })
        expect(message.visibleAt.getTime() - receivedAt.getTime()).toBe(77_000)
      }
      expect(await queues().receive(queue)).toEqual([])
      const [one, other] = messages.map(({ receiptHandle }) => receiptHandle) as [string, string]
      await queues().ack(queue, one)
      await queues().nack(queue, other, { error: 'no' })
      expect(await queues().receive(queue)).toMatchObject([{ body: null, receiveCount: 2, lastError: 'no' }])
    })

    it('has the visibility timeout that the receive asks for, and comes back after it', async () => {
      const queue = await made()
      const { store } = await known(queue)
      const waiting = store.queues.receive(queue, { waitSeconds: 20, visibilityTimeoutSeconds: 1 })
      await untilWaiting(store, queue)
      await store.queues.send(queue, 1)
      const [message] = await waiting
      expect(Number(message?.visibleAt) - Number(message?.receivedAt)).toBe(1000)
      const [again] = await store.queues.receive(queue, { waitSeconds: 5 })
      expect(again).toMatchObject({ id: message?.id, receiveCount: 2, firstReceivedAt: message?.firstReceivedAt })
    })

    it('goes to one of several receives, each message to another, and what is too much for one to the usual claims', async () => {
      const queue = await made()
      const { store } = await known(queue)
      const waiting = range(1, 3).map(() => store.queues.receive(queue, { waitSeconds: 20, limit: 2 }))
      await untilWaiting(store, queue)
      await store.queues.send(queue, 1)
      await store.queues.sendMany(queue, [{ body: 2 }, { body: 3 }, { body: 4 }])
      const received = await Promise.all(waiting)
      expect(
        received
          .flat()
          .map(({ body }) => Number(body))
          .sort(),
      ).toEqual([1, 2, 3, 4])
      expect(received.map(({ length }) => length).sort()).toEqual([1, 1, 2])
    })

    it('needs no look before the next wait, which still gets what another process has sent in between', async () => {
      const queue = await made()
      const { store, statements } = await known(queue)
      // A look is good for 200 ms, which a busy machine may need for less.
      for (let isQuiet = false; !isQuiet; ) {
        const first = store.queues.receive(queue, { waitSeconds: 20 })
        await untilWaiting(store, queue)
        await store.queues.send(queue, 'own')
        expect(bodiesOf(await first)).toEqual(['own'])
        statements.length = 0
        await queues().send(queue, 'other')
        const began = performance.now()
        const next = store.queues.receive(queue, { waitSeconds: 20 })
        isQuiet = openedOf(store).queues.waits.awaited.includes(queue) || context.engine === 'sqlite'
        if (isQuiet && context.engine !== 'sqlite') expect(statements).toEqual([])
        expect(bodiesOf(await next)).toEqual(['other'])
        expect(performance.now() - began).toBeLessThan(1000 + soonMs())
      }
    })

    it('is given back where the receive is aborted before the commit', async () => {
      const queue = await made()
      const controller = new AbortController()
      let isSent = false
      const { store } = await known(queue, async (sql) => {
        if (isSent && isInsert(sql)) controller.abort()
      })
      const waiting = store.queues.receive(queue, { waitSeconds: 20, signal: controller.signal })
      await untilWaiting(store, queue)
      isSent = true
      const [sent, received] = await Promise.all([store.queues.send(queue, 1), waiting])
      expect(received).toEqual([])
      expect(await queues().receive(queue)).toMatchObject([{ id: sent.id, receiveCount: 1 }])
    })

    it('of a queue that was paused elsewhere stays, until it is resumed', async () => {
      const queue = await made()
      const { store } = await known(queue)
      const waiting = store.queues.receive(queue, { waitSeconds: 20 })
      await untilWaiting(store, queue)
      await queues().pause(queue)
      await store.queues.send(queue, 1)
      await sleep(600)
      expect((await queues().get(queue))?.counts).toMatchObject({ ready: 1, inFlight: 0 })
      await queues().resume(queue)
      expect(bodiesOf(await waiting)).toEqual([1])
    })

    if (context.engine === 'sqlite') return

    it('is received once where the connection is cut after the commit, and the receive continues where the send fails', async () => {
      const proxy = await CuttingProxy.before(context.url)
      context.afterwards(() => proxy.close())
      const queue = await made()
      const store = await context.open({ url: proxy.through(context.url) })
      await store.queues.send(queue, 'first')
      const [first] = await store.queues.receive(queue)
      await store.queues.ack(queue, first?.receiptHandle as string)
      for (const when of ['before', 'after'] as const) {
        const waiting = store.queues.receive(queue, { waitSeconds: 20 })
        await untilWaiting(store, queue)
        const isCut = proxy.cutStatements((sql) => /COMMIT/.test(sql), when)
        const sending = store.queues.send(queue, when)
        await isCut
        const [{ id }, [message]] = await Promise.all([sending, waiting])
        expect(message).toMatchObject({ id, body: when, receiveCount: 1 })
        await store.queues.ack(queue, message?.receiptHandle as string)
        expect((await queues().get(queue))?.counts).toMatchObject({ ready: 0, inFlight: 0 })
      }
    })
  })
}
