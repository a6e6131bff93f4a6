/** The public shapes of messages. Ids are bigints; times are Dates in UTC; durations are in seconds. */
import type { JsonText } from './json'
import type { DryRun, Form, Page } from './types'

export type MessageState = 'ready' | 'in-flight' | 'delayed' | 'blocked' | 'dead' | 'archived'

/** By their names: `traceparent` for example. */
export type Attributes = Readonly<Record<string, string>>

/** The attributes of a message beside its body. */
export interface SendOptions {
  /** The message is not handed out before this time has passed; 0 to 315,360,000. Default: 0. */
  delaySeconds?: number | undefined
  /** In place of the queue's, unless a receive asks for another. */
  visibilityTimeoutSeconds?: number | null | undefined
  /** In place of the queue's: 1 to 1,000,000; null is no limit. Default: the queue's. */
  maxReceives?: number | null | undefined
  /** If a message was sent with the same id in the last 5 minutes, this one is not sent. */
  dedupId?: string | null | undefined
  /** At most one message with the same key waits: if one does, `onKey` says what becomes of it, and this one is not sent. */
  key?: string | null | undefined
  /**
   * `'keep'` (default): the waiting message stays. `'replace'`: it gets this body and these attributes. `'postpone'`: and its delay
   * begins again.
   */
  onKey?: 'keep' | 'replace' | 'postpone' | undefined
  /** With `postpone`: the longest time from its first send until it is handed out; 0 to 315,360,000. Default: no limit. */
  maxDelaySeconds?: number | undefined
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
  /** False if nothing was sent: `id` is that of the message that was sent with this `dedupId` before, or waits with this `key`. */
  sent: boolean
}

export interface BodyOptions<Asked extends Form = Form> {
  /** `'text'` gives bodies as `JsonText`, unparsed. */
  bodies?: Asked | undefined
}

export interface ReceiveOptions<Asked extends Form = Form> extends BodyOptions<Asked> {
  /** Maximum number of messages, 1 to 1,000. Default: 1. */
  limit?: number | undefined
  /** In place of the messages' own and the queue's; 0 to 43,200. */
  visibilityTimeoutSeconds?: number | undefined
  /** How long to wait for a message when there is none; 0 to 20. Default: 0. Inside a transaction only 0. */
  waitSeconds?: number | undefined
  /** Ends the waiting early: the receive resolves to no messages, once those that it was just claiming are given back. */
  signal?: AbortSignal | undefined
}

export interface CycleOptions<Asked extends Form = Form> extends Omit<ReceiveOptions<Asked>, 'waitSeconds'> {
  /** The name of the cursor that moves on. Default: `default`. */
  cursor?: string | undefined
}

/** The members of a message in any state. */
interface MessageBase<Body> {
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
  /** The error of the last `nack` that gave one. A message that died without one says that its visibility timeout ran out. */
  lastError: string | null
  messageGroup: string | null
  priority: number
  /** As they were sent; empty if there are none. */
  attributes: Attributes
}

/** A message that was handed out. */
export interface Message<Body = unknown> extends MessageBase<Body> {
  /** Names this message and this claim, for `ack`, `nack` and `extend`. */
  receiptHandle: string
  /** When it was claimed, by the database's clock. */
  receivedAt: Date
}

/** A message that was handed out, or its receipt handle. */
export type MessageRef = Message | string

/** A process that receives messages. */
export interface MessageReceiver {
  /** Its host and its process id; over HTTP those of the server. */
  name: string
  /** When it last reported that it runs, which it does twice a minute. */
  lastSeenAt: Date
  /** It has not reported for 90 seconds. */
  gone: boolean
}

export interface PeekedMessage<Body = unknown> extends MessageBase<Body> {
  state: MessageState
  lastReceivedAt: Date | null
  archivedAt: Date | null
  key: string | null
  /** The process that holds it in flight; null if it is not in flight, or if that is not known. */
  receiver: MessageReceiver | null
  /** For a dead letter, the queue in which it died; null when that queue is gone, and once the message is archived. */
  deadLetterFrom: string | null
}

/** One attempt that failed. */
export interface MessageFailure {
  /** Which receive it was, counted from 1 again after a redrive. */
  receiveCount: number
  failedAt: Date
  /** The error of the `nack`, cut to 300 characters or less; that the visibility timeout ran out, if there was none. */
  error: string
}

/** A message with what only `message` gives. */
export interface WholeMessage<Body = unknown> extends PeekedMessage<Body> {
  /** The last 10 attempts that failed, the newest first; in whatever queue. A `nack` without an error leaves none. */
  failures: MessageFailure[]
}

/** `'preview'` gives the first 200 characters of the JSON text of each body, as a string; `…` follows if there are more. */
export type BodyForm = Form | 'preview'

export interface PeekOptions<Asked extends BodyForm = BodyForm> extends Page, DeadFilter {
  /** How bodies are given. Default: `'value'`. */
  bodies?: Asked | undefined
  /** Default: `ready`. */
  state?: MessageState | undefined
}

export interface MessagePage<Body = unknown> {
  messages: PeekedMessage<Body>[]
  nextAfter: string | null
}

/** Why a handle had no effect: its message was claimed again or settled, or it is not a handle of this queue. */
type ReceiptFault = 'stale_receipt' | 'invalid_receipt'

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

export interface NackOptions {
  /** The message is handed out again after this time; 0 to 315,360,000. Default: 0. */
  delaySeconds?: number | undefined
  /** Kept as `lastError`, cut to 1,000 characters. */
  error?: string | null | undefined
  /** Never again: the message is dead, whatever its receive count. */
  dead?: boolean | undefined
}

export interface ExtendOptions {
  /** Counted from now; 0 to 43,200. */
  visibilityTimeoutSeconds: number
}

/** Which dead messages: those that died in the queue, and the dead letters of other queues in it. */
export interface DeadFilter {
  /** Only those whose `lastError` is like this one: numbers and ids in it do not count. `''`: those without an error. */
  error?: string | undefined
  /** Only those that died in this queue. */
  from?: string | undefined
}

/** Dead messages that a call changes. */
export interface DeadChoices extends DeadFilter, DryRun {
  /** Only these messages, 1 to 1,000: those of them that are dead. */
  ids?: readonly bigint[] | undefined
  /** Maximum number of messages, 1 or more. */
  limit?: number | undefined
}

export interface PromoteOptions {
  /** True: the messages in flight, in place of the delayed ones. Their claims end as by a `nack`. */
  inFlight?: boolean | undefined
  /**
   * With `inFlight`: only claims that had begun by then. Give the `lastReceivedAt` of the message that you saw, and a claim
   * that another receiver got later is left, and not counted.
   */
  lastReceivedAt?: Date | undefined
}

export interface RedriveOptions extends DeadChoices {
  /** Only messages that came from queues whose names begin with it. */
  prefix?: string | undefined
}

export interface PurgeOptions extends DeadChoices {
  /** True: only dead messages, as with `ids`, `error` and `from`. */
  dead?: boolean | undefined
}

/** The dead messages whose errors differ only in numbers and ids. */
export interface DeadError {
  /** With `#` in place of each number and id, up to 200 characters; empty if they have no error. */
  error: string
  count: number
  firstDeadAt: Date
  lastDeadAt: Date
}

/** A summary, not a list: its size is bounded. */
export interface DeadErrors {
  /** The 100 most frequent ones, the most frequent first. */
  errors: DeadError[]
  /** How many dead messages were counted: up to 10,000 of each state, those that come last in the order of receives. */
  counted: number
  /** False: there may be dead messages that were not counted, and the numbers are lower bounds. */
  isExact: boolean
}
