/** Work queues, as `store.queues` of the library has them. */
import { everyOf, orNull, parted, wasThere } from './results'
import type { CallOptions, Transport } from './transport'
import type {
  DeletedReceipts,
  ExtendedReceipts,
  Message,
  MessagePage,
  PeekedMessage,
  Queue,
  QueuePage,
  QueueStatus,
  ReleasedReceipts,
  Sent,
  SentMany,
} from './wire/answers'
import type { Operations } from './wire/operations'
import type { Extend, NewMessage, Purge, QueueChanges, QueueSettings, Receive, Redrive, Release } from './wire/requests'

export type SendOptions = Omit<NewMessage, 'body'> & CallOptions
export type ReceiveOptions = Receive & CallOptions
export type ReleaseOptions = Omit<Release, 'receiptHandles'> & CallOptions
export type ExtendOptions = Omit<Extend, 'receiptHandles'> & CallOptions
export type RedriveOptions = Redrive & CallOptions
export type PurgeOptions = Purge & CallOptions
export type PeekOptions = Operations['peekMessages']['query'] & CallOptions
export type QueueListOptions = Operations['listQueues']['query'] & CallOptions

export class QueuesClient {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** The attributes and counts; null for a queue that does not exist. */
  async get(queue: string, options?: CallOptions): Promise<QueueStatus | null> {
    const answer = await orNull(this.#transport.call('getQueue', { path: { queue } }, options), 'queue_not_found')
    return answer?.value ?? null
  }

  /**
   * Creates the queue, or replaces all of its settings: a setting that is left out takes its default. A paused queue stays
   * paused.
   */
  async put(queue: string, settings: QueueSettings = {}, options?: CallOptions): Promise<Queue & { created: boolean }> {
    const { status, value } = await this.#transport.call('putQueue', { path: { queue }, body: settings }, options)
    return Object.assign(value, { created: status === 201 })
  }

  /** Creates the queue with these settings where there is none, and leaves a queue that exists as it is. */
  async ensure(
    queue: string,
    settings: QueueSettings = {},
    options?: CallOptions,
  ): Promise<Queue & { created: boolean }> {
    const input = { path: { queue }, body: settings }
    const { status, value } = await this.#transport.call('ensureQueue', input, { repeat: 'safe', ...options })
    return Object.assign(value, { created: status === 201 })
  }

  /** Changes the settings that are given and leaves the others as they are. Throws `queue_not_found`. */
  async update(queue: string, settings: QueueChanges, options?: CallOptions): Promise<Queue> {
    return (await this.#transport.call('updateQueue', { path: { queue }, body: settings }, options)).value
  }

  /** From now on sends are taken and receives get nothing, until `resume`. Repeatable. Throws `queue_not_found`. */
  async pause(queue: string, options?: CallOptions): Promise<Queue> {
    const conduct = { repeat: 'safe', ...options } as const
    return (await this.#transport.call('pauseQueue', { path: { queue }, body: {} }, conduct)).value
  }

  /** Ends a pause: receives that wait get what there is. Repeatable. Throws `queue_not_found`. */
  async resume(queue: string, options?: CallOptions): Promise<Queue> {
    const conduct = { repeat: 'safe', ...options } as const
    return (await this.#transport.call('resumeQueue', { path: { queue }, body: {} }, conduct)).value
  }

  /** Drops the queue and its messages; false when there was none. Throws `queue_in_use` while another one names it. */
  deleteQueue(queue: string, options?: CallOptions): Promise<boolean> {
    return wasThere(this.#transport.call('deleteQueue', { path: { queue } }, options), 'queue_not_found')
  }

  /** Queues by name: a page. */
  async list(options: QueueListOptions = {}): Promise<QueuePage> {
    const [query, call] = parted(options)
    return (await this.#transport.call('listQueues', { query }, call)).value
  }

  /** All queues by name, page by page of `limit`. */
  all(options: QueueListOptions = {}): AsyncGenerator<QueueStatus, void, undefined> {
    const page = async (after: string | undefined) => {
      const { queues, nextAfter } = await this.list({ ...options, after })
      return { all: queues, nextAfter }
    }
    return everyOf(page, options.after)
  }

  /**
   * Sends one message; `sent` is false when one with its `dedupId` stands for it. Only with a `dedupId` it is sent again
   * where no answer came. Throws `queue_not_found`.
   */
  async send(queue: string, body: unknown, options: SendOptions = {}): Promise<Sent & { sent: boolean }> {
    const [more, call] = parted(options)
    const repeat = options.dedupId ? 'safe' : 'once'
    const input = { path: { queue }, body: { body, ...more } }
    const { status, value } = await this.#transport.call('sendMessages', input, { repeat, ...call })
    return Object.assign(value as Sent, { sent: status === 201 })
  }

  /**
   * Sends 1 to 1,000 messages, all or nothing; the ids in the order given. They are sent again where no answer came when
   * all have a `dedupId`.
   */
  async sendMany(queue: string, messages: readonly NewMessage[], options?: CallOptions): Promise<SentMany> {
    const repeat = messages.every(({ dedupId }) => dedupId) ? 'safe' : 'once'
    const input = { path: { queue }, body: { messages } }
    return (await this.#transport.call('sendMessages', input, { repeat, ...options })).value as SentMany
  }

  /**
   * Claims messages: within the visibility timeout nobody else gets them. Never asked again where no answer came: what
   * was claimed then comes back after that timeout. With `waitSeconds` it may take so much longer.
   */
  async receive(queue: string, options: ReceiveOptions = {}): Promise<Message[]> {
    const [body, call] = parted(options)
    const conduct = { repeat: 'parts', waitSeconds: options.waitSeconds, ...call } as const
    return (await this.#transport.call('receiveMessages', { path: { queue }, body }, conduct)).value.messages
  }

  /** Done: removes, or archives, what the handles name (1 to 1,000). */
  async delete(queue: string, handles: string | readonly string[], options?: CallOptions): Promise<DeletedReceipts> {
    const input = { path: { queue }, body: { receiptHandles: listOf(handles) } }
    return (await this.#transport.call('deleteReceived', input, options)).value
  }

  /** Failed: hands the messages out again after a delay, or never. */
  async release(
    queue: string,
    handles: string | readonly string[],
    options: ReleaseOptions = {},
  ): Promise<ReleasedReceipts> {
    const [more, call] = parted(options)
    const input = { path: { queue }, body: { receiptHandles: listOf(handles), ...more } }
    return (await this.#transport.call('releaseReceived', input, call)).value
  }

  /** Holds the messages for so long, counted from now. */
  async extend(queue: string, handles: string | readonly string[], options: ExtendOptions): Promise<ExtendedReceipts> {
    const { signal, timeoutMs, visibilityTimeoutSeconds } = options
    const input = { path: { queue }, body: { receiptHandles: listOf(handles), visibilityTimeoutSeconds } }
    // The handles stay good: doing it twice holds them as long as doing it once.
    return (await this.#transport.call('extendReceived', input, { repeat: 'safe', signal, timeoutMs })).value
  }

  /** Looks without claiming: a page, of what is `ready` when no state is given. */
  async peek(queue: string, options: PeekOptions = {}): Promise<MessagePage> {
    const [query, call] = parted(options)
    return (await this.#transport.call('peekMessages', { path: { queue }, query }, call)).value
  }

  /** All messages in a state, page by page of `limit`. */
  allMessages(queue: string, options: PeekOptions = {}): AsyncGenerator<PeekedMessage, void, undefined> {
    const page = async (after: string | undefined) => {
      const { messages, nextAfter } = await this.peek(queue, { ...options, after })
      return { all: messages, nextAfter }
    }
    return everyOf(page, options.after)
  }

  /** One message, in whatever state; null when the queue has none of this id. Throws `queue_not_found`. */
  async getMessage(queue: string, id: bigint, options?: CallOptions): Promise<PeekedMessage | null> {
    const answer = await orNull(
      this.#transport.call('getMessage', { path: { queue, id } }, options),
      'message_not_found',
    )
    return answer?.value ?? null
  }

  /** Removes one message, in whatever state, without archiving it; false when there was none. */
  deleteMessage(queue: string, id: bigint, options?: CallOptions): Promise<boolean> {
    return wasThere(this.#transport.call('deleteMessage', { path: { queue, id } }, options), 'message_not_found')
  }

  /** Sends dead messages back to where they came from, with receive count 0, at most `max` of them. */
  async redrive(queue: string, options: RedriveOptions = {}): Promise<{ moved: number }> {
    const [body, call] = parted(options)
    return (await this.#transport.call('redriveQueue', { path: { queue }, body }, { repeat: 'parts', ...call })).value
  }

  /** Drops what is ready and delayed: in a dead-letter queue, that is the dead letters. */
  async purge(queue: string, options: PurgeOptions = {}): Promise<{ deleted: number }> {
    const [body, call] = parted(options)
    return (await this.#transport.call('purgeQueue', { path: { queue }, body }, { repeat: 'parts', ...call })).value
  }
}

function listOf(handles: string | readonly string[]): readonly string[] {
  return typeof handles === 'string' ? [handles] : handles
}
