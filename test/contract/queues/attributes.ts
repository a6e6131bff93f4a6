import type { QueueSettings } from '../../../src/shared/queue-types'
import { QUEUE_DEFAULTS } from '../../support/queue-defaults'
import { type Context, refusal } from '../context'
import { bodiesOf, handlesOf, queueTools } from './tools'

const NONE = { ready: 0, inFlight: 0, delayed: 0, blocked: 0, dead: 0, archived: 0 }

export function describeQueueAttributes(context: Context): void {
  const queues = () => context.store.queues
  const { made, filled, one, pass } = queueTools(context)

  /** Whether a PUT was done, or the code of its refusal. */
  const outcome = (queue: string, deadLetterQueue: string) =>
    queues()
      .put(queue, { deadLetterQueue })
      .then(
        () => 'done',
        (error) => error.code,
      )

  describe('queues: attributes', () => {
    it('have their defaults, and a new queue has nothing in it', async () => {
      const queue = context.unique('q')
      expect(await queues().get(queue)).toBeNull()
      const before = Date.now() + context.clock.offsetMs
      const put = await queues().put(queue)
      expect(put).toEqual({ queue, ...QUEUE_DEFAULTS, createdAt: expect.any(Date), created: true })
      expect(Math.abs(put.createdAt.getTime() - before)).toBeLessThan(60_000)
      const { created: _, ...attributes } = put
      expect(await queues().get(queue)).toEqual({
        ...attributes,
        isDeadLetterQueue: false,
        counts: NONE,
        oldestAgeSeconds: null,
        limited: 0,
        died: 0,
        growthPerMinute: null,
      })
    })

    it('are replaced by a PUT: what is left out, or undefined, takes its default', async () => {
      const dead = await made()
      const all: Required<QueueSettings> = {
        visibilityTimeoutSeconds: 7,
        maxReceives: 3,
        deadLetterQueue: dead,
        onAck: 'archive',
        retentionSeconds: 60,
        maxMessages: 9,
        groupConcurrency: 2,
        rateLimit: { messages: 5, perSeconds: 60 },
        groupRateLimit: { messages: 1, perSeconds: 2 },
      }
      const queue = context.unique('q')
      const first = await queues().put(queue, all)
      expect(first).toMatchObject({ ...all, created: true })
      expect(await queues().get(queue)).toMatchObject(all)
      const second = await queues().put(queue, { maxReceives: 9, onAck: undefined })
      expect(second).toEqual({ queue, ...QUEUE_DEFAULTS, maxReceives: 9, createdAt: first.createdAt, created: false })
      expect(await queues().put(queue)).toMatchObject({ ...QUEUE_DEFAULTS, created: false })
      expect(await queues().get(queue)).toMatchObject(QUEUE_DEFAULTS)
    })

    it('reach from the smallest to the largest, and no further', async () => {
      const queue = context.unique('q')
      const smallest = { visibilityTimeoutSeconds: 0, maxReceives: 1, retentionSeconds: 1 }
      const largest = { visibilityTimeoutSeconds: 43_200, maxReceives: 1_000_000, retentionSeconds: 315_360_000_000 }
      expect(await queues().put(queue, smallest)).toMatchObject(smallest)
      expect(await queues().put(queue, largest)).toMatchObject(largest)
      expect(await queues().get(queue)).toMatchObject(largest)
      const none = { maxReceives: null, retentionSeconds: null, deadLetterQueue: null }
      expect(await queues().put(queue, none)).toMatchObject(none)
      expect(await queues().put(queue, largest)).toMatchObject(largest)
      const tooMuch = { visibilityTimeoutSeconds: 43_201, maxReceives: 1_000_001, retentionSeconds: 315_360_000_001 }
      const wrong = {
        visibilityTimeoutSeconds: -1,
        maxReceives: 0,
        retentionSeconds: 0,
        onAck: 'hide',
        deadLetterQueue: '',
        paused: true,
      } as unknown as QueueSettings
      for (const settings of [tooMuch, wrong]) {
        const error = await refusal(queues().put(queue, settings))
        expect(error.code).toBe('invalid_input')
        expect(error.faults.map(({ pointer }) => pointer).sort()).toEqual(
          Object.keys(settings)
            .map((key) => `/${key}`)
            .sort(),
        )
      }
      expect(await queues().get(queue)).toMatchObject(largest)
    })

    it('say once that the queue was created, to those who do so at the same time', async () => {
      for (let n = 0; n < 5; n++) {
        const queue = context.unique('q')
        const answers = await Promise.all([1, 2, 3, 4].map((maxReceives) => queues().put(queue, { maxReceives })))
        expect(answers.filter(({ created }) => created)).toHaveLength(1)
      }
    })

    it('hold at once in a store that has the queue in its memory', async () => {
      const other = await context.open()
      const queue = await made({ visibilityTimeoutSeconds: 100 })
      await filled(queue, 4)
      const [first] = await other.queues.receive(queue)
      await queues().put(queue, { visibilityTimeoutSeconds: 1000, onAck: 'archive' })
      const [second] = await other.queues.receive(queue)
      const held = [first, second].map((message) => message?.visibleAt.getTime() ?? 0)
      expect((held[1] ?? 0) - (held[0] ?? 0)).toBeGreaterThan(890_000)
      await other.queues.ack(queue, second?.receiptHandle ?? '')
      expect(await queues().message(queue, second?.id ?? 0n)).toMatchObject({ state: 'archived' })
      await queues().pause(queue)
      expect(await other.queues.receive(queue)).toEqual([])
      await queues().resume(queue)
      expect(await other.queues.receive(queue, { limit: 5 })).toHaveLength(2)
      await queues().drop(queue)
      expect((await refusal(other.queues.receive(queue))).code).toBe('queue_not_found')
      expect((await refusal(other.queues.send(queue, 1))).code).toBe('queue_not_found')
    })

    it('paused: sends are taken, receives get nothing, settling continues', async () => {
      const queue = await made()
      await filled(queue, 2)
      const [held] = await queues().receive(queue)
      expect(await queues().pause(queue)).toMatchObject({ queue, paused: true })
      await queues().send(queue, 3)
      expect(await queues().receive(queue, { limit: 10 })).toEqual([])
      expect(await queues().cycle(queue, { limit: 10 })).toEqual([])
      expect(await queues().ackMany(queue, handlesOf(held ? [held] : []))).toMatchObject({ failed: [] })
      expect(await queues().resume(queue)).toMatchObject({ queue, paused: false })
      expect(bodiesOf(await queues().receive(queue, { limit: 10 }))).toEqual([2, 3])
    })
  })

  describe('queues: dead-letter queues', () => {
    it('must exist', async () => {
      const queue = await made({ maxReceives: 5 })
      const nowhere = context.unique('nowhere')
      for (const name of [queue, context.unique('new')]) {
        const error = await refusal(queues().put(name, { deadLetterQueue: nowhere }))
        expect([error.code, error.faults.map(({ pointer }) => pointer)]).toEqual([
          'dead_letter_queue_not_found',
          ['/deadLetterQueue'],
        ])
      }
      expect(await queues().get(queue)).toMatchObject({ maxReceives: 5, deadLetterQueue: null })
    })

    it('close no cycle: of one, of two, of three', async () => {
      const [a, b, c] = [await made(), await made(), await made()]
      await queues().put(a, { deadLetterQueue: b })
      await queues().put(b, { deadLetterQueue: c })
      const closing: [string, string][] = [
        [a, a],
        [b, a],
        [c, a],
        [c, b],
        [c, c],
      ]
      for (const [queue, deadLetterQueue] of closing) {
        const error = await refusal(queues().put(queue, { deadLetterQueue, maxReceives: 1 }))
        expect([error.code, error.faults.map(({ pointer }) => pointer)]).toEqual([
          'dead_letter_cycle',
          ['/deadLetterQueue'],
        ])
      }
      expect(await queues().get(c)).toMatchObject(QUEUE_DEFAULTS)
      // A new queue that names itself does not exist yet: refused either way, and not created.
      const own = context.unique('q')
      expect(['dead_letter_cycle', 'queue_not_found']).toContain(await outcome(own, own))
      expect(await queues().get(own)).toBeNull()
      // The same again, and one that several share, close none.
      expect(await outcome(a, b)).toBe('done')
      expect(await outcome(a, c)).toBe('done')
      expect(await outcome(b, a)).toBe('done')
    })

    it('close no cycle when several PUTs would together', async () => {
      const other = await context.open()
      for (let n = 0; n < 6; n++) {
        const [a, b, c] = [await made(), await made(), await made()]
        const settled = await Promise.allSettled([
          queues().put(a, { deadLetterQueue: b }),
          other.queues.put(b, { deadLetterQueue: c }),
          queues().put(c, { deadLetterQueue: a }),
        ])
        const codes = settled.flatMap((one) => (one.status === 'rejected' ? [one.reason.code] : []))
        expect(codes).toEqual(['dead_letter_cycle'])
      }
    })

    it('are in use while another queue names them', async () => {
      const dead = await made()
      const [a, b] = [await made({ deadLetterQueue: dead }), await made({ deadLetterQueue: dead })]
      await queues().send(dead, 'kept')
      expect((await refusal(queues().drop(dead))).code).toBe('queue_in_use')
      await queues().put(a)
      expect((await refusal(queues().drop(dead))).code).toBe('queue_in_use')
      expect((await one(dead)).body).toBe('kept')
      expect(await queues().drop(b)).toBe(true)
      expect(await queues().drop(dead)).toBe(true)
      expect(await queues().drop(dead)).toBe(false)
    })

    it('take effect for what is claimed already', async () => {
      const [queue, dead] = [await made(), await made()]
      await filled(queue, 1)
      const message = await one(queue)
      await queues().put(queue, { maxReceives: 1, deadLetterQueue: dead })
      pass(31)
      expect(await queues().receive(queue)).toEqual([])
      expect((await one(dead)).id).toBe(message.id)
    })
  })
}
