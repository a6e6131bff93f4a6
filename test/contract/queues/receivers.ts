import type { Message } from '../../../src/index'
import { OwnReceiver } from '../../../src/repositories/queues/receivers/own'
import { type Context, refusal, sleep } from '../context'
import { bodiesOf, handlesOf, messageIds, queueTools, range } from './tools'

/** The receivers of a queue, what they hold, and ending the claims of others. */
export function describeReceivers(context: Context): void {
  const queues = () => context.store.queues
  const { made, madeOf, filled, one, pass, idsIn } = queueTools(context)

  /** The receivers, once as many have reported themselves. */
  async function receiversOf(queue: string, count: number) {
    for (;;) {
      const found = await queues().receivers(queue)
      if (found.receivers.length === count && found.unknownInFlight === 0) return found
      await sleep(50)
    }
  }
  const own = expect.stringMatching(new RegExp(`:${process.pid}$`))
  const stale = { code: 'stale_receipt', status: 409 }

  describe('queues: receivers', () => {
    it('are the processes that receive, with what they hold and since when', async () => {
      const queue = await madeOf(5, { visibilityTimeoutSeconds: 600 })
      expect(await queues().receivers(queue)).toEqual({ receivers: [], unknownInFlight: 0, blockedGroups: [] })
      const other = await context.open()
      await queues().receive(queue, { limit: 2 })
      await other.queues.receive(queue, { limit: 3 })
      const { receivers } = await receiversOf(queue, 2)
      expect(receivers.map(({ inFlight }) => inFlight).sort()).toEqual([2, 3])
      for (const each of receivers) {
        expect(each).toEqual({
          name: own,
          beganAt: expect.any(Date),
          lastSeenAt: expect.any(Date),
          gone: false,
          inFlight: each.inFlight,
          receivedLastMinute: each.inFlight,
        })
      }
      const { messages } = await queues().peek(queue, { state: 'in-flight' })
      for (const { id, receiver } of messages) {
        expect(receiver).toEqual({ name: own, lastSeenAt: expect.any(Date), gone: false })
        expect(await queues().message(queue, id)).toMatchObject({ receiver })
      }
      expect(await refusal(queues().receivers('no-such-queue'))).toMatchObject({ code: 'queue_not_found' })
    })

    it('are gone 90 seconds after their last report, and listed as long as they hold messages', async () => {
      const queue = await madeOf(1, { visibilityTimeoutSeconds: 600 })
      const other = await context.open()
      await other.queues.receive(queue)
      await receiversOf(queue, 1)
      const heldBy = async () => (await queues().peek(queue, { state: 'in-flight' })).messages[0]?.receiver
      expect(await heldBy()).toMatchObject({ gone: false })
      pass(91)
      expect((await queues().receivers(queue)).receivers).toMatchObject([
        { gone: true, inFlight: 1, receivedLastMinute: 0 },
      ])
      expect(await heldBy()).toMatchObject({ name: own, gone: true })
      await queues().promote(queue, await idsIn(queue, 'in-flight'), { inFlight: true })
      expect((await queues().receivers(queue)).receivers).toEqual([])
      expect((await queues().peek(queue)).messages).toMatchObject([{ receiver: null, receiveCount: 1 }])
    })

    it('are gone when they have closed, and listed only where they hold messages', async () => {
      const [queue, empty] = [await madeOf(1, { visibilityTimeoutSeconds: 600 }), await made()]
      const other = await context.open()
      await other.queues.receive(queue)
      await other.queues.receive(empty)
      await receiversOf(queue, 1)
      await receiversOf(empty, 1)
      await other.close()
      expect((await queues().receivers(queue)).receivers).toMatchObject([{ name: own, gone: true, inFlight: 1 }])
      expect((await queues().receivers(empty)).receivers).toEqual([])
    })

    it('are unknown where a process of an older version has claimed', async () => {
      const queue = await madeOf(1)
      await one(queue)
      const sql = 'UPDATE recentn_queue_messages SET sort_minor = 281474976710654 WHERE state = 1 AND id = ?'
      const [id] = await idsIn(queue, 'in-flight')
      await context.store.dataSource.query(sql, [String(id)])
      expect((await queues().receivers(queue)).unknownInFlight).toBe(1)
      expect((await queues().peek(queue, { state: 'in-flight' })).messages).toMatchObject([{ receiver: null }])
    })

    it('report the 1,000 queues that they have asked last', async () => {
      const receiver = new OwnReceiver()
      const reported = () => receiver.report().map(({ queueId }) => Number(queueId))
      receiver.asked(0n, 0)
      await sleep(5)
      for (const queue of range(1, 999)) receiver.asked(BigInt(queue), 0)
      expect(new Set(reported())).toEqual(new Set(range(0, 999)))
      receiver.asked(1000n, 0)
      expect(new Set(reported())).toEqual(new Set(range(1, 1000)))
      await sleep(5)
      receiver.asked(0n, 0)
      expect([reported()[0], reported().length]).toEqual([0, 1000])
    })

    it('of a cycle and of a queue with a rate are known too', async () => {
      const settings = { rateLimit: { messages: 100, perSeconds: 1 } }
      for (const [queue, call] of [
        [await madeOf(1), 'cycle'],
        [await madeOf(1, settings), 'receive'],
      ] as const) {
        expect(await queues()[call](queue)).toHaveLength(1)
        expect((await receiversOf(queue, 1)).receivers).toMatchObject([{ inFlight: 1 }])
      }
    })
  })

  describe('queues: promote of messages in flight', () => {
    it('ends their claims: they are handed out again, and the old receipts are stale', async () => {
      const queue = await madeOf(3)
      const held = await queues().receive(queue, { limit: 2 })
      const all = [...messageIds(held), ...(await idsIn(queue, 'ready')), 999_999n]
      expect(await queues().promote(queue, all, { inFlight: true })).toEqual({ promoted: 2 })
      for (const message of held) {
        expect(await refusal(queues().ack(queue, message))).toMatchObject(stale)
        expect(await refusal(queues().extend(queue, message, { visibilityTimeoutSeconds: 9 }))).toMatchObject(stale)
      }
      expect(await queues().promote(queue, all, { inFlight: true })).toEqual({ promoted: 0 })
      const again = await queues().receive(queue, { limit: 9 })
      expect(again.map(({ body, receiveCount }) => [body, receiveCount]).sort()).toEqual([
        [1, 2],
        [2, 2],
        [3, 1],
      ])
      expect(again.find(({ body }) => body === 1)?.lastError).toBe('Its claim was ended by a promote.')
      await queues().ackMany(queue, handlesOf(again))
    })

    it('leaves delayed messages, and without `inFlight` those in flight', async () => {
      const queue = await madeOf(2, {}, (body) => (body === 2 ? { delaySeconds: 60 } : {}))
      const { id } = await one(queue)
      const ids = [id, ...(await idsIn(queue, 'delayed'))]
      expect(await queues().promote(queue, ids, { inFlight: true })).toEqual({ promoted: 1 })
      expect(await idsIn(queue, 'delayed')).toEqual(ids.slice(1))
      await one(queue)
      expect(await queues().promote(queue, ids)).toEqual({ promoted: 1 })
      expect(await idsIn(queue, 'in-flight')).toEqual([id])
      expect((await refusal(queues().promote(queue, ids, { inFlight: 1 as never }))).code).toBe('invalid_input')
    })

    it('with `lastReceivedAt` leaves claims that began later', async () => {
      const queue = await madeOf(2)
      const [seen, other] = await queues().receive(queue, { limit: 2 })
      const ids = messageIds([seen as Message, other as Message])
      const { lastReceivedAt } = (await queues().message(queue, ids[0] as bigint)) ?? {}
      await queues().nack(queue, seen as Message)
      await sleep(5)
      const again = await one(queue)
      const claim = { inFlight: true, lastReceivedAt: lastReceivedAt as Date }
      expect(await queues().promote(queue, ids, claim)).toEqual({ promoted: 1 })
      expect(await idsIn(queue, 'in-flight')).toEqual([again.id])
      await queues().ack(queue, again)
      expect(await refusal(queues().ack(queue, other as Message))).toMatchObject(stale)
      const alone = { lastReceivedAt: lastReceivedAt as Date }
      expect((await refusal(queues().promote(queue, ids, alone))).code).toBe('invalid_input')
    })

    it('kills a message that has used up its receives', async () => {
      const queue = await madeOf(1, { maxReceives: 1 })
      const { id } = await one(queue)
      expect(await queues().promote(queue, [id], { inFlight: true })).toEqual({ promoted: 1 })
      expect(await queues().message(queue, id)).toMatchObject({ state: 'dead', deadReceiveCount: 1 })
    })

    it('has exactly one more receiver get each, while their holders settle and others receive', async () => {
      const queue = await made({ visibilityTimeoutSeconds: 600 })
      const ids = await filled(queue, 40)
      const store = await context.open()
      const held: Message[] = await store.queues.receive(queue, { limit: 40 })
      const again: Message[] = []
      const receive = async () => {
        for (let quiet = 0; quiet < 5; ) {
          const got = await queues().receive(queue, { limit: 3 })
          for (const one of got) again.push(one)
          quiet = got.length === 0 ? quiet + 1 : 0
        }
      }
      const acked: unknown[] = []
      const settle = async () => {
        for (const message of held) {
          await store.queues.ack(queue, message).then(
            () => acked.push(message.body),
            (error) => expect(error).toMatchObject(stale),
          )
        }
      }
      const release = async () => {
        let promoted = 0
        for (const id of [...ids].reverse())
          promoted += (await queues().promote(queue, [id], { inFlight: true })).promoted
        return promoted
      }
      // Those that are received again are not released again: each id is named once.
      const [promoted] = await Promise.all([release(), settle(), receive()])
      await receive()
      expect(promoted + acked.length).toBe(40)
      expect([...acked, ...bodiesOf(again)].sort((a, b) => Number(a) - Number(b))).toEqual(range(1, 40))
      expect(new Set(again.map(({ receiveCount }) => receiveCount))).toEqual(new Set(promoted === 0 ? [] : [2]))
      expect(
        (await queues().ackMany(queue, handlesOf(again).concat(again.length === 0 ? handlesOf(held) : []))).acked,
      ).toHaveLength(promoted)
    })
  })

  describe('queues: blocked groups', () => {
    it('say what they wait for, and keep their order when it is released', async () => {
      const queue = await made({ groupConcurrency: 1, visibilityTimeoutSeconds: 600 })
      await filled(queue, 3, () => ({ messageGroup: 'a' }))
      await filled(queue, 2, () => ({ messageGroup: 'b' }))
      await queues().send(queue, 9, { messageGroup: 'c' })
      const [first, second] = await queues().receive(queue, { limit: 2 })
      await queues().nack(queue, second as Message, { delaySeconds: 60, error: 'later' })
      const { blockedGroups } = await receiversOf(queue, 1)
      expect(blockedGroups).toEqual([
        {
          messageGroup: 'a',
          blocked: 2,
          beganAt: expect.any(Date),
          waitsFor: [
            {
              id: first?.id,
              state: 'in-flight',
              visibleAt: first?.visibleAt,
              receiver: { name: own, lastSeenAt: expect.any(Date), gone: false },
            },
          ],
        },
        {
          messageGroup: 'b',
          blocked: 1,
          beganAt: expect.any(Date),
          waitsFor: [{ id: second?.id, state: 'delayed', visibleAt: expect.any(Date), receiver: null }],
        },
      ])
      await queues().promote(queue, [first?.id as bigint], { inFlight: true })
      expect(await refusal(queues().ack(queue, first as Message))).toMatchObject(stale)
      const handled: unknown[] = []
      for (;;) {
        const messages = (await queues().receive(queue, { limit: 9 })).filter(
          ({ messageGroup }) => messageGroup === 'a',
        )
        if (messages.length === 0) break
        for (const message of messages) handled.push(message.body)
        await queues().ackMany(queue, handlesOf(messages))
      }
      expect(handled).toEqual([1, 2, 3])
    })
  })
}
