import { Column, Entity, Index, PrimaryColumn } from 'typeorm'
import { BIGINT, INTEGER, LONG, NAME, SMALLINT, TEXT } from './columns'

/** The columns of every message, in the queue or in the archive. */
abstract class MessageColumns {
  @Column(INTEGER) priority!: number
  @Column({ ...INTEGER, name: 'receive_count' }) receiveCount!: number
  /** Overrides the queue's `max_receives`. */
  @Column({ ...INTEGER, name: 'max_receives', nullable: true }) maxReceives!: number | null
  @Column({ ...LONG, name: 'sent_at_ms' }) sentAtMs!: number
  /** When the message becomes, or became, visible again. */
  @Column({ ...LONG, name: 'visible_at_ms' }) visibleAtMs!: number
  /** 0 means never. A redrive leaves it. */
  @Column({ ...LONG, name: 'first_received_at_ms' }) firstReceivedAtMs!: number
  /** 0 means never. */
  @Column({ ...LONG, name: 'last_received_at_ms' }) lastReceivedAtMs!: number
  @Column({ ...NAME, name: 'message_group', nullable: true }) messageGroup!: string | null
  @Column({ ...NAME, name: 'message_key', nullable: true }) messageKey!: string | null
  @Column({ name: 'last_error', type: 'varchar', length: 1000, nullable: true }) lastError!: string | null
  /** A line for each of the last failures, the newest first (`receipts.ts`); null if there was none. */
  @Column({ type: 'blob', nullable: true }) failures!: Buffer | null
  /** JSON text, as it was sent. */
  @Column(TEXT) body!: string
  /** JSON text: an object of texts; null if there are none. */
  @Column({ ...TEXT, nullable: true }) attributes!: string | null
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
  @PrimaryColumn({ ...BIGINT, generated: 'increment' }) id!: bigint
  @Column({ ...BIGINT, name: 'queue_id' }) queueId!: bigint
  @Column(SMALLINT) state!: number
  @Column({ ...LONG, name: 'sort_major' }) sortMajor!: number
  @Column({ ...BIGINT, name: 'sort_minor' }) sortMinor!: bigint
  /** The start tag of start-time fair queueing, set each time the message becomes ready. */
  @Column({ ...BIGINT, name: 'virtual_start' }) virtualStart!: bigint
  @Column({ ...BIGINT, name: 'cycle_queue_id' }) cycleQueueId!: bigint
  /** The secret of the last claim, 128 random bits in hexadecimal, until the message is settled; otherwise zeros. */
  @Column({ type: 'varchar', length: 32 }) receipt!: string
  @Column({ ...INTEGER, name: 'visibility_timeout_seconds', nullable: true }) visibilityTimeoutSeconds!: number | null
  /** The `group_limit_id` of its queue, if the message has one of the places of its group; otherwise null, or void. */
  @Column({ ...BIGINT, name: 'group_place', nullable: true }) groupPlace!: bigint | null
  /** For a dead letter, the queue in which it died. */
  @Column({ ...BIGINT, name: 'source_queue_id', nullable: true }) sourceQueueId!: bigint | null
  /** For a dead message and a dead letter, its receives when it died; a dead letter keeps those of its source. */
  @Column({ ...INTEGER, name: 'dead_receive_count', nullable: true }) deadReceiveCount!: number | null
  @Column({ ...LONG, name: 'dead_at_ms', nullable: true }) deadAtMs!: number | null
}

/** A message that was deleted in a queue that archives, outside of the claims' index. */
@Entity({ name: 'recentn_queue_archive', synchronize: false })
@Index('recentn_queue_archive_id', ['id'])
export class QueueArchive extends MessageColumns {
  @PrimaryColumn({ ...BIGINT, name: 'queue_id' }) queueId!: bigint
  @PrimaryColumn({ ...LONG, name: 'archived_at_ms' }) archivedAtMs!: number
  @PrimaryColumn(BIGINT) id!: bigint
}
