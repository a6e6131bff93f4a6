import { type Context, eventually } from '../context'
import { statementsOf } from '../statements'
import { byNumber, messageIds, queueTools, range } from './tools'

/** Sends, receives and settles of many callers share statements; no caller may notice it except by the time it takes. */
export function describeQueueBatching(context: Context): void {
  const queues = () => context.store.queues
  const { made, madeOf, idsIn } = queueTools(context)
  const CALLERS = 300

  const about = (statements: readonly string[]) =>
    statements.filter((sql) => /queue_(messages|flows|dedups|archive)/.test(sql)).length

  describe('queues: many callers at once', () => {
    it('lose and double nothing, and share statements', async () => {
      const queue = await made()
      const { store, statements } = await statementsOf(context)
      const used = () => {
        const count = about(statements)
        statements.length = 0
        return count
      }
      await store.queues.send(queue, 0)
      used()

      const sent = await Promise.all(range(1, CALLERS).map((body) => store.queues.send(queue, body)))
      const ids = messageIds(sent).sort(byNumber)
      expect(new Set(ids).size).toBe(CALLERS)
      const sends = used()

      const received = (await Promise.all(range(0, CALLERS).map(() => store.queues.receive(queue)))).flat()
      expect(received).toHaveLength(CALLERS + 1)
      expect(new Set(messageIds(received)).size).toBe(CALLERS + 1)
      expect(new Set(received.map(({ body }) => body))).toEqual(new Set(range(0, CALLERS)))
      const receives = used()

      const settled = await Promise.all(
        received.map(({ receiptHandle }) => store.queues.ackMany(queue, [receiptHandle])),
      )
      expect(settled).toEqual(received.map(({ receiptHandle }) => ({ acked: [receiptHandle], failed: [] })))
      const deletes = used()
      expect(await idsIn(queue, 'in-flight')).toEqual([])
      for (const count of [sends, receives, deletes]) {
        expect(count).toBeGreaterThan(0)
        expect(count).toBeLessThan(CALLERS / 4)
      }
    })

    it('that wait for messages look together', async () => {
      const queue = await made()
      const { store, statements } = await statementsOf(context)
      const waiting = range(1, CALLERS).map(() => store.queues.receive(queue, { waitSeconds: 20 }))
      await eventually(10_000, 'the callers wait', async () => about(statements) > 0)
      statements.length = 0
      await store.queues.sendMany(
        queue,
        range(1, CALLERS).map((body) => ({ body })),
      )
      const received = (await Promise.all(waiting)).flat()
      expect(new Set(received.map(({ body }) => body)).size).toBe(CALLERS)
      expect(about(statements)).toBeLessThan(CALLERS / 10)
    })

    it('get each their own answer, of several queues, and the fault alone who made it', async () => {
      const names = [await made(), await made({ onAck: 'archive' }), context.unique('nowhere')]
      const outcomes = await Promise.allSettled(
        range(0, 149).map((n) => queues().send(names[n % 3] ?? '', n % 10 ? n : undefined, { priority: n % 7 })),
      )
      const codes = outcomes.map((outcome) => (outcome.status === 'rejected' ? outcome.reason.code : 'sent'))
      const expected = range(0, 149).map((n) =>
        n % 10 === 0 ? 'invalid_input' : n % 3 === 2 ? 'queue_not_found' : 'sent',
      )
      expect(codes).toEqual(expected)
      for (const [place, name] of names.slice(0, 2).entries()) {
        const asked = await Promise.all(range(1, 60).map(() => queues().receive(name)))
        const received = asked.flat()
        expect(received.map(({ body }) => body as number).sort((a, b) => a - b)).toEqual(
          range(0, 149).filter((n) => n % 3 === place && n % 10 !== 0),
        )
        for (const { body, id } of received) {
          const outcome = outcomes[body as number]
          expect(outcome?.status === 'fulfilled' && outcome.value).toEqual({ id, sent: true })
        }
        const settles = await Promise.all(
          received.map(({ receiptHandle }, n) =>
            n % 2
              ? queues().ackMany(name, [receiptHandle, 'x'])
              : queues().nackMany(name, [receiptHandle], { error: `e${n}`, delaySeconds: n }),
          ),
        )
        for (const [n, settle] of settles.entries()) {
          const done = 'acked' in settle ? settle.acked : settle.nacked
          expect([done, settle.failed.length]).toEqual([[received[n]?.receiptHandle], n % 2])
        }
        const released = received.filter((_, n) => n % 2 === 0)
        for (const [at, { id }] of released.entries()) {
          expect(await queues().message(name, id)).toMatchObject({ lastError: `e${2 * at}` })
        }
        expect(await idsIn(name, 'archived')).toHaveLength(place === 0 ? 0 : received.length - released.length)
      }
    })

    it('with different options each get what they asked for', async () => {
      const queue = await madeOf(300)
      const answers = await Promise.all(
        range(1, 20).map((n) => queues().receive(queue, { limit: n, visibilityTimeoutSeconds: 100 * n })),
      )
      const now = Date.now() + context.clock.offsetMs
      for (const [index, messages] of answers.entries()) {
        expect(messages).toHaveLength(index + 1)
        for (const { visibleAt } of messages) {
          expect(Math.abs(visibleAt.getTime() - now - 100_000 * (index + 1))).toBeLessThan(10_000)
        }
      }
      expect(new Set(messageIds(answers.flat())).size).toBe(210)
    })

    it('are answered when the store closes, and refused from then on', async () => {
      const queue = await made()
      const store = await context.open()
      const sends = range(1, 200).map((body) => store.queues.send(queue, body))
      const closing = store.close()
      const ids = messageIds(await Promise.all(sends)).sort(byNumber)
      await closing
      expect((await idsIn(queue, 'ready')).sort(byNumber)).toEqual(ids)
      await expect(store.queues.send(queue, 1)).rejects.toMatchObject({ code: 'closed' })
    })

    it('send, receive and settle all at the same time', async () => {
      const stores = context.engine === 'sqlite' ? [context.store] : [context.store, await context.open()]
      const queue = await made({ maxReceives: 1000 })
      const done = new Map<unknown, number>()
      let sending = true
      const senders = range(0, 9).map(async (sender) => {
        for (let n = 0; n < 40; n++) {
          await stores[n % stores.length]?.queues.send(queue, sender * 40 + n, { messageGroup: `g${n % 3}` })
        }
      })
      const receivers = range(0, 9).map(async (receiver) => {
        const store = stores[receiver % stores.length]
        for (;;) {
          const last = !sending
          const received = (await store?.queues.receive(queue, { limit: 3 })) ?? []
          for (const { body, receiptHandle } of received) {
            if (Math.random() < 0.1) {
              await store?.queues.nack(queue, receiptHandle)
              continue
            }
            const { acked: deleted } = (await store?.queues.ackMany(queue, [receiptHandle])) ?? { acked: [] }
            done.set(body, (done.get(body) ?? 0) + deleted.length)
          }
          if (received.length === 0 && last) return
        }
      })
      await Promise.all(senders)
      sending = false
      await Promise.all(receivers)
      for (const { body } of await queues().receive(queue, { limit: 1000 })) done.set(body, (done.get(body) ?? 0) + 1)
      expect([...done.keys()].map(Number).sort((a, b) => a - b)).toEqual(range(0, 399))
      expect([...done.values()].every((times) => times === 1)).toBe(true)
    })
  })
}
