/** Work queues: the methods of the library's `store.queues`, without `work`. Those without a comment have the library's. */
import type { AsJson, JsonText } from '../shared/json'
import type * as Queue from '../shared/queue-types'
import type { As } from '../shared/types'
import * as operations from './operations'
import type { Operation } from './schemas'
import { SettingsCalls, type SettingsNames } from './settings'
import { type CallOptions, everyOf, type Transport, type WithCall } from './transport'

const QUEUES: SettingsNames = { many: 'queues', absent: 'queue_not_found' }

/** `Body` is the type that the caller says bodies have: nothing checks it. */
export class QueueCalls
  extends SettingsCalls<Queue.Queues, [settings?: Queue.QueueSettings]>
  implements Omit<Queue.Queues, 'message' | 'peek' | 'send'>
{
  constructor(transport: Transport) {
    super(transport, QUEUES)
  }

  pause(queue: string, options?: CallOptions): Promise<Queue.Queue> {
    return this.transport.asked(operations.pauseQueue, { queue }, options, 'safe')
  }

  resume(queue: string, options?: CallOptions): Promise<Queue.Queue> {
    return this.transport.asked(operations.resumeQueue, { queue }, options, 'safe')
  }

  /** For `seconds` no message of the queue, or of one of its message groups, is handed out; 0 ends a hold. */
  hold(queue: string, options: WithCall<Queue.HoldOptions>): Promise<Queue.QueueHold> {
    return this.transport.asked(operations.holdQueue, { queue }, options, 'safe')
  }

  /**
   * Sends one message. `sent` is false if a message with this `dedupId` was sent before; the id is that message's. A call
   * without a `dedupId` is not repeated if no answer came. Throws `queue_not_found`.
   */
  send<Body = unknown, Given extends Body | JsonText = Body | JsonText>(
    queue: string,
    body: Given & AsJson<Given>,
    options?: Queue.SendOptions & CallOptions,
  ): Promise<Queue.Sent> {
    const repeat = options?.dedupId ? 'safe' : 'once'
    const sent = this.transport.asked(operations.sendMessages, { queue }, { body, ...options }, repeat)
    return sent as Promise<Queue.Sent>
  }

  /**
   * Sends 1 to 1,000 messages, all or none, and returns one entry for each, in the order given. The call is repeated if no
   * answer came only if all messages have a `dedupId`.
   */
  async sendMany<Body = unknown>(
    queue: string,
    messages: readonly Queue.NewMessage<NoInfer<Body>>[],
    options?: CallOptions,
  ): Promise<Queue.Sent[]> {
    const repeat = messages.every(({ dedupId }) => dedupId) ? 'safe' : 'once'
    const sent = await this.transport.asked(operations.sendMessages, { queue }, { messages, ...options }, repeat)
    return (sent as { messages: Queue.Sent[] }).messages
  }

  /**
   * Claims messages: until the visibility timeout no other receiver gets them. The call is not repeated if no answer came:
   * messages that it claimed become ready after that timeout. With `waitSeconds` it may take that much longer.
   */
  async receive<Body = unknown>(
    queue: string,
    options?: WithCall<Queue.ReceiveOptions>,
  ): Promise<Queue.Message<Body>[]> {
    const { messages } = await this.transport.asked(operations.receiveMessages, { queue }, options, 'parts')
    return messages as Queue.Message<Body>[]
  }

  /** Claims the next messages behind a stored cursor, by id, and begins again after the last one. Not repeated, as `receive`. */
  async cycle<Body = unknown>(queue: string, options?: WithCall<Queue.CycleOptions>): Promise<Queue.Message<Body>[]> {
    const { messages } = await this.transport.asked(operations.cycleMessages, { queue }, options, 'parts')
    return messages as Queue.Message<Body>[]
  }

  ack(queue: string, message: Queue.MessageRef, options?: CallOptions): Promise<void> {
    return this.#settle(operations.ackMessages, queue, one(message), options)
  }

  nack(queue: string, message: Queue.MessageRef, options?: Queue.NackOptions & CallOptions): Promise<void> {
    return this.#settle(operations.nackMessages, queue, one(message), options)
  }

  extend(queue: string, message: Queue.MessageRef, options: Queue.ExtendOptions & CallOptions): Promise<void> {
    // The handle stays valid, so that a second extension has the effect of one.
    return this.#settle(operations.extendMessages, queue, one(message), options, 'safe')
  }

  ackMany(queue: string, messages: readonly Queue.MessageRef[], options?: CallOptions): Promise<Queue.Acked> {
    return this.#settle(operations.ackMessages, queue, many(messages), options)
  }

  nackMany(
    queue: string,
    messages: readonly Queue.MessageRef[],
    options?: Queue.NackOptions & CallOptions,
  ): Promise<Queue.Nacked> {
    return this.#settle(operations.nackMessages, queue, many(messages), options)
  }

  extendMany(
    queue: string,
    messages: readonly Queue.MessageRef[],
    options: Queue.ExtendOptions & CallOptions,
  ): Promise<Queue.Extended> {
    return this.#settle(operations.extendMessages, queue, many(messages), options, 'safe')
  }

  /** One handle is answered with nothing, a list with what became of each. */
  #settle<Answer>(
    operation: Operation<unknown, { path: object; body: object }>,
    queue: string,
    handles: object,
    options?: CallOptions,
    repeat?: 'safe',
  ): Promise<Answer> {
    return this.transport.asked(operation, { queue }, { ...handles, ...options }, repeat) as Promise<Answer>
  }

  /** A page of the messages in one state, `ready` by default, without claiming them. */
  peek<Body = unknown, Asked extends 'value' | 'preview' = 'value'>(
    queue: string,
    options?: Queue.PeekOptions<Asked> & CallOptions,
  ): Promise<Queue.MessagePage<As<Body, Asked>>> {
    const page = this.transport.asked(operations.peekMessages, { queue }, options)
    return page as Promise<Queue.MessagePage<As<Body, Asked>>>
  }

  /** All messages in one state, in pages of `limit`. */
  allMessages<Body = unknown, Asked extends 'value' | 'preview' = 'value'>(
    queue: string,
    options: Queue.PeekOptions<Asked> & CallOptions = {},
  ): AsyncGenerator<Queue.PeekedMessage<As<Body, Asked>>, void, undefined> {
    return everyOf((page) => this.peek<Body, Asked>(queue, page), 'messages', options)
  }

  /** One message in any state; null if the queue has none with this id. Throws `queue_not_found`. */
  message<Body = unknown>(queue: string, id: bigint, options?: CallOptions): Promise<Queue.WholeMessage<Body> | null> {
    const found = this.transport.valueOrNull(operations.getMessage, { queue, id }, 'message_not_found', options)
    return found as Promise<Queue.WholeMessage<Body> | null>
  }

  remove(queue: string, id: bigint, options?: CallOptions): Promise<boolean> {
    return this.transport.wasThere(operations.removeMessage, { queue, id }, 'message_not_found', options)
  }

  cancel(queue: string, key: string, options?: CallOptions): Promise<boolean> {
    return this.transport.wasThere(operations.cancelMessage, { queue, key }, 'message_not_found', options)
  }

  errors(queue: string, options?: Pick<Queue.DeadFilter, 'from'> & CallOptions): Promise<Queue.DeadErrors> {
    return this.transport.asked(operations.queueErrors, { queue }, options)
  }

  history(
    queue: string,
    options?: { period?: Queue.HistoryPeriod | undefined } & CallOptions,
  ): Promise<Queue.QueueHistory> {
    return this.transport.asked(operations.queueHistory, { queue }, options)
  }

  redrive(queue: string, options?: WithCall<Omit<Queue.RedriveOptions, 'prefix'>>): Promise<{ moved: number }> {
    return this.transport.asked(operations.redriveQueue, { queue }, options, 'parts')
  }

  receivers(queue: string, options?: CallOptions): Promise<Queue.QueueReceivers> {
    return this.transport.asked(operations.queueReceivers, { queue }, options)
  }

  promote(
    queue: string,
    ids: readonly bigint[],
    options?: WithCall<Queue.PromoteOptions>,
  ): Promise<{ promoted: number }> {
    // Once it has ended a claim, it could end that of the next receiver.
    const repeat = options?.inFlight ? 'once' : 'safe'
    return this.transport.asked(operations.promoteMessages, { queue }, { ids, ...options }, repeat)
  }

  purge(queue: string, options?: WithCall<Queue.PurgeOptions>): Promise<{ deleted: number }> {
    return this.transport.asked(operations.purgeQueue, { queue }, options, 'parts')
  }
}

const handleOf = (message: Queue.MessageRef): string => (message as Queue.Message).receiptHandle ?? message
const one = (message: Queue.MessageRef) => ({ receiptHandle: handleOf(message) })
const many = (messages: readonly Queue.MessageRef[]) => ({ receiptHandles: messages.map(handleOf) })
