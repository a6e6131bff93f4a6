import type { QueueSettings } from '../../../src/shared/queue-types'
import { soonMs } from '../../support/timing'
import { type Context, eventually } from '../context'
import { bodiesOf, handlesOf, queueTools, range, STATES } from './tools'

/** Rates limit how many messages of a queue, and of each of its message groups, are received in each span of time. */
export function describeTurns(context: Context): void {
  const queues = () => context.store.queues
  const { made, filled } = queueTools(context)
  const pass = (seconds: number) => {
    context.clock.offsetMs += seconds * 1000 + 5
  }
  const receive = async (queue: string, limit = 100) => bodiesOf(await queues().receive(queue, { limit }))
  /** Of all messages, by their ids. */
  const waiting = async (queue: string) => {
    const all = [...STATES, 'blocked' as const].map(async (state) => (await queues().peek(queue, { state })).messages)
    return (await Promise.all(all)).flat().sort((a, b) => (a.id < b.id ? -1 : 1))
  }
  const states = async (queue: string) => (await waiting(queue)).map(({ state }) => state)
  const ofGroup = (queue: string, messageGroup: string, count: number) => filled(queue, count, () => ({ messageGroup }))
  const limited = (messages: number, more: QueueSettings = {}) =>
    made({ groupRateLimit: { messages, perSeconds: 10 }, visibilityTimeoutSeconds: 600, ...more })

  describe('queues: rateLimit', () => {
    it('gives so many messages in each span, whatever came before, and costs those that wait no receive', async () => {
      const queue = await made({ rateLimit: { messages: 3, perSeconds: 10 } })
      await filled(queue, 9)
      expect(await receive(queue, 1)).toEqual([1])
      pass(6)
      expect(await receive(queue)).toEqual([2, 3])
      expect(await receive(queue)).toEqual([])
      expect(await queues().get(queue)).toMatchObject({ rateLimit: { messages: 3, perSeconds: 10 }, limited: 6 })
      pass(4)
      expect(await receive(queue)).toEqual([4])
      pass(6)
      const later = await queues().receive(queue, { limit: 100 })
      expect(bodiesOf(later)).toEqual([5, 6])
      expect(later.map(({ receiveCount }) => receiveCount)).toEqual([1, 1])
    })

    it('counts many receives in parts of the span, and gives no fewer than 0.9 of them', async () => {
      const queue = await made({ rateLimit: { messages: 500, perSeconds: 10 }, visibilityTimeoutSeconds: 600 })
      await queues().sendMany(
        queue,
        range(1, 1000).map((body) => ({ body })),
      )
      const times: number[] = []
      for (let step = 0; step < 100; step++) {
        for (const { receivedAt } of await queues().receive(queue, { limit: 20 })) times.push(receivedAt.getTime())
        pass(0.2)
      }
      const most = times.map((time) => times.filter((other) => other > time - 10_000 && other <= time).length)
      expect(Math.max(...most)).toBeLessThanOrEqual(500)
      expect(times.length).toBeGreaterThanOrEqual(900)
    })

    it('wakes a receive that waits, when the next turn comes', async () => {
      const store = await context.open()
      const queue = await made({ rateLimit: { messages: 1, perSeconds: 1 } })
      await filled(queue, 2)
      const [first] = await store.queues.receive(queue)
      const [second] = await store.queues.receive(queue, { waitSeconds: 10 })
      const betweenMs = (second?.receivedAt.getTime() ?? 0) - (first?.receivedAt.getTime() ?? 0)
      expect(betweenMs).toBeGreaterThan(1000)
      expect(betweenMs).toBeLessThan(soonMs(2500))
    })

    it('and groupRateLimit hold over all receivers, and lose nothing', async () => {
      const rateLimit = { messages: 25, perSeconds: 1 }
      const queue = await made({ rateLimit, groupRateLimit: { messages: 2, perSeconds: 1 } })
      await filled(queue, 90, (body) => ({ messageGroup: `g${body % 15}` }))
      const seen: { body: unknown; group: string; at: number }[] = []
      const stores = await Promise.all([context.open(), context.open(), context.open()])
      const workers = stores.map((store) =>
        store.queues.work(
          queue,
          ({ body, messageGroup, receivedAt }) => {
            seen.push({ body, group: String(messageGroup), at: receivedAt.getTime() })
          },
          { concurrency: 3 },
        ),
      )
      await eventually(30_000, 'all are handled', async () => seen.length >= 90)
      for (const worker of workers) await worker.stop()
      const busiest = (alike: (one: { group: string }, other: { group: string }) => boolean) => {
        const within = seen.map((one) =>
          seen.filter((other) => alike(one, other) && other.at > one.at - 1000 && other.at <= one.at),
        )
        return Math.max(...within.map(({ length }) => length))
      }
      expect(busiest(() => true)).toBeLessThanOrEqual(25)
      expect(busiest((one, other) => one.group === other.group)).toBeLessThanOrEqual(2)
      expect(new Set(seen.map(({ body }) => body)).size).toBe(90)
      const times = seen.map(({ at }) => at)
      // 90 at 25 a second take 3 seconds, and the last 15 come at once.
      expect(Math.max(...times) - Math.min(...times)).toBeLessThan(soonMs(8000))
    })

    it('refuses what is no rate', async () => {
      const wrong = { rateLimit: { messages: 0, perSeconds: 1 }, groupRateLimit: 5 as never }
      await expect(made(wrong)).rejects.toMatchObject({
        code: 'invalid_input',
        faults: [{ pointer: '/rateLimit' }, { pointer: '/groupRateLimit' }],
      })
    })
  })

  describe('queues: groupRateLimit', () => {
    it('gives so many of each group in each span, in the order sent, and holds up no other', async () => {
      const queue = await limited(2)
      await ofGroup(queue, 'a', 5)
      await ofGroup(queue, 'b', 3)
      await filled(queue, 4)
      expect((await receive(queue)).sort()).toEqual([1, 1, 1, 2, 2, 2, 3, 4])
      expect(await queues().get(queue)).toMatchObject({ counts: { delayed: 3, blocked: 1, inFlight: 8 }, limited: 4 })
      expect(await receive(queue)).toEqual([])
      pass(10)
      expect((await receive(queue)).sort()).toEqual([3, 3, 4])
      pass(10)
      expect(await receive(queue)).toEqual([5])
    })

    it('gives the turn of a message that is removed, or acknowledged unclaimed, to the next one', async () => {
      const queue = await limited(1)
      await ofGroup(queue, 'a', 4)
      const [first, , third] = await waiting(queue)
      await queues().remove(queue, first?.id as bigint)
      expect(await states(queue)).toEqual(['ready', 'blocked', 'blocked'])
      expect(await receive(queue)).toEqual([2])
      expect(await states(queue)).toEqual(['in-flight', 'delayed', 'blocked'])
      await queues().remove(queue, third?.id as bigint)
      const ids = (await waiting(queue)).map(({ id }) => id)
      expect(await queues().promote(queue, ids)).toEqual({ promoted: 0 })
      expect(await receive(queue)).toEqual([])
      pass(10)
      expect(await receive(queue)).toEqual([4])
      expect(await queues().purge(queue)).toEqual({ deleted: 0 })
    })

    it('leaves nothing to a purge that wakes others of the groups, in front of what it has passed', async () => {
      const queue = await limited(1)
      for (const group of ['a', 'b']) {
        await ofGroup(queue, group, 4)
        expect(await receive(queue)).toEqual([1])
        pass(1)
      }
      expect(await queues().purge(queue)).toEqual({ deleted: 6 })
      expect(await states(queue)).toEqual(['in-flight', 'in-flight'])
    })

    it('has a message that failed wait for another turn', async () => {
      const queue = await limited(1)
      await ofGroup(queue, 'a', 2)
      const [first] = await queues().receive(queue)
      await queues().nack(queue, first as never)
      expect(await receive(queue)).toEqual([])
      pass(10)
      expect(await receive(queue)).toEqual([2])
      pass(10)
      expect(await receive(queue)).toEqual([1])
    })

    it('goes together with groupConcurrency: the order stays', async () => {
      const queue = await limited(2, { groupConcurrency: 1 })
      await ofGroup(queue, 'a', 4)
      const [first] = await queues().receive(queue, { limit: 9 })
      await queues().nack(queue, first as never)
      const again = await queues().receive(queue, { limit: 9 })
      expect(bodiesOf(again)).toEqual([1])
      await queues().nack(queue, again[0] as never)
      expect(await receive(queue)).toEqual([])
      pass(10)
      for (const body of [1, 2]) {
        const messages = await queues().receive(queue, { limit: 9 })
        expect(bodiesOf(messages)).toEqual([body])
        expect(await receive(queue)).toEqual([])
        await queues().ackMany(queue, handlesOf(messages))
      }
      expect(await receive(queue)).toEqual([])
      pass(10)
      expect(await receive(queue)).toEqual([3])
    })

    it('is applied to the messages that are there, and taken from them', async () => {
      const queue = await made({ visibilityTimeoutSeconds: 600 })
      await ofGroup(queue, 'a', 6)
      await queues().update(queue, { groupRateLimit: { messages: 1, perSeconds: 1000 } })
      expect(await receive(queue)).toEqual([1])
      await queues().update(queue, { groupRateLimit: { messages: 3, perSeconds: 1000 } })
      expect(await receive(queue)).toEqual([2, 3])
      await ofGroup(queue, 'a', 1)
      await queues().update(queue, { groupRateLimit: null })
      expect(await receive(queue)).toEqual([4, 5, 6, 1])
      expect(await queues().get(queue)).toMatchObject({ limited: 0, groupRateLimit: null })
    })

    it('holds for what is sent, given back after its claim has run out, and moved to a dead-letter queue', async () => {
      const letters = await limited(1)
      const queue = await made({ deadLetterQueue: letters, maxReceives: 1, visibilityTimeoutSeconds: 5 })
      await ofGroup(queue, 'a', 3)
      expect(await receive(queue)).toEqual([1, 2, 3])
      pass(5)
      expect(await receive(queue)).toEqual([])
      expect(await receive(letters)).toHaveLength(1)
      await ofGroup(letters, 'a', 1)
      expect(await receive(letters)).toEqual([])
      pass(10)
      expect(await receive(letters)).toHaveLength(1)
      expect(await queues().purge(letters)).toEqual({ deleted: 2 })
      expect((await queues().get(letters))?.counts).toMatchObject({ delayed: 0, blocked: 0, ready: 0 })
    })
  })

  describe('queues: hold', () => {
    it('of a queue gives nothing before it ends', async () => {
      const queue = await made()
      await filled(queue, 2)
      const { holdEndsAt } = await queues().hold(queue, { seconds: 300 })
      expect(await queues().get(queue)).toMatchObject({ holdEndsAt, limited: 2 })
      expect(await receive(queue)).toEqual([])
      pass(290)
      expect(await receive(queue, 1)).toEqual([])
      pass(10)
      expect(await receive(queue, 1)).toEqual([1])
      await queues().hold(queue, { seconds: 30 })
      expect(await queues().hold(queue, { seconds: 0 })).toEqual({ holdEndsAt: null })
      expect(await receive(queue)).toEqual([2])
      expect(await queues().get(queue)).toMatchObject({ holdEndsAt: null, limited: 0 })
    })

    it.each([{}, { groupConcurrency: 2 }, { groupRateLimit: { messages: 2, perSeconds: 1 } }])(
      'of a message group gives the others alone, in a queue with %j',
      async (settings) => {
        const queue = await made({ ...settings, visibilityTimeoutSeconds: 600 })
        await ofGroup(queue, 'a', 2)
        await filled(queue, 2, () => ({ messageGroup: 'b', delaySeconds: 0 }))
        await queues().hold(queue, { group: 'a', seconds: 30 })
        expect(await receive(queue)).toEqual([1, 2])
        expect(await receive(queue)).toEqual([])
        pass(31)
        expect(
          (await queues().receive(queue, { limit: 9 })).map((one) => [one.messageGroup, one.receiveCount]),
        ).toEqual([
          ['a', 1],
          ['a', 1],
        ])
      },
    )

    it('of a message group ends where it is replaced by none', async () => {
      const queue = await made()
      await ofGroup(queue, 'a', 3)
      await queues().hold(queue, { group: 'a', seconds: 600 })
      expect(await receive(queue)).toEqual([])
      expect(await states(queue)).toEqual(['delayed', 'delayed', 'delayed'])
      await queues().hold(queue, { group: 'a', seconds: 10 })
      expect(await receive(queue)).toEqual([])
      await queues().hold(queue, { group: 'a', seconds: 0 })
      expect(await receive(queue)).toEqual([1, 2, 3])
    })

    it('is for cycles too, which continue behind their cursor when it has ended', async () => {
      const queue = await made()
      await filled(queue, 6, (n) => ({ messageGroup: n % 2 === 1 ? 'a' : null }))
      const cycle = async (limit: number) =>
        bodiesOf(await queues().cycle(queue, { limit, visibilityTimeoutSeconds: 0 }))
      expect(await cycle(1)).toEqual([1])
      await queues().hold(queue, { group: 'a', seconds: 10 })
      expect(await cycle(2)).toEqual([2, 4])
      await queues().hold(queue, { seconds: 20 })
      expect(await cycle(2)).toEqual([])
      pass(10)
      expect(await cycle(2)).toEqual([])
      pass(10)
      expect(await cycle(2)).toEqual([5, 6])
    })

    it('wakes a receive that waits when it ends', async () => {
      const store = await context.open()
      const queue = await made()
      await filled(queue, 1)
      await store.queues.hold(queue, { seconds: 1 })
      const began = performance.now()
      expect(bodiesOf(await store.queues.receive(queue, { waitSeconds: 10 }))).toEqual([1])
      expect(performance.now() - began).toBeLessThan(soonMs(3000))
    })

    it('refuses what is no hold, and a queue that is not there', async () => {
      await expect(queues().hold('nobody', { seconds: 1 })).rejects.toMatchObject({ code: 'queue_not_found' })
      await expect(queues().hold('nobody', { seconds: -1 })).rejects.toMatchObject({ code: 'invalid_input' })
    })
  })
}
