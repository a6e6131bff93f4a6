import fc from 'fast-check'
import { JsonText } from '../../../src/index'
import { JSON_VALUES } from '../../support/json-values'
import { type Context, refusal } from '../context'
import { bodiesOf, queueTools } from './tools'

const nested = (levels: number): unknown => JSON.parse('['.repeat(levels) + ']'.repeat(levels))

export function describeQueueBodies(context: Context): void {
  const queues = () => context.store.queues
  const { made, one, idsIn } = queueTools(context)

  /** The texts that each way of reading gives back. */
  async function kept(body: unknown): Promise<string[]> {
    const queue = await made({ onAck: 'archive' })
    const { id } = await queues().send(queue, body)
    const seen: unknown[] = [(await queues().peek(queue)).messages[0]?.body]
    const message = await one(queue)
    seen.push(message.body, (await queues().message(queue, id))?.body)
    await queues().ack(queue, message.receiptHandle)
    seen.push((await queues().peek(queue, { state: 'archived' })).messages[0]?.body)
    seen.push((await queues().message(queue, id))?.body)
    return seen.map((one) => JSON.stringify(one))
  }

  const expectKept = async (body: unknown) => {
    expect(await kept(body)).toEqual(Array(5).fill(JSON.stringify(body)))
  }

  describe('queues: body', () => {
    it.each([...JSON_VALUES, ['null', null], ['64 levels', nested(64)]])('keeps %s', async (_, body) => {
      await expectKept(body)
    })

    it('asks a body at most twice how it wants to be written: to check it, and to store it', async () => {
      const queue = await made()
      let asked = 0
      const body = () => ({ toJSON: () => ({ nth: ++asked }) })
      await queues().send(queue, body())
      expect(asked).toBeLessThanOrEqual(2)
      await queues().sendMany(queue, [{ body: body() }, { body: body(), priority: 1 }])
      expect(asked).toBeLessThanOrEqual(6)
      // A feed may have the name of a queue.
      await context.store.feeds.put(queue, 'one', body())
      await context.store.feeds.putMany(queue, [{ key: 'two', value: body() }])
      expect(asked).toBeLessThanOrEqual(10)
    })

    it('keeps any JSON value', async () => {
      const bodies = fc.array(fc.jsonValue({ maxDepth: 6 }), { minLength: 20, maxLength: 20 })
      await fc.assert(
        fc.asyncProperty(bodies, async (values) => {
          const queue = await made()
          await queues().sendMany(
            queue,
            values.map((body) => ({ body })),
          )
          const received = bodiesOf(await queues().receive(queue, { limit: 20 }))
          expect(received.map((body) => JSON.stringify(body))).toEqual(values.map((value) => JSON.stringify(value)))
        }),
        { numRuns: 10 },
      )
    })

    it('keeps the text of a JsonText to the letter, and gives it when asked', async () => {
      const queue = await made({ visibilityTimeoutSeconds: 0 })
      const text = '{"n":12345678901234567890123456789012345678901234567890.10,"z":1.0,"n":-0,"__proto__":1e999}'
      const { id } = await queues().send(queue, new JsonText(text))
      const plain = await queues().send(queue, { a: [1] })
      const texts = (messages: readonly { body: unknown }[]) =>
        bodiesOf(messages).map((body) => (body instanceof JsonText ? body.text : body))
      expect(texts((await queues().peek(queue, { bodies: 'text' })).messages)).toEqual([text, '{"a":[1]}'])
      expect(texts(await queues().receive(queue, { limit: 2, bodies: 'text' }))).toEqual([text, '{"a":[1]}'])
      const cycled = await queues().cycle(queue, { limit: 2, bodies: 'text' })
      expect(texts(cycled)).toEqual([text, '{"a":[1]}'])
      const single = [id, plain.id].map((each) => queues().message(queue, each, { bodies: 'text' }))
      expect(texts((await Promise.all(single)).flatMap((message) => message ?? []))).toEqual([text, '{"a":[1]}'])
    })

    it('may have 256 KiB as JSON, and not a byte more', async () => {
      const queue = await made()
      const exact = 'x'.repeat(262_142)
      const inTwoBytes = 'é'.repeat(131_071)
      const inFourBytes = `${'😀'.repeat(65_535)}xx`
      await queues().sendMany(
        queue,
        [exact, inTwoBytes, inFourBytes].map((body) => ({ body })),
      )
      await queues().send(queue, new JsonText(` ${JSON.stringify('y'.repeat(262_141))}`))
      for (const body of [`${exact}x`, `${inTwoBytes}x`, `${inFourBytes}x`, [exact], '\n'.repeat(131_072)]) {
        const error = await refusal(queues().send(queue, body))
        expect([error.code, error.faults.map(({ pointer }) => pointer)]).toEqual(['invalid_input', ['/body']])
      }
      expect((await refusal(queues().send(queue, new JsonText(`"${exact}x"`)))).code).toBe('invalid_input')
      const received = bodiesOf(await queues().receive(queue, { limit: 10 }))
      expect(received.map((body) => [exact, inTwoBytes, inFourBytes].indexOf(body as string))).toEqual([0, 1, 2, -1])
    })

    it('is refused when JSON has no form for it', async () => {
      const queue = await made()
      const circle: unknown[] = []
      circle.push(circle)
      const bad = [
        undefined,
        Number.NaN,
        1n,
        Symbol('s'),
        '\ud800',
        { '\udc00': 1 },
        nested(65),
        circle,
        [() => 1],
        new Map(),
      ]
      for (const body of bad) {
        const error = await refusal(queues().send(queue, body))
        expect([error.code, error.faults.map(({ pointer }) => pointer)]).toEqual(['invalid_input', ['/body']])
      }
      expect(await idsIn(queue, 'ready')).toEqual([])
    })

    it('of 1,000 messages may have many MiB together', async () => {
      const queue = await made()
      const body = 'é"'.repeat(6_000)
      await queues().sendMany(
        queue,
        Array.from({ length: 1000 }, () => ({ body })),
      )
      const received = await queues().receive(queue, { limit: 1000 })
      expect(received).toHaveLength(1000)
      expect(received.every((message) => message.body === body)).toBe(true)
    })
  })
}
