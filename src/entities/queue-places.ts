import { Column, Entity, Index, PrimaryColumn } from 'typeorm'
import { asBigint, asNumber } from './bigint'

/**
 * Start-time fair queueing: where the next message of a message group starts, for each urgency of a queue. The row of
 * the group '' (messages without a group share it) is the lock of its urgency, and has the virtual time of all groups.
 */
@Entity({ name: 'recentn_queue_flows', synchronize: false })
export class QueueFlow {
  @PrimaryColumn({ name: 'queue_id', type: 'bigint', transformer: asBigint })
  queueId!: bigint

  @PrimaryColumn({ type: 'integer', transformer: asNumber })
  urgency!: number

  @PrimaryColumn({ name: 'message_group', type: 'varchar', length: 191 })
  messageGroup!: string

  @Column({ name: 'next_start', type: 'bigint', transformer: asBigint })
  nextStart!: bigint

  /** In the row '': the virtual time, as far as it was computed: no ready message has an earlier start. */
  @Column({ name: 'virtual_time', type: 'bigint', transformer: asBigint })
  virtualTime!: bigint

  /** In the row '': the greatest `next_start` of all groups. */
  @Column({ type: 'bigint', transformer: asBigint })
  top!: bigint
}

/**
 * A message group of a queue with a `groupConcurrency`, while messages of it have places. The row is the lock of the group:
 * whoever gives or takes a place holds it.
 */
@Entity({ name: 'recentn_queue_message_groups', synchronize: false })
export class QueueMessageGroup {
  @PrimaryColumn({ name: 'queue_id', type: 'bigint', transformer: asBigint })
  queueId!: bigint

  @PrimaryColumn({ name: 'message_group', type: 'varchar', length: 191 })
  messageGroup!: string

  /** The limit of the queue under which the places were given: under another one, none are taken. */
  @Column({ name: 'limit_id', type: 'bigint', transformer: asBigint })
  limitId!: bigint

  /** How many messages of the group have a place. */
  @Column({ type: 'integer', transformer: asNumber })
  taken!: number
}

/**
 * A key of which a message waits or is in flight. The row is the lock of the key: a transaction that sends a
 * message with it, or ends or puts back one, holds it. A claim does not: the state of the messages says which of them is in flight.
 */
@Entity({ name: 'recentn_queue_keys', synchronize: false })
export class QueueKey {
  @PrimaryColumn({ name: 'queue_id', type: 'bigint', transformer: asBigint })
  queueId!: bigint

  @PrimaryColumn({ name: 'message_key', type: 'varchar', length: 191 })
  messageKey!: string

  /** The newest message. It may be gone. */
  @Column({ name: 'message_id', type: 'bigint', transformer: asBigint })
  messageId!: bigint

  /** The message in flight that the newest one is blocked behind; 0 if there is none. */
  @Column({ name: 'ahead_id', type: 'bigint', transformer: asBigint })
  aheadId!: bigint
}

/**
 * The turns of a message group in a queue with a `groupRateLimit`, and those of the queue itself in the row of the group ''.
 * The row in recentn_queue_message_groups is the lock of a group's turns; that of the group '' is its own.
 */
@Entity({ name: 'recentn_queue_turns', synchronize: false })
@Index('recentn_queue_turns_kept', ['keptUntilMs'])
export class QueueTurns {
  @PrimaryColumn({ name: 'queue_id', type: 'bigint', transformer: asBigint })
  queueId!: bigint

  @PrimaryColumn({ name: 'message_group', type: 'varchar', length: 191 })
  messageGroup!: string

  /** The limit of the queue under which turns were given: under another one, none are waiting. */
  @Column({ name: 'limit_id', type: 'bigint', transformer: asBigint })
  limitId!: bigint

  /** How many messages have a turn and are not received yet. */
  @Column({ type: 'integer', transformer: asNumber })
  waiting!: number

  /** The receives that still count: times and numbers. */
  @Column({ type: 'varchar', length: 1000 })
  receives!: string

  /** A group: nothing of it is handed out before. The queue: its next turn, where it has none now. */
  @Column({ name: 'held_until_ms', type: 'bigint', transformer: asNumber })
  heldUntilMs!: number

  /** When the row may be forgotten, unless messages wait. */
  @Column({ name: 'kept_until_ms', type: 'bigint', transformer: asNumber })
  keptUntilMs!: number
}

/** A message that was sent with a `dedupId`; the primary key lets only one of two senders be the first. */
@Entity({ name: 'recentn_queue_dedups', synchronize: false })
@Index('recentn_queue_dedups_sent', ['sentAtMs'])
export class QueueDedup {
  @PrimaryColumn({ name: 'queue_id', type: 'bigint', transformer: asBigint })
  queueId!: bigint

  @PrimaryColumn({ name: 'dedup_id', type: 'varchar', length: 191 })
  dedupId!: string

  @Column({ name: 'message_id', type: 'bigint', transformer: asBigint })
  messageId!: bigint

  @Column({ name: 'sent_at_ms', type: 'bigint', transformer: asNumber })
  sentAtMs!: number
}

/** The position of an endless loop over a queue: the id of the last message that it got. */
@Entity({ name: 'recentn_queue_cursors', synchronize: false })
export class QueueCursor {
  @PrimaryColumn({ name: 'queue_id', type: 'bigint', transformer: asBigint })
  queueId!: bigint

  @PrimaryColumn({ name: 'cursor_name', type: 'varchar', length: 191 })
  cursor!: string

  @Column({ name: 'last_id', type: 'bigint', transformer: asBigint })
  lastId!: bigint
}
