import type { Store } from '../../../src/index'
import type { Message } from '../../../src/shared/queue-types'
import type { Context } from '../context'
import { bodiesOf, byNumber, handlesOf, messageIds, queueTools, range } from './tools'

export function describeQueueCycles(context: Context): void {
  const queues = () => context.store.queues
  const { made, madeOf, filled, pass, idsIn } = queueTools(context)

  const cycle = (queue: string, limit: number, cursor?: string, store: Store = context.store): Promise<Message[]> =>
    store.queues.cycle(queue, { limit, ...(cursor === undefined ? {} : { cursor }) })

  /** The bodies of batch after batch; `after` is done with each. */
  async function batches(
    queue: string,
    limit: number,
    count: number,
    after: (batch: Message[]) => Promise<unknown> = async () => {},
  ): Promise<unknown[][]> {
    const all: unknown[][] = []
    for (let n = 0; n < count; n++) {
      const batch = await cycle(queue, limit)
      all.push(bodiesOf(batch))
      await after(batch)
    }
    return all
  }

  /** The result of the article about endless loops for its 20 messages, in batches of 10. */
  const ARTICLE = [
    range(1, 10),
    range(11, 20),
    [1, 2, 3, 4, 6, 7, 8, 9, 11, 12],
    [13, 14, 16, 17, 18, 19, 20, 1, 2, 3],
    [4, 6, 7, 8, 9, 11, 12, 13, 14, 16],
  ]
  const attempts = (body: number) => ([5, 10, 15].includes(body) ? { maxReceives: 1 } : {})

  describe('queues: the endless loop', () => {
    it('goes round as in the article, with a visibility timeout of 0', async () => {
      const queue = await madeOf(20, { visibilityTimeoutSeconds: 0, maxReceives: 5 }, attempts)
      expect(await batches(queue, 10, 5)).toEqual(ARTICLE)
      expect(await idsIn(queue, 'dead')).toHaveLength(3)
    })

    it('goes round as in the article when each batch is released', async () => {
      const dead = await made()
      const queue = await madeOf(20, { deadLetterQueue: dead }, attempts)
      expect(await batches(queue, 10, 5, (batch) => queues().nackMany(queue, handlesOf(batch)))).toEqual(ARTICLE)
      expect(bodiesOf(await queues().receive(dead, { limit: 10 }))).toEqual([5, 10, 15])
    })

    it('goes round as in the article when three are released as dead', async () => {
      const queue = await madeOf(20)
      const failed = async (batch: Message[]) => {
        const isOut = ({ body, receiveCount }: Message) => receiveCount === 1 && [5, 10, 15].includes(body as number)
        const out = handlesOf(batch.filter(isOut))
        if (out.length > 0) await queues().nackMany(queue, out, { dead: true })
        await queues().nackMany(queue, handlesOf(batch.filter((message) => !isOut(message))))
      }
      expect(await batches(queue, 10, 5, failed)).toEqual(ARTICLE)
    })

    it('wraps inside a batch, without the same message twice', async () => {
      const queue = await madeOf(12, { visibilityTimeoutSeconds: 0 })
      expect(await batches(queue, 5, 5)).toEqual([
        range(1, 5),
        range(6, 10),
        [11, 12, 1, 2, 3],
        range(4, 8),
        [9, 10, 11, 12, 1],
      ])
      expect(bodiesOf(await cycle(queue, 100))).toEqual([...range(2, 12), 1])
      expect(bodiesOf(await cycle(queue, 12))).toEqual([...range(2, 12), 1])
      expect(bodiesOf(await cycle(queue, 11))).toEqual(range(2, 12))
    })

    it('of one message, and of none', async () => {
      const queue = await made({ visibilityTimeoutSeconds: 0 })
      expect(await cycle(queue, 10)).toEqual([])
      await filled(queue, 1)
      for (let count = 1; count <= 3; count++) {
        expect((await cycle(queue, 10)).map(({ body, receiveCount }) => [body, receiveCount])).toEqual([[1, count]])
      }
    })

    it('goes by id, whatever the priority or the group', async () => {
      const queue = await madeOf(9, {}, (body) => ({ priority: body, messageGroup: `g${body % 2}` }))
      expect(await batches(queue, 4, 2)).toEqual([range(1, 4), range(5, 8)])
    })

    it('has cursors that know nothing of each other', async () => {
      const queue = await madeOf(10, { visibilityTimeoutSeconds: 0 })
      const seen: unknown[] = []
      for (const [cursor, limit] of [
        ['a', 3],
        ['b', 2],
        ['a', 3],
        [undefined, 4],
        ['b', 9],
        ['a', 5],
        ['default', 2],
      ] as const) {
        seen.push(bodiesOf(await cycle(queue, limit, cursor)))
      }
      expect(seen).toEqual([
        range(1, 3),
        range(1, 2),
        range(4, 6),
        range(1, 4),
        [...range(3, 10), 1],
        [...range(7, 10), 1],
        range(5, 6),
      ])
    })

    it('continues where it was, in another store', async () => {
      const queue = await madeOf(20, { visibilityTimeoutSeconds: 0 })
      const [first, second] = [await context.open(), await context.open()]
      const seen = []
      for (const store of [first, second, first, context.store, second]) {
        seen.push(bodiesOf(await cycle(queue, 6, 'c', store)))
      }
      const [eleventh] = [[11, 12, 13, 14, 15, 16]]
      expect(seen).toEqual([range(1, 6), range(7, 12), range(13, 18), [19, 20, 1, 2, 3, 4], range(5, 10)])
      expect(bodiesOf(await cycle(queue, 6, 'c', await context.open()))).toEqual(eleventh)
    })

    it('passes over what is in flight or delayed, and comes by it later', async () => {
      const queue = await madeOf(12, {}, (body) => (body === 6 ? { delaySeconds: 60 } : {}))
      expect(bodiesOf(await queues().receive(queue, { limit: 3 }))).toEqual([1, 2, 3])
      expect(bodiesOf(await cycle(queue, 4))).toEqual([4, 5, 7, 8])
      expect(bodiesOf(await cycle(queue, 10))).toEqual([9, 10, 11, 12])
      expect(await cycle(queue, 10)).toEqual([])
      pass(61)
      expect(bodiesOf(await cycle(queue, 100))).toEqual(range(1, 12))
    })

    it('takes in new messages, and leaves out what is gone', async () => {
      const queue = await madeOf(6, { visibilityTimeoutSeconds: 0 })
      const first = await cycle(queue, 4)
      expect(bodiesOf(first)).toEqual([1, 2, 3, 4])
      await queues().send(queue, 'new')
      await queues().ackMany(queue, handlesOf(first.slice(1, 3)))
      expect(bodiesOf(await cycle(queue, 4))).toEqual([5, 6, 'new', 1])
      expect(bodiesOf(await cycle(queue, 4))).toEqual([4, 5, 6, 'new'])
      const [last] = (await cycle(queue, 5)).slice(-1)
      expect(last?.body).toBe('new')
      // The cursor is at a message that is deleted now: the next one is the next by id.
      await queues().ack(queue, last?.receiptHandle ?? '')
      expect(bodiesOf(await cycle(queue, 4))).toEqual([1, 4, 5, 6])
    })

    it('lives with receives by priority on the same queue', async () => {
      const queue = await madeOf(10, {}, (body) => ({ priority: body }))
      expect(bodiesOf(await cycle(queue, 2))).toEqual([1, 2])
      expect(bodiesOf(await queues().receive(queue, { limit: 2 }))).toEqual([10, 9])
      await filled(queue, 1, () => ({ priority: 100 }))
      expect(bodiesOf(await cycle(queue, 5))).toEqual([3, 4, 5, 6, 7])
      expect(bodiesOf(await queues().receive(queue, { limit: 2 }))).toEqual([1, 8])
      expect(await cycle(queue, 5)).toEqual([])
      pass(31)
      expect(bodiesOf(await cycle(queue, 5))).toEqual([8, 9, 10, 1, 1])
      expect(bodiesOf(await queues().receive(queue, { limit: 20 }))).toEqual([7, 6, 5, 4, 3, 2])
    })

    it('takes in what was sent before anyone went round, by thousands', async () => {
      const queue = await made()
      const ids = await filled(queue, 2500)
      await queues().receive(queue, { limit: 10 })
      const seen: bigint[] = []
      for (let n = 0; n < 3; n++) seen.push(...messageIds(await cycle(queue, 1000)))
      expect(seen).toEqual(ids.slice(10))
    })

    it('with many receivers on one cursor hands out disjoint messages, and all of them', async () => {
      const other = context.engine === 'sqlite' ? context.store : await context.open()
      const queue = await made()
      const ids = await filled(queue, 200)
      const seen: bigint[] = []
      await Promise.all(
        range(1, 10).map(async (n) => {
          for (;;) {
            const batch = await cycle(queue, 9, 'shared', n % 2 ? context.store : other)
            const own = messageIds(batch)
            // In order, from the cursor on: once it may begin again, for one that was locked as the others passed it.
            const wraps = own.filter((id, at) => at > 0 && id < (own[at - 1] as bigint)).length
            expect(wraps).toBeLessThanOrEqual(1)
            seen.push(...own)
            if (batch.length === 0) return
          }
        }),
      )
      expect(seen).toHaveLength(200)
      expect(seen.sort(byNumber)).toEqual(ids)
    })
  })
}
