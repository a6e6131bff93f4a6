/** Work queues: the methods of the library's `store.queues`, without `work`. */

import type { AsJson } from '../schema'
import * as operations from './operations'
import { SettingsCalls, type SettingsNames } from './settings'
import { type CallOptions, everyOf, parted, type SettingsOptions, type Transport } from './transport'
import type Wire from './wire'
import type {
  AckedReceipts,
  Extend,
  ExtendedReceipts,
  Message,
  MessagePage,
  NackedReceipts,
  NewMessage,
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
export type QueueListOptions = Wire['listQueues']['query'] & CallOptions

interface QueueKind {
  shown: QueueStatus
  stored: Queue
  put: [settings?: QueueSettings, options?: SettingsOptions]
  ensure: [settings?: QueueSettings, options?: CallOptions]
  changes: QueueChanges
  listed: QueueStatus
  page: QueuePage
  range: QueueListOptions
}

const QUEUES: SettingsNames = { many: 'queues', absent: 'queue_not_found', shape: operations.queueShape }

/** `Body` is the type that the caller says bodies have: nothing checks it. */
export class QueueCalls<Base = unknown> extends SettingsCalls<QueueKind> {
  readonly #transport: Transport

  constructor(transport: Transport) {
    super(transport, QUEUES)
    this.#transport = transport
  }

  /** Until `resume`, messages can be sent but receives get none. Repeatable. Throws `queue_not_found`. */
  pause(queue: string, options?: CallOptions): Promise<Queue> {
    return this.#transport.value(operations.pauseQueue, { path: { queue }, body: {} }, { repeat: 'safe', ...options })
  }

  /** Ends a pause; waiting receives get messages at once. Repeatable. Throws `queue_not_found`. */
  resume(queue: string, options?: CallOptions): Promise<Queue> {
    return this.#transport.value(operations.resumeQueue, { path: { queue }, body: {} }, { repeat: 'safe', ...options })
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
    const { signal, timeoutMs, visibilityTimeoutSeconds } = options
    const parts = { path: { queue }, body: { receiptHandles: listOf(handles), visibilityTimeoutSeconds } }
    // The handles stay valid, so that a second extension has the effect of one.
    return this.#transport.value(operations.extendMessages, parts, { repeat: 'safe', signal, timeoutMs })
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
}

function listOf(handles: string | readonly string[]): readonly string[] {
  return typeof handles === 'string' ? [handles] : handles
}
