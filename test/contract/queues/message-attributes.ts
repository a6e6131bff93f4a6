/** The attributes of messages: short texts that go with a message wherever it goes. */
import type { Attributes } from '../../../src/shared/queue-types'
import { type Context, refusal } from '../context'
import { handlesOf, queueTools, range } from './tools'

const TRACE = { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01', tracestate: 'a=b,c=d' }

export function describeMessageAttributes(context: Context): void {
  const queues = () => context.store.queues
  const { made, one } = queueTools(context)

  describe('queues: the attributes of a message', () => {
    it('come to its receiver as they were sent; a message without any has none', async () => {
      const queue = await made()
      const odd: Attributes = JSON.parse('{"__proto__":"own","constructor":"","a.b-C_9":"\\u0000\\n漢😀\\"","1":"x"}')
      const given: (Attributes | null | undefined)[] = [TRACE, undefined, null, {}, odd]
      for (const attributes of given) await queues().send(queue, 1, { attributes })
      await queues().sendMany(queue, [{ body: 2, attributes: TRACE }, { body: 3 }])
      const received = await queues().receive(queue, { limit: 10 })
      const expected = [TRACE, {}, {}, {}, odd, TRACE, {}]
      expect(received.map(({ attributes }) => attributes)).toEqual(expected)
      expect(received.map(({ attributes }) => Object.keys(attributes).sort())).toEqual(
        expected.map((each) => Object.keys(each).sort()),
      )
    })

    it('stay with it: looked at, released, dead, sent back, and archived', async () => {
      const dead = await made()
      const queue = await made({ deadLetterQueue: dead, onAck: 'archive' })
      const { id } = await queues().send(queue, 1, { attributes: TRACE, delaySeconds: 0 })
      const seen = async (where: string) => (await queues().message(where, id))?.attributes
      expect((await queues().peek(queue)).messages.map(({ attributes }) => attributes)).toEqual([TRACE])
      await queues().nack(queue, (await one(queue)).receiptHandle)
      expect((await queues().peek(queue, { bodies: 'preview' })).messages[0]?.attributes).toEqual(TRACE)
      await queues().nack(queue, (await one(queue)).receiptHandle, { dead: true })
      expect(await seen(dead)).toEqual(TRACE)
      expect(await queues().redrive(dead)).toEqual({ moved: 1 })
      const again = await queues().receive(queue)
      expect(again[0]?.attributes).toEqual(TRACE)
      await queues().ackMany(queue, handlesOf(again))
      expect((await queues().peek(queue, { state: 'archived' })).messages[0]?.attributes).toEqual(TRACE)
      expect(await seen(queue)).toEqual(TRACE)
    })

    it('are those of the first message where a dedupId was sent before', async () => {
      const queue = await made()
      await queues().send(queue, 1, { dedupId: 'd', attributes: { n: '1' } })
      await queues().send(queue, 1, { dedupId: 'd', attributes: { n: '2' } })
      expect((await one(queue)).attributes).toEqual({ n: '1' })
    })

    it('commit with a transaction, and come back with a claim in a cycle', async () => {
      const queue = await made()
      await context.store.transaction((tx) => tx.queues.send(queue, 1, { attributes: TRACE }))
      const [message] = await queues().cycle(queue)
      expect(message?.attributes).toEqual(TRACE)
    })

    it('may be 16, with names of 64 characters and texts of 256; of a thousand messages too', async () => {
      const queue = await made()
      const most = Object.fromEntries(range(1, 16).map((n) => [`${n}_`.padEnd(64, 'x'), '😀'.repeat(256)]))
      const messages = range(1, 200).map((body) => ({ body, ...(body % 3 ? { attributes: most } : {}) }))
      await queues().sendMany(queue, messages)
      const received = await queues().receive(queue, { limit: 1000 })
      expect(received.map(({ attributes }) => Object.keys(attributes).length)).toEqual(
        messages.map(({ attributes = {} }) => Object.keys(attributes).length),
      )
      expect(received[0]?.attributes).toEqual(most)
    })

    it('that are not valid are refused with every fault', async () => {
      const queue = await made()
      const wrong: [unknown, RegExp][] = [
        ['text', /^must be an object of texts$/],
        [['a'], /^must be an object of texts$/],
        [Object.fromEntries(range(1, 17).map((n) => [`n${n}`, ''])), /^must have at most 16 names$/],
        [
          { 'a b': 'x', ok: 'x', n: 1 },
          /^the name "a b" must be 1 to 64 .*; n must be a text of at most 256 characters$/,
        ],
        [{ ['x'.repeat(65)]: '' }, /^the name "x+" must be/],
        [{ '': '' }, /^the name "" must be/],
        [{ a: 'x'.repeat(257) }, /^a must be a text/],
        [{ a: '\ud800' }, /^a must be a text/],
        [{ a: null }, /^a must be a text/],
      ]
      for (const [attributes, detail] of wrong) {
        const given = { attributes: attributes as Attributes }
        for (const call of [queues().send(queue, 1, given), queues().sendMany(queue, [{ body: 1, ...given }])]) {
          const { code, faults } = await refusal(call)
          expect([code, faults]).toEqual([
            'invalid_input',
            [{ pointer: expect.stringMatching(/^(\/0)?\/attributes$/), detail: expect.stringMatching(detail) }],
          ])
        }
      }
      const error = await refusal(
        queues().send(queue, (() => 1) as unknown, { attributes: 1 as never, priority: 2000 }),
      )
      expect(error.faults.map(({ pointer }) => pointer)).toEqual(['/body', '/priority', '/attributes'])
      expect(await queues().receive(queue)).toEqual([])
    })
  })
}
