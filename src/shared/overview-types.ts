/** The public shapes of `store.overview`: what is wrong now. */

/**
 * - `dead`: messages that died in a queue, and are dead there or in a dead-letter queue
 * - `unreceived`: messages are ready in a queue for a minute or longer, none is in flight, and no process reports that it receives
 * - `late`: messages are ready for five minutes or longer, in a queue from which messages are received
 * - `growing`: more messages wait in a queue than ten minutes ago, and more and more since
 * - `paused`: messages are in a queue that is paused
 * - `held`: messages are in flight for ten minutes or longer, or their claims ended a minute ago and they did not come back
 * - `blocked`: messages wait for others of their message group, the oldest for five minutes or longer
 * - `unpublished`: entries of a feed wait for a publisher for a minute or longer
 * - `behind`: a consumer of a feed has not read changes that are five minutes old, or more than 10,000
 * - `schedule`: a schedule cannot send its tick, or nothing has sent it for two minutes
 */
export type TroubleKind =
  | 'dead'
  | 'unreceived'
  | 'schedule'
  | 'unpublished'
  | 'held'
  | 'blocked'
  | 'paused'
  | 'behind'
  | 'late'
  | 'growing'

export interface Trouble {
  kind: TroubleKind
  /** Of the queue, the feed or the schedule. */
  name: string
  /** How many messages, entries, changes or ticks. */
  count: number
  /** Since when: the first death, or when the oldest of them began to wait or was received. */
  beganAt: Date
  /** For `dead`, the dead-letter queue that has them, if it is another queue. */
  deadLetterQueue: string | null
  /** For `behind`. */
  consumer: string | null
  /** For `blocked`, the message group of the oldest. */
  messageGroup: string | null
  /** For `schedule`, why it cannot send. */
  error: string | null
}

export interface Overview {
  /** Up to 500, the worst first. */
  troubles: Trouble[]
  /** How many there are. */
  total: number
  /** When the database was asked. An answer is a few seconds old at most, unless counting takes long. */
  lookedAt: Date
}

export interface OverviewOptions {
  /** Only queues, feeds and schedules whose names begin with it. */
  prefix?: string | undefined
}
