/** Shared by the suites of queues: a queue for each test, messages with the bodies 1, 2, 3 …, and reading them. */
import type { Message, MessageState, QueueSettings, SendOptions } from '../../../src/shared/queue-types'
import { timed } from '../../support/timing'
import type { Context } from '../context'

export { timed }

export const STATES: MessageState[] = ['ready', 'in-flight', 'delayed', 'dead', 'archived']

export interface QueueTools {
  /** Moves the database's time. */
  pass(seconds: number): void
  /** A new queue. */
  made(settings?: QueueSettings): Promise<string>
  /** Sends messages with the bodies 1, 2, 3 … and answers their ids; `options` gets the body. */
  filled(queue: string, count: number, options?: (body: number) => SendOptions): Promise<bigint[]>
  /** A new queue with so many messages. */
  madeOf(count: number, settings?: QueueSettings, options?: (body: number) => SendOptions): Promise<string>
  /** Receives the one message that must be there. */
  one(queue: string): Promise<Message>
  /** The ids of all messages of a state, page by page. */
  idsIn(queue: string, state: MessageState, limit?: number): Promise<bigint[]>
}

export function queueTools(context: Context): QueueTools {
  const queues = () => context.store.queues
  const tools: QueueTools = {
    pass: (seconds) => {
      context.clock.offsetMs += seconds * 1000
    },
    async made(settings = {}) {
      const queue = context.unique('q')
      await queues().put(queue, settings)
      return queue
    },
    async filled(queue, count, options = () => ({})) {
      const all = Array.from({ length: count }, (_, n) => ({ body: n + 1, ...options(n + 1) }))
      const ids: bigint[] = []
      for (let from = 0; from < count; from += 1000) {
        ids.push(...messageIds(await queues().sendMany(queue, all.slice(from, from + 1000))))
      }
      return ids
    },
    async madeOf(count, settings, options) {
      const queue = await tools.made(settings)
      await tools.filled(queue, count, options)
      return queue
    },
    async one(queue) {
      const [message, ...more] = await queues().receive(queue, { limit: 10 })
      if (!message || more.length > 0) throw new Error(`${message ? more.length + 1 : 0} messages in place of one`)
      return message
    },
    async idsIn(queue, state, limit = 1000) {
      const ids: bigint[] = []
      for (let after: string | null | undefined; after !== null; ) {
        const page = await queues().peek(queue, { state, limit, ...(after === undefined ? {} : { after }) })
        ids.push(...page.messages.map(({ id }) => id))
        after = page.nextAfter
      }
      return ids
    },
  }
  return tools
}

export const bodiesOf = (messages: readonly { body: unknown }[]): unknown[] => messages.map(({ body }) => body)

export const handlesOf = (messages: readonly Message[]): string[] => messages.map(({ receiptHandle }) => receiptHandle)

export const messageIds = (messages: readonly { id: bigint }[]): bigint[] => messages.map(({ id }) => id)

/** The numbers from `from` to `to`. */
export const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index)

export const byNumber = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0)

/** A message without its receiver: a store may report itself as that at any time. */
export function lasting<M extends object>(message: M): Omit<M, 'receiver'> {
  return { ...message, receiver: undefined }
}
