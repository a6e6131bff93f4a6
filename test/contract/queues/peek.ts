import { bounded } from '../../../src/fields/options'
import type { MessagePage, MessageState, PeekedMessage, WholeMessage } from '../../../src/shared/queue-types'
import { type Context, eventually, refusal } from '../context'
import { statementsOf } from '../statements'
import { bodiesOf, byNumber, handlesOf, lasting, messageIds, queueTools, STATES } from './tools'

export function describeQueuePeeks(context: Context): void {
  const queues = () => context.store.queues
  const { made, madeOf, filled, pass, idsIn } = queueTools(context)

  /** A queue with `count` messages in each state, and their ids by state. */
  async function inEveryState(count: number) {
    const queue = await made({ onAck: 'archive', maxReceives: 50 })
    const ids = {} as Record<MessageState, bigint[]>
    const claimed = async () => {
      await filled(queue, count, (body) => ({ priority: body % 3, messageGroup: body % 2 ? 'g' : null }))
      const received = await queues().receive(queue, { limit: count, visibilityTimeoutSeconds: 1000 })
      return { ids: messageIds(received).sort(byNumber), handles: handlesOf(received) }
    }
    const archived = await claimed()
    await queues().ackMany(queue, archived.handles)
    const dead = await claimed()
    await queues().nackMany(queue, dead.handles, { dead: true, error: 'no' })
    const held = await claimed()
    ids.archived = archived.ids
    ids.dead = dead.ids
    ids['in-flight'] = held.ids
    ids.delayed = await filled(queue, count, (body) => ({ delaySeconds: 500 + (body % 5) }))
    ids.ready = await filled(queue, count, (body) => ({ priority: body % 4, messageGroup: body % 3 ? 'a' : 'b' }))
    return { queue, ids }
  }

  describe('queues: peek', () => {
    it('shows each state with its fields, and claims nothing', async () => {
      const { queue, ids } = await inEveryState(1)
      const shown = {} as Record<MessageState, PeekedMessage>
      for (const state of STATES) {
        const { messages, nextAfter } = await queues().peek(queue, { state })
        expect([messageIds(messages), nextAfter]).toEqual([ids[state], null])
        const [message] = messages as [PeekedMessage]
        shown[state] = message
        expect(Object.keys(message).sort()).toEqual(
          [
            'id',
            'state',
            'body',
            'receiveCount',
            'maxReceives',
            'sentAt',
            'visibleAt',
            'lastReceivedAt',
            'archivedAt',
            'key',
            'receiver',
          ]
            .concat([
              'firstReceivedAt',
              'deadAt',
              'deadReceiveCount',
              'deadLetterFrom',
              'lastError',
              'messageGroup',
              'priority',
              'attributes',
            ])
            .sort(),
        )
        expect(message).toMatchObject({ state, body: 1, maxReceives: 50, sentAt: expect.any(Date) })
        expect(message.visibleAt).toBeInstanceOf(Date)
        const { failures, ...whole } = (await queues().message(queue, message.id)) as WholeMessage
        expect([lasting(whole), Array.isArray(failures)]).toEqual([lasting(message), true])
      }
      const never = { receiveCount: 0, lastReceivedAt: null, archivedAt: null, lastError: null }
      expect(shown.ready).toMatchObject(never)
      expect(shown.ready.visibleAt).toEqual(shown.ready.sentAt)
      expect(shown.delayed).toMatchObject(never)
      expect(shown.delayed.visibleAt.getTime()).toBe(shown.delayed.sentAt.getTime() + 501_000)
      const once = { receiveCount: 1, lastReceivedAt: expect.any(Date) }
      expect(shown['in-flight']).toMatchObject({ ...once, archivedAt: null, lastError: null, priority: 1 })
      const { lastReceivedAt, visibleAt } = shown['in-flight']
      expect(visibleAt.getTime() - (lastReceivedAt?.getTime() ?? 0)).toBe(1_000_000)
      expect(shown.dead).toMatchObject({ ...once, archivedAt: null, lastError: 'no', messageGroup: 'g' })
      expect(shown.archived).toMatchObject({ ...once, archivedAt: expect.any(Date) })
      expect((await queues().peek(queue)).messages).toEqual([shown.ready])
      expect((await queues().receive(queue))[0]?.receiveCount).toBe(1)
    })

    it('goes through all of a state in pages, none twice and none missed', async () => {
      const { queue, ids } = await inEveryState(250)
      for (const state of STATES) {
        const first = await queues().peek(queue, { state })
        expect([state, first.messages.length, typeof first.nextAfter]).toEqual([state, 100, 'string'])
        for (const limit of [1000, 100, 37]) {
          const all = await idsIn(queue, state, limit)
          expect(all.length).toBe(250)
          expect(all.sort(byNumber)).toEqual(ids[state])
        }
        expect((await queues().peek(queue, { state, limit: 250 })).nextAfter).toBeNull()
      }
    })

    it('shows at once what time has changed', async () => {
      const queue = await madeOf(2, { visibilityTimeoutSeconds: 10, maxReceives: 2 })
      const [first] = await queues().receive(queue, { limit: 2 })
      await queues().send(queue, 'delayed', { delaySeconds: 10 })
      pass(11)
      expect(await queues().message(queue, first?.id ?? 0n)).toMatchObject({ state: 'ready', receiveCount: 1 })
      expect(bodiesOf((await queues().peek(queue, { state: 'ready' })).messages).sort()).toEqual([1, 2, 'delayed'])
      expect(await idsIn(queue, 'delayed')).toEqual([])
      await queues().receive(queue, { limit: 3 })
      pass(11)
      expect(bodiesOf((await queues().peek(queue, { state: 'dead' })).messages).sort()).toEqual([1, 2])
      expect(await idsIn(queue, 'in-flight')).toEqual([])
    })

    it('stops a page by the bytes of its bodies, with at least one message', async () => {
      const queue = await made()
      const sent = await queues().sendMany(
        queue,
        Array.from({ length: 12 }, (_, n) => ({ body: 'é'.repeat(n === 5 ? 50_000 : 5_000) })),
      )
      const sizes: number[] = []
      const seen: bigint[] = []
      for (let after: string | null = null; ; ) {
        const page: MessagePage = await queues().peek(queue, bounded(after === null ? {} : { after }, 35_000))
        sizes.push(page.messages.length)
        seen.push(...messageIds(page.messages))
        after = page.nextAfter
        if (after === null) break
      }
      expect(seen).toEqual(messageIds(sent))
      expect(Math.max(...sizes)).toBeLessThanOrEqual(4)
      expect(Math.min(...sizes)).toBeGreaterThanOrEqual(1)
      expect((await queues().peek(queue, bounded({}, 1))).messages).toHaveLength(1)
    })

    it('gives the beginning of bodies with "preview", and reads no more of them', async () => {
      const { store, statements } = await statementsOf(context)
      const queue = await made({ onAck: 'archive' })
      const bodies = ['x'.repeat(198), 'x'.repeat(199), '😀'.repeat(100_000 / 4), { a: [1, null] }, 'é'.repeat(20_000)]
      await store.queues.sendMany(
        queue,
        bodies.map((body) => ({ body })),
      )
      const expected = [`"${'x'.repeat(198)}"`, `"${'x'.repeat(199)}…`, `"${'😀'.repeat(199)}…`, '{"a":[1,null]}']
      expected.push(`"${'é'.repeat(199)}…`)
      statements.length = 0
      // All fit in a page, because only what is read counts.
      const { messages } = await store.queues.peek(queue, bounded({ bodies: 'preview' }, 4000))
      expect(bodiesOf(messages)).toEqual(expected)
      const whole = (await store.queues.peek(queue)).messages
      expect(messages).toEqual(whole.map((message, n) => ({ ...message, body: expected[n] })))
      await queues().ackMany(queue, handlesOf(await queues().receive(queue, { limit: 5 })))
      const archived = await store.queues.peek(queue, { bodies: 'preview', state: 'archived' })
      expect(bodiesOf(archived.messages).sort()).toEqual([...expected].sort())
      expect(statements.filter((sql) => /SUBSTR\(body, 1, 201\)/.test(sql)).length).toBeGreaterThanOrEqual(2)
      expect((await refusal(queues().peek(queue, { bodies: 'some' as 'text' }))).faults).toEqual([
        { pointer: '/bodies', detail: 'must be one of value, text, preview' },
      ])
    })

    it('refuses what makes no sense', async () => {
      const queue = await madeOf(1)
      const wrong = [{ limit: 0 }, { limit: 1001 }, { after: 'nonsense' }, { after: '' }, { state: 'gone' as 'dead' }]
      for (const options of wrong) {
        expect([options, (await refusal(queues().peek(queue, options))).code]).toEqual([options, 'invalid_input'])
      }
      expect((await refusal(queues().message(queue, -1n))).code).toBe('invalid_input')
      expect((await refusal(queues().remove(queue, 2n ** 63n))).code).toBe('invalid_input')
    })
  })

  describe('queues: one message', () => {
    it('is found, and removed, in each state, in its own queue only', async () => {
      const { queue, ids } = await inEveryState(2)
      const other = await made()
      for (const state of STATES) {
        const [id, next] = ids[state] as [bigint, bigint]
        expect(await queues().message(other, id)).toBeNull()
        expect(await queues().remove(other, id)).toBe(false)
        expect(await queues().remove(queue, id)).toBe(true)
        expect(await queues().message(queue, id)).toBeNull()
        expect(await queues().remove(queue, id)).toBe(false)
        expect(await idsIn(queue, state)).toEqual([next])
      }
      expect(await queues().message(queue, 2n ** 63n - 1n)).toBeNull()
      expect(await queues().message(queue, 0n)).toBeNull()
    })
  })

  describe('queues: counts', () => {
    it('are exact once the queue has been still, and say how old the oldest is', async () => {
      const { queue } = await inEveryState(3)
      await filled(queue, 2, () => ({ delaySeconds: 500 }))
      await queues().receive(queue, { visibilityTimeoutSeconds: 2000 })
      const empty = await made()
      const exact = { ready: 2, inFlight: 4, delayed: 5, blocked: 0, dead: 3, archived: 3 }
      const other = await context.open()
      for (const store of [context.store, other]) {
        await eventually(6_000, 'the counts are exact', async () => {
          const status = await store.queues.get(queue)
          return JSON.stringify(status?.counts) === JSON.stringify(exact)
        })
      }
      expect((await queues().get(queue))?.counts).toEqual(exact)
      expect((await queues().get(queue))?.oldestAgeSeconds).toBeLessThan(60)
      expect(await queues().get(empty)).toMatchObject({ oldestAgeSeconds: null })
      pass(100)
      await eventually(6_000, 'the oldest grows old', async () => {
        const age = (await queues().get(queue))?.oldestAgeSeconds ?? 0
        return age >= 100 && age < 160
      })
      const [listed] = (await queues().list({ prefix: queue })).queues
      expect(listed?.counts).toEqual(exact)
      // Delayed, dead and archived messages are not waited for.
      await queues().purge(queue)
      for (const { id } of (await queues().peek(queue, { state: 'in-flight' })).messages) {
        await queues().remove(queue, id)
      }
      await eventually(6_000, 'nothing is waited for', async () => {
        return (await queues().get(queue))?.oldestAgeSeconds === null
      })
      expect((await queues().get(queue))?.counts).toEqual({
        ready: 0,
        inFlight: 0,
        delayed: 0,
        blocked: 0,
        dead: 3,
        archived: 3,
      })
    })

    it('are never negative or in the way while others work', async () => {
      const queue = await made({ onAck: 'archive', maxReceives: 2, visibilityTimeoutSeconds: 0 })
      let working = true
      const worker = async () => {
        for (let n = 0; n < 15; n++) {
          await filled(queue, 20, (body) => ({ delaySeconds: body % 10 ? 0 : 1 }))
          const received = await queues().receive(queue, { limit: 30 })
          if (received.length > 1) await queues().ackMany(queue, handlesOf(received.slice(0, received.length / 2)))
        }
      }
      const watcher = async () => {
        while (working) {
          const status = await queues().get(queue)
          for (const count of Object.values(status?.counts ?? { none: -1 })) expect(count).toBeGreaterThanOrEqual(0)
        }
      }
      const watching = [watcher(), watcher()]
      await Promise.all([worker(), worker()]).finally(() => {
        working = false
      })
      await Promise.all(watching)
    })
  })
}
