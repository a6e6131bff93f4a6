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
  @Column({ name: 'on_delete', type: 'varchar', length: 8 }) onDelete!: string
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
