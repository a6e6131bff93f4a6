/** Lists of queues by their state, and sorted by a number. */
import type { QueueListOptions } from '../../../src/shared/queue-types'
import type { Store } from '../../../src/store/types'
import { type Context, refusal } from '../context'

export function describeListedQueues(context: Context): void {
  const pass = (seconds: number) => {
    context.clock.offsetMs += seconds * 1000
  }

  /** A store with queues in every state, and lists as a new store sees them: one keeps what it has counted. */
  async function filled() {
    const url = await context.emptyDatabase()
    const store = await context.open({ url })
    const { queues } = store
    for (const queue of ['letters', 'alone', 'blocked', 'busy', 'empty', 'paused']) {
      await queues.put(queue, { visibilityTimeoutSeconds: 3600, groupConcurrency: queue === 'blocked' ? 1 : null })
    }
    await queues.put('mail', { deadLetterQueue: 'letters', onAck: 'archive' })
    await queues.pause('paused')
    for (const error of ['one', 'two', 'three']) {
      await queues.send('mail', 1)
      await queues.nack('mail', await received(store, 'mail'), { dead: true, error })
    }
    await queues.send('mail', 1)
    await queues.ack('mail', await received(store, 'mail'))
    await queues.send('alone', 1)
    await queues.sendMany(
      'blocked',
      [1, 2, 3].map((body) => ({ body, messageGroup: 'g' })),
    )
    await received(store, 'blocked')
    pass(301)
    await queues.sendMany('busy', [{ body: 1 }, { body: 2 }, { body: 3, delaySeconds: 60 }])
    await received(store, 'busy')
    const list = async (options: QueueListOptions) => {
      const fresh = await context.open({ url })
      try {
        return await fresh.queues.list(options)
      } finally {
        await fresh.close()
      }
    }
    const names = async (options: QueueListOptions) => (await list(options)).queues.map(({ queue }) => queue)
    return { store, list, names, url }
  }

  async function received({ queues }: Store, queue: string) {
    const [message] = await queues.receive(queue)
    if (message === undefined) throw new Error(`nothing is ready in ${queue}`)
    return message
  }

  const MAIN = ['alone', 'blocked', 'busy', 'empty', 'mail', 'paused']

  describe('queues: lists', () => {
    it('have only the queues in a state, and say how many are in each', async () => {
      const { names, list, store } = await filled()
      const states = { all: 7, main: 6, dead: 1, growing: 0, stuck: 1, blocked: 1, paused: 1 }
      expect((await list({ state: 'main' })).states).toEqual(states)
      expect(await names({ state: 'main' })).toEqual(MAIN)
      expect(await names({ state: 'dead' })).toEqual(['mail'])
      expect(await names({ state: 'stuck' })).toEqual(['alone'])
      expect(await names({ state: 'blocked' })).toEqual(['blocked'])
      expect(await names({ state: 'paused' })).toEqual(['paused'])
      expect(await names({ state: 'growing' })).toEqual([])
      const cut = await list({ state: 'main', contains: 'B', limit: 1 })
      expect([cut.queues.map(({ queue }) => queue), cut.states?.main, cut.nextAfter]).toEqual([
        ['blocked'],
        2,
        'blocked',
      ])
      expect((await list({})).states).toBeNull()
      await store.queues.pause('empty')
      expect(await names({ state: 'paused' })).toEqual(['empty', 'paused'])
    })

    it('are sorted by a number, the largest first, over pages', async () => {
      const { names, list } = await filled()
      expect((await names({ sort: 'died' }))[0]).toBe('mail')
      expect(await names({ sort: 'blocked', state: 'main' })).toEqual([
        'blocked',
        ...MAIN.filter((name) => name !== 'blocked'),
      ])
      expect((await names({ sort: 'oldest', state: 'main' })).slice(0, 3)).toEqual(['alone', 'blocked', 'busy'])
      for (const sort of ['ready', 'in-flight', 'delayed', 'oldest', 'growth'] as const) {
        const all = await names({ sort })
        const paged: string[] = []
        for (let after: string | null | undefined; after !== null; ) {
          const page = await list({ sort, limit: 2, after })
          for (const { queue } of page.queues) paged.push(queue)
          after = page.nextAfter
        }
        expect([sort, paged]).toEqual([sort, all])
      }
      expect((await refusal(list({ sort: 'ready', after: 'mail' }))).code).toBe('invalid_input')
    })

    it('have the same numbers as the queue itself', async () => {
      const { list, url } = await filled()
      const { queues } = await list({ sort: 'died' })
      const fresh = await context.open({ url })
      for (const listed of queues) {
        const { oldestAgeSeconds, ...status } = (await fresh.queues.get(listed.queue)) ?? { oldestAgeSeconds: null }
        expect(listed).toMatchObject(status)
        expect(Math.abs((listed.oldestAgeSeconds ?? 0) - (oldestAgeSeconds ?? 0))).toBeLessThan(10)
      }
      expect(queues.find(({ queue }) => queue === 'mail')).toMatchObject({ died: 3, counts: { archived: 1 } })
      await fresh.close()
    })

    it('have the queues that name one as their dead-letter queue', async () => {
      const { names } = await filled()
      expect(await names({ deadLetterQueue: 'letters' })).toEqual(['mail'])
      expect(await names({ deadLetterQueue: 'letters', sort: 'ready' })).toEqual(['mail'])
      expect(await names({ deadLetterQueue: 'mail' })).toEqual([])
      expect(await names({ deadLetterQueue: 'no-such-queue' })).toEqual([])
    })

    it('see what their transaction has done', async () => {
      const { store } = await filled()
      await store.transaction(async (tx) => {
        await tx.queues.send('empty', 1)
        const { queues } = await tx.queues.list({ sort: 'ready', contains: 'empty' })
        expect(queues[0]?.counts.ready).toBe(1)
      })
    })
  })
}
