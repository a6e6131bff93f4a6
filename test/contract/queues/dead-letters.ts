import type { Message } from '../../../src/index'
import { stopwatch } from '../../support/timing'
import { type Context, eventually, refusal } from '../context'
import { bodiesOf, byNumber, handlesOf, messageIds, queueTools } from './tools'

export function describeQueueDeadLetters(context: Context): void {
  const queues = () => context.store.queues
  const { made, madeOf, filled, one, pass, idsIn } = queueTools(context)

  /** A queue with messages that are all dead in it, and their ids. */
  async function allDead(count: number): Promise<{ queue: string; ids: bigint[] }> {
    const queue = await madeOf(count, { maxReceives: 1 })
    const received = await queues().receive(queue, { limit: count })
    await queues().nackMany(queue, handlesOf(received), { error: 'no' })
    return { queue, ids: messageIds(received) }
  }

  describe('queues: dead letters', () => {
    it.each(['timeout', 'release'])('stay in the queue when it names no other: %s', async (way) => {
      const queue = await madeOf(1, { maxReceives: 2 })
      for (let count = 1; count <= 2; count++) {
        const message = await one(queue)
        expect(message.receiveCount).toBe(count)
        if (way === 'release') await queues().nack(queue, message.receiptHandle, { error: `error ${count}` })
        pass(31)
      }
      expect(await queues().receive(queue, { limit: 10 })).toEqual([])
      expect(await queues().cycle(queue, { limit: 10 })).toEqual([])
      const [dead, ...more] = (await queues().peek(queue, { state: 'dead' })).messages
      expect(more).toEqual([])
      expect(dead).toMatchObject({ state: 'dead', body: 1, receiveCount: 2, maxReceives: 2 })
      expect(dead?.lastError).toBe(way === 'release' ? 'error 2' : 'The visibility timeout ran out after 2 receives.')
      expect(dead?.lastReceivedAt).toBeInstanceOf(Date)
      pass(1_000_000)
      expect(await queues().receive(queue, { limit: 10 })).toEqual([])
    })

    it.each(['timeout', 'release'])(
      'move to the queue that is named, ready, counting again from 0: %s',
      async (way) => {
        const dead = await made({ maxReceives: 7 })
        const queue = await made({ maxReceives: 1, deadLetterQueue: dead })
        const sent = await queues().send(queue, { a: 1 }, { priority: 3, messageGroup: 'g' })
        const message = await one(queue)
        if (way === 'release') await queues().nack(queue, message.receiptHandle, { error: 'no', delaySeconds: 500 })
        else pass(31)
        expect(await queues().receive(queue)).toEqual([])
        expect(await queues().message(queue, sent.id)).toBeNull()
        const lastError = way === 'release' ? 'no' : 'The visibility timeout ran out after 1 receive.'
        expect(await queues().message(dead, sent.id)).toMatchObject({
          ...{ state: 'ready', body: { a: 1 }, receiveCount: 0, maxReceives: 7, sentAt: message.sentAt },
          ...{ priority: 3, messageGroup: 'g', lastError },
        })
        expect(await one(dead)).toMatchObject({ id: sent.id, receiveCount: 1 })
      },
    )

    it('follow a message’s own limit in place of the queue’s', async () => {
      const queue = await made({ maxReceives: 2, visibilityTimeoutSeconds: 0 })
      await filled(queue, 4, (body) => ({ maxReceives: [1, 4, null, undefined][body - 1] }))
      const counts = new Map<unknown, number>()
      for (let n = 0; n < 8; n++) {
        for (const { body, receiveCount } of await queues().receive(queue, { limit: 10 }))
          counts.set(body, receiveCount)
      }
      expect([1, 2, 3, 4].map((body) => counts.get(body))).toEqual([1, 4, 8, 2])
      const dead = (await queues().peek(queue, { state: 'dead' })).messages
      expect(dead.map(({ body, maxReceives }) => [body, maxReceives]).sort()).toEqual([
        [1, 1],
        [2, 4],
        [4, 2],
      ])
    })

    it('are moved within 2 seconds without anyone receiving', async () => {
      // In another database: messages that other tests have left are due, too.
      const url = await context.emptyDatabase()
      const { queues, dataSource } = await context.open({ url })
      const [dead, moving, staying] = ['dead', 'moving', 'staying']
      await queues.put(dead)
      await queues.put(moving, { maxReceives: 1, deadLetterQueue: dead, visibilityTimeoutSeconds: 1 })
      await queues.put(staying, { maxReceives: 1, visibilityTimeoutSeconds: 1 })
      for (const queue of [moving, staying]) await queues.send(queue, 1)
      const [moved] = (await queues.receive(moving)) as [Message]
      const [stayed] = (await queues.receive(staying)) as [Message]
      const watch = stopwatch()
      await context.open({ url, sweep: true })
      // By the rows themselves: looking through the store might be what moves them.
      const isIn = async (id: bigint, queue: string, state: number) => {
        const rows: unknown[] = await dataSource.query(
          'SELECT m.id FROM recentn_queue_messages m JOIN recentn_queues q ON q.id = m.queue_id WHERE m.id = ? AND q.queue = ? AND m.state = ?',
          [String(id), queue, state],
        )
        return rows.length === 1
      }
      const [READY, DEAD] = [0, 3]
      await eventually(20_000, 'both are dead', async () => {
        return (await isIn(moved.id, dead, READY)) && (await isIn(stayed.id, staying, DEAD))
      })
      expect(watch.isBeyond(3000)).toBe(false)
      expect(await queues.receive(dead)).toMatchObject([{ id: moved.id }])
    })

    it('pass from queue to queue', async () => {
      const c = await made()
      const b = await made({ maxReceives: 2, deadLetterQueue: c })
      const a = await made({ maxReceives: 1, deadLetterQueue: b })
      const { id } = await queues().send(a, 'x', { delaySeconds: 0 })
      for (const queue of [a, b, b, c]) {
        expect((await one(queue)).id).toBe(id)
        pass(31)
        // Any look at the queue finds that it has expired; otherwise a sweeper would.
        await queues().peek(queue)
      }
      expect(await one(c)).toMatchObject({ id, receiveCount: 2 })
      pass(31)
      // Each redrive goes one step back.
      expect(await queues().redrive(c)).toEqual({ moved: 1 })
      expect(await queues().message(b, id)).toMatchObject({ state: 'ready', receiveCount: 0 })
      expect(await queues().message(c, id)).toBeNull()
    })

    it('of many messages all arrive, once', async () => {
      const dead = await made()
      const queue = await made({ maxReceives: 1, deadLetterQueue: dead })
      const ids = await filled(queue, 700, (body) => ({ messageGroup: `g${body % 7}` }))
      await queues().receive(queue, { limit: 700 })
      pass(31)
      const other = await context.open()
      await Promise.all([queues().receive(queue), other.queues.receive(queue), queues().receive(queue, { limit: 9 })])
      expect(await queues().receive(queue, { limit: 9 })).toEqual([])
      expect((await idsIn(dead, 'ready')).sort(byNumber)).toEqual(ids)
      expect(messageIds(await queues().receive(dead, { limit: 1000 })).sort(byNumber)).toEqual(ids)
    })
  })

  describe('queues: redrive', () => {
    it('makes a queue’s own dead messages ready again, counting again from 0', async () => {
      const { queue, ids } = await allDead(3)
      expect(await queues().redrive(queue)).toEqual({ moved: 3 })
      expect(await queues().redrive(queue)).toEqual({ moved: 0 })
      const again = await queues().receive(queue, { limit: 10 })
      expect(messageIds(again).sort(byNumber)).toEqual(ids)
      for (const message of again) expect(message).toMatchObject({ receiveCount: 1, lastError: 'no' })
      pass(31)
      expect(await queues().receive(queue)).toEqual([])
      expect((await idsIn(queue, 'dead')).sort(byNumber)).toEqual(ids)
    })

    it('moves at most limit, of 1 or more', async () => {
      const { queue, ids } = await allDead(5)
      expect(await queues().redrive(queue, { limit: 2 })).toEqual({ moved: 2 })
      expect(await idsIn(queue, 'dead')).toHaveLength(3)
      expect(await queues().redrive(queue, { limit: 1_000 })).toEqual({ moved: 3 })
      expect((await idsIn(queue, 'ready')).sort(byNumber)).toEqual(ids)
      for (const limit of [0, -1, 1.5]) {
        expect((await refusal(queues().redrive(queue, { limit }))).code).toBe('invalid_input')
      }
    })

    it('moves back what came from other queues and is not in flight, and not what was sent here', async () => {
      const dead = await made()
      const a = await madeOf(3, { deadLetterQueue: dead })
      const b = await madeOf(2, { deadLetterQueue: dead })
      const fromA = await queues().receive(a, { limit: 3 })
      const fromB = await queues().receive(b, { limit: 2 })
      await queues().nackMany(a, handlesOf(fromA), { dead: true })
      await queues().nackMany(b, handlesOf(fromB), { dead: true })
      const own = await queues().send(dead, 'own')
      const [held] = await queues().receive(dead)
      expect(held?.id).toBe(fromA[0]?.id)
      expect(await queues().redrive(dead)).toEqual({ moved: 4 })
      expect(await idsIn(dead, 'ready')).toEqual([own.id])
      expect(await idsIn(dead, 'in-flight')).toEqual([held?.id])
      expect(await idsIn(a, 'ready')).toEqual(messageIds(fromA.slice(1)))
      expect((await queues().receive(b, { limit: 9 })).map(({ receiveCount }) => receiveCount)).toEqual([1, 1])
      pass(31)
      expect(await queues().redrive(dead)).toEqual({ moved: 1 })
      expect(bodiesOf(await queues().receive(dead, { limit: 9 }))).toEqual(['own'])
    })

    it('leaves what came from a queue that is gone', async () => {
      const dead = await made()
      const [gone, kept] = [await madeOf(2, { deadLetterQueue: dead }), await madeOf(1, { deadLetterQueue: dead })]
      for (const queue of [gone, kept]) {
        await queues().nackMany(queue, handlesOf(await queues().receive(queue, { limit: 9 })), { dead: true })
      }
      await queues().drop(gone)
      expect(await queues().redrive(dead)).toEqual({ moved: 1 })
      expect(await idsIn(dead, 'ready')).toHaveLength(2)
      await queues().put(gone)
      expect(await queues().redrive(dead)).toEqual({ moved: 0 })
      expect(await queues().receive(dead, { limit: 9 })).toHaveLength(2)
      expect(await idsIn(kept, 'ready')).toHaveLength(1)
    })

    it('moves any number', async () => {
      const dead = await made()
      const queue = await madeOf(1500, { deadLetterQueue: dead })
      for (let n = 0; n < 2; n++) {
        const handles = handlesOf(await queues().receive(queue, { limit: 750 }))
        await queues().nackMany(queue, handles, { dead: true })
      }
      expect(await idsIn(dead, 'ready')).toHaveLength(1500)
      expect(await queues().redrive(dead)).toEqual({ moved: 1500 })
      expect(await idsIn(queue, 'ready')).toHaveLength(1500)
    })
  })
}
