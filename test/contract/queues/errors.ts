/** Dead messages by their errors: how they are grouped and counted, and that a call changes those of one error and no others. */
import { type Context, refusal } from '../context'
import { bodiesOf, handlesOf, queueTools } from './tools'

export function describeQueueErrors(context: Context): void {
  const queues = () => context.store.queues
  const { made, filled, pass, idsIn } = queueTools(context)

  /** Sends a message for each error, and has it die of that. */
  async function dieOf(queue: string, errors: readonly (string | null)[]): Promise<void> {
    await filled(queue, errors.length)
    const received = await queues().receive(queue, { limit: errors.length })
    for (const [at, handle] of handlesOf(received).entries()) {
      await queues().nack(queue, handle, { dead: true, error: errors[at] ?? null })
    }
  }

  /** Two queues with one dead-letter queue, and what died in them. */
  async function died() {
    const letters = await made()
    const [mail, sms] = [await made({ deadLetterQueue: letters }), await made({ deadLetterQueue: letters })]
    await dieOf(mail, ['503 for order 4711', 'timeout after 500 ms', '503 for order 12', 'timeout after 487 ms', null])
    pass(10)
    await dieOf(sms, ['503 for order 9', '410 for order 4711'])
    return { letters, mail, sms }
  }

  describe('queues: errors', () => {
    it('are one if they differ in numbers and ids, with their count, and the first and the last death', async () => {
      const { letters, mail } = await died()
      const { errors, counted, isExact } = await queues().errors(letters)
      expect([counted, isExact]).toEqual([7, true])
      expect(errors.map(({ error, count }) => [error, count])).toEqual([
        ['503 for order #', 3],
        ['timeout after # ms', 2],
        ['410 for order #', 1],
        ['', 1],
      ])
      const [first] = errors
      expect((first?.lastDeadAt.getTime() ?? 0) - (first?.firstDeadAt.getTime() ?? 0)).toBeGreaterThanOrEqual(10_000)
      const own = await queues().errors(letters, { from: mail })
      // They died at about the same time, which decides between equal counts.
      expect(own.errors.map(({ error, count }) => `${count} ${error}`).sort()).toEqual([
        '1 ',
        '2 503 for order #',
        '2 timeout after # ms',
      ])
      expect(own.counted).toBe(5)
    })

    it('of a queue without a dead-letter queue are those of its dead messages', async () => {
      const queue = await made()
      await dieOf(queue, ['no', 'no'])
      expect(await queues().errors(queue)).toMatchObject({ errors: [{ error: 'no', count: 2 }], counted: 2 })
      expect(await queues().errors(queue, { from: queue })).toMatchObject({ counted: 2 })
      expect(await queues().errors(queue, { from: 'other' })).toEqual({ errors: [], counted: 0, isExact: true })
      expect((await refusal(queues().errors('nobody'))).code).toBe('queue_not_found')
      expect((await refusal(queues().errors(queue, { from: '' }))).faults).toEqual([
        { pointer: '/from', detail: 'must not be empty' },
      ])
    })

    it('choose what goes back, what is deleted and what is shown, with the queue that it died in', async () => {
      const { letters, mail, sms } = await died()
      // Like any message of this error.
      const order = { error: '503 for order 1234567' }
      const shown = await queues().peek(letters, { ...order, limit: 2 })
      expect(shown.messages.map(({ lastError }) => lastError)).toEqual(['503 for order 4711', '503 for order 12'])
      const rest = await queues().peek(letters, { ...order, after: shown.nextAfter ?? '' })
      expect(rest).toMatchObject({ messages: [{ deadLetterFrom: sms }], nextAfter: null })
      expect((await queues().peek(letters, { from: sms })).messages).toHaveLength(2)

      expect(await queues().redrive(letters, { ...order, dryRun: true })).toEqual({ moved: 3 })
      expect(await queues().redrive(letters, { ...order, from: mail, dryRun: true })).toEqual({ moved: 2 })
      expect(await queues().redrive(letters, { ...order, from: mail, limit: 1 })).toEqual({ moved: 1 })
      expect(await queues().redrive(letters, { ...order, from: mail })).toEqual({ moved: 1 })
      expect(bodiesOf(await queues().receive(mail, { limit: 9 }))).toEqual([1, 3])

      expect(await queues().purge(letters, { error: 'timeout after 1 ms', dryRun: true })).toEqual({ deleted: 2 })
      expect(await queues().purge(letters, { error: 'timeout after 1 ms' })).toEqual({ deleted: 2 })
      expect(await queues().purge(letters, { error: '' })).toEqual({ deleted: 1 })
      expect((await queues().errors(letters)).errors.map(({ error }) => error)).toEqual([
        '410 for order #',
        '503 for order #',
      ])
      expect(await queues().purge(letters, { from: mail })).toEqual({ deleted: 0 })
      expect(await queues().purge(letters, { from: sms })).toEqual({ deleted: 2 })
    })

    it('do not matter where ids are given, or all that is dead is deleted; what is not dead stays', async () => {
      const queue = await made()
      await dieOf(queue, ['a', 'b', 'c', 'd'])
      await filled(queue, 2)
      const dead = await idsIn(queue, 'dead')
      const [alive] = (await idsIn(queue, 'ready')) as [bigint]
      const two = [dead[0], dead[1], alive, dead[0]] as bigint[]
      expect(await queues().purge(queue, { ids: two, dryRun: true })).toEqual({ deleted: 2 })
      expect(await queues().purge(queue, { ids: two, error: 'b' })).toEqual({ deleted: 1 })
      expect(await queues().purge(queue, { ids: two })).toEqual({ deleted: 1 })
      expect(await queues().purge(queue, { dead: true, limit: 1 })).toEqual({ deleted: 1 })
      const undo = context.store.transaction(async (tx) => {
        expect(await tx.queues.purge(queue, { dead: true })).toEqual({ deleted: 1 })
        expect((await tx.queues.errors(queue)).counted).toBe(0)
        throw new Error('undo')
      })
      await expect(undo).rejects.toThrow('undo')
      expect(await queues().purge(queue, { dead: true })).toEqual({ deleted: 1 })
      expect([await idsIn(queue, 'dead'), (await idsIn(queue, 'ready')).length]).toEqual([[], 2])
      expect(await queues().purge(queue, { limit: 1 })).toEqual({ deleted: 1 })
      expect(await queues().purge(queue, { dryRun: true })).toEqual({ deleted: 1 })
    })

    it('give the places of deleted messages to the next of their groups', async () => {
      const letters = await made({ groupConcurrency: 1 })
      const queue = await made({ deadLetterQueue: letters })
      await filled(queue, 3, () => ({ messageGroup: 'g' }))
      const received = await queues().receive(queue, { limit: 3 })
      await queues().nackMany(queue, handlesOf(received), { dead: true, error: 'no' })
      const [first] = (await idsIn(letters, 'ready')) as [bigint]
      expect(await idsIn(letters, 'blocked')).toHaveLength(2)
      expect(await queues().purge(letters, { ids: [first] })).toEqual({ deleted: 1 })
      expect([(await idsIn(letters, 'ready')).length, (await idsIn(letters, 'blocked')).length]).toEqual([1, 1])
    })

    it('are redriven once, however many do it, and not again while they die again', async () => {
      const letters = await made()
      const queue = await made({ deadLetterQueue: letters })
      await dieOf(
        queue,
        Array.from({ length: 450 }, (_, at) => `no ${at}`),
      )
      const other = await context.open()
      const moved = await Promise.all([
        queues().redrive(letters, { error: 'no 1' }),
        other.queues.redrive(letters, { error: 'no 1' }),
        queues().redrive(letters),
      ])
      expect(moved.reduce((sum, one) => sum + one.moved, 0)).toBe(450)
      expect([(await idsIn(queue, 'ready')).length, await idsIn(letters, 'ready')]).toEqual([450, []])
    })

    it('are counted for the queue in which they died, wherever they lie', async () => {
      const { letters, mail, sms } = await died()
      await queues().send(letters, 'own', { priority: 9 })
      await queues().nackMany(letters, handlesOf(await queues().receive(letters)), { dead: true })
      const counted = await context.open()
      const diedIn = async (queue: string) => (await counted.queues.get(queue))?.died
      expect([await diedIn(mail), await diedIn(sms), await diedIn(letters)]).toEqual([5, 2, 1])
      // A letter that dies where it lies stays one of the queue that it came from.
      const [again] = await queues().receive(letters)
      await queues().nack(letters, again?.receiptHandle ?? '', { dead: true })
      await context.store.transaction(async (tx) => {
        const all = await Promise.all([mail, sms, letters].map(async (queue) => (await tx.queues.get(queue))?.died))
        expect(all).toEqual([5, 2, 1])
      })
    })
  })
}
