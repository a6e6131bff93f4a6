import type { QueueSettings } from '../../../src/shared/queue-types'
import { QUEUE_DEFAULTS } from '../../support/queue-defaults'
import { type Context, refusal } from '../context'
import { transactionTools } from '../store/transaction-tools'
import { bodiesOf, queueTools } from './tools'

export function describeQueueSettings(context: Context): void {
  const queues = () => context.store.queues
  const { made, madeOf, one, idsIn } = queueTools(context)
  const { WAYS, rolledBack } = transactionTools(context, 'settings_notes')

  describe('queues: pause and resume', () => {
    it('answer the queue, may be repeated, and leave its settings as they are', async () => {
      const dead = await made()
      const queue = await made({ maxReceives: 7, deadLetterQueue: dead, onAck: 'archive', retentionSeconds: 9 })
      const {
        isDeadLetterQueue: _,
        counts: __,
        oldestAgeSeconds: ___,
        died: ____,
        growthPerMinute: _____,
        limited: ______,
        ...before
      } = (await queues().get(queue)) ?? {}
      for (const paused of [true, true, false, false]) {
        const answer = paused ? await queues().pause(queue) : await queues().resume(queue)
        expect(answer).toEqual({ ...before, paused })
        expect(await queues().get(queue)).toMatchObject({ ...before, paused })
      }
    })

    it('no put, update or ensure ends a pause', async () => {
      const queue = await madeOf(1)
      await queues().pause(queue)
      expect(await queues().put(queue)).toMatchObject({ paused: true, created: false })
      expect(await queues().put(queue, { maxReceives: 9 })).toMatchObject({ paused: true, maxReceives: 9 })
      expect(await queues().update(queue, { maxReceives: 8 })).toMatchObject({ paused: true, maxReceives: 8 })
      expect(await queues().ensure(queue, { maxReceives: 7 })).toMatchObject({ paused: true, maxReceives: 8 })
      expect(await queues().receive(queue)).toEqual([])
      await queues().resume(queue)
      expect((await one(queue)).body).toBe(1)
    })

    it('a new queue of a name that was paused is not paused', async () => {
      const queue = await made()
      await queues().pause(queue)
      await queues().drop(queue)
      expect(await queues().put(queue)).toMatchObject({ paused: false, created: true })
    })

    it('are refused for a queue that does not exist, and so is an update', async () => {
      const nowhere = context.unique('nowhere')
      for (const call of [
        queues().pause(nowhere),
        queues().resume(nowhere),
        queues().update(nowhere, {}),
        queues().update(nowhere, { maxReceives: 1 }),
      ]) {
        expect((await refusal(call)).code).toBe('queue_not_found')
      }
      expect(await queues().get(nowhere)).toBeNull()
    })

    it('`paused` is refused as a setting, with the names of the two calls', async () => {
      const queue = await made()
      for (const paused of [true, false, null]) {
        const settings = { paused, maxReceives: 0 } as unknown as QueueSettings
        for (const call of ['put', 'ensure', 'update'] as const) {
          const { code, faults } = await refusal(queues()[call](queue, settings))
          expect([code, faults.map(({ pointer }) => pointer).sort()]).toEqual([
            'invalid_input',
            ['/maxReceives', '/paused'],
          ])
          expect(faults.find(({ pointer }) => pointer === '/paused')?.detail).toMatch(/`pause`.*`resume`/)
        }
      }
      expect(await queues().get(queue)).toMatchObject(QUEUE_DEFAULTS)
    })

    it.each(WAYS)('hold in a transaction, and from its commit on everywhere: %s', async (_, run) => {
      const queue = await madeOf(1)
      await rolledBack(run, async (tx) => {
        expect(await tx.queues.pause(queue)).toMatchObject({ paused: true })
        expect(await tx.queues.receive(queue)).toEqual([])
      })
      expect(await queues().get(queue)).toMatchObject({ paused: false })
      await run(async (tx) => void (await tx.queues.pause(queue)))
      expect(await queues().receive(queue)).toEqual([])
      await run(async (tx) => {
        expect(await tx.queues.resume(queue)).toMatchObject({ paused: false })
        expect(bodiesOf(await tx.queues.receive(queue))).toEqual([1])
      })
    })
  })

  describe('queues: update', () => {
    it('changes the settings that are given, and leaves the others', async () => {
      const [dead, other] = [await made(), await made()]
      const queue = context.unique('q')
      let expected: Required<QueueSettings> = {
        ...{ visibilityTimeoutSeconds: 7, maxReceives: 3, deadLetterQueue: dead },
        ...{ onAck: 'archive', retentionSeconds: 60, groupConcurrency: 4, maxMessages: 9 },
        ...{ rateLimit: null, groupRateLimit: { messages: 3, perSeconds: 60 } },
      }
      await queues().put(queue, expected)
      const parts: QueueSettings[] = [
        { visibilityTimeoutSeconds: 0 },
        { maxReceives: 4 },
        { maxMessages: 10_000_000 },
        { maxMessages: null },
        { rateLimit: { messages: 7, perSeconds: 1 } },
        { groupRateLimit: null },
        { maxReceives: null },
        { deadLetterQueue: other },
        { onAck: 'remove' },
        { retentionSeconds: null },
        { deadLetterQueue: null, maxReceives: 5 },
        {},
      ]
      for (const part of parts) {
        expected = { ...expected, ...part }
        const answer = await queues().update(queue, { onAck: undefined, ...part })
        expect(answer).toEqual({
          queue,
          ...expected,
          tag: expect.any(String),
          paused: false,
          holdEndsAt: null,
          createdAt: expect.any(Date),
        })
        expect(await queues().get(queue)).toMatchObject(expected)
      }
      // A queue that no other names any more may be dropped.
      expect(await queues().drop(dead)).toBe(true)
      expect(await queues().drop(other)).toBe(true)
    })

    it('is refused whole: for a null where there is none, what is not known, a dead-letter queue that will not do', async () => {
      const dead = await made()
      const queue = await made({ maxReceives: 3, deadLetterQueue: dead })
      const wrong = { visibilityTimeoutSeconds: null, onAck: null, maxReceives: 1, limit: 2 } as never
      const { code, faults } = await refusal(queues().update(queue, wrong))
      const pointers = faults.map(({ pointer }) => pointer).sort()
      expect([code, pointers]).toEqual(['invalid_input', ['/limit', '/onAck', '/visibilityTimeoutSeconds']])
      expect((await refusal(queues().update(queue, undefined as never))).code).toBe('invalid_input')
      const circle = { deadLetterQueue: queue, maxReceives: 1 }
      for (const name of [dead, queue]) {
        expect((await refusal(queues().update(name, circle))).code).toBe('dead_letter_cycle')
      }
      const nowhere = await refusal(queues().update(queue, { deadLetterQueue: context.unique('no'), maxReceives: 1 }))
      expect([nowhere.code, nowhere.faults]).toMatchObject([
        'dead_letter_queue_not_found',
        [{ pointer: '/deadLetterQueue' }],
      ])
      expect(await queues().get(queue)).toMatchObject({ maxReceives: 3, deadLetterQueue: dead })
    })

    it('of several at the same time all hold', async () => {
      const other = await context.open()
      const queue = await made()
      await Promise.all([
        queues().update(queue, { maxReceives: 9 }),
        other.queues.update(queue, { visibilityTimeoutSeconds: 8 }),
        queues().update(queue, { retentionSeconds: 7 }),
        other.queues.pause(queue),
      ])
      expect(await queues().get(queue)).toMatchObject({
        ...{ maxReceives: 9, visibilityTimeoutSeconds: 8, retentionSeconds: 7, paused: true },
      })
    })
  })

  describe('queues: ensure', () => {
    it('makes a queue that is not there, and leaves one that is as it is', async () => {
      const dead = await made()
      const rateLimit = { perSeconds: 1, messages: 50 }
      const settings = { maxReceives: 3, deadLetterQueue: dead, visibilityTimeoutSeconds: 7, rateLimit }
      const queue = context.unique('q')
      const first = await queues().ensure(queue, settings)
      const expected = { queue, ...QUEUE_DEFAULTS, ...settings, createdAt: first.createdAt }
      expect(first).toEqual({ ...expected, created: true })
      const nowhere = context.unique('nowhere')
      const warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
      context.afterwards(async () => warned.mockRestore())
      for (const same of [undefined, {}, settings]) await queues().ensure(queue, same)
      expect(warned).not.toHaveBeenCalled()
      for (const others of [{ maxReceives: null, visibilityTimeoutSeconds: 7 }, { deadLetterQueue: nowhere }]) {
        expect(await queues().ensure(queue, others)).toEqual({ ...expected, created: false })
      }
      await context.store.transaction((tx) => tx.queues.ensure(queue, { maxReceives: 4 }))
      expect(warned.mock.calls).toEqual([
        [expect.stringContaining(`${JSON.stringify(queue)} that recentn ensured exists`), expect.anything()],
      ])
      expect(warned.mock.calls[0]).toEqual([
        expect.stringContaining(': maxReceives is 3, not null. '),
        { code: 'RECENTN_SETTINGS' },
      ])
      expect(await queues().get(queue)).toMatchObject(expected)
      expect(await queues().ensure(context.unique('q'))).toMatchObject({ ...QUEUE_DEFAULTS, created: true })
    })

    it('is refused as a put is', async () => {
      const queue = context.unique('q')
      const nowhere = { deadLetterQueue: context.unique('nowhere') }
      expect((await refusal(queues().ensure(queue, nowhere))).code).toBe('dead_letter_queue_not_found')
      const [there, wrong] = [await made(), { onAck: 'hide' } as never]
      for (const name of [queue, there]) {
        expect((await refusal(queues().ensure(name, wrong))).code).toBe('invalid_input')
      }
      expect(await queues().get(queue)).toBeNull()
    })

    it('by several processes that start together makes it once', async () => {
      const other = await context.open()
      for (let n = 0; n < 5; n++) {
        const queue = context.unique('q')
        const answers = await Promise.all(
          [1, 2, 3, 4].map((maxReceives) =>
            (maxReceives % 2 ? context.store : other).queues.ensure(queue, { maxReceives }),
          ),
        )
        const [winner, ...more] = answers.filter(({ created }) => created)
        expect(more).toEqual([])
        const got = await queues().get(queue)
        for (const { maxReceives } of answers) expect(maxReceives).toBe(winner?.maxReceives)
        expect(got?.maxReceives).toBe(winner?.maxReceives)
      }
    })

    it.each(WAYS)('makes it, and leaves it, in a transaction: %s', async (_, run) => {
      const queue = context.unique('q')
      await rolledBack(run, async (tx) => {
        expect(await tx.queues.ensure(queue, { maxReceives: 2 })).toMatchObject({ created: true, maxReceives: 2 })
        await tx.queues.send(queue, 1)
      })
      expect(await queues().get(queue)).toBeNull()
      await queues().put(queue, { maxReceives: 3 })
      await run(async (tx) => {
        expect(await tx.queues.ensure(queue, { maxReceives: 2 })).toMatchObject({ created: false, maxReceives: 3 })
        expect(await tx.queues.update(queue, { onAck: 'archive' })).toMatchObject({ maxReceives: 3 })
      })
      expect(await queues().get(queue)).toMatchObject({ maxReceives: 3, onAck: 'archive' })
    })
  })

  describe('queues: the limit of receives', () => {
    const receiveTimes = async (queue: string, times: number) => {
      for (let n = 0; n < times; n++) await queues().nack(queue, (await one(queue)).receiptHandle)
    }

    it('is 5 where nothing is said: then the message is dead, where it is or in the dead-letter queue', async () => {
      const dead = await made()
      for (const deadLetterQueue of [null, dead]) {
        const queue = await madeOf(1, { deadLetterQueue })
        await receiveTimes(queue, 4)
        const last = await one(queue)
        expect(last).toMatchObject({ receiveCount: 5, maxReceives: 5 })
        await queues().nack(queue, last.receiptHandle, { error: 'no' })
        expect(await queues().receive(queue)).toEqual([])
        expect(await idsIn(queue, 'dead')).toEqual(deadLetterQueue === null ? [last.id] : [])
      }
      expect(await one(dead)).toMatchObject({ receiveCount: 1, lastError: 'no' })
    })

    it('is none with null, of the queue and of the message', async () => {
      const queue = await madeOf(1, { maxReceives: null })
      const other = await madeOf(1, { maxReceives: 1 }, () => ({ maxReceives: null }))
      for (const name of [queue, other]) {
        await receiveTimes(name, 12)
        expect(await one(name)).toMatchObject({ receiveCount: 13, maxReceives: null })
        const [peeked] = (await queues().peek(name, { state: 'in-flight' })).messages
        expect(peeked?.maxReceives).toBeNull()
      }
    })

    it('holds for what dies again among the dead letters: dead there, and redriven to where it came from', async () => {
      const dead = await made()
      const queue = await madeOf(1, { maxReceives: 1, deadLetterQueue: dead })
      await receiveTimes(queue, 1)
      await receiveTimes(dead, 5)
      expect(await queues().receive(dead)).toEqual([])
      expect(await idsIn(dead, 'dead')).toHaveLength(1)
      expect(await queues().redrive(dead)).toEqual({ moved: 1 })
      expect((await one(queue)).receiveCount).toBe(1)
    })
  })
}
