import { Column, Entity, Index, PrimaryColumn } from 'typeorm'
import { asBigint, asNumber } from './bigint'

/** The columns of every message, in the queue or in the archive. */
abstract class MessageColumns {
  @Column({ type: 'integer', transformer: asNumber })
  priority!: number

  @Column({ name: 'receive_count', type: 'integer', transformer: asNumber })
  receiveCount!: number

  /** Overrides the queue's `max_receives`. */
  @Column({ name: 'max_receives', type: 'integer', nullable: true, transformer: asNumber })
  maxReceives!: number | null

  @Column({ name: 'sent_at_ms', type: 'bigint', transformer: asNumber })
  sentAtMs!: number

  /** When the message becomes, or became, visible again. */
  @Column({ name: 'visible_at_ms', type: 'bigint', transformer: asNumber })
  visibleAtMs!: number

  /** 0 means never. A redrive leaves it. */
  @Column({ name: 'first_received_at_ms', type: 'bigint', transformer: asNumber })
  firstReceivedAtMs!: number

  /** 0 means never. */
  @Column({ name: 'last_received_at_ms', type: 'bigint', transformer: asNumber })
  lastReceivedAtMs!: number

  @Column({ name: 'message_group', type: 'varchar', length: 191, nullable: true })
  messageGroup!: string | null

  @Column({ name: 'message_key', type: 'varchar', length: 191, nullable: true })
  messageKey!: string | null

  @Column({ name: 'last_error', type: 'varchar', length: 1000, nullable: true })
  lastError!: string | null

  /** JSON text, as it was sent. */
  @Column({ type: 'text' })
  body!: string

  /** JSON text: an object of texts; null if there are none. */
  @Column({ type: 'text', nullable: true })
  attributes!: string | null
}

/**
 * A message that is not settled. Its state is a range of the index recentn_queue_messages_claim, which the two sort columns
 * order:
 *
 * | state | | sort_major | sort_minor |
 * |---|---|---|---|
 * | 0 | ready | urgency: minus the priority | virtual start |
 * | 1 | in flight | when to check whether the claim has ended | the claim's number |
 * | 2 | delayed | when it becomes ready | 0 |
 * | 3 | dead | when it died | 0 |
 * | 4 | blocked | half of a digest of its group; 0 behind a message with its key | the other half; 0 |
 *
 * So one index serves claims, messages that are due, and reading the messages of a claim; another index would cost several
 * writes for every message. recentn_queue_messages_cycle serves endless loops over a queue: ready messages of such queues
 * have their queue's id there, all others 0.
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

  /** The start tag of start-time fair queueing, set each time the message becomes ready. */
  @Column({ name: 'virtual_start', type: 'bigint', transformer: asBigint })
  virtualStart!: bigint

  @Column({ name: 'cycle_queue_id', type: 'bigint', transformer: asBigint })
  cycleQueueId!: bigint

  /** The secret of the last claim, 128 random bits in hexadecimal, until the message is settled; otherwise zeros. */
  @Column({ type: 'varchar', length: 32 })
  receipt!: string

  @Column({ name: 'visibility_timeout_seconds', type: 'integer', nullable: true, transformer: asNumber })
  visibilityTimeoutSeconds!: number | null

  /** The `group_limit_id` of its queue, if the message has one of the places of its group; otherwise null, or void. */
  @Column({ name: 'group_place', type: 'bigint', nullable: true, transformer: asBigint })
  groupPlace!: bigint | null

  /** For a dead letter, the queue in which it died. */
  @Column({ name: 'source_queue_id', type: 'bigint', nullable: true, transformer: asBigint })
  sourceQueueId!: bigint | null

  /** For a dead message and a dead letter, its receives when it died; a dead letter keeps those of its source. */
  @Column({ name: 'dead_receive_count', type: 'integer', nullable: true, transformer: asNumber })
  deadReceiveCount!: number | null

  @Column({ name: 'dead_at_ms', type: 'bigint', nullable: true, transformer: asNumber })
  deadAtMs!: number | null
}

/** A message that was deleted in a queue that archives, outside of the claims' index. */
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
