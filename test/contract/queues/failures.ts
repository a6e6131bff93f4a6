/** The last failures of a message, one by one. */
import type { WholeMessage } from '../../../src/shared/queue-types'
import type { Context } from '../context'
import { queueTools, range } from './tools'

const RAN_OUT = 'The visibility timeout ran out.'

export function describeQueueFailures(context: Context): void {
  const queues = () => context.store.queues
  const { made, filled, pass, one } = queueTools(context)
  const whole = async (queue: string, id: bigint) => (await queues().message(queue, id)) as WholeMessage
  const errorsOf = async (queue: string, id: bigint) =>
    (await whole(queue, id)).failures.map(({ receiveCount, error }) => [receiveCount, error])

  describe('queues: failures', () => {
    it('are the last ten errors, the newest first, with their times and receives', async () => {
      const queue = await made({ maxReceives: null })
      const [id] = (await filled(queue, 1)) as [bigint]
      expect((await whole(queue, id)).failures).toEqual([])
      for (const turn of range(1, 12)) {
        await queues().nack(queue, await one(queue), { error: `error ${turn}` })
        pass(60)
      }
      const { failures, lastError } = await whole(queue, id)
      expect(failures.map(({ error }) => error)).toEqual(
        range(3, 12)
          .reverse()
          .map((turn) => `error ${turn}`),
      )
      expect(failures.map(({ receiveCount }) => receiveCount)).toEqual(range(3, 12).reverse())
      expect(lastError).toBe('error 12')
      const [newest, before] = failures.map(({ failedAt }) => failedAt.getTime())
      const between = Number(newest) - Number(before)
      expect([between >= 60_000, between < 70_000]).toEqual([true, true])
      const { messages } = await queues().peek(queue)
      expect(messages[0]).not.toHaveProperty('failures')
    })

    it('have any text, of which ten fit', async () => {
      const queue = await made({ maxReceives: null })
      const [id] = (await filled(queue, 1)) as [bigint]
      const texts = [
        'a\nb\t"c"\\',
        "it's ? 100%",
        '漢'.repeat(1000),
        '🎉'.repeat(500),
        '\u0000'.repeat(400),
        'x'.repeat(1000),
      ]
      const all = [...texts, ...texts].slice(0, 10)
      for (const error of all) await queues().nack(queue, await one(queue), { error })
      const errors = (await whole(queue, id)).failures.map(({ error }) => error).reverse()
      expect(errors).toHaveLength(10)
      for (const [at, error] of errors.entries()) {
        const given = all[at] as string
        if (given.length < 100) expect(error).toBe(given)
        else expect([error.endsWith('…'), given.startsWith(error.slice(0, -1))]).toEqual([true, true])
        expect([error.isWellFormed(), error.length <= 301, error.length >= Math.min(given.length, 50)]).toEqual([
          true,
          true,
          true,
        ])
      }
    })

    it('a claim that ran out is one, and what was given back, acknowledged late or nacked without a word is none', async () => {
      const queue = await made({ visibilityTimeoutSeconds: 30, maxReceives: 3 })
      const [id] = (await filled(queue, 1)) as [bigint]
      await one(queue)
      pass(31)
      expect(await errorsOf(queue, id)).toEqual([[1, RAN_OUT]])
      await queues().nack(queue, await one(queue), { delaySeconds: 10 })
      pass(11)
      expect(await errorsOf(queue, id)).toEqual([[1, RAN_OUT]])
      await one(queue)
      pass(31)
      expect(await errorsOf(queue, id)).toEqual([
        [3, RAN_OUT],
        [1, RAN_OUT],
      ])
      expect(await whole(queue, id)).toMatchObject({ state: 'dead', lastError: expect.stringContaining('3 receives') })
    })

    it('of messages of groups with a limit are kept too', async () => {
      const queue = await made({ visibilityTimeoutSeconds: 30, groupConcurrency: 1 })
      const [first, second] = (await filled(queue, 2, () => ({ messageGroup: 'g' }))) as [bigint, bigint]
      await one(queue)
      pass(31)
      expect([(await one(queue)).id, await errorsOf(queue, first)]).toEqual([first, [[1, RAN_OUT]]])
      expect(await errorsOf(queue, second)).toEqual([])
    })

    it('go with the message: to its dead-letter queue, back, and into the archive', async () => {
      const letters = await made()
      const queue = await made({ deadLetterQueue: letters, onAck: 'archive' })
      const [id] = (await filled(queue, 1)) as [bigint]
      await queues().nack(queue, await one(queue), { error: 'first' })
      await queues().nack(queue, await one(queue), { error: 'last', dead: true })
      const both = [
        [2, 'last'],
        [1, 'first'],
      ]
      expect(await errorsOf(letters, id)).toEqual(both)
      expect(await queues().redrive(letters)).toEqual({ moved: 1 })
      await queues().nack(queue, await one(queue), { error: 'again' })
      expect(await errorsOf(queue, id)).toEqual([[1, 'again'], ...both])
      await queues().ack(queue, await one(queue))
      expect(await whole(queue, id)).toMatchObject({ state: 'archived' })
      expect(await errorsOf(queue, id)).toEqual([[1, 'again'], ...both])
    })

    it('of many that are nacked together are each their own, in a transaction too', async () => {
      const queue = await made({ maxReceives: null })
      const [a, b] = (await filled(queue, 2)) as [bigint, bigint]
      await queues().nack(queue, (await queues().receive(queue))[0] as never)
      const received = await queues().receive(queue, { limit: 2 })
      await context.store.transaction((tx) => tx.queues.nackMany(queue, received, { error: 'both' }))
      expect([await errorsOf(queue, a), await errorsOf(queue, b)]).toEqual([[[2, 'both']], [[1, 'both']]])
      const undo = context.store.transaction(async (tx) => {
        await tx.queues.nackMany(queue, await tx.queues.receive(queue, { limit: 2 }), { error: 'undone' })
        throw new Error('undo')
      })
      await expect(undo).rejects.toThrow('undo')
      expect([await errorsOf(queue, a), await errorsOf(queue, b)]).toEqual([[[2, 'both']], [[1, 'both']]])
    })
  })
}
