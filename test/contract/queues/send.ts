import type { NewMessage, SendOptions } from '../../../src/shared/queue-types'
import { type Context, refusal } from '../context'
import { bodiesOf, byNumber, messageIds, queueTools, range } from './tools'

export function describeQueueSends(context: Context): void {
  const queues = () => context.store.queues
  const { made, madeOf, filled, one, pass, idsIn } = queueTools(context)

  describe('queues: send', () => {
    it('gives ids that grow, over all queues and in the order given', async () => {
      const [a, b] = [await made(), await made()]
      const ids: bigint[] = []
      for (const queue of [a, b, a]) {
        const sent = await queues().send(queue, { n: ids.length })
        expect(sent).toEqual({ id: expect.any(BigInt), sent: true })
        ids.push(sent.id)
        ids.push(...messageIds(await queues().sendMany(queue, [{ body: 1 }, { body: 2 }, { body: 3 }])))
      }
      expect([...ids].sort(byNumber)).toEqual(ids)
      expect(new Set(ids).size).toBe(12)
      expect(await idsIn(b, 'ready')).toEqual(ids.slice(4, 8))
    })

    it('stores 1,000 at once, or none when something is wrong with one, and names every fault', async () => {
      const queue = await made()
      const messages: NewMessage[] = range(0, 999).map((body) => ({ body }))
      expect(await queues().sendMany(queue, messages)).toHaveLength(1000)
      const bad = (at: number, wrong: object) => {
        messages[at] = { body: 1, ...wrong } as NewMessage
      }
      bad(3, { body: [undefined] })
      bad(7, { priority: 1001, delaySeconds: -1 })
      bad(8, { visibilityTimeoutSeconds: 43_201, maxReceives: -1 })
      bad(9, { dedupId: '', messageGroup: '..' })
      bad(999, { body: Number.NaN })
      const error = await refusal(queues().sendMany(queue, messages))
      expect(error.code).toBe('invalid_input')
      expect(error.faults.map(({ pointer }) => pointer?.replace(/^\/messages/, '')).sort()).toEqual([
        '/3/body',
        '/7/delaySeconds',
        '/7/priority',
        '/8/maxReceives',
        '/8/visibilityTimeoutSeconds',
        '/9/dedupId',
        '/9/messageGroup',
        '/999/body',
      ])
      expect(await idsIn(queue, 'ready')).toHaveLength(1000)
    })

    it('takes 1 to 1,000 messages', async () => {
      const queue = await made()
      for (const messages of [[], range(1, 1001).map((body) => ({ body }))]) {
        expect((await refusal(queues().sendMany(queue, messages))).code).toBe('invalid_input')
      }
      expect(await idsIn(queue, 'ready')).toEqual([])
    })

    it('names every fault of one message', async () => {
      const queue = await made()
      const options = {
        delaySeconds: 315_360_001,
        visibilityTimeoutSeconds: 1.5,
        maxReceives: 1_000_001,
        dedupId: 'x'.repeat(192),
        priority: -1001,
        messageGroup: '\n',
      }
      const error = await refusal(queues().send(queue, (() => 1) as unknown, options))
      expect(error.faults.map(({ pointer }) => pointer).sort()).toEqual(
        ['body', ...Object.keys(options)].map((key) => `/${key}`).sort(),
      )
      expect(await idsIn(queue, 'ready')).toEqual([])
    })

    it('takes the limits of every option, and null or undefined for none', async () => {
      const queue = await made()
      const options: (SendOptions | undefined)[] = [
        { priority: 1000, visibilityTimeoutSeconds: 43_200, maxReceives: 1_000_000 },
        { priority: 0, visibilityTimeoutSeconds: null, maxReceives: null, dedupId: null, messageGroup: null },
        { priority: undefined, delaySeconds: undefined, dedupId: undefined },
        undefined,
        { priority: -1000, visibilityTimeoutSeconds: 0, maxReceives: 1, delaySeconds: 0 },
      ]
      for (const [n, option] of options.entries()) await queues().send(queue, n, option)
      await queues().send(queue, 'in ten years', { delaySeconds: 315_360_000 })
      const received = await queues().receive(queue, { limit: 10 })
      expect(bodiesOf(received)).toEqual([0, 1, 2, 3, 4])
      expect(received.map(({ priority }) => priority)).toEqual([1000, 0, 0, 0, -1000])
      expect(received.map(({ messageGroup }) => messageGroup)).toEqual([null, null, null, null, null])
      expect(await idsIn(queue, 'delayed')).toHaveLength(1)
    })

    it('with a delay hands out no sooner', async () => {
      const queue = await made()
      const { id } = await queues().send(queue, 'later', { delaySeconds: 60 })
      expect(await queues().receive(queue)).toEqual([])
      const delayed = await queues().message(queue, id)
      expect(delayed?.state).toBe('delayed')
      expect(delayed?.visibleAt.getTime()).toBe((delayed?.sentAt.getTime() ?? 0) + 60_000)
      pass(55)
      expect(await queues().receive(queue)).toEqual([])
      expect(await queues().cycle(queue)).toEqual([])
      pass(6)
      const message = await one(queue)
      expect([message.id, message.body, message.receiveCount]).toEqual([id, 'later', 1])
      expect(message.sentAt).toEqual(delayed?.sentAt)
    })
  })

  describe('queues: a dedupId', () => {
    it('means one message for 5 minutes, even when that is gone', async () => {
      const queue = await made()
      const { id } = await queues().send(queue, 'first', { dedupId: 'd' })
      expect(await queues().send(queue, 'again', { dedupId: 'd' })).toEqual({ id, sent: false })
      await queues().ack(queue, (await one(queue)).receiptHandle)
      expect(await queues().message(queue, id)).toBeNull()
      pass(290)
      expect(await queues().send(queue, 'again', { dedupId: 'd' })).toEqual({ id, sent: false })
      expect(await queues().receive(queue)).toEqual([])
      // Five minutes count from the first: being asked for in between prolongs nothing.
      pass(11)
      const later = await queues().send(queue, 'later', { dedupId: 'd' })
      expect(later).toEqual({ id: expect.any(BigInt), sent: true })
      expect(later.id > id).toBe(true)
      expect((await one(queue)).body).toBe('later')
      expect(await queues().send(queue, 'again', { dedupId: 'd' })).toEqual({ id: later.id, sent: false })
    })

    it('is the queue’s own', async () => {
      const [a, b] = [await made(), await made()]
      const first = await queues().send(a, 1, { dedupId: 'd' })
      const second = await queues().send(b, 2, { dedupId: 'd' })
      expect([first.sent, second.sent, first.id === second.id]).toEqual([true, true, false])
    })

    it('works within one sendMany, and between that and others', async () => {
      const queue = await made()
      const first = await queues().send(queue, 'a', { dedupId: 'a' })
      const sent = await queues().sendMany(queue, [
        { body: 'a2', dedupId: 'a' },
        { body: 'b', dedupId: 'b' },
        { body: 'c' },
        { body: 'b2', dedupId: 'b' },
        { body: 'c' },
      ])
      const ids = messageIds(sent)
      expect([ids[0], ids[3]]).toEqual([first.id, ids[1]])
      expect(new Set(ids).size).toBe(4)
      expect(sent.map((each) => each.sent)).toEqual([false, true, true, false, true])
      expect(bodiesOf(await queues().receive(queue, { limit: 10 }))).toEqual(['a', 'b', 'c', 'c'])
      const again = await queues().sendMany(queue, [{ body: 'b3', dedupId: 'b' }])
      expect(again).toEqual([{ id: ids[1], sent: false }])
    })

    it('of 1,000 messages at once makes the second send of them send nothing', async () => {
      const queue = await made()
      const messages = range(1, 1000).map((body) => ({ body, dedupId: `d${body}` }))
      const sent = await queues().sendMany(queue, messages)
      expect(sent.every((each) => each.sent)).toBe(true)
      const ids = messageIds(sent)
      const again = await queues().sendMany(queue, [...messages].reverse())
      expect(again).toEqual([...ids].reverse().map((id) => ({ id, sent: false })))
      expect(await idsIn(queue, 'ready')).toEqual(ids)
    })

    it('sent by many at the same time makes one message', async () => {
      const other = await context.open()
      for (let round = 0; round < 3; round++) {
        const queue = await made()
        const sends = range(1, 20).map((n) => (n % 2 ? other : context.store).queues.send(queue, n, { dedupId: 'd' }))
        const answers = await Promise.all(sends)
        expect(new Set(messageIds(answers)).size).toBe(1)
        expect(answers.filter(({ sent }) => sent)).toHaveLength(1)
        expect(await idsIn(queue, 'ready')).toEqual([answers[0]?.id])
      }
    })

    it('whose message was sent by a clock a little ahead counts; by one that was set back by more it is free', async () => {
      const queue = await made()
      const first = await queues().send(queue, 1, { dedupId: 'd' })
      // As for a sender who looked at the time, and then waited for the lock of one who came later.
      pass(-1)
      expect(await queues().send(queue, 2, { dedupId: 'd' })).toEqual({ id: first.id, sent: false })
      pass(-600)
      expect((await queues().send(queue, 3, { dedupId: 'd' })).sent).toBe(true)
      pass(601)
    })

    it('of a message that was refused, or rolled back, is free', async () => {
      const queue = await made()
      await refusal(queues().sendMany(queue, [{ body: 1, dedupId: 'd' }, { body: undefined }]))
      const boom = new Error('boom')
      const rolledBack = context.store.transaction(async (tx) => {
        expect((await tx.queues.send(queue, 2, { dedupId: 'd' })).sent).toBe(true)
        throw boom
      })
      await expect(rolledBack).rejects.toBe(boom)
      expect((await queues().send(queue, 3, { dedupId: 'd' })).sent).toBe(true)
      expect((await one(queue)).body).toBe(3)
    })
  })

  describe('queues: purge', () => {
    it('drops what is ready and delayed, and nothing else', async () => {
      const queue = await madeOf(3, { onAck: 'archive' })
      const [archived, dead, held] = await queues().receive(queue, { limit: 3 })
      await queues().ack(queue, archived?.receiptHandle ?? '')
      await queues().nack(queue, dead?.receiptHandle ?? '', { dead: true })
      await filled(queue, 1200, (body) => (body % 3 === 0 ? { delaySeconds: 60 } : {}))
      expect(await queues().purge(queue)).toEqual({ deleted: 1200 })
      expect(await queues().purge(queue)).toEqual({ deleted: 0 })
      for (const [state, ids] of [
        ['ready', []],
        ['delayed', []],
        ['in-flight', [held?.id]],
        ['dead', [dead?.id]],
        ['archived', [archived?.id]],
      ] as const) {
        expect([state, await idsIn(queue, state)]).toEqual([state, ids])
      }
      pass(31)
      expect((await one(queue)).id).toBe(held?.id)
    })

    it('drops what time has made ready, too', async () => {
      const queue = await madeOf(3)
      await queues().receive(queue, { limit: 2 })
      pass(31)
      expect(await queues().purge(queue)).toEqual({ deleted: 3 })
      expect(await queues().receive(queue)).toEqual([])
    })
  })
}
