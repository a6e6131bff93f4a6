/** Work queues: the methods of the library's `store.queues`, without `work`. */

import type { AsJson } from '../schema'
import * as operations from './operations'
import { type CallOptions, everyOf, parted, type Transport } from './transport'
import type Wire from './wire'
import type {
  AckedReceipts,
  Extend,
  ExtendedReceipts,
  ListedSchedule,
  Message,
  MessagePage,
  NackedReceipts,
  NewMessage,
  NewSchedule,
  PeekedMessage,
  Purge,
  Queue,
  QueueChanges,
  QueuePage,
  QueueSettings,
  QueueStatus,
  Receive,
  Redrive,
  Release,
  Schedule,
  SchedulePage,
  Sent,
  SentMany,
} from './wire'

export type SendOptions = Omit<NewMessage, 'body'> & CallOptions
export type ReceiveOptions = Receive & CallOptions
export type ReleaseOptions = Omit<Release, 'receiptHandles'> & CallOptions
export type ExtendOptions = Omit<Extend, 'receiptHandles'> & CallOptions
export type RedriveOptions = Redrive & CallOptions
export type PurgeOptions = Purge & CallOptions
export type PeekOptions = Wire['peekMessages']['query'] & CallOptions
export type ScheduleListOptions = Wire['listSchedules']['query'] & CallOptions
export type QueueListOptions = Wire['listQueues']['query'] & CallOptions

/** `Body` is the type that the caller says bodies have: nothing checks it. */
export class QueueCalls<Base = unknown> {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** The settings and counts; null if the queue does not exist. */
  get(queue: string, options?: CallOptions): Promise<QueueStatus | null> {
    return this.#transport.valueOrNull(operations.getQueue, { path: { queue } }, 'queue_not_found', options)
  }

  /** Creates the queue, or replaces all of its settings: one that is left out gets its default. A pause stays. */
  async put(queue: string, settings: QueueSettings = {}, options?: CallOptions): Promise<Queue & { created: boolean }> {
    const parts = { path: { queue }, body: settings }
    return this.#transport.made(operations.putQueue, parts, options)
  }

  /** Creates the queue with these settings, and leaves a queue that exists unchanged. */
  async ensure(
    queue: string,
    settings: QueueSettings = {},
    options?: CallOptions,
  ): Promise<Queue & { created: boolean }> {
    const parts = { path: { queue }, body: settings }
    return this.#transport.made(operations.ensureQueue, parts, { repeat: 'safe', ...options })
  }

  /** Changes the given settings and no others. Throws `queue_not_found`. */
  update(queue: string, settings: QueueChanges, options?: CallOptions): Promise<Queue> {
    return this.#transport.value(operations.updateQueue, { path: { queue }, body: settings }, options)
  }

  /** Until `resume`, messages can be sent but receives get none. Repeatable. Throws `queue_not_found`. */
  pause(queue: string, options?: CallOptions): Promise<Queue> {
    return this.#transport.value(operations.pauseQueue, { path: { queue }, body: {} }, { repeat: 'safe', ...options })
  }

  /** Ends a pause; waiting receives get messages at once. Repeatable. Throws `queue_not_found`. */
  resume(queue: string, options?: CallOptions): Promise<Queue> {
    return this.#transport.value(operations.resumeQueue, { path: { queue }, body: {} }, { repeat: 'safe', ...options })
  }

  /** Deletes the queue and its messages; false if there was none. Throws `queue_in_use`. */
  drop(queue: string, options?: CallOptions): Promise<boolean> {
    return this.#transport.wasThere(operations.deleteQueue, { path: { queue } }, 'queue_not_found', options)
  }

  /** A page of queues, by name. */
  list(options: QueueListOptions = {}): Promise<QueuePage> {
    const [query, call] = parted(options)
    return this.#transport.value(operations.listQueues, { query }, call)
  }

  /** All queues by name, in pages of `limit`. */
  all(options: QueueListOptions = {}): AsyncGenerator<QueueStatus, void, undefined> {
    return everyOf((page) => this.list(page), 'queues', options)
  }

  /**
   * Sends one message. `sent` is false if a message with this `dedupId` was sent before; the id is that message's. A call
   * without a `dedupId` is not repeated if no answer came. Throws `queue_not_found`.
   */
  async send<Body extends Base = Base, Given extends Body = Body>(
    queue: string,
    body: Given & AsJson<Given>,
    options: SendOptions = {},
  ): Promise<Sent> {
    const [more, call] = parted(options)
    const repeat = options.dedupId ? 'safe' : 'once'
    const parts = { path: { queue }, body: { body, ...more } }
    return (await this.#transport.value(operations.sendMessages, parts, { repeat, ...call })) as Sent
  }

  /**
   * Sends 1 to 1,000 messages, all or none, and returns one entry for each, in the order given. The call is repeated if no
   * answer came only if all messages have a `dedupId`.
   */
  async sendMany<Body extends Base = Base>(
    queue: string,
    messages: readonly NewMessage<NoInfer<Body>>[],
    options?: CallOptions,
  ): Promise<Sent[]> {
    const repeat = messages.every(({ dedupId }) => dedupId) ? 'safe' : 'once'
    const parts = { path: { queue }, body: { messages } }
    return ((await this.#transport.value(operations.sendMessages, parts, { repeat, ...options })) as SentMany).messages
  }

  /**
   * Claims messages: until the visibility timeout no other receiver gets them. The call is not repeated if no answer came:
   * messages that it claimed become ready after that timeout. With `waitSeconds` it may take that much longer.
   */
  async receive<Body extends Base = Base>(queue: string, options: ReceiveOptions = {}): Promise<Message<Body>[]> {
    const [body, call] = parted(options)
    const conduct = { repeat: 'parts', waitSeconds: options.waitSeconds, ...call } as const
    const { messages } = await this.#transport.value(operations.receiveMessages, { path: { queue }, body }, conduct)
    return messages as Message<Body>[]
  }

  /** The messages are done: removes, or archives, those that the 1 to 1,000 handles name. */
  ackMany(queue: string, handles: string | readonly string[], options?: CallOptions): Promise<AckedReceipts> {
    const parts = { path: { queue }, body: { receiptHandles: listOf(handles) } }
    return this.#transport.value(operations.ackMessages, parts, options)
  }

  /** The messages failed: makes them ready again after a delay, or dead. */
  nackMany(queue: string, handles: string | readonly string[], options: ReleaseOptions = {}): Promise<NackedReceipts> {
    const [more, call] = parted(options)
    const parts = { path: { queue }, body: { receiptHandles: listOf(handles), ...more } }
    return this.#transport.value(operations.nackMessages, parts, call)
  }

  /** Sets when the claims end: `visibilityTimeoutSeconds` from now. */
  extendMany(queue: string, handles: string | readonly string[], options: ExtendOptions): Promise<ExtendedReceipts> {
    const { signal, timeoutSeconds, visibilityTimeoutSeconds } = options
    const parts = { path: { queue }, body: { receiptHandles: listOf(handles), visibilityTimeoutSeconds } }
    // The handles stay valid, so that a second extension has the effect of one.
    return this.#transport.value(operations.extendMessages, parts, { repeat: 'safe', signal, timeoutSeconds })
  }

  /** A page of the messages in one state, `ready` by default, without claiming them. */
  peek<Body extends Base = Base>(queue: string, options: PeekOptions = {}): Promise<MessagePage<Body>> {
    const [query, call] = parted(options)
    const page = this.#transport.value(operations.peekMessages, { path: { queue }, query }, call)
    return page as Promise<MessagePage<Body>>
  }

  /** All messages in one state, in pages of `limit`. */
  allMessages<Body extends Base = Base>(
    queue: string,
    options: PeekOptions = {},
  ): AsyncGenerator<PeekedMessage<Body>, void, undefined> {
    return everyOf((page) => this.peek<Body>(queue, page), 'messages', options)
  }

  /** One message in any state; null if the queue has none with this id. Throws `queue_not_found`. */
  message<Body extends Base = Base>(
    queue: string,
    id: bigint,
    options?: CallOptions,
  ): Promise<PeekedMessage<Body> | null> {
    const found = this.#transport.valueOrNull(
      operations.getMessage,
      { path: { queue, id } },
      'message_not_found',
      options,
    )
    return found as Promise<PeekedMessage<Body> | null>
  }

  /** Removes one message in any state, without archiving it; false if there was none. */
  remove(queue: string, id: bigint, options?: CallOptions): Promise<boolean> {
    return this.#transport.wasThere(operations.deleteMessage, { path: { queue, id } }, 'message_not_found', options)
  }

  /** Sends up to `limit` dead messages, or those of `ids`, back to the queue that they died in, with receive count 0. */
  redrive(queue: string, options: RedriveOptions = {}): Promise<{ moved: number }> {
    const [body, call] = parted(options)
    return this.#transport.value(operations.redriveQueue, { path: { queue }, body }, { repeat: 'parts', ...call })
  }

  /** Has the delayed ones of these messages, 1 to 1,000 ids, handed out now. */
  promote(queue: string, ids: readonly bigint[], options?: CallOptions): Promise<{ promoted: number }> {
    return this.#transport.value(operations.promoteMessages, { path: { queue }, body: { ids } }, options)
  }

  /** Deletes all ready, blocked and delayed messages: in a dead-letter queue, the dead letters. */
  purge(queue: string, options: PurgeOptions = {}): Promise<{ deleted: number }> {
    const [body, call] = parted(options)
    return this.#transport.value(operations.purgeQueue, { path: { queue }, body }, { repeat: 'parts', ...call })
  }

  /**
   * Creates the schedule, or replaces the one of this name. While `cron`, `everySeconds` and `timeZone` stay the same, its
   * next tick stays too. Throws `queue_not_found`.
   */
  async schedule<Body extends Base = Base>(
    schedule: string,
    definition: NewSchedule<NoInfer<Body>>,
    options?: CallOptions,
  ): Promise<Schedule<Body> & { created: boolean }> {
    const parts = { path: { schedule }, body: definition }
    return this.#transport.made(operations.putSchedule, parts, options) as Promise<
      Schedule<Body> & { created: boolean }
    >
  }

  /** Null if there is no such schedule. */
  getSchedule<Body extends Base = Base>(schedule: string, options?: CallOptions): Promise<Schedule<Body> | null> {
    const found = this.#transport.valueOrNull(
      operations.getSchedule,
      { path: { schedule } },
      'schedule_not_found',
      options,
    )
    return found as Promise<Schedule<Body> | null>
  }

  /** A page of schedules by name, without their bodies. */
  schedules(options: ScheduleListOptions = {}): Promise<SchedulePage> {
    const [query, call] = parted(options)
    return this.#transport.value(operations.listSchedules, { query }, call)
  }

  /** All schedules by name, in pages of `limit`. */
  allSchedules(options: ScheduleListOptions = {}): AsyncGenerator<ListedSchedule, void, undefined> {
    return everyOf((page) => this.schedules(page), 'schedules', options)
  }

  /** Ends the schedule; false if there was none. Messages that it has sent stay. */
  unschedule(schedule: string, options?: CallOptions): Promise<boolean> {
    return this.#transport.wasThere(operations.deleteSchedule, { path: { schedule } }, 'schedule_not_found', options)
  }
}

function listOf(handles: string | readonly string[]): readonly string[] {
  return typeof handles === 'string' ? [handles] : handles
}
