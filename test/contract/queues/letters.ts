import type { MessageCounts, QueueSettings } from '../../../src/shared/queue-types'
import { innerOf } from '../../../src/store/inner'
import type { Context } from '../context'
import { handlesOf, messageIds, queueTools } from './tools'

/** How dead letters differ from messages that wait: by their queue, by where they came from, and by what they say. */
export function describeQueueLetters(context: Context): void {
  const queues = () => context.store.queues
  const { made, madeOf, filled, one, pass } = queueTools(context)

  /** A queue whose messages have died and are in another one, as they are shown there. */
  async function died(count: number, error?: string) {
    const letters = await made()
    const queue = await madeOf(count, { maxReceives: 1, deadLetterQueue: letters })
    const received = await queues().receive(queue, { limit: count })
    if (error === undefined) pass(31)
    else await queues().nackMany(queue, handlesOf(received), { error })
    await queues().peek(queue)
    return { queue, letters, ids: messageIds(received) }
  }

  describe('queues: a dead-letter queue', () => {
    const isOne = async (queue: string, { queues } = context.store) => {
      const [listed] = (await queues.list({ prefix: queue })).queues
      const got = await queues.get(queue)
      expect(listed?.isDeadLetterQueue).toBe(got?.isDeadLetterQueue)
      return got?.isDeadLetterQueue
    }

    it('is one while another queue names it', async () => {
      const letters = await made()
      expect(await isOne(letters)).toBe(false)
      const [first, second] = [await made({ deadLetterQueue: letters }), await made({ deadLetterQueue: letters })]
      expect([await isOne(letters), await isOne(first), await isOne(second)]).toEqual([true, false, false])
      await queues().put(first)
      expect(await isOne(letters)).toBe(true)
      await queues().drop(second)
      expect(await isOne(letters)).toBe(false)
    })

    it('is one, or none any more, for the transaction that does it, and no sooner for others', async () => {
      const [letters, queue] = [await made(), await made()]
      await context.store.transaction(async (tx) => {
        await tx.queues.put(queue, { deadLetterQueue: letters })
        const { queues: listed } = await tx.queues.list({ prefix: letters })
        expect(listed.map(({ isDeadLetterQueue }) => isDeadLetterQueue)).toEqual([true])
        expect((await tx.queues.get(letters))?.isDeadLetterQueue).toBe(true)
      })
      expect(await isOne(letters)).toBe(true)
      const undone = context.store.transaction(async (tx) => {
        await tx.queues.put(queue)
        expect((await tx.queues.get(letters))?.isDeadLetterQueue).toBe(false)
        throw new Error('rolled back')
      })
      await expect(undone).rejects.toThrow('rolled back')
      expect(await isOne(letters, await context.open())).toBe(true)
    })

    it('has its own counts as every queue, and among all queues what it holds is dead and not waited for', async () => {
      const url = await context.emptyDatabase()
      const store = await context.open({ url })
      const { queues } = store
      await queues.put('last')
      await queues.put('dead', { deadLetterQueue: 'last', onAck: 'archive' })
      await queues.put('mail', { maxReceives: 1, deadLetterQueue: 'dead' })
      await queues.put('alone')
      const kill = async (queue: string, limit: number) => {
        const received = await queues.receive(queue, { limit })
        expect(received).toHaveLength(limit)
        await queues.nackMany(queue, handlesOf(received), { dead: true })
      }
      const send = (queue: string, count: number, delaySeconds = 0) =>
        queues.sendMany(
          queue,
          Array.from({ length: count }, (_, body) => ({ body, delaySeconds })),
        )
      await send('mail', 9)
      await kill('mail', 9)
      await kill('dead', 3)
      const [done] = await queues.receive('dead')
      await queues.ack('dead', done?.receiptHandle ?? '')
      await queues.receive('dead', { visibilityTimeoutSeconds: 1000 })
      await send('dead', 1, 500)
      await send('alone', 1)
      await kill('alone', 1)
      const none = { ready: 0, inFlight: 0, delayed: 0, blocked: 0, dead: 0, archived: 0 }
      const letters: MessageCounts = { ready: 4, inFlight: 1, delayed: 1, blocked: 0, dead: 0, archived: 1 }
      expect(await queues.get('dead')).toMatchObject({ counts: letters, oldestAgeSeconds: expect.any(Number) })
      expect((await queues.get('last'))?.counts).toEqual({ ...none, ready: 3 })
      const nothingWaits = { counts: { ...none, dead: 10, archived: 1 }, oldestAgeSeconds: null }
      expect((await innerOf(store).totals()).queues).toEqual(nothingWaits)

      pass(100)
      await send('mail', 4)
      await send('mail', 2, 500)
      await queues.receive('mail', { visibilityTimeoutSeconds: 1000 })
      // Another store has counted nothing yet.
      const other = await context.open({ url })
      const { counts, oldestAgeSeconds } = (await innerOf(other).totals()).queues
      expect(counts).toEqual({ ready: 3, inFlight: 1, delayed: 2, blocked: 0, dead: 10, archived: 1 })
      // That of the mail: the letters are 100 s older.
      expect(oldestAgeSeconds).toBeLessThan(60)
    })
  })

  describe('queues: a dead letter', () => {
    it('tells which queue it died in, until it is back there', async () => {
      const { queue, letters, ids } = await died(2, 'no')
      const [id] = ids as [bigint]
      const own = await queues().send(letters, 'sent here')
      const peeked = (await queues().peek(letters)).messages
      expect(peeked.map(({ deadLetterFrom }) => deadLetterFrom)).toEqual([queue, queue, null])
      expect((await queues().message(letters, id))?.deadLetterFrom).toBe(queue)
      expect((await queues().message(letters, own.id))?.deadLetterFrom).toBeNull()
      // In whatever state it is.
      const [held] = await queues().receive(letters)
      expect(held?.id).toBe(id)
      expect((await queues().peek(letters, { state: 'in-flight' })).messages[0]?.deadLetterFrom).toBe(queue)
      await queues().nack(letters, held?.receiptHandle ?? '', { delaySeconds: 500 })
      expect((await queues().peek(letters, { state: 'delayed' })).messages[0]?.deadLetterFrom).toBe(queue)
      await context.store.transaction(async (tx) => {
        expect((await tx.queues.message(letters, id))?.deadLetterFrom).toBe(queue)
      })
      expect(await queues().redrive(letters)).toEqual({ moved: 2 })
      expect((await queues().message(queue, id))?.deadLetterFrom).toBeNull()
    })

    it('keeps its own visibility timeout, also where that of the dead-letter queue is longer', async () => {
      const letters = await made({ visibilityTimeoutSeconds: 1000 })
      const queue = await made({ deadLetterQueue: letters, maxReceives: 1 })
      const [id] = (await filled(queue, 1, () => ({ visibilityTimeoutSeconds: 10 }))) as [bigint]
      await one(queue)
      pass(11)
      await queues().peek(queue)
      expect(await one(letters)).toMatchObject({ id, receiveCount: 1 })
      pass(11)
      expect(await one(letters)).toMatchObject({ id, receiveCount: 2 })
    })

    it('tells nothing of a queue that is gone, and of the last one after several', async () => {
      const { queue, letters, ids } = await died(2, 'no')
      const last = await made()
      await queues().put(letters, { deadLetterQueue: last })
      const [held] = await queues().receive(letters)
      await queues().nack(letters, held?.receiptHandle ?? '', { dead: true })
      expect((await queues().peek(last)).messages).toMatchObject([{ id: ids[0], deadLetterFrom: letters }])
      await queues().drop(queue)
      expect((await queues().peek(letters)).messages).toMatchObject([{ id: ids[1], deadLetterFrom: null }])
      await queues().put(queue)
      expect((await queues().message(letters, ids[1] ?? 0n))?.deadLetterFrom).toBeNull()
    })

    it('that died in its own queue came from none, nor does what is in the archive', async () => {
      const queue = await madeOf(2, { onAck: 'archive' })
      const received = await queues().receive(queue, { limit: 2 })
      const [dead, archived] = handlesOf(received)
      await queues().nack(queue, dead ?? '', { dead: true })
      await queues().ack(queue, archived ?? '')
      for (const { id } of received) expect((await queues().message(queue, id))?.deadLetterFrom).toBeNull()
      const shown = await Promise.all(received.map(({ id }) => queues().message(queue, id)))
      const firstReceivedAt = received[0]?.receivedAt
      expect(shown).toMatchObject([
        { state: 'dead', deadAt: expect.any(Date), deadReceiveCount: 1, firstReceivedAt },
        { state: 'archived', deadAt: null, deadReceiveCount: null, firstReceivedAt },
      ])
      await queues().redrive(queue)
      const alive = { state: 'ready', deadAt: null, deadReceiveCount: null, firstReceivedAt }
      expect(await queues().message(queue, received[0]?.id ?? 0n)).toMatchObject(alive)
    })
  })

  describe('queues: a dead letter with its own visibility timeout', () => {
    const MINUTE = { visibilityTimeoutSeconds: 60 }
    const HOUR = { visibilityTimeoutSeconds: 3600 }

    /** The message is handed out once more as soon as its own minute is over, whoever asks. */
    async function comesBackSoon(queue: string, { queues: asked } = context.store) {
      const [held, ...more] = await asked.receive(queue, { limit: 10 })
      expect(more).toEqual([])
      expect((held?.visibleAt.getTime() ?? 0) - (held?.receivedAt.getTime() ?? 0)).toBe(60_000)
      pass(50)
      expect(await asked.receive(queue)).toEqual([])
      pass(11)
      expect(await asked.receive(queue)).toMatchObject([{ id: held?.id, receiveCount: (held?.receiveCount ?? 0) + 1 }])
    }

    it.each(['timeout', 'release'])('comes back after it among the dead letters and at home: %s', async (way) => {
      const letters = await made(HOUR)
      const queue = await made({ ...HOUR, maxReceives: 1, deadLetterQueue: letters })
      // A process that knows the dead-letter queue as it was before.
      const other = context.engine === 'sqlite' ? context.store : await context.open()
      await filled(letters, 1)
      const [before] = await other.queues.receive(letters)
      await other.queues.ack(letters, before?.receiptHandle ?? '')
      await queues().send(queue, 1, MINUTE)
      const { receiptHandle } = await one(queue)
      if (way === 'release') await queues().nack(queue, receiptHandle, { dead: true })
      else pass(61)
      await queues().peek(queue)
      await comesBackSoon(letters, other)
      pass(61)
      expect(await queues().redrive(letters)).toEqual({ moved: 1 })
      await queues().put(queue, HOUR)
      await comesBackSoon(queue)
    })

    it('comes back after it, whenever the queue was named, and further on', async () => {
      const [last, letters, queue] = [await made(HOUR), await made(HOUR), await made(HOUR)]
      await queues().send(queue, 1, MINUTE)
      await queues().put(letters, { ...HOUR, deadLetterQueue: last })
      await queues().put(queue, { ...HOUR, deadLetterQueue: letters })
      for (const from of [queue, letters]) await queues().nack(from, (await one(from)).receiptHandle, { dead: true })
      await comesBackSoon(last)
    })

    it('comes back after it where the queues are chained first', async () => {
      const last = await made(HOUR)
      const letters = await made({ ...HOUR, deadLetterQueue: last })
      const queue = await made({ ...HOUR, deadLetterQueue: letters })
      await queues().send(queue, 1, MINUTE)
      for (const from of [queue, letters]) await queues().nack(from, (await one(from)).receiptHandle, { dead: true })
      await comesBackSoon(last)
    })

    it('comes back after it where its queue is gone', async () => {
      const letters = await made(HOUR)
      const queue = await made({ ...HOUR, deadLetterQueue: letters })
      await queues().send(queue, 1, MINUTE)
      await queues().nack(queue, (await one(queue)).receiptHandle, { dead: true })
      await queues().drop(queue)
      expect(await queues().redrive(letters)).toEqual({ moved: 0 })
      await comesBackSoon(letters)
    })
  })

  describe('queues: a message’s own limit of receives', () => {
    /** A letter that allowed itself one receive, and so died of it. */
    async function letter(settings: QueueSettings) {
      const letters = await made(settings)
      const queue = await made({ deadLetterQueue: letters })
      const [id] = (await filled(queue, 1, () => ({ maxReceives: 1 }))) as [bigint]
      await queues().nack(queue, (await one(queue)).receiptHandle)
      return { queue, letters, id }
    }

    it('is not shown of a letter that was archived, where it did not hold', async () => {
      const { letters, id } = await letter({ maxReceives: 7, onAck: 'archive' })
      const received = await one(letters)
      await queues().ack(letters, received.receiptHandle)
      const archived = await queues().message(letters, id)
      expect([received.maxReceives, archived?.state, archived?.maxReceives]).toEqual([7, 'archived', 7])
    })

    it('does not hold for a letter that a redrive left because its queue is gone', async () => {
      const { queue, letters, id } = await letter({})
      await queues().drop(queue)
      expect(await queues().redrive(letters)).toEqual({ moved: 0 })
      for (const receiveCount of [1, 2, 3]) {
        const received = await one(letters)
        expect(received).toMatchObject({ id, receiveCount, maxReceives: 5 })
        await queues().nack(letters, received.receiptHandle)
      }
    })
  })

  describe('queues: why a message died', () => {
    const sentence = (receives: string) => `The visibility timeout ran out after ${receives}.`

    it('of its timeout is said with the number of receives, of one each', async () => {
      const letters = await made()
      for (const deadLetterQueue of [letters, null]) {
        const queue = await made({ maxReceives: 3, deadLetterQueue })
        const ids = await filled(queue, 3, (body) => ({ maxReceives: [1, 2, 3][body - 1] }))
        for (let n = 0; n < 3; n++) {
          await queues().receive(queue, { limit: 3 })
          pass(31)
          await queues().peek(queue)
        }
        const said = await Promise.all(ids.map((id) => queues().message(deadLetterQueue ?? queue, id)))
        const wanted = ['1 receive', '2 receives', '3 receives'].map((receives) => ({ lastError: sentence(receives) }))
        expect(said).toMatchObject(wanted)
      }
    })

    it('is what a receiver said before, and nothing where it released without a word', async () => {
      const letters = await made()
      const queue = await made({ maxReceives: 2, deadLetterQueue: letters })
      const [told, untold] = (await filled(queue, 2)) as [bigint, bigint]
      const [first] = await queues().receive(queue)
      expect(first?.id).toBe(told)
      await queues().nack(queue, first?.receiptHandle ?? '', { error: 'SMTP 451' })
      const again = await queues().receive(queue, { limit: 2 })
      const last = again.find(({ id }) => id === untold)
      await queues().nack(queue, last?.receiptHandle ?? '', { dead: true })
      pass(31)
      await queues().peek(queue)
      expect(await queues().message(letters, told)).toMatchObject({ lastError: 'SMTP 451' })
      expect(await queues().message(letters, untold)).toMatchObject({ lastError: null })
    })

    it('reaches its receivers, goes back with a redrive, and is said again at the next death', async () => {
      const { queue, letters, ids } = await died(1)
      const [id] = ids as [bigint]
      expect(await one(letters)).toMatchObject({ id, receiveCount: 1, lastError: sentence('1 receive') })
      pass(31)
      expect(await queues().redrive(letters)).toEqual({ moved: 1 })
      await queues().put(queue, { maxReceives: 2, deadLetterQueue: letters })
      expect(await one(queue)).toMatchObject({ id, receiveCount: 1, lastError: sentence('1 receive') })
      pass(31)
      expect(await one(queue)).toMatchObject({ id, receiveCount: 2, lastError: sentence('1 receive') })
      pass(31)
      await queues().peek(queue)
      expect(await queues().message(letters, id)).toMatchObject({ lastError: sentence('2 receives') })
    })
  })
}
