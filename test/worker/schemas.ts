/** The schema of a worker: what fits is handed on as the schema gives it, and what does not is dead at once. */
import * as v from 'valibot'
import { z } from 'zod'
import type { StandardSchema } from '../../src'
import type { EngineName } from '../support/engines'
import { describeWithWorkers, inState, isEmpty, until } from './support'

interface Visit {
  user: string
  at: Date
}

const asynchronously = <T>(value: T): Promise<T> => new Promise((resolve) => setImmediate(resolve, value))
const isUser = (user: string) => user.startsWith('user-')

const SCHEMAS: [string, StandardSchema<Visit>][] = [
  ['zod', z.object({ user: z.string(), at: z.coerce.date() })],
  [
    'valibot',
    v.object({
      user: v.string(),
      at: v.pipe(
        v.string(),
        v.transform((text) => new Date(text)),
        v.date(),
      ),
    }),
  ],
  [
    'zod, asynchronous',
    z.object({ user: z.string().refine((user) => asynchronously(isUser(user)), 'is no user'), at: z.coerce.date() }),
  ],
  [
    'valibot, asynchronous',
    v.objectAsync({
      user: v.pipeAsync(
        v.string(),
        v.checkAsync((user) => asynchronously(isUser(user)), 'is no user'),
      ),
      at: v.pipe(
        v.string(),
        v.transform((text) => new Date(text)),
      ),
    }),
  ],
]

export function describeSchemas(engine: EngineName): void {
  describeWithWorkers(engine, 'the schema of a worker', {}, (context) => {
    it.each(SCHEMAS)(
      '%s: the handler gets the output, and what does not fit is a dead letter at once',
      async (_, schema) => {
        const { store, queue } = context
        await store.queues.update(queue, { maxReceives: null })
        const at = '2026-11-21T10:00:00.000Z'
        await store.queues.sendMany(queue, [
          { body: { user: 'user-1', at } },
          { body: { user: 7, at } },
          { body: null },
        ])
        const handled: unknown[] = []
        const done: unknown[] = []
        const dead: unknown[] = []
        const reported: unknown[] = []
        const worker = store.queues.work(queue, ({ body }) => handled.push([body.user, body.at.toISOString()]), {
          schema,
          onDone: ({ body }) => done.push(body.at),
          onDead: ({ body }, error) => dead.push([body, String(error)]),
          onError: (error, message) => reported.push([message?.body, String(error)]),
        })
        await until('all are ended', () => done.length === 1 && dead.length === 2)
        await worker.stop()
        expect(handled).toEqual([['user-1', at]])
        expect(done).toEqual([new Date(at)])
        const reasons = dead.map((each) => String((each as unknown[])[1]))
        expect(
          reasons.every((reason) => reason.startsWith('UnrecoverableError: The body does not fit the schema: ')),
        ).toBe(true)
        expect(reasons.some((reason) => reason.includes('user: '))).toBe(true)
        expect(dead).toContainEqual([{ user: 7, at }, expect.anything()])
        expect(new Set(reported)).toEqual(new Set(dead))
        const { messages } = await store.queues.peek(queue, { state: 'dead' })
        expect(messages.map(({ lastError, receiveCount }) => [lastError, receiveCount]).sort()).toEqual(
          reasons.map((reason) => [reason, 1]).sort(),
        )
        expect(await isEmpty(store, queue)).toBe(true)
      },
    )

    it('a schema that throws is a handler that throws: the message is tried again', async () => {
      const { store, queue } = context
      await store.queues.send(queue, 'a')
      let calls = 0
      const validate = (value: unknown) => {
        if (++calls === 1) throw new Error('the database of users is away')
        return { value: String(value) }
      }
      const schema: StandardSchema<string> = { '~standard': { version: 1, vendor: 'own', validate } }
      const seen: unknown[] = []
      const worker = store.queues.work(queue, ({ body, lastError }) => seen.push([body, lastError]), {
        schema,
        backoff: { minSeconds: 0, maxSeconds: 0 },
        onError: () => {},
      })
      await until('it is handled', () => seen.length > 0)
      await worker.stop()
      expect(seen).toEqual([['a', 'the database of users is away']])
      expect(await inState(store, queue, 'dead')).toBe(0)
    })

    it('what is no schema is refused', () => {
      const { store, queue } = context
      for (const schema of [{}, null, () => true, { '~standard': {} }]) {
        const work = () => store.queues.work(queue, () => {}, { schema: schema as never })
        expect(work).toThrow('schema: must be a Standard Schema')
      }
    })
  })
}
