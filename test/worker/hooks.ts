/** A worker's reports of the messages that it ends. */
import { UnrecoverableError } from '../../src'
import type { Message } from '../../src/shared/queue-types'
import type { EngineName } from '../support/engines'
import { Barrier, describeWithWorkers, inState, isEmpty, numbers, sendNumbers, until, upTo } from './support'

const AT_ONCE = { minSeconds: 0, maxSeconds: 0 }

export function describeHooks(engine: EngineName): void {
  describeWithWorkers(engine, 'the hooks of a worker', {}, (context) => {
    it('onDone: every message that was handled, once, when it is gone', async () => {
      const { store, queue, work } = context
      await sendNumbers(store, queue, 300)
      const done: Message[] = []
      const seen: Promise<unknown>[] = []
      const dead: Message[] = []
      const onDone = (message: Message) => {
        done.push(message)
        if (done.length % 50 === 0) seen.push(store.queues.message(queue, message.id))
      }
      const worker = work(() => {}, { concurrency: 10, onDone, onDead: (message) => dead.push(message) })
      await until('all are done', () => done.length === 300)
      await worker.stop()
      expect(numbers(done)).toEqual(upTo(300))
      expect(await Promise.all(seen)).toEqual(Array(6).fill(null))
      expect(dead).toEqual([])
    })

    it('onDead: a message that has used up its receives, with its last error, and no other one', async () => {
      const { store, queue, work } = context
      await store.queues.update(queue, { maxReceives: 2 })
      await sendNumbers(store, queue, 2)
      await store.queues.send(queue, 2, { maxReceives: null })
      const [dead, errors, done]: [unknown[], unknown[], unknown[]] = [[], [], []]
      const worker = work(
        ({ body, receiveCount }) => {
          if (body !== 1 && receiveCount < 4) throw new Error(`${body} of ${receiveCount}`)
        },
        {
          backoff: AT_ONCE,
          onError: (error) => errors.push((error as Error).message),
          onDead: ({ body, receiveCount }, error) => dead.push([body, receiveCount, (error as Error).message]),
          onDone: ({ body }) => done.push(body),
        },
      )
      await until('all are ended', () => dead.length + done.length === 3)
      await worker.stop()
      expect(dead).toEqual([[0, 2, '0 of 2']])
      expect(done.sort()).toEqual([1, 2])
      expect(errors.sort()).toEqual(['0 of 1', '0 of 2', '2 of 1', '2 of 2', '2 of 3'])
      expect(await inState(store, queue, 'dead')).toBe(1)
    })

    it('onDead: an UnrecoverableError, as it was thrown, when the message is among the dead letters', async () => {
      const { store, queue, work } = context
      const letters = `${queue}-letters`
      await store.queues.put(letters)
      await store.queues.update(queue, { deadLetterQueue: letters })
      await sendNumbers(store, queue, 1)
      const thrown = new UnrecoverableError('no such customer')
      const dead: unknown[] = []
      const worker = work(
        () => {
          throw thrown
        },
        {
          onError: () => {},
          onDead: async (message, error) => {
            const found = await store.queues.message(letters, message.id)
            dead.push([error === thrown, found?.deadLetterFrom])
          },
        },
      )
      await until('it is dead', () => dead.length > 0)
      await worker.stop()
      expect(dead).toEqual([[true, queue]])
    })

    it('a hook that throws, or rejects, is reported to onError with the message, and disturbs nothing', async () => {
      const { store, queue, work } = context
      await sendNumbers(store, queue, 20)
      const errors: unknown[] = []
      const worker = work(
        ({ body }) => {
          if (body === 7) throw new UnrecoverableError('seven')
        },
        {
          onDone: async ({ body }) => {
            throw new Error(`done ${body}`)
          },
          onDead: ({ body }) => {
            throw new Error(`dead ${body}`)
          },
          onError: (error, message) => errors.push(`${(error as Error).message}: ${message?.body}`),
        },
      )
      await until('all are reported', () => errors.length === 21)
      await worker.stop()
      const others = upTo(20).filter((n) => n !== 7)
      expect(errors.sort()).toEqual(['seven: 7', 'dead 7: 7', ...others.map((n) => `done ${n}: ${n}`)].sort())
      expect(await isEmpty(store, queue)).toBe(true)
    })

    it('a message that another receiver took away is neither done nor dead', async () => {
      const { store, queue, work } = context
      const { id } = await store.queues.send(queue, 'taken')
      await store.queues.send(queue, 'kept')
      const [begun, goOn] = [new Barrier(), new Barrier()]
      const done: unknown[] = []
      const worker = work(
        async ({ body }) => {
          if (body === 'taken') {
            begun.open()
            await goOn.opened
          }
        },
        { onDone: ({ body }) => done.push(body), onDead: ({ body }) => done.push(`dead ${body}`) },
      )
      await begun.opened
      await store.queues.remove(queue, id)
      goOn.open()
      await until('the other one is done', () => done.length > 0)
      await worker.stop()
      expect(done).toEqual(['kept'])
    })
  })
}
