import { Column, Entity, Index, PrimaryColumn } from 'typeorm'
import { asBigint, asNumber } from './bigint'

/**
 * A queue and its settings. The unique index makes names unique, byte for byte. An id is never used again, so that
 * nothing of a dropped queue ever belongs to a later queue of the same name. A transaction that makes messages ready
 * holds a shared lock on the row: changing or dropping the queue waits for them.
 */
@Entity({ name: 'recentn_queues', synchronize: false })
@Index('recentn_queues_queue', ['queue'], { unique: true })
@Index('recentn_queues_dead_letter', ['deadLetterQueueId'])
export class WorkQueue {
  @PrimaryColumn({ type: 'bigint', generated: 'increment', transformer: asBigint })
  id!: bigint

  @Column({ type: 'varchar', length: 191 })
  queue!: string

  /**
   * Raised by every change. A claim gives the version that it knows, and gets nothing if the version is another one.
   */
  @Column({ type: 'bigint', transformer: asBigint })
  version!: bigint

  @Column({ name: 'visibility_timeout_seconds', type: 'integer', transformer: asNumber })
  visibilityTimeoutSeconds!: number

  /** 0 means no limit. */
  @Column({ name: 'max_receives', type: 'integer', transformer: asNumber })
  maxReceives!: number

  @Column({ name: 'dead_letter_queue_id', type: 'bigint', nullable: true, transformer: asBigint })
  deadLetterQueueId!: bigint | null

  @Column({ name: 'on_delete', type: 'varchar', length: 8 })
  onDelete!: string

  @Column({ name: 'retention_seconds', type: 'bigint', nullable: true, transformer: asNumber })
  retentionSeconds!: number | null

  /** 0 or 1. */
  @Column({ type: 'integer', transformer: asNumber })
  paused!: number

  /** 0: no endless loop has read the queue; 1: messages that become ready join the cycle; 2: all are in it. */
  @Column({ type: 'integer', transformer: asNumber })
  cycled!: number

  /** 1: the queue may hold dead letters of other queues, which a redrive looks for. */
  @Column({ name: 'has_letters', type: 'integer', transformer: asNumber })
  hasLetters!: number

  /** The shortest visibility timeout of any message so far: claims need not be checked sooner. */
  @Column({ name: 'shortest_visibility_seconds', type: 'integer', transformer: asNumber })
  shortestVisibilitySeconds!: number

  /** How many messages of one group may be ready or in flight at once; 0 means no limit. */
  @Column({ name: 'group_concurrency', type: 'integer', transformer: asNumber })
  groupConcurrency!: number

  /** A random number, another one for each limit that the queue has had: places that were given under another are void. */
  @Column({ name: 'group_limit_id', type: 'bigint', transformer: asBigint })
  groupLimitId!: bigint

  /** The work that is left after the limit has changed: 0 nothing; 1 to block what is ready; 2 to give it places. */
  @Column({ name: 'group_phase', type: 'integer', transformer: asNumber })
  groupPhase!: number

  /** Sends are refused while the queue holds this many messages; 0 means no limit. */
  @Column({ name: 'max_messages', type: 'bigint', transformer: asNumber })
  maxMessages!: number

  /** 1: a message was sent with a key. */
  @Column({ type: 'integer', transformer: asNumber })
  keyed!: number
  /** The `rateLimit` and the `groupRateLimit`: `messages/seconds`, a space, and the other; null where there is neither. */
  @Column({ type: 'varchar', length: 100, nullable: true })
  rates!: string | null

  /** No message is handed out before; 0 means that none is held. */
  @Column({ name: 'held_until_ms', type: 'bigint', transformer: asNumber })
  heldUntilMs!: number

  /** When the last hold of a message group ends. */
  @Column({ name: 'groups_held_until_ms', type: 'bigint', transformer: asNumber })
  groupsHeldUntilMs!: number

  @Column({ name: 'created_at_ms', type: 'bigint', transformer: asNumber })
  createdAtMs!: number
}

/** A queue that was dropped and may still have messages to remove. */
@Entity({ name: 'recentn_queue_drops', synchronize: false })
export class QueueDrop {
  @PrimaryColumn({ name: 'queue_id', type: 'bigint', transformer: asBigint })
  queueId!: bigint
}
