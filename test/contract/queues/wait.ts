import type { Store } from '../../../src/index'
import type { Message } from '../../../src/shared/queue-types'
import { soonMs } from '../../support/timing'
import { type Context, refusal, sleep } from '../context'
import { statementsOf } from '../statements'
import { bodiesOf, messageIds, queueTools, range, timed } from './tools'

export function describeQueueWaits(context: Context): void {
  const queues = () => context.store.queues
  const { made, madeOf, one } = queueTools(context)

  /** Waits for a message of the queue while `event` makes one available; answers it and how long that took. */
  async function awaited(queue: string, event: () => Promise<unknown>, store: Store = context.store) {
    const waiting = store.queues.receive(queue, { waitSeconds: 10, limit: 5 }).then((messages) => ({
      messages,
      at: performance.now(),
    }))
    await sleep(300)
    const begin = performance.now()
    await event()
    const { messages, at } = await waiting
    return { messages, ms: at - begin }
  }

  const expectSoon = ({ messages, ms }: { messages: Message[]; ms: number }, bodies: unknown[], afterMs = 0) => {
    expect(bodiesOf(messages)).toEqual(bodies)
    expect(ms).toBeGreaterThanOrEqual(afterMs - 50)
    expect(ms).toBeLessThan(afterMs + soonMs())
  }

  describe('queues: a waiting receive', () => {
    it('answers at once when there is something', async () => {
      const queue = await madeOf(2)
      const { answer, ms } = await timed(queues().receive(queue, { waitSeconds: 20, limit: 10 }))
      expect(bodiesOf(answer)).toEqual([1, 2])
      expect(ms).toBeLessThan(soonMs())
    })

    it('answers nothing after its time, and not before', async () => {
      const queue = await made()
      const { answer, ms } = await timed(queues().receive(queue, { waitSeconds: 1 }))
      expect(answer).toEqual([])
      expect(ms).toBeGreaterThan(950)
      expect(ms).toBeLessThan(1_000 + soonMs())
    })

    it('gets what this store, and another one, sends', async () => {
      const queue = await made()
      expectSoon(await awaited(queue, () => queues().send(queue, 'own')), ['own'])
      const other = await context.open()
      expectSoon(await awaited(queue, () => other.queues.send(queue, 'other')), ['other'])
      const many = () => other.queues.sendMany(queue, [{ body: 1 }, { body: 2 }])
      expectSoon(await awaited(queue, many), [1, 2])
    })

    it('gets what a transaction sends, once it is committed', async () => {
      const queue = await made()
      const sending = () =>
        context.store.transaction(async (tx) => {
          await tx.queues.send(queue, 'in a transaction')
        })
      expectSoon(await awaited(queue, sending), ['in a transaction'])
    })

    it('gets a message whose delay, or whose visibility timeout, is over', async () => {
      const queue = await made()
      const other = await context.open()
      const delayed = await awaited(queue, () => other.queues.send(queue, 'delayed', { delaySeconds: 1 }))
      expectSoon(delayed, ['delayed'], 1_000)
      const timedOut = await made()
      await queues().send(timedOut, 'timed out')
      await other.queues.receive(timedOut, { visibilityTimeoutSeconds: 1 })
      const late = await awaited(timedOut, async () => {})
      expect(late.messages[0]).toMatchObject({ body: 'timed out', receiveCount: 2 })
      expect(late.ms).toBeLessThan(700 + soonMs())
    })

    it('gets what is released, resumed, redriven or extended by 0', async () => {
      const other = await context.open()
      const queue = await madeOf(1)
      const first = await other.queues.receive(queue)
      expectSoon(await awaited(queue, () => other.queues.nackMany(queue, [first[0]?.receiptHandle ?? ''])), [1])

      const paused = await madeOf(1)
      await queues().pause(paused)
      expectSoon(await awaited(paused, () => other.queues.resume(paused)), [1])

      const dead = await madeOf(1)
      await queues().nack(dead, (await one(dead)).receiptHandle, { dead: true })
      expectSoon(await awaited(dead, () => other.queues.redrive(dead)), [1])

      const held = await madeOf(1)
      const { receiptHandle } = await one(held)
      expectSoon(
        await awaited(held, () => other.queues.extendMany(held, [receiptHandle], { visibilityTimeoutSeconds: 0 })),
        [1],
      )
    })

    it('gets nothing through a pause, and what was sent during it once it is resumed', async () => {
      const other = await context.open()
      const queue = await made()
      let answeredAt = 0
      const waiting = queues()
        .receive(queue, { waitSeconds: 20, limit: 5 })
        .finally(() => {
          answeredAt = performance.now()
        })
      await other.queues.pause(queue)
      await other.queues.send(queue, 'held back')
      // Longer than a waiting receive takes to notice a message of another process.
      await sleep(1500)
      const begin = performance.now()
      await other.queues.resume(queue)
      expectSoon({ messages: await waiting, ms: answeredAt - begin }, ['held back'])
    })

    it('gets what dies in another queue whose dead letters it waits for', async () => {
      const dead = await made()
      const queue = await madeOf(1, { deadLetterQueue: dead })
      const { receiptHandle } = await one(queue)
      expectSoon(await awaited(dead, () => queues().nackMany(queue, [receiptHandle], { dead: true })), [1])
    })

    it('is none of a cycle, which answers at once', async () => {
      const queue = await made()
      expect(await queues().cycle(queue)).toEqual([])
      const waiting = refusal(queues().cycle(queue, { waitSeconds: 10 } as object))
      expect(await waiting).toMatchObject({ code: 'invalid_input', faults: [{ pointer: '/waitSeconds' }] })
    })

    it('ends with its signal, and claims nothing after it', async () => {
      const queue = await made()
      const controller = new AbortController()
      const waiting = timed(queues().receive(queue, { waitSeconds: 20, signal: controller.signal }))
      setTimeout(() => controller.abort(), 200)
      const { answer, ms } = await waiting
      expect(answer).toEqual([])
      expect(ms).toBeLessThan(soonMs())
      await queues().send(queue, 'x')
      await sleep(300)
      expect((await one(queue)).receiveCount).toBe(1)
      const aborted = timed(queues().receive(queue, { waitSeconds: 20, signal: AbortSignal.abort() }))
      expect((await aborted).ms).toBeLessThan(soonMs())
    })

    it('that is aborted while its messages are claimed leaves them to others, and gives back the rest', async () => {
      const queue = await made()
      const controller = new AbortController()
      const { store } = await statementsOf(context, async (sql) => {
        if (/^UPDATE .*queue_messages/.test(sql)) controller.abort()
      })
      await queues().sendMany(queue, [{ body: 1 }, { body: 2 }, { body: 3 }])
      const [aborted, other] = await Promise.all([
        store.queues.receive(queue, { limit: 2, signal: controller.signal }),
        store.queues.receive(queue),
      ])
      expect([aborted, bodiesOf(other)]).toEqual([[], [1]])
      const rest = await queues().receive(queue, { limit: 9 })
      expect(rest.map(({ body, receiveCount }) => [body, receiveCount])).toEqual([
        [2, 1],
        [3, 1],
      ])
    })

    it('that is aborted while its messages are claimed ends when they are given back', async () => {
      const queue = await made()
      const controller = new AbortController()
      const { store, statements } = await statementsOf(context, async (sql) => {
        if (/^UPDATE .*queue_messages/.test(sql)) controller.abort()
      })
      await queues().sendMany(queue, [{ body: 1 }, { body: 2 }])
      const aborted = await store.queues.receive(queue, { limit: 2, signal: controller.signal })
      const isGivenBack = statements.some((sql) => sql.includes('receive_count = receive_count - 1'))
      expect([aborted, isGivenBack]).toEqual([[], true])
      const given = await queues().receive(queue, { limit: 9 })
      expect(given.map(({ body, receiveCount }) => [body, receiveCount])).toEqual([
        [1, 1],
        [2, 1],
      ])
    })

    it('ends when the store closes', async () => {
      const queue = await made()
      const store = await context.open()
      const waiting = timed(Promise.allSettled(range(1, 5).map(() => store.queues.receive(queue, { waitSeconds: 20 }))))
      await sleep(200)
      const closing = timed(store.close())
      const { answer, ms } = await waiting
      expect(ms).toBeLessThan(200 + soonMs())
      for (const one of answer) {
        expect(one.status === 'fulfilled' ? one.value : one.reason.code).toEqual(
          one.status === 'fulfilled' ? [] : 'closed',
        )
      }
      expect((await closing).ms).toBeLessThan(soonMs())
      expect((await refusal(store.queues.receive(queue))).code).toBe('closed')
    })

    it('ends when its queue is deleted', async () => {
      const queue = await made()
      const waiting = queues().receive(queue, { waitSeconds: 10 })
      const outcome = timed(waiting.catch((error) => error.code))
      await sleep(200)
      await queues().drop(queue)
      const { answer, ms } = await outcome
      expect(answer).toBe('queue_not_found')
      expect(ms).toBeLessThan(200 + soonMs())
    })

    it('of many gets each message once', async () => {
      const other = await context.open()
      const queue = await made()
      const waiting = range(1, 30).map((n) =>
        (n % 2 ? context.store : other).queues.receive(queue, { waitSeconds: 20 }),
      )
      await sleep(200)
      const begin = performance.now()
      const sent = await queues().sendMany(
        queue,
        range(1, 30).map((body) => ({ body })),
      )
      const received = (await Promise.all(waiting)).flat()
      expect(performance.now() - begin).toBeLessThan(soonMs())
      expect(new Set(messageIds(received))).toEqual(new Set(messageIds(sent)))
      expect(received).toHaveLength(30)
    })
  })
}
