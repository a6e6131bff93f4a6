import { Column, Entity, Index, PrimaryColumn } from 'typeorm'
import { BIGINT, INTEGER, LONG, NAME } from './columns'

/**
 * A queue and its settings. The unique index makes names unique, byte for byte. An id is never used again, so that
 * nothing of a dropped queue ever belongs to a later queue of the same name. A transaction that makes messages ready
 * holds a shared lock on the row: changing or dropping the queue waits for them.
 */
@Entity({ name: 'recentn_queues', synchronize: false })
@Index('recentn_queues_queue', ['queue'], { unique: true })
@Index('recentn_queues_dead_letter', ['deadLetterQueueId'])
export class WorkQueue {
  @PrimaryColumn({ ...BIGINT, generated: 'increment' }) id!: bigint
  @Column(NAME) queue!: string
  /**
   * Raised by every change. A claim gives the version that it knows, and gets nothing if the version is another one.
   */
  @Column(BIGINT) version!: bigint
  @Column({ ...INTEGER, name: 'visibility_timeout_seconds' }) visibilityTimeoutSeconds!: number
  /** 0 means no limit. */
  @Column({ ...INTEGER, name: 'max_receives' }) maxReceives!: number
  @Column({ ...BIGINT, name: 'dead_letter_queue_id', nullable: true }) deadLetterQueueId!: bigint | null
  /** The column keeps its older name: processes of an older version read it while an upgrade runs. */
  @Column({ name: 'on_delete', type: 'varchar', length: 8 }) onAck!: string
  @Column({ ...LONG, name: 'retention_seconds', nullable: true }) retentionSeconds!: number | null
  /** 0 or 1. */
  @Column(INTEGER) paused!: number
  /** 0: no endless loop has read the queue; 1: messages that become ready join the cycle; 2: all are in it. */
  @Column(INTEGER) cycled!: number
  /** 1: the queue may hold dead letters of other queues, which a redrive looks for. */
  @Column({ ...INTEGER, name: 'has_letters' }) hasLetters!: number
  /** The shortest visibility timeout of any message so far: claims need not be checked sooner. */
  @Column({ ...INTEGER, name: 'shortest_visibility_seconds' }) shortestVisibilitySeconds!: number
  /** How many messages of one group may be ready or in flight at once; 0 means no limit. */
  @Column({ ...INTEGER, name: 'group_concurrency' }) groupConcurrency!: number
  /** A random number, another one for each limit that the queue has had: places that were given under another are void. */
  @Column({ ...BIGINT, name: 'group_limit_id' }) groupLimitId!: bigint
  /** The work that is left after the limit has changed: 0 nothing; 1 to block what is ready; 2 to give it places. */
  @Column({ ...INTEGER, name: 'group_phase' }) groupPhase!: number
  /** Sends are refused while the queue holds this many messages; 0 means no limit. */
  @Column({ ...LONG, name: 'max_messages' }) maxMessages!: number
  /** 1: a message was sent with a key. */
  @Column(INTEGER) keyed!: number
  /** The `rateLimit` and the `groupRateLimit`: `messages/seconds`, a space, and the other; null where there is neither. */
  @Column({ type: 'varchar', length: 100, nullable: true }) rates!: string | null
  /** No message is handed out before; 0 means that none is held. */
  @Column({ ...LONG, name: 'held_until_ms' }) heldUntilMs!: number
  /** When the last hold of a message group ends. */
  @Column({ ...LONG, name: 'groups_held_until_ms' }) groupsHeldUntilMs!: number
  @Column({ ...LONG, name: 'created_at_ms' }) createdAtMs!: number
}

/** A queue that was dropped and may still have messages to remove. */
@Entity({ name: 'recentn_queue_drops', synchronize: false })
export class QueueDrop {
  @PrimaryColumn({ ...BIGINT, name: 'queue_id' }) queueId!: bigint
}

/**
 * A slot of the rings that keep how queues have been: one ring for each `step_seconds`, in which a time has the slot
 * `time / step` modulo the length of the ring. A row with another `at_ms` than the reader asks for is of an earlier round. The
 * row of the queue 0 says that all queues were counted at that time: then a queue without a row had no messages. The one of the
 * step 0 says from when on the next count may be made, so that one process makes it.
 */
@Entity({ name: 'recentn_queue_history', synchronize: false })
export class QueueHistorySlot {
  @PrimaryColumn({ ...INTEGER, name: 'step_seconds' }) stepSeconds!: number
  @PrimaryColumn(INTEGER) slot!: number
  @PrimaryColumn({ ...BIGINT, name: 'queue_id' }) queueId!: bigint
  @Column({ ...LONG, name: 'at_ms' }) atMs!: number
  /** Of the step before `at_ms`, as the processes have reported them. */
  @Column(LONG) sent!: number
  @Column(LONG) acked!: number
  @Column(LONG) failed!: number
  /** At `at_ms`; null in a row that has only the numbers above. */
  @Column({ ...LONG, nullable: true }) ready!: number | null
  @Column({ ...LONG, name: 'in_flight', nullable: true }) inFlight!: number | null
  /** Plain `delayed` is a word of MySQL's. */
  @Column({ ...LONG, name: 'delayed_messages', nullable: true }) delayed!: number | null
  @Column({ ...LONG, nullable: true }) blocked!: number | null
  /** Dead messages that died in the queue, here and in its dead-letter queue. */
  @Column({ ...LONG, nullable: true }) died!: number | null
  @Column({ ...LONG, name: 'oldest_age_seconds', nullable: true }) oldestAgeSeconds!: number | null
}

/**
 * A store that receives from a queue, as it last reported. The claims of its messages have `receiver_id` in their numbers. A row
 * that was not written for a day is deleted.
 */
@Entity({ name: 'recentn_queue_receivers', synchronize: false })
export class QueueReceiver {
  @PrimaryColumn({ ...BIGINT, name: 'queue_id' }) queueId!: bigint
  /** Random, for each store that is opened. */
  @PrimaryColumn({ ...BIGINT, name: 'receiver_id' }) receiverId!: bigint
  @Column(NAME) name!: string
  @Column({ ...LONG, name: 'since_ms' }) sinceMs!: number
  /** When the store last reported that it is there. */
  @Column({ ...LONG, name: 'seen_at_ms' }) seenAtMs!: number
  /** The last report before which it had received, or waited for messages. */
  @Column({ ...LONG, name: 'asked_at_ms' }) askedAtMs!: number
  /** How many messages it got in the minute before `asked_at_ms`. */
  @Column(LONG) received!: number
}
