/** The public shapes of work queues. Ids are bigints; times are Dates in UTC; durations are in seconds. */
import type { JsonText } from '../../json'
import type { AsJson, DryRun, IfTag, Page } from '../types'
import type { Queue, QueuePage, QueueSettings, QueueStatus } from './settings-types'

export type * from './settings-types'
export type { DryRun }

export type MessageState = 'ready' | 'in-flight' | 'delayed' | 'blocked' | 'dead' | 'archived'

/** How messages are handed out: by priority and fairness, or in a cycle by id. */
export type ReceiveOrder = 'ready' | 'cycle'

/** By their names: `traceparent` for example. */
export type Attributes = Readonly<Record<string, string>>

/** What is said of a message beside its body. */
export interface SendOptions {
  /** The message is not handed out before this time has passed; 0 to 315,360,000. Default: 0. */
  delaySeconds?: number | undefined
  /** In place of the queue's, unless a receive asks for another. */
  visibilityTimeoutSeconds?: number | null | undefined
  /** In place of the queue's: 1 to 1,000,000; null is no limit. Default: the queue's. */
  maxReceives?: number | null | undefined
  /** If a message was sent with the same id in the last 5 minutes, this one is not sent. */
  dedupId?: string | null | undefined
  /** −1,000 to 1,000, higher first. Default: 0. */
  priority?: number | undefined
  /** Messages of one group take turns with those of other groups, and share its places. Messages without a group share one. */
  messageGroup?: string | null | undefined
  /** Handed to the receiver as they are: up to 16 names of 1 to 64 of A–Z a–z 0–9 _ . -, with texts of up to 256 characters. */
  attributes?: Attributes | null | undefined
}

export interface NewMessage<Body = unknown> extends SendOptions {
  /** Any JSON value, 256 KiB as text; or `JsonText`. */
  body: Body | JsonText
}

export interface Sent {
  id: bigint
  /** False for a duplicate: `id` is that of the message that was sent with this `dedupId` before. */
  sent: boolean
}

export interface BodyOptions {
  /** `'text'` gives bodies as `JsonText`, unparsed. */
  bodies?: 'value' | 'text' | undefined
}

export interface ReceiveOptions extends BodyOptions {
  /** Maximum number of messages, 1 to 1,000. Default: 1. */
  limit?: number | undefined
  /** In place of the messages' own and the queue's; 0 to 43,200. */
  visibilityTimeoutSeconds?: number | undefined
  /** How long to wait for a message when there is none; 0 to 20. Default: 0. Inside a transaction only 0. */
  waitSeconds?: number | undefined
  order?: ReceiveOrder | undefined
  /** For `cycle`: the cursor that moves on. Default: `default`. */
  cursor?: string | undefined
  /** Ends the waiting early: the receive resolves to no messages. */
  signal?: AbortSignal | undefined
}

/** What a message has, in whatever state. */
export interface MessageBase<Body> {
  id: bigint
  body: Body
  /** How often it was handed out, this claim included. */
  receiveCount: number
  sentAt: Date
  /** When it was handed out for the first time, in whatever queue; null if it never was. */
  firstReceivedAt: Date | null
  /** When it died, and after how many receives: for a dead message, and a dead letter until it is redriven; otherwise null. */
  deadAt: Date | null
  deadReceiveCount: number | null
  /** When its claim expires; of one that is not claimed, when it is, or was, to be handed out again. */
  visibleAt: Date
  /** In force: its own, or the queue's where it has none; null is no limit. */
  maxReceives: number | null
  /** The error of the last release that gave one. A message that died without one says that its visibility timeout ran out. */
  lastError: string | null
  messageGroup: string | null
  priority: number
  /** As they were sent; empty if there are none. */
  attributes: Attributes
}

/** A message that was handed out. */
export interface Message<Body = unknown> extends MessageBase<Body> {
  /** Names this message and this claim; needed to delete, release or extend. */
  receiptHandle: string
  /** When it was claimed, by the database's clock. */
  receivedAt: Date
}

/** A message as `peek` shows it. */
export interface PeekedMessage<Body = unknown> extends MessageBase<Body> {
  state: MessageState
  lastReceivedAt: Date | null
  archivedAt: Date | null
  /** For a dead letter, the queue in which it died; null when that queue is gone, and once the message is archived. */
  deadLetterFrom: string | null
}

/** `'preview'` gives the first 200 characters of the JSON text of each body, as a string; `…` follows if there are more. */
export type BodyForm = 'value' | 'text' | 'preview'

export interface PeekOptions extends Page {
  /** How bodies are given. Default: `'value'`. */
  bodies?: BodyForm | undefined
  /** Default: `ready`. */
  state?: MessageState | undefined
  /** Stop a page when its messages take about this many bytes as JSON. A page has at least one, if there is any. */
  maxBytes?: number | undefined
}

export interface MessagePage<Body = unknown> {
  messages: PeekedMessage<Body>[]
  nextAfter: string | null
}

/** Why a handle had no effect: its message was claimed again or settled, or it is not a handle of this queue. */
export type ReceiptFault = 'stale_receipt' | 'invalid_receipt'

export interface FailedReceipt {
  receiptHandle: string
  code: ReceiptFault
}

export interface Acked {
  acked: string[]
  failed: FailedReceipt[]
}

export interface Nacked {
  nacked: string[]
  failed: FailedReceipt[]
}

export interface Extended {
  extended: string[]
  failed: FailedReceipt[]
}

export interface ReleaseOptions {
  /** The message is handed out again after this time; 0 to 315,360,000. Default: 0. */
  delaySeconds?: number | undefined
  /** Kept as `lastError`, cut to 1,000 characters. */
  error?: string | null | undefined
  /** Never again: the message is dead, whatever its receive count. */
  dead?: boolean | undefined
}

export interface RedriveOptions extends DryRun {
  /** Only these messages, 1 to 1,000: those of them that are dead. */
  ids?: readonly bigint[] | undefined
  /** Maximum number of messages, 1 or more. */
  limit?: number | undefined
  /** Only messages that came from queues whose names begin with it. */
  prefix?: string | undefined
}

/**
 * The operations on work queues: `store.queues`, `tx.queues`, and the exported `QueueRepository`. `Body` is the type that the
 * caller says bodies have; only the `schema` of a worker checks it. `bodies: 'text'` gives `JsonText`, `'preview'` a string.
 */
export interface Queues<Base = unknown> {
  /** The attributes and counts; null for a queue that does not exist. */
  get(queue: string): Promise<QueueStatus | null>
  /** Creates the queue, or replaces all its settings; a pause stays. Throws `dead_letter_queue_not_found`, `dead_letter_cycle`. */
  put(queue: string, settings?: QueueSettings, options?: IfTag): Promise<Queue & { created: boolean }>
  /** Creates the queue unless it exists. One that exists stays as it is; a process warns once of settings that differ. */
  ensure(queue: string, settings?: QueueSettings): Promise<Queue & { created: boolean }>
  /** Changes only the settings that are given, if any. Throws as `put`, and `queue_not_found`. */
  update(queue: string, settings: QueueSettings, options?: IfTag): Promise<Queue>
  /** Until `resume`, messages can be sent and receives get none. Repeatable. Throws `queue_not_found`. */
  pause(queue: string): Promise<Queue>
  /** Ends a pause: waiting receives get messages again. Repeatable. Throws `queue_not_found`. */
  resume(queue: string): Promise<Queue>
  /** Drops the queue and its messages; false when there was none. Throws `queue_in_use` while another queue names it. */
  drop(queue: string): Promise<boolean>
  /** Queues by name. */
  list(options?: Page & { prefix?: string | undefined }): Promise<QueuePage>
  /** Sends one message. Throws `queue_not_found`. */
  send<Body extends Base = Base, Given extends Body | JsonText = Body | JsonText>(
    queue: string,
    body: Given & AsJson<Given>,
    options?: SendOptions,
  ): Promise<Sent>
  /** Sends 1 to 1,000 messages, all or nothing; resolves to one entry for each, in the order given. */
  sendMany<Body extends Base = Base>(queue: string, messages: readonly NewMessage<NoInfer<Body>>[]): Promise<Sent[]>
  /** Claims messages: until the visibility timeout expires, no other receiver gets them. None while the queue is paused. */
  receive<Body extends Base = Base>(queue: string, options?: ReceiveOptions): Promise<Message<Body>[]>
  /** Removes, or archives, the messages of 1 to 1,000 handles: they are done. */
  ackMany(queue: string, receiptHandles: string | readonly string[]): Promise<Acked>
  /** Ends the claims of messages that failed: they are handed out again after a delay, or never. */
  nackMany(queue: string, receiptHandles: string | readonly string[], options?: ReleaseOptions): Promise<Nacked>
  /** Extends the claims to the visibility timeout, counted from now. */
  extendMany(
    queue: string,
    receiptHandles: string | readonly string[],
    options: { visibilityTimeoutSeconds: number },
  ): Promise<Extended>
  /** Shows messages without claiming them. */
  peek<Body extends Base = Base>(queue: string, options?: PeekOptions): Promise<MessagePage<Body>>
  /** One message, in whatever state; null when the queue has none of this id. */
  message<Body extends Base = Base>(
    queue: string,
    id: bigint,
    options?: BodyOptions,
  ): Promise<PeekedMessage<Body> | null>
  /** Removes one message, in whatever state, without archiving it; false when there was none. */
  remove(queue: string, id: bigint): Promise<boolean>
  /** Sends dead messages back to the queues that they came from, with receive count 0. */
  redrive(queue: string, options?: RedriveOptions): Promise<{ moved: number }>
  /** Has the delayed ones of 1 to 1,000 messages handed out now. Throws `queue_not_found`. */
  promote(queue: string, ids: readonly bigint[]): Promise<{ promoted: number }>
  /** Drops the ready, blocked and delayed messages: in a dead-letter queue, the dead letters. */
  purge(queue: string, options?: DryRun): Promise<{ deleted: number }>
}
