/** The public shapes of work queues. Ids are bigints; times are Dates in UTC; durations are in seconds. */
import type { DryRun, Page } from '../types'

export type { DryRun }

/** What happens to a message that is deleted by its receiver. */
export type OnDelete = 'remove' | 'archive'

export type MessageState = 'ready' | 'in-flight' | 'delayed' | 'dead' | 'archived'

/** How messages are handed out: by priority and fairness, or round and round by id. */
export type ReceiveOrder = 'ready' | 'cycle'

export interface QueueSettings {
  /** How long a receiver has a message for itself: 0 to 43,200; 30 when left out. */
  visibilityTimeoutSeconds?: number | undefined
  /** After this many receives without a delete a message is dead: 1 to 1,000,000; null is no limit; 5 when left out. */
  maxReceives?: number | null | undefined
  /** Where dead messages go; null, and left out: they stay, dead. */
  deadLetterQueue?: string | null | undefined
  /** `remove` when left out. */
  onDelete?: OnDelete | undefined
  /** How long archived messages are kept; null, and left out: for ever. */
  retentionSeconds?: number | null | undefined
}

/** All of them given: `Required` would leave `undefined` to who compiles with exactOptionalPropertyTypes. */
type Given<T> = { [Name in keyof T]-?: Exclude<T[Name], undefined> }

/** The attributes of a queue. */
export interface Queue extends Given<QueueSettings> {
  queue: string
  /** Whether sends are taken and receives get nothing: from `pause` until `resume`. */
  paused: boolean
  createdAt: Date
}

export type MessageCounts = Record<'ready' | 'inFlight' | 'delayed' | 'dead' | 'archived', number>

export interface QueueStatus extends Queue {
  /** Whether another queue names it as its dead-letter queue. What dies there is ready here. */
  isDeadLetterQueue: boolean
  /** At most 5 seconds old. */
  counts: MessageCounts
  /** Since when the oldest message that is ready or in flight was sent, as old as the counts; null when there is none. */
  oldestAgeSeconds: number | null
}

export interface QueuePage {
  queues: QueueStatus[]
  nextAfter: string | null
}

/** What a message may say of itself beyond its body. */
export interface SendOptions {
  /** Not handed out before; 0 to 315,360,000. */
  delaySeconds?: number | undefined
  /** In place of the queue's, where a receive asks for none. */
  visibilityTimeoutSeconds?: number | null | undefined
  /** In place of the queue's: 1 to 1,000,000; null is no limit; the queue's when left out. */
  maxReceives?: number | null | undefined
  /** A message sent with it in the last 5 minutes stands for this one. */
  dedupId?: string | null | undefined
  /** −1,000 to 1,000, higher first; 0 when left out. */
  priority?: number | undefined
  /** Messages of one group take turns with those of other groups. Those without one share one. */
  messageGroup?: string | null | undefined
}

export interface NewMessage extends SendOptions {
  /** Any JSON value, 256 KiB as text; or `JsonText`. */
  body: unknown
}

export interface Sent {
  id: bigint
  /** False when a message with this `dedupId` stands for it; `id` is that one's. */
  sent: boolean
}

export interface BodyOptions {
  /** `'text'` gives bodies as `JsonText`, unparsed. */
  bodies?: 'value' | 'text' | undefined
}

export interface ReceiveOptions extends BodyOptions {
  /** At most so many messages, 1 to 1,000; 1 when left out. */
  max?: number | undefined
  /** In place of the messages' own and the queue's; 0 to 43,200. */
  visibilityTimeoutSeconds?: number | undefined
  /** How long to wait for a message when there is none; 0 to 20, 0 when left out. Inside a transaction only 0. */
  waitSeconds?: number | undefined
  order?: ReceiveOrder | undefined
  /** `cycle`: which cursor goes on; `default` when left out. */
  cursor?: string | undefined
  /** Ends the waiting early: the receive resolves to no messages. */
  signal?: AbortSignal | undefined
}

/** A message that was handed out. */
export interface Message {
  id: bigint
  body: unknown
  /** This claim included. */
  receiveCount: number
  /** Names this message and this claim; needed to delete, release or extend. */
  receiptHandle: string
  sentAt: Date
  /** When it was claimed, by the database's clock. */
  receivedAt: Date
  /** When the claim runs out. */
  visibleAt: Date
  /** In force: its own, or the queue's where it has none; null is no limit. */
  maxReceives: number | null
  /** What the last release with an error said; of one that died without, that its visibility timeout ran out. */
  lastError: string | null
  messageGroup: string | null
  priority: number
}

/** A message as `peek` shows it. */
export interface PeekedMessage {
  id: bigint
  state: MessageState
  body: unknown
  receiveCount: number
  /** In force: its own, or the queue's where it has none; null is no limit. */
  maxReceives: number | null
  sentAt: Date
  /** When it is, or was, to be handed out again. */
  visibleAt: Date
  lastReceivedAt: Date | null
  archivedAt: Date | null
  /** Of a dead letter, the queue that it died in; null when that one is gone, and once it is archived. */
  deadLetterFrom: string | null
  /** What the last release with an error said; of one that died without, that its visibility timeout ran out. */
  lastError: string | null
  messageGroup: string | null
  priority: number
}

/** `'preview'` gives the first 200 characters of the JSON text of each body, as a string; `…` follows where more is there. */
export type BodyForm = 'value' | 'text' | 'preview'

export interface PeekOptions extends Page {
  /** How bodies are given; `'value'` when left out. */
  bodies?: BodyForm | undefined
  /** `ready` when left out. */
  state?: MessageState | undefined
  /** Stop a page when its messages take about this many bytes as JSON. A page has at least one, if there is any. */
  maxBytes?: number | undefined
}

export interface MessagePage {
  messages: PeekedMessage[]
  nextAfter: string | null
}

/** Why a handle did nothing: the message was claimed again or settled, or there never was such a handle. */
export type ReceiptFault = 'stale_receipt' | 'invalid_receipt'

export interface FailedReceipt {
  receiptHandle: string
  code: ReceiptFault
}

export interface Deleted {
  deleted: string[]
  failed: FailedReceipt[]
}

export interface Released {
  released: string[]
  failed: FailedReceipt[]
}

export interface Extended {
  extended: string[]
  failed: FailedReceipt[]
}

export interface ReleaseOptions {
  /** Handed out again after so long; 0 to 315,360,000, 0 when left out. */
  delaySeconds?: number | undefined
  /** Kept as `lastError`, cut to 1,000 characters. */
  error?: string | null | undefined
  /** Never again: to the dead letters, whatever the receive count. */
  dead?: boolean | undefined
}

export interface RedriveOptions extends DryRun {
  /** At most so many messages, 1 or more. */
  max?: number | undefined
  /** Leaves those where they are that came from a queue whose name does not begin with it. */
  prefix?: string | undefined
}

/** The operations on work queues: `store.queues`, `tx.queues`, and the exported `QueueRepository`. */
export interface Queues {
  /** The attributes and counts; null for a queue that does not exist. */
  get(queue: string): Promise<QueueStatus | null>
  /** Creates the queue, or replaces all its settings; a pause stays. Throws `queue_not_found` and `dead_letter_cycle`. */
  put(queue: string, settings?: QueueSettings): Promise<Queue & { created: boolean }>
  /** Creates the queue where there is none, and leaves one that exists as it is. `created` says which. Throws as `put`. */
  ensure(queue: string, settings?: QueueSettings): Promise<Queue & { created: boolean }>
  /** Changes only the settings that are given, if any. Throws `queue_not_found` and `dead_letter_cycle`. */
  update(queue: string, settings: QueueSettings): Promise<Queue>
  /** From now on sends are taken and receives get nothing, until `resume`. Repeatable. Throws `queue_not_found`. */
  pause(queue: string): Promise<Queue>
  /** Ends a pause: receives that wait get what there is. Repeatable. Throws `queue_not_found`. */
  resume(queue: string): Promise<Queue>
  /** Drops the queue and its messages; false when there was none. Throws `queue_in_use` while another one names it. */
  deleteQueue(queue: string): Promise<boolean>
  /** Queues by name. */
  list(options?: Page & { prefix?: string | undefined }): Promise<QueuePage>
  /** Sends one message. Throws `queue_not_found`. */
  send(queue: string, body: unknown, options?: SendOptions): Promise<Sent>
  /** Sends 1 to 1,000 messages, all or nothing; the ids in the order given. */
  sendMany(queue: string, messages: readonly NewMessage[]): Promise<{ ids: bigint[] }>
  /** Claims messages: within the visibility timeout nobody else gets them. None when the queue is paused. */
  receive(queue: string, options?: ReceiveOptions): Promise<Message[]>
  /** Done: removes, or archives, what the handles name (1 to 1,000). */
  delete(queue: string, receiptHandles: string | readonly string[]): Promise<Deleted>
  /** Failed: hands the messages out again after a delay, or never. */
  release(queue: string, receiptHandles: string | readonly string[], options?: ReleaseOptions): Promise<Released>
  /** Holds the messages for so long, counted from now. */
  extend(
    queue: string,
    receiptHandles: string | readonly string[],
    options: { visibilityTimeoutSeconds: number },
  ): Promise<Extended>
  /** Looks without claiming. */
  peek(queue: string, options?: PeekOptions): Promise<MessagePage>
  /** One message, in whatever state; null when the queue has none of this id. */
  getMessage(queue: string, id: bigint, options?: BodyOptions): Promise<PeekedMessage | null>
  /** Removes one message, in whatever state, without archiving it; false when there was none. */
  deleteMessage(queue: string, id: bigint): Promise<boolean>
  /**
   * Sends dead messages back to where they came from, with receive count 0, at most `max` of them. With a `prefix`, those
   * stay that came from a queue whose name does not begin with it.
   */
  redrive(queue: string, options?: RedriveOptions): Promise<{ moved: number }>
  /** Drops what is ready and delayed: in a dead-letter queue, that is the dead letters. */
  purge(queue: string, options?: DryRun): Promise<{ deleted: number }>
}
