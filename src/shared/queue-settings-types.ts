/** The public shapes of queues themselves: their settings, and what is in them. */
import type { MessageReceiver, MessageState } from './message-types'
import type { AllGiven, ListOptions, Tagged } from './types'

/** The fate of a message once it is acknowledged. */
export type OnAck = 'remove' | 'archive'

export interface QueueSettings {
  /** How long a receiver has a message for itself: 0 to 43,200. Default: 30. */
  visibilityTimeoutSeconds?: number | undefined
  /** After this many receives without an `ack` a message is dead: 1 to 1,000,000; null is no limit. Default: 5. */
  maxReceives?: number | null | undefined
  /** Where dead messages go. Default: null; they stay, dead. */
  deadLetterQueue?: string | null | undefined
  /** Default: `remove`. */
  onAck?: OnAck | undefined
  /** How long archived messages are kept. Default: null, for ever. */
  retentionSeconds?: number | null | undefined
  /** How many messages of one `messageGroup` are ready or in flight at once: 1 to 1,000. Default: null, no limit. */
  groupConcurrency?: number | null | undefined
  /** Sends are refused while the queue has as many messages: 1 to 10,000,000. Default: null, no limit. */
  maxMessages?: number | null | undefined
  /**
   * At most `messages` (1 to 100,000) are received in each span of `perSeconds` (1 to 86,400). Default: null, no
   * limit. A receive in a transaction lets other receives of the queue wait until that ends.
   */
  rateLimit?: { messages: number; perSeconds: number } | null | undefined
  /** The same for each `messageGroup`; messages without one are not limited by it. */
  groupRateLimit?: { messages: number; perSeconds: number } | null | undefined
}

export interface Queue extends AllGiven<QueueSettings>, Tagged {
  queue: string
  /** Whether sends are taken and receives get nothing: from `pause` until `resume`. */
  paused: boolean
  /** Until then receives get nothing, since a `hold` of the queue; null where it is not held. */
  holdEndsAt: Date | null
  createdAt: Date
}

export interface HoldOptions {
  /** The `messageGroup`; the whole queue when left out. */
  group?: string | undefined
  /** 0 to 43,200. */
  seconds: number
  /** The claim of a message that its receiver gives back, without the receive that brought it. */
  receiptHandle?: string | undefined
}

export interface QueueHold {
  /** Until when nothing of it is handed out; null where the hold was ended. */
  holdEndsAt: Date | null
}

export type MessageCounts = Record<'ready' | 'inFlight' | 'delayed' | 'blocked' | 'dead' | 'archived', number>

export interface QueueStatus extends Queue {
  /** Whether another queue names it as its dead-letter queue. A message that dies there is ready here. */
  isDeadLetterQueue: boolean
  /** At most 5 seconds old. */
  counts: MessageCounts
  /** Age of the oldest message that is ready, blocked or in flight, as old as the counts; null when there is none. */
  oldestAgeSeconds: number | null
  /**
   * How many messages a `rateLimit`, a `groupRateLimit` or a `hold` of the queue keeps waiting now. With a `groupRateLimit` all blocked
   * messages count, also those that wait for `groupConcurrency` or a key: to tell them apart, each would be read.
   */
  limited: number
  /**
   * How many of the messages that died in this queue are dead now: here, and in dead-letter queues, of which each is counted up
   * to 10,000 messages. As old as the counts.
   */
  died: number
  /**
   * How many more messages are ready or blocked each minute, over the last 5 minutes or so; negative if fewer. Null without
   * a history of that length.
   */
  growthPerMinute: number | null
}

/** An hour in steps of 15 seconds, or a week in steps of 10 minutes. */
export type HistoryPeriod = 'hour' | 'week'

export interface HistoryPoint {
  endsAt: Date
  /** In the step that ends here: messages that were sent, acknowledged, and nacked or not settled in time. */
  sent: number
  acked: number
  failed: number
  /** At that time, or the greatest of a step of 10 minutes; null if the messages were not counted. */
  ready: number | null
  inFlight: number | null
  delayed: number | null
  blocked: number | null
  /** Dead messages that died in the queue, as `died` of its status. */
  died: number | null
  oldestAgeSeconds: number | null
}

export interface QueueHistory {
  stepSeconds: number
  /** The oldest first. Steps in which no process wrote the history are missing. */
  points: HistoryPoint[]
}

/**
 * - `all`: every queue
 * - `main`: no other queue names it as its dead-letter queue
 * - `dead`: messages that died in it are dead, here or in a dead-letter queue; or it has those of a queue that is gone
 * - `growing`, `blocked`: as in `store.overview`
 * - `stuck`: `unreceived`, `late` or `held` in `store.overview`
 * - `paused`: with messages or without
 */
export type QueueState = 'all' | 'main' | 'dead' | 'growing' | 'stuck' | 'blocked' | 'paused'

/** The number by which queues are sorted: of their messages, `oldestAgeSeconds`, `died`, or `growthPerMinute`. */
export type QueueOrder = 'ready' | 'in-flight' | 'delayed' | 'blocked' | 'oldest' | 'died' | 'growth'

export interface QueueListOptions extends ListOptions {
  /** Only queues in this state. The counts are then a few seconds old, unless counting all messages takes long. */
  state?: QueueState | undefined
  /** The largest first, and those with the same number by name. By name when left out. The counts are as with `state`. */
  sort?: QueueOrder | undefined
  /** Only queues that name this one as their dead-letter queue. */
  deadLetterQueue?: string | undefined
}

export interface QueuePage {
  queues: QueueStatus[]
  nextAfter: string | null
  /** How many queues, on all pages, are in each state; null without `state` and `sort`. */
  states: Record<QueueState, number> | null
}

/** A process that receives from a queue. */
export interface ActiveReceiver extends MessageReceiver {
  /** When it began. */
  beganAt: Date
  /** How many messages it holds. */
  inFlight: number
  /** How many it got in the minute before it was last seen. */
  receivedLastMinute: number
}

/** A message group of which messages wait until others of it have ended. */
export interface BlockedGroup {
  messageGroup: string
  /** How many messages wait, and since when the oldest one does. */
  blocked: number
  beganAt: Date
  /** The messages that have its places. They are searched among the first 5,000 of each state. */
  waitsFor: { id: bigint; state: MessageState; visibleAt: Date; receiver: MessageReceiver | null }[]
}

export interface QueueReceivers {
  /** Those that received in the last two minutes, or hold messages; by name. */
  receivers: ActiveReceiver[]
  /** How many messages are held by others: by a process of an older version, or one that began in the last second. */
  unknownInFlight: number
  /** The 50 with the most messages that wait. */
  blockedGroups: BlockedGroup[]
}
