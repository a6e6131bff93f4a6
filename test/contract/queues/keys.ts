import type { Message, SendOptions, Sent } from '../../../src/shared/queue-types'
import { type Context, refusal, sleep } from '../context'
import { bodiesOf, queueTools } from './tools'

type OnKey = SendOptions['onKey']

/** One waiting message a key: what a send does to it, and what waits behind one that is in flight. */
export function describeQueueKeys(context: Context): void {
  const queues = () => context.store.queues
  const { made, one, idsIn, pass } = queueTools(context)
  const keyed = (queue: string, body: unknown, onKey?: OnKey, more: SendOptions = {}): Promise<Sent> =>
    queues().send(queue, body, { key: 'k', onKey, ...more })
  const bodyOf = async (queue: string, id: bigint) => (await queues().message(queue, id))?.body
  const stateOf = async (queue: string, id: bigint) => (await queues().message(queue, id))?.state ?? null
  const faultsOf = async (call: Promise<unknown>) =>
    (await refusal(call)).faults.map(({ pointer, parameter }) => pointer ?? parameter)
  /** The rows of keys: none may be left behind. */
  const rows = async (queue: string): Promise<unknown[]> =>
    context.store.dataSource.query(
      'SELECT message_key FROM recentn_queue_keys WHERE queue_id = (SELECT id FROM recentn_queues WHERE queue = ?)',
      [queue],
    )

  describe('queues: keys', () => {
    it('keeps, replaces or postpones the message that waits', async () => {
      const queue = await made()
      const first = await keyed(queue, 1)
      const { id } = first
      expect(first).toEqual({ id, sent: true })
      expect(await keyed(queue, 2)).toEqual({ id, sent: false })
      expect(await bodyOf(queue, id)).toBe(1)
      await queues().send(queue, 'between')
      expect(await keyed(queue, 3, 'replace', { attributes: { a: 'b' }, priority: 5 })).toEqual({ id, sent: false })
      expect(await queues().message(queue, id)).toMatchObject({
        key: 'k',
        body: 3,
        attributes: { a: 'b' },
        priority: 0,
      })
      // The old place.
      expect(bodiesOf((await queues().peek(queue)).messages)).toEqual([3, 'between'])
      expect(await keyed(queue, 4, 'postpone', { delaySeconds: 100 })).toEqual({ id, sent: false })
      expect(bodiesOf((await queues().peek(queue)).messages)).toEqual(['between'])
      pass(60)
      await keyed(queue, 5, 'postpone', { delaySeconds: 100 })
      pass(60)
      expect(await stateOf(queue, id)).toBe('delayed')
      pass(45)
      expect(bodiesOf(await queues().receive(queue, { limit: 5 }))).toEqual(['between', 5])
      expect(await queues().send(queue, 'other', { key: 'K' })).toMatchObject({ sent: true })
    })

    it('postpones no longer than maxDelaySeconds after the first send', async () => {
      const queue = await made()
      const how = { delaySeconds: 100, maxDelaySeconds: 150 }
      const { id } = await keyed(queue, 1, 'postpone', how)
      pass(90)
      await keyed(queue, 2, 'postpone', how)
      pass(55)
      expect(await stateOf(queue, id)).toBe('delayed')
      pass(10)
      await keyed(queue, 3, 'postpone', how)
      expect(await one(queue)).toMatchObject({ id, body: 3 })
      const soon = await queues().send(queue, 1, { key: 'm', onKey: 'postpone', delaySeconds: 9, maxDelaySeconds: 0 })
      expect(await stateOf(queue, soon.id)).toBe('ready')
    })

    it('has a new one wait behind one in flight, until that is settled', async () => {
      const queue = await made()
      await keyed(queue, 1)
      const first = await one(queue)
      const { id } = await keyed(queue, 2)
      expect(await keyed(queue, 3, 'replace')).toEqual({ id, sent: false })
      expect(await queues().message(queue, id)).toMatchObject({ state: 'blocked', body: 3 })
      expect(await queues().receive(queue, { limit: 10 })).toEqual([])
      await queues().ack(queue, first)
      const second = await one(queue)
      expect(second).toMatchObject({ id, body: 3, receiveCount: 1 })
      await keyed(queue, 4, 'keep', { delaySeconds: 50 })
      await queues().nack(queue, second, { dead: true })
      expect(await idsIn(queue, 'dead')).toEqual([id])
      expect(await queues().receive(queue, { limit: 10 })).toEqual([])
      pass(55)
      const third = await one(queue)
      expect(third.body).toBe(4)
      await queues().ack(queue, third)
      expect(await rows(queue)).toEqual([])
    })

    it.each([
      ['nacked', (queue: string, message: Message) => queues().nack(queue, message)],
      ['nacked with a delay', (queue: string, message: Message) => queues().nack(queue, message, { delaySeconds: 9 })],
      ['not settled in time', async () => pass(31)],
      ['removed', async (queue: string, { id }: Message) => void (await queues().remove(queue, id))],
    ])('hands out the newer one, and only that, once the one in flight is %s', async (_how, end) => {
      const queue = await made()
      const { id } = await keyed(queue, 1)
      const message = await one(queue)
      await keyed(queue, 2)
      await end(queue, message)
      const next = await one(queue)
      expect(next.body).toBe(2)
      expect(await queues().message(queue, id)).toBeNull()
      expect(await refusal(queues().ack(queue, message))).toMatchObject({ code: 'stale_receipt' })
      await queues().ack(queue, next)
      expect(await rows(queue)).toEqual([])
    })

    it('has a receipt of before the send count no more', async () => {
      const queue = await made()
      await keyed(queue, 1)
      const late = await one(queue)
      pass(31)
      await idsIn(queue, 'ready')
      expect(await keyed(queue, 2, 'replace')).toEqual({ id: late.id, sent: false })
      expect(await refusal(queues().ack(queue, late))).toMatchObject({ code: 'stale_receipt' })
      expect(await refusal(queues().extend(queue, late, { visibilityTimeoutSeconds: 9 }))).toMatchObject({
        code: 'stale_receipt',
      })
      expect(await one(queue)).toMatchObject({ body: 2, receiveCount: 1 })
      // Without a send, it counts.
      pass(31)
      const again = await one(queue)
      pass(31)
      await idsIn(queue, 'ready')
      await queues().ack(queue, again)
      expect(await rows(queue)).toEqual([])
    })

    it('removes what waits when it is cancelled, and nothing in flight', async () => {
      const queue = await made()
      expect(await queues().cancel(queue, 'k')).toBe(false)
      const { id } = await keyed(queue, 1, 'keep', { delaySeconds: 60 })
      expect(await queues().cancel(queue, 'K')).toBe(false)
      expect(await queues().cancel(queue, 'k')).toBe(true)
      expect([await queues().cancel(queue, 'k'), await bodyOf(queue, id)]).toEqual([false, undefined])
      await keyed(queue, 2)
      const message = await one(queue)
      expect(await queues().cancel(queue, 'k')).toBe(false)
      await keyed(queue, 3)
      expect(await queues().cancel(queue, 'k')).toBe(true)
      await queues().nack(queue, message)
      expect(await one(queue)).toMatchObject({ body: 2, receiveCount: 2 })
      expect(await refusal(queues().cancel('nowhere', 'k'))).toMatchObject({ code: 'queue_not_found' })
    })

    it('redrives only what no newer one replaces', async () => {
      const letters = await made()
      const queue = await made({ deadLetterQueue: letters })
      for (const body of [1, 2, 3]) {
        await keyed(queue, body)
        await queues().nack(queue, await one(queue), { dead: true })
      }
      expect(await idsIn(letters, 'ready')).toHaveLength(3)
      // Dead ones are not waiting: in a dead-letter queue any number of them are ready.
      const { id } = await queues().send(letters, 'own', { key: 'k' })
      expect(await stateOf(letters, id)).toBe('ready')
      expect(await queues().redrive(letters)).toEqual({ moved: 3 })
      expect(bodiesOf((await queues().peek(queue)).messages)).toEqual([3])
      const message = await one(queue)
      await queues().nack(queue, message, { dead: true })
      await keyed(queue, 4)
      await queues().redrive(letters)
      expect(bodiesOf((await queues().peek(queue)).messages)).toEqual([4])
      // Behind one in flight it waits.
      const next = await one(queue)
      await keyed(queue, 5)
      await queues().nack(queue, next, { dead: true })
      const last = await one(queue)
      expect(await queues().redrive(letters)).toEqual({ moved: 1 })
      expect(bodiesOf((await queues().peek(queue, { state: 'blocked' })).messages)).toEqual([4])
      await queues().ack(queue, last)
      expect((await one(queue)).body).toBe(4)
    })

    it('knows the keys of one batch, and those of a transaction', async () => {
      const queue = await made()
      const [a, b, again, plain] = (await queues().sendMany(queue, [
        { body: 'a1', key: 'a' },
        { body: 'b1', key: 'b', delaySeconds: 60 },
        { body: 'a2', key: 'a', onKey: 'replace' },
        { body: 'none' },
        { body: 'b2', key: 'b', onKey: 'postpone' },
        { body: 'a3', key: 'a' },
      ])) as [Sent, Sent, Sent, Sent]
      expect([a.sent, b.sent, again, plain.sent]).toEqual([true, true, { id: a.id, sent: false }, true])
      expect(bodiesOf((await queues().peek(queue)).messages).sort()).toEqual(['a2', 'b2', 'none'])
      await context.store.transaction(async (tx) => {
        expect(await tx.queues.send(queue, 'a4', { key: 'a', onKey: 'replace' })).toEqual({ id: a.id, sent: false })
        expect(await tx.queues.cancel(queue, 'b')).toBe(true)
        const { id } = await tx.queues.send(queue, 'c1', { key: 'c' })
        expect(await tx.queues.send(queue, 'c2', { key: 'c', onKey: 'replace' })).toEqual({ id, sent: false })
        const [first] = await tx.queues.receive(queue)
        expect(first?.body).toBe('a4')
        const behind = await tx.queues.send(queue, 'a5', { key: 'a' })
        expect(behind.sent).toBe(true)
        await tx.queues.ack(queue, first as Message)
      })
      expect(bodiesOf((await queues().peek(queue)).messages).sort()).toEqual(['a5', 'c2', 'none'])
      const failed = context.store.transaction(async (tx) => {
        await tx.queues.send(queue, 'c3', { key: 'c', onKey: 'replace' })
        throw new Error('no')
      })
      await expect(failed).rejects.toThrow('no')
      expect(bodiesOf((await queues().peek(queue)).messages)).toContain('c2')
    })

    it('sends concurrently one message a key, and the last body is there', async () => {
      const queue = await made()
      const other = await context.open()
      const sends = Array.from({ length: 60 }, (_, n) =>
        (n % 2 ? other : context.store).queues.send(queue, n, { key: `k${n % 3}`, onKey: 'replace' }),
      )
      const ids = new Set((await Promise.all(sends)).map(({ id }) => id))
      expect([ids.size, (await idsIn(queue, 'ready')).length]).toEqual([3, 3])
    })

    it('keeps dedup ids, maxMessages and groups what they are', async () => {
      const queue = await made({ maxMessages: 2, groupConcurrency: 1, onAck: 'archive' })
      const { id } = await keyed(queue, 1, 'keep', { dedupId: 'd', messageGroup: 'g' })
      expect(await keyed(queue, 2, 'replace', { dedupId: 'd' })).toEqual({ id, sent: false })
      expect(await bodyOf(queue, id)).toBe(1)
      expect(await keyed(queue, 3, 'keep', { dedupId: 'e' })).toEqual({ id, sent: false })
      expect(await queues().send(queue, 4, { dedupId: 'e' })).toEqual({ id, sent: false })
      const blocked = await queues().send(queue, 5, { messageGroup: 'g' })
      expect(await keyed(queue, 6, 'replace')).toEqual({ id, sent: false })
      const refused = queues().sendMany(queue, [{ body: 7, key: 'k', onKey: 'replace' }, { body: 8 }])
      expect(await refusal(refused)).toMatchObject({ code: 'queue_full' })
      expect(await bodyOf(queue, id)).toBe(6)
      // A message that is postponed gives up its place.
      await keyed(queue, 9, 'postpone', { delaySeconds: 60 })
      expect(await stateOf(queue, blocked.id)).toBe('ready')
      pass(61)
      expect(await idsIn(queue, 'blocked')).toEqual([id])
      await queues().update(queue, { maxMessages: null })
      await queues().ack(queue, await one(queue))
      const message = await one(queue)
      const behind = await keyed(queue, 10, 'keep', { messageGroup: 'g' })
      await queues().update(queue, { groupConcurrency: 2 })
      await queues().update(queue, { groupConcurrency: null })
      expect(await idsIn(queue, 'blocked')).toEqual([behind.id])
      await queues().update(queue, { groupConcurrency: 1 })
      await queues().ack(queue, message)
      expect(await one(queue)).toMatchObject({ id: behind.id, body: 10 })
      expect(await queues().message(queue, id)).toMatchObject({ state: 'archived', key: 'k' })
    })

    it('forgets the keys of what is purged, and those of a queue that is dropped', async () => {
      const queue = await made()
      await keyed(queue, 1)
      await queues().purge(queue)
      expect(await rows(queue)).toEqual([])
      await keyed(queue, 2)
      const message = await one(queue)
      await keyed(queue, 3)
      await queues().purge(queue)
      expect(await rows(queue)).toHaveLength(1)
      await queues().nack(queue, message)
      expect((await one(queue)).body).toBe(2)
      await queues().drop(queue)
      const orphans = 'SELECT message_key FROM recentn_queue_keys WHERE queue_id NOT IN (SELECT id FROM recentn_queues)'
      expect(await context.store.dataSource.query(orphans)).toEqual([])
    })

    it('wakes a receive that waits for the one behind', async () => {
      const queue = await made()
      await keyed(queue, 1)
      const message = await one(queue)
      await keyed(queue, 2)
      const waiting = queues().receive(queue, { waitSeconds: 10 })
      await sleep(100)
      await queues().nack(queue, message)
      expect(bodiesOf(await waiting)).toEqual([2])
    })

    it('refuses options that would do nothing', async () => {
      const queue = await made()
      expect(await faultsOf(queues().send(queue, 1, { onKey: 'keep' }))).toEqual(['/onKey'])
      const messages = [{ body: 1 }, { body: 1, key: 'k', maxDelaySeconds: 1 }]
      expect(await faultsOf(queues().sendMany(queue, messages))).toEqual(['/1/maxDelaySeconds'])
      const wrong = { key: '', onKey: 'x' as 'keep' }
      expect(await faultsOf(queues().send(queue, 1, wrong))).toEqual(['/key', '/onKey'])
      expect(await faultsOf(queues().cancel(queue, ''))).toEqual(['key'])
    })
  })
}
