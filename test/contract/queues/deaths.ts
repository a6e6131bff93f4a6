import type { PeekedMessage } from '../../../src/shared/queue-types'
import type { Context } from '../context'
import { queueTools } from './tools'

/** The facts that a dead letter keeps of its life in the queue in which it died. */
export function describeQueueDeaths(context: Context): void {
  const queues = () => context.store.queues
  const { made, one, pass } = queueTools(context)

  describe('queues: a dead letter', () => {
    it('keeps when and after how many receives it died, in whatever state it is, until it is redriven', async () => {
      const [last, letters] = [await made(), await made({ maxReceives: 2 })]
      const queue = await made({ maxReceives: 3, deadLetterQueue: letters })
      const { id } = await queues().send(queue, 1)
      const shown = async (name: string) => (await queues().message(name, id)) as PeekedMessage
      const first = await one(queue)
      expect(first).toMatchObject({ firstReceivedAt: first.receivedAt, deadAt: null, deadReceiveCount: null })
      for (let receives = 2; receives <= 3; receives++) {
        pass(31)
        expect(await one(queue)).toMatchObject({ receiveCount: receives, firstReceivedAt: first.receivedAt })
      }
      pass(31)
      await queues().peek(queue)
      const { deadAt, visibleAt, ...rest } = await shown(letters)
      expect(rest).toMatchObject({ receiveCount: 0, deadReceiveCount: 3, sentAt: first.sentAt })
      expect(deadAt).toEqual(visibleAt)
      const kept = { firstReceivedAt: first.receivedAt, deadAt, deadReceiveCount: 3, deadLetterFrom: queue }
      expect((await queues().peek(letters)).messages).toMatchObject([kept])

      // Two receives more: the limit here does not count those of the source.
      const { deadLetterFrom, ...received } = kept
      const again = await one(letters)
      expect(again).toMatchObject({ ...received, receiveCount: 1, sentAt: first.sentAt })
      await queues().nack(letters, again.receiptHandle, { delaySeconds: 10 })
      expect(await shown(letters)).toMatchObject({ ...kept, state: 'delayed' })
      pass(11)
      expect(await one(letters)).toMatchObject({ ...received, receiveCount: 2, maxReceives: 2 })
      pass(31)
      await queues().peek(letters)
      expect(await shown(letters)).toMatchObject({ ...kept, state: 'dead', receiveCount: 2 })

      expect(await queues().redrive(letters)).toEqual({ moved: 1 })
      const none = { deadAt: null, deadReceiveCount: null, deadLetterFrom: null }
      const alive = { ...none, state: 'ready', receiveCount: 0, firstReceivedAt: first.receivedAt }
      expect(await shown(queue)).toMatchObject(alive)
      await queues().update(queue, { deadLetterQueue: last })
      await queues().nack(queue, (await one(queue)).receiptHandle, { dead: true })
      expect(await shown(last)).toMatchObject({ deadReceiveCount: 1, receiveCount: 0, deadLetterFrom: queue })
      expect(((await shown(last)).deadAt as Date) > (deadAt as Date)).toBe(true)
    })

    it('that passes on to a further queue has its last death', async () => {
      const last = await made()
      const letters = await made({ deadLetterQueue: last })
      const queue = await made({ maxReceives: 2, deadLetterQueue: letters })
      const { id } = await queues().send(queue, 1)
      for (let receives = 0; receives < 2; receives++) {
        await queues().nack(queue, (await one(queue)).receiptHandle)
      }
      expect(await queues().message(letters, id)).toMatchObject({ deadReceiveCount: 2 })
      pass(5)
      const passed = await one(letters)
      await queues().nack(letters, passed.receiptHandle, { dead: true })
      const shown = await queues().message(last, id)
      expect(shown).toMatchObject({ deadReceiveCount: 1, firstReceivedAt: passed.firstReceivedAt })
      expect(Number(shown?.deadAt)).toBeGreaterThan(Number(passed.deadAt))
    })
  })
}
