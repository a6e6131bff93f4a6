import type { Message, MessageRef } from '../../../src/index'
import type { WholeMessage } from '../../../src/shared/queue-types'
import { type Context, refusal } from '../context'
import { bodiesOf, handlesOf, lasting, messageIds, queueTools, range } from './tools'

export function describeQueueSettles(context: Context): void {
  const queues = () => context.store.queues
  const { made, madeOf, one, pass, idsIn } = queueTools(context)
  const now = () => Date.now() + context.clock.offsetMs

  describe('queues: one message', () => {
    const stale = { code: 'stale_receipt', status: 409 }
    const invalid = { code: 'invalid_receipt', status: 400 }
    const calls = (queue: string): [string, (message: MessageRef) => Promise<void>][] => [
      ['ack', (message) => queues().ack(queue, message)],
      ['nack', (message) => queues().nack(queue, message, { delaySeconds: 9, error: 'e' })],
      ['extend', (message) => queues().extend(queue, message, { visibilityTimeoutSeconds: 90 })],
    ]

    it('is taken as a message or as its handle', async () => {
      const queue = await madeOf(6)
      const received = await queues().receive(queue, { limit: 6 })
      for (const [index, [, call]] of calls(queue).entries()) {
        expect(await call(received[index] as Message)).toBeUndefined()
        expect(await call((received[index + 3] as Message).receiptHandle)).toBeUndefined()
      }
      expect((await idsIn(queue, 'delayed')).length).toBe(2)
      expect((await idsIn(queue, 'in-flight')).length).toBe(2)
      expect(
        (await queues().ackMany(queue, [received[2] as Message, handlesOf(received)[5] as string])).failed,
      ).toEqual([])
    })

    it('whose claim has ended is refused, and nothing changes', async () => {
      const queue = await madeOf(1)
      const old = await one(queue)
      pass(31)
      const held = await one(queue)
      const state = async () => lasting((await queues().message(queue, old.id)) as WholeMessage)
      const before = await state()
      for (const [, call] of calls(queue)) {
        expect(await refusal(call(old))).toMatchObject(stale)
        expect(await refusal(call('none'))).toMatchObject(invalid)
      }
      expect(await state()).toEqual(before)
      await queues().ack(queue, held)
      for (const [, call] of calls(queue)) expect(await refusal(call(held))).toMatchObject(stale)
    })

    it('is refused where it is no message and no text', async () => {
      const queue = await made()
      for (const given of [7, null, {}, ['x']]) {
        for (const [, call] of calls(queue)) {
          const { code, faults } = await refusal(call(given as unknown as string))
          expect([code, faults[0]?.pointer]).toEqual(['invalid_input', '/receiptHandle'])
        }
        const { code, faults } = await refusal(queues().ackMany(queue, [given as unknown as string]))
        expect([code, faults[0]?.pointer]).toEqual(['invalid_input', '/receiptHandles/0'])
      }
      expect((await refusal(queues().ackMany(queue, 'x' as unknown as string[]))).code).toBe('invalid_input')
    })
  })

  describe('queues: ack', () => {
    it('removes what the handles name, and says which', async () => {
      const queue = await madeOf(5)
      const received = await queues().receive(queue, { limit: 5 })
      const [a, b, c, d] = handlesOf(received) as [string, string, string, string]
      expect(await queues().ackMany(queue, [a])).toEqual({ acked: [a], failed: [] })
      expect(await queues().ackMany(queue, [c, 'garbage', b, a])).toEqual({
        acked: [c, b],
        failed: [
          { receiptHandle: 'garbage', code: 'invalid_receipt' },
          { receiptHandle: a, code: 'stale_receipt' },
        ],
      })
      for (const gone of received.slice(0, 3)) expect(await queues().message(queue, gone.id)).toBeNull()
      expect(await idsIn(queue, 'in-flight')).toEqual(messageIds(received.slice(3)))
      pass(31)
      expect(bodiesOf(await queues().receive(queue, { limit: 5 })).sort()).toEqual([4, 5])
      expect((await queues().ackMany(queue, [d])).failed).toEqual([{ receiptHandle: d, code: 'stale_receipt' }])
    })

    it('takes 1 to 1,000 handles, 1,000 at once', async () => {
      const queue = await madeOf(1000)
      const handles = handlesOf(await queues().receive(queue, { limit: 1000 }))
      expect((await refusal(queues().ackMany(queue, []))).code).toBe('invalid_input')
      expect((await refusal(queues().ackMany(queue, [...handles, 'more']))).code).toBe('invalid_input')
      expect((await refusal(queues().ackMany(queue, [7] as unknown as string[]))).code).toBe('invalid_input')
      expect(await idsIn(queue, 'in-flight')).toHaveLength(1000)
      const extended = await queues().extendMany(queue, handles, { visibilityTimeoutSeconds: 100 })
      expect(extended).toEqual({ extended: handles, failed: [] })
      expect(await queues().nackMany(queue, handles.slice(0, 999), { delaySeconds: 5 })).toEqual({
        nacked: handles.slice(0, 999),
        failed: [],
      })
      pass(6)
      const again = handlesOf(await queues().receive(queue, { limit: 1000 }))
      expect(again).toHaveLength(999)
      const settled = await queues().ackMany(queue, [...again, handles[999] as string])
      expect(settled).toEqual({ acked: [...again, handles[999]], failed: [] })
      expect(await idsIn(queue, 'in-flight')).toEqual([])
    })

    it('takes a handle twice in one call as it takes it once', async () => {
      const queue = await madeOf(3)
      const [a, b, c] = handlesOf(await queues().receive(queue, { limit: 3 })) as [string, string, string]
      const settles: [string, readonly string[], readonly { receiptHandle: string }[]][] = []
      const { acked: deleted, failed } = await queues().ackMany(queue, [a, a])
      settles.push([a, deleted, failed])
      const released = await queues().nackMany(queue, [b, b])
      settles.push([b, released.nacked, released.failed])
      const extended = await queues().extendMany(queue, [c, c], { visibilityTimeoutSeconds: 9 })
      settles.push([c, extended.extended, extended.failed])
      for (const [handle, done, not] of settles) {
        expect(done).toContain(handle)
        expect(done.length + not.length).toBeLessThanOrEqual(2)
      }
      expect([await idsIn(queue, 'ready'), await idsIn(queue, 'in-flight')].map(({ length }) => length)).toEqual([1, 1])
    })

    it('works after the visibility timeout as long as no other receiver has the message', async () => {
      const queue = await madeOf(3, { visibilityTimeoutSeconds: 10 })
      const [a, b, c] = handlesOf(await queues().receive(queue, { limit: 3 })) as [string, string, string]
      pass(11)
      // Ready again, and seen to be.
      expect(await idsIn(queue, 'ready')).toHaveLength(3)
      expect((await queues().ackMany(queue, [a])).acked).toEqual([a])
      expect((await queues().extendMany(queue, [b], { visibilityTimeoutSeconds: 100 })).extended).toEqual([b])
      expect(bodiesOf(await queues().receive(queue, { limit: 3 }))).toEqual([3])
      expect((await queues().nackMany(queue, [c])).failed).toEqual([{ receiptHandle: c, code: 'stale_receipt' }])
      pass(50)
      expect(bodiesOf(await queues().receive(queue, { limit: 3 }))).toEqual([3])
      expect((await queues().ackMany(queue, [b])).acked).toEqual([b])
    })
  })

  describe('queues: nack', () => {
    it('hands out again at once, with the count going on', async () => {
      const queue = await madeOf(1)
      const first = await one(queue)
      const { receiptHandle } = first
      expect(await queues().nackMany(queue, [receiptHandle])).toEqual({ nacked: [receiptHandle], failed: [] })
      expect(await queues().message(queue, first.id)).toMatchObject({ state: 'ready', receiveCount: 1 })
      const second = await one(queue)
      expect(second).toMatchObject({ id: first.id, receiveCount: 2, lastError: null })
      expect(second.receiptHandle).not.toBe(first.receiptHandle)
    })

    it('after a delay, with the error', async () => {
      const queue = await madeOf(2)
      const handles = handlesOf(await queues().receive(queue, { limit: 2 }))
      await queues().nackMany(queue, handles, { delaySeconds: 100, error: 'it\u0000 "failed" 😀' })
      expect(await queues().receive(queue)).toEqual([])
      const delayed = (await queues().peek(queue, { state: 'delayed' })).messages
      expect(delayed).toHaveLength(2)
      for (const message of delayed) {
        expect(message).toMatchObject({ receiveCount: 1, lastError: 'it\u0000 "failed" 😀' })
        expect(Math.abs(message.visibleAt.getTime() - now() - 100_000)).toBeLessThan(5_000)
      }
      pass(95)
      expect(await queues().receive(queue)).toEqual([])
      pass(6)
      const [again] = await queues().receive(queue)
      expect(again).toMatchObject({ receiveCount: 2, lastError: 'it\u0000 "failed" 😀' })
      await queues().nack(queue, again?.receiptHandle ?? '', { error: 'another' })
      expect((await queues().message(queue, again?.id ?? 0n))?.lastError).toBe('another')
    })

    it('cuts the error to 1,000 characters, and leaves it well-formed', async () => {
      const queue = await madeOf(1)
      await queues().nack(queue, (await one(queue)).receiptHandle, { error: 'x'.repeat(5000) })
      const second = await one(queue)
      expect(second.lastError).toBe('x'.repeat(1000))
      await queues().nack(queue, second.receiptHandle, { error: `x${'😀'.repeat(1500)}` })
      const { lastError } = await one(queue)
      expect(lastError?.isWellFormed()).toBe(true)
      expect([...(lastError ?? '')].length).toBeLessThanOrEqual(1000)
      expect(lastError?.length).toBeGreaterThanOrEqual(999)
    })

    it('names every fault of its options', async () => {
      const queue = await madeOf(1)
      const { receiptHandle } = await one(queue)
      const wrong = { delaySeconds: -1, error: 7, dead: 'yes' } as unknown as { delaySeconds: number }
      const error = await refusal(queues().nackMany(queue, [receiptHandle], wrong))
      expect([error.code, error.faults.map(({ pointer }) => pointer).sort()]).toEqual([
        'invalid_input',
        ['/dead', '/delaySeconds', '/error'],
      ])
      expect((await refusal(queues().nackMany(queue, []))).code).toBe('invalid_input')
      const tooLong = queues().nackMany(queue, [receiptHandle], { delaySeconds: 315_360_001 })
      expect((await refusal(tooLong)).code).toBe('invalid_input')
      expect((await queues().ackMany(queue, [receiptHandle])).acked).toEqual([receiptHandle])
    })

    it('dead: never again, whatever the count', async () => {
      const queue = await madeOf(2)
      const [a, b] = await queues().receive(queue, { limit: 2 })
      await queues().nack(queue, a?.receiptHandle ?? '', { dead: true, error: 'poison', delaySeconds: 5 })
      expect(await queues().message(queue, a?.id ?? 0n)).toMatchObject({
        state: 'dead',
        receiveCount: 1,
        lastError: 'poison',
      })
      pass(100)
      expect(messageIds(await queues().receive(queue, { limit: 10 }))).toEqual([b?.id])
    })
  })

  describe('queues: extend', () => {
    it('holds a message, counted from now, and keeps its handle', async () => {
      const queue = await madeOf(1)
      const { id, receiptHandle } = await one(queue)
      for (let n = 0; n < 4; n++) {
        pass(20)
        const extended = await queues().extendMany(queue, [receiptHandle], { visibilityTimeoutSeconds: 30 })
        expect(extended).toEqual({ extended: [receiptHandle], failed: [] })
        const held = await queues().message(queue, id)
        expect(held).toMatchObject({ state: 'in-flight', receiveCount: 1 })
        expect(Math.abs((held?.visibleAt.getTime() ?? 0) - now() - 30_000)).toBeLessThan(5_000)
      }
      pass(25)
      expect(await queues().receive(queue)).toEqual([])
      pass(6)
      expect(await one(queue)).toMatchObject({ id, receiveCount: 2 })
    })

    it('shortens as well, down to 0: then it is there for others at once', async () => {
      const queue = await made({ visibilityTimeoutSeconds: 1000 })
      await queues().sendMany(
        queue,
        range(1, 3).map((body) => ({ body })),
      )
      const received = await queues().receive(queue, { limit: 3 })
      const [a, b] = handlesOf(received) as [string, string]
      await queues().extend(queue, a, { visibilityTimeoutSeconds: 0 })
      expect(await one(queue)).toMatchObject({ body: 1, receiveCount: 2 })
      await queues().extend(queue, b, { visibilityTimeoutSeconds: 10 })
      expect(await queues().receive(queue, { limit: 3 })).toEqual([])
      pass(11)
      expect(await one(queue)).toMatchObject({ body: 2, receiveCount: 2 })
      expect((await queues().ackMany(queue, [a, b])).failed.map(({ code }) => code)).toEqual([
        'stale_receipt',
        'stale_receipt',
      ])
    })

    it('needs a time from 0 to 43,200', async () => {
      const queue = await madeOf(1)
      const { receiptHandle } = await one(queue)
      for (const visibilityTimeoutSeconds of [-1, 43_201, 1.5, undefined as unknown as number]) {
        const error = await refusal(queues().extendMany(queue, [receiptHandle], { visibilityTimeoutSeconds }))
        expect([error.code, error.faults[0]?.pointer]).toEqual(['invalid_input', '/visibilityTimeoutSeconds'])
      }
      await queues().extend(queue, receiptHandle, { visibilityTimeoutSeconds: 43_200 })
      pass(43_190)
      expect(await queues().receive(queue)).toEqual([])
    })
  })
}
