import { Column, Entity, Index, PrimaryColumn } from 'typeorm'
import { asBigint, asNumber } from './bigint'

/** What is known of a message, wherever it is. */
abstract class MessageColumns {
  @Column({ type: 'integer', transformer: asNumber })
  priority!: number

  @Column({ name: 'receive_count', type: 'integer', transformer: asNumber })
  receiveCount!: number

  /** In place of the queue's. */
  @Column({ name: 'max_receives', type: 'integer', nullable: true, transformer: asNumber })
  maxReceives!: number | null

  @Column({ name: 'sent_at_ms', type: 'bigint', transformer: asNumber })
  sentAtMs!: number

  /** When it is, or was, to be handed out again. */
  @Column({ name: 'visible_at_ms', type: 'bigint', transformer: asNumber })
  visibleAtMs!: number

  /** 0: never. */
  @Column({ name: 'last_received_at_ms', type: 'bigint', transformer: asNumber })
  lastReceivedAtMs!: number

  @Column({ name: 'message_group', type: 'varchar', length: 191, nullable: true })
  messageGroup!: string | null

  @Column({ name: 'last_error', type: 'varchar', length: 1000, nullable: true })
  lastError!: string | null

  /** JSON text, as it came in. */
  @Column({ type: 'text' })
  body!: string
}

/**
 * A message that is not settled. Its state says in which line of the index recentn_queue_messages_claim it stands, and the two
 * sort columns where in that line:
 *
 * | state | | sort_major | sort_minor |
 * |---|---|---|---|
 * | 0 | ready | urgency: minus the priority | virtual start |
 * | 1 | in flight | when to look whether the claim has run out | the claim's number |
 * | 2 | delayed | when it becomes ready | 0 |
 * | 3 | dead | when it died | 0 |
 *
 * So one index serves claims, what is due, and the reading of what a claim got; each more would cost every message
 * several writes. recentn_queue_messages_cycle is for receiving round and round: only ready messages of queues that are
 * received so have their queue's id there, all others 0.
 */
@Entity({ name: 'recentn_queue_messages', synchronize: false })
@Index('recentn_queue_messages_claim', ['queueId', 'state', 'sortMajor', 'sortMinor', 'id'])
@Index('recentn_queue_messages_cycle', ['cycleQueueId', 'id'])
export class QueueMessage extends MessageColumns {
  @PrimaryColumn({ type: 'bigint', generated: 'increment', transformer: asBigint })
  id!: bigint

  @Column({ name: 'queue_id', type: 'bigint', transformer: asBigint })
  queueId!: bigint

  @Column({ type: 'smallint', transformer: asNumber })
  state!: number

  @Column({ name: 'sort_major', type: 'bigint', transformer: asNumber })
  sortMajor!: number

  @Column({ name: 'sort_minor', type: 'bigint', transformer: asBigint })
  sortMinor!: bigint

  /** Start-time fair queueing: when its turn is, given each time it becomes ready. */
  @Column({ name: 'virtual_start', type: 'bigint', transformer: asBigint })
  virtualStart!: bigint

  @Column({ name: 'cycle_queue_id', type: 'bigint', transformer: asBigint })
  cycleQueueId!: bigint

  /** The secret of the last claim, 128 random bits in hexadecimal, until the message is settled; otherwise zeros. */
  @Column({ type: 'varchar', length: 32 })
  receipt!: string

  @Column({ name: 'visibility_timeout_seconds', type: 'integer', nullable: true, transformer: asNumber })
  visibilityTimeoutSeconds!: number | null

  /** The queue that it died in, for a dead letter. */
  @Column({ name: 'source_queue_id', type: 'bigint', nullable: true, transformer: asBigint })
  sourceQueueId!: bigint | null
}

/** A message that was deleted in a queue that archives: out of the way of all claims. */
@Entity({ name: 'recentn_queue_archive', synchronize: false })
@Index('recentn_queue_archive_id', ['id'])
export class QueueArchive extends MessageColumns {
  @PrimaryColumn({ name: 'queue_id', type: 'bigint', transformer: asBigint })
  queueId!: bigint

  @PrimaryColumn({ name: 'archived_at_ms', type: 'bigint', transformer: asNumber })
  archivedAtMs!: number

  @PrimaryColumn({ type: 'bigint', transformer: asBigint })
  id!: bigint
}
