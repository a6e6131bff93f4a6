import { type Context, sleep } from '../context'
import { handlesOf, lasting, messageIds, queueTools, range } from './tools'

export function describeQueueHandles(context: Context): void {
  const queues = () => context.store.queues
  const { made, madeOf, one, pass, idsIn } = queueTools(context)

  /** The answers of each settling operation to the handles, which must do nothing. */
  async function codes(queue: string, handles: string[]): Promise<string[][]> {
    const deleted = await queues().ackMany(queue, handles)
    const released = await queues().nackMany(queue, handles, { delaySeconds: 1000, error: 'x' })
    const dead = await queues().nackMany(queue, handles, { dead: true })
    const extended = await queues().extendMany(queue, handles, { visibilityTimeoutSeconds: 40_000 })
    expect([deleted.acked, released.nacked, dead.nacked, extended.extended]).toEqual([[], [], [], []])
    const all = [deleted, released, dead, extended].map(({ failed }) => failed)
    for (const failed of all) expect(failed.map(({ receiptHandle }) => receiptHandle)).toEqual(handles)
    return all.map((failed) => failed.map(({ code }) => code))
  }

  const expectAll = async (queue: string, handles: string[], code: string) => {
    expect(await codes(queue, handles)).toEqual(range(1, 4).map(() => handles.map(() => code)))
  }

  describe('queues: a receipt handle', () => {
    it('of a message that was claimed again is stale, and does nothing to the new claim', async () => {
      const queue = await madeOf(2)
      const first = await queues().receive(queue, { limit: 2 })
      pass(31)
      const second = await queues().receive(queue, { limit: 2 })
      const state = async () => (await queues().peek(queue, { state: 'in-flight' })).messages.map(lasting)
      const before = await state()
      await expectAll(queue, handlesOf(first), 'stale_receipt')
      expect(await state()).toEqual(before)
      expect((await queues().ackMany(queue, handlesOf(second))).acked).toEqual(handlesOf(second))
      await expectAll(queue, [...handlesOf(first), ...handlesOf(second)], 'stale_receipt')
    })

    it('of a message that was released is stale', async () => {
      const queue = await madeOf(2)
      const [a, b] = handlesOf(await queues().receive(queue, { limit: 2 })) as [string, string]
      await queues().nack(queue, a)
      await queues().nack(queue, b, { delaySeconds: 60 })
      await expectAll(queue, [a, b], 'stale_receipt')
      expect(await idsIn(queue, 'ready')).toHaveLength(1)
      expect(await idsIn(queue, 'delayed')).toHaveLength(1)
      pass(61)
      expect(await queues().receive(queue, { limit: 3 })).toHaveLength(2)
    })

    it('of a message that died, by time or by release, is stale', async () => {
      const dead = await made()
      for (const settings of [{ maxReceives: 1 }, { maxReceives: 1, deadLetterQueue: dead }]) {
        const queue = await madeOf(2, settings)
        const handles = handlesOf(await queues().receive(queue, { limit: 2 })) as [string, string]
        await queues().nack(queue, handles[0])
        pass(31)
        expect(await queues().receive(queue, { limit: 2 })).toEqual([])
        await expectAll(queue, handles, 'stale_receipt')
      }
      expect(await idsIn(dead, 'ready')).toHaveLength(2)
    })

    it('of a message that was archived, purged or removed is stale', async () => {
      const queue = await madeOf(3, { onAck: 'archive' })
      const [a, b, c] = await queues().receive(queue, { limit: 3 })
      await queues().ack(queue, a?.receiptHandle ?? '')
      await queues().remove(queue, b?.id ?? 0n)
      await queues().nack(queue, c?.receiptHandle ?? '')
      await queues().purge(queue)
      await expectAll(queue, handlesOf([a, b, c].flatMap((message) => message ?? [])), 'stale_receipt')
      expect(await queues().message(queue, a?.id ?? 0n)).toMatchObject({ state: 'archived' })
    })

    it('that is malformed, or changed in any one place, is invalid', async () => {
      const queue = await madeOf(1)
      const { receiptHandle: handle } = await one(queue)
      const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
      const changed = [...handle].map((letter, at) => {
        const other = letters[(letters.indexOf(letter) + 1) % 64]
        return handle.slice(0, at) + other + handle.slice(at + 1)
      })
      const malformed = ['x', 'garbage', handle.slice(0, -1), handle.slice(1), `${handle}A`, `${handle}=`, ` ${handle}`]
      const odd = [
        `${handle}\n`,
        handle.replace(/./, '+'),
        '😀',
        '\u0000',
        "' OR 1=1 --",
        'A'.repeat(38),
        'x'.repeat(5000),
      ]
      await expectAll(queue, [...changed, ...malformed, ...odd], 'invalid_receipt')
      expect((await queues().ackMany(queue, [handle])).acked).toEqual([handle])
    })

    it('of another queue is invalid there', async () => {
      const [a, b] = [await madeOf(1), await madeOf(1)]
      const message = await one(a)
      await one(b)
      await expectAll(b, [message.receiptHandle], 'invalid_receipt')
      expect(await queues().message(a, message.id)).toMatchObject({ state: 'in-flight', receiveCount: 1 })
      expect((await queues().ackMany(a, [message.receiptHandle])).acked).toHaveLength(1)
    })

    it('with the id of another message in it does nothing', async () => {
      const queue = await madeOf(2)
      const [a, b] = handlesOf(await queues().receive(queue, { limit: 2 })).map((handle) =>
        Buffer.from(handle, 'base64url'),
      ) as [Buffer, Buffer]
      const mixed = [
        Buffer.concat([a.subarray(0, 8), b.subarray(8)]),
        Buffer.concat([a.subarray(0, 8), b.subarray(8, 24), a.subarray(24)]),
        Buffer.concat([a.subarray(0, 24), b.subarray(24)]),
      ]
      const forged = mixed.map((bytes) => bytes.toString('base64url'))
      await expectAll(queue, forged, 'invalid_receipt')
      expect(await idsIn(queue, 'in-flight')).toHaveLength(2)
    })

    it('is never the same twice, and shares no secret with others of its claim', async () => {
      const queue = await madeOf(200, { visibilityTimeoutSeconds: 0 })
      const handles: string[] = []
      for (let n = 0; n < 3; n++) handles.push(...handlesOf(await queues().receive(queue, { limit: 200 })))
      expect(handles).toHaveLength(600)
      const secrets = handles.map((handle) => Buffer.from(handle, 'base64url').subarray(8, 24).toString('hex'))
      expect(new Set(secrets).size).toBe(600)
      for (let byte = 0; byte < 16; byte++) {
        // 600 random bytes have about 230 values; a counter or a clock in there would show.
        const values = new Set(secrets.map((secret) => secret.slice(2 * byte, 2 * byte + 2)))
        expect(values.size).toBeGreaterThan(180)
      }
    })

    it('used by many at the same time settles once', async () => {
      const other = await context.open()
      const queue = await madeOf(20)
      const messages = await queues().receive(queue, { limit: 20 })
      const outcomes = await Promise.all(
        messages.map(({ receiptHandle }) =>
          Promise.all([
            queues().ackMany(queue, [receiptHandle]),
            other.queues.ackMany(queue, [receiptHandle]),
            queues().nackMany(queue, [receiptHandle]),
            other.queues.nackMany(queue, [receiptHandle]),
          ]),
        ),
      )
      let deleted = 0
      for (const [first, second, third, fourth] of outcomes) {
        // Two deletes at the same moment may both report that it is deleted (MySQL does not tell which rows were).
        const isDeleted = first.acked.length + second.acked.length > 0 ? 1 : 0
        expect(isDeleted + third.nacked.length + fourth.nacked.length).toBe(1)
        deleted += isDeleted
      }
      const left = await queues().receive(queue, { limit: 100 })
      expect(left).toHaveLength(20 - deleted)
    })

    it('loses against the next claim, or wins, but never both', async () => {
      const other = await context.open()
      const queue = await madeOf(60, { visibilityTimeoutSeconds: 1 })
      const messages = await queues().receive(queue, { limit: 60 })
      await sleep(990)
      const [settled, again] = await Promise.all([
        Promise.all(messages.map(({ receiptHandle }) => queues().ackMany(queue, [receiptHandle]))),
        Promise.all(range(1, 6).map(() => other.queues.receive(queue, { limit: 10, visibilityTimeoutSeconds: 100 }))),
      ])
      const gone = messages.filter((_, n) => settled[n]?.acked.length === 1)
      const received = new Set(messageIds(again.flat()))
      expect(gone.filter(({ id }) => received.has(id))).toEqual([])
      const rest = await queues().receive(queue, { limit: 100 })
      expect(gone.length + received.size + rest.length).toBe(60)
    })
  })
}
