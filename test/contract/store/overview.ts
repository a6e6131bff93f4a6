/** Each kind of trouble: when it begins and ends, and that a prefix cuts it. */
import type { Overview, Store } from '../../../src/index'
import { openedOf, withoutReports } from '../../support/opened'
import { type Context, refusal } from '../context'

export function describeOverview(context: Context): void {
  const pass = (seconds: number) => {
    context.clock.offsetMs += seconds * 1000
  }

  /** A store whose database has nothing else in it. A store keeps its findings: each look is a store's first. */
  async function alone(): Promise<{ store: Store; look: (prefix?: string) => Promise<Overview>; url: string }> {
    const url = await context.emptyDatabase()
    const store = await context.open({ url })
    const look = async (prefix?: string) => {
      const fresh = await context.open({ url })
      try {
        return await fresh.overview({ prefix })
      } finally {
        await fresh.close()
      }
    }
    return { store, look, url }
  }

  const shortOf = ({ troubles }: Overview) => troubles.map(({ kind, name, count }) => [kind, name, count])

  describe('store: overview', () => {
    it('is empty while all is well', async () => {
      const { store, look } = await alone()
      await store.queues.put('mail', { groupConcurrency: 1 })
      await store.queues.sendMany(
        'mail',
        [1, 2, 3].map((body) => ({ body, messageGroup: 'g' })),
      )
      await store.queues.receive('mail')
      await store.schedules.put('nightly', { queue: 'mail', everySeconds: 3600, body: 1 })
      await store.feeds.put('articles', 'a', 1)
      await store.feeds.moveCursor('articles', 'search', 0n)
      expect(await look()).toMatchObject({ troubles: [], total: 0, lookedAt: expect.any(Date) })
    })

    it('names dead messages by the queue that they died in, and since when', async () => {
      const { store, look } = await alone()
      await store.queues.put('letters')
      await store.queues.put('mail', { deadLetterQueue: 'letters' })
      await store.queues.put('own')
      for (const queue of ['mail', 'mail', 'mail', 'own']) {
        await store.queues.send(queue, 1)
        const [message] = await store.queues.receive(queue)
        await store.queues.nack(queue, message ?? '', { dead: true, error: 'no' })
        pass(5)
      }
      // A dead-letter queue needs no receiver.
      pass(1000)
      const found = await look()
      expect(found.troubles).toMatchObject([
        { kind: 'dead', name: 'mail', count: 3, deadLetterQueue: 'letters', consumer: null, error: null },
        { kind: 'dead', name: 'own', count: 1, deadLetterQueue: null },
      ])
      const [first] = (await store.queues.peek('letters')).messages
      expect(found.troubles[0]?.beganAt).toEqual(first?.deadAt)
      await store.queues.redrive('letters')
      await store.queues.redrive('own')
      expect((await look()).troubles.filter(({ kind }) => kind === 'dead')).toEqual([])
    })

    it('tells queues that no process receives from, that are late, that are paused, and messages that are held', async () => {
      const { store, look } = await alone()
      for (const queue of ['alone', 'late', 'paused', 'held', 'empty'])
        await store.queues.put(queue, { visibilityTimeoutSeconds: 3600 })
      for (const queue of ['alone', 'late', 'late', 'paused', 'held']) await store.queues.send(queue, 1)
      await store.queues.pause('paused')
      await store.queues.pause('empty')
      for (const queue of ['late', 'held']) await store.queues.receive(queue)
      expect(shortOf(await look())).toEqual([['paused', 'paused', 1]])
      pass(61)
      expect(shortOf(await look())).toEqual([
        ['unreceived', 'alone', 1],
        ['paused', 'paused', 1],
      ])
      pass(240)
      expect(shortOf(await look())).toEqual([
        ['unreceived', 'alone', 1],
        ['paused', 'paused', 1],
        ['late', 'late', 1],
      ])
      pass(300)
      expect(shortOf(await look())).toEqual([
        ['unreceived', 'alone', 1],
        ['held', 'held', 1],
        ['held', 'late', 1],
        ['paused', 'paused', 1],
        ['late', 'late', 1],
      ])
      // A message that was ready only after a delay has waited since then; the others have not been late for longer.
      await store.queues.purge('alone')
      await store.queues.send('alone', 1, { delaySeconds: 100 })
      pass(101)
      await store.queues.peek('alone')
      expect(shortOf(await look('al'))).toEqual([])
    })

    it('does not call a queue unreceived that a process receives from, though none is in flight just then', async () => {
      const { store, look, url } = await alone()
      const { report } = openedOf(withoutReports(store)).queues
      const receiveOne = async () => {
        const [message] = await store.queues.receive('fast')
        await store.queues.ack('fast', message ?? '')
      }
      /** Its state in the overview, and whether the list of queues calls it stuck. */
      const found = async () => {
        const fresh = await context.open({ url })
        const { states } = await fresh.queues.list({ state: 'stuck' })
        await fresh.close()
        return [...shortOf(await look()), states?.stuck]
      }
      await store.queues.put('fast')
      await store.queues.sendMany(
        'fast',
        [1, 2, 3].map((body) => ({ body })),
      )
      pass(61)
      expect(await found()).toEqual([['unreceived', 'fast', 3], 1])
      await receiveOne()
      await report()
      expect(await found()).toEqual([0])
      // It has missed two reports, and is gone.
      pass(91)
      expect(await found()).toEqual([['unreceived', 'fast', 2], 1])
      await report()
      expect(await found()).toEqual([0])
      pass(200)
      await receiveOne()
      await report()
      expect(await found()).toEqual([['late', 'fast', 1], 1])
      // The store still runs, but its last receive is too long ago.
      await store.dataSource.query('UPDATE recentn_queue_receivers SET asked_at_ms = asked_at_ms - 121000')
      expect(await found()).toEqual([['unreceived', 'fast', 1], 1])
    })

    it('tells the message group that blocks', async () => {
      const { store, look } = await alone()
      await store.queues.put('mail', { groupConcurrency: 1, visibilityTimeoutSeconds: 3600 })
      await store.queues.sendMany(
        'mail',
        [1, 2, 3].map((body) => ({ body, messageGroup: 'tenant-3' })),
      )
      await store.queues.receive('mail')
      pass(301)
      expect((await look()).troubles).toMatchObject([
        { kind: 'blocked', name: 'mail', count: 2, messageGroup: 'tenant-3' },
      ])
    })

    it('tells schedules that cannot send, and those that nothing sends', async () => {
      const { store, look } = await alone()
      await store.queues.put('mail')
      await store.schedules.put('idle', { queue: 'mail', everySeconds: 60, body: 1 })
      expect((await look()).total).toBe(0)
      pass(60 + 121)
      expect((await look()).troubles).toMatchObject([{ kind: 'schedule', name: 'idle', count: 1, error: null }])
      await store.queues.drop('mail')
      expect(await store.schedules.tick()).toEqual({ sent: 0, failed: 1 })
      expect((await look()).troubles).toMatchObject([
        { kind: 'schedule', name: 'idle', error: expect.stringContaining('mail') },
      ])
    })

    it('tells entries without a publisher, and consumers that are behind', async () => {
      const { store, look } = await alone()
      await store.feeds.put('articles', 'a', 1)
      await store.feeds.publish()
      await store.feeds.moveCursor('articles', 'search', 1n)
      await store.feeds.put('articles', 'b', 1)
      // The consumer moved long ago, and has nothing to read until the entry is published.
      pass(1000)
      expect((await look()).troubles).toMatchObject([{ kind: 'unpublished', name: 'articles', count: 1 }])
      await store.feeds.put('articles', 'c', 1)
      await store.feeds.publish()
      const behind = (await look()).troubles
      expect(behind).toMatchObject([{ kind: 'behind', name: 'articles', count: 2, consumer: 'search' }])
      await store.feeds.moveCursor('articles', 'search', 3n)
      expect((await look()).total).toBe(0)
    })

    it('is cut to what begins with a prefix, refuses what is none, and any call inside a transaction', async () => {
      const { store, look } = await alone()
      for (const queue of ['a:1', 'a:2', 'b:1']) {
        await store.queues.put(queue)
        await store.queues.send(queue, 1)
        await store.queues.pause(queue)
      }
      expect([(await look()).total, (await look('a:')).total, (await look('c')).total]).toEqual([3, 2, 0])
      expect((await refusal(store.overview({ prefix: 1 as never }))).faults).toEqual([
        { pointer: '/prefix', detail: 'must be a string' },
      ])
      const inside = store.transaction(() => store.overview())
      expect((await refusal(inside)).code).toBe('misuse')
    })
  })
}
