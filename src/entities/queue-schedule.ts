import { Column, Entity, Index, PrimaryColumn } from 'typeorm'
import { asNumber } from './bigint'

/**
 * A schedule: when messages are sent to a queue, and what they say. The row is the lock of its ticks: the transaction that
 * sends a tick moves `next_tick_ms` on, so that no other one sends it.
 */
@Entity({ name: 'recentn_schedules', synchronize: false })
@Index('recentn_schedules_due', ['dueAtMs'])
export class QueueSchedule {
  @PrimaryColumn({ type: 'varchar', length: 191 })
  schedule!: string

  /** By its name: a queue that is dropped and made again gets the messages. */
  @Column({ type: 'varchar', length: 191 })
  queue!: string

  /** Null where `every_seconds` is given. */
  @Column({ type: 'varchar', length: 191, nullable: true })
  cron!: string | null

  @Column({ name: 'every_seconds', type: 'bigint', nullable: true, transformer: asNumber })
  everySeconds!: number | null

  @Column({ name: 'time_zone', type: 'varchar', length: 64 })
  timeZone!: string

  /** `send-once` or `skip`. */
  @Column({ type: 'varchar', length: 16 })
  missed!: string

  /** The planned time of the next tick. */
  @Column({ name: 'next_tick_ms', type: 'bigint', transformer: asNumber })
  nextTickMs!: number

  /** When a store looks at it next: the next tick, or later where sending that failed. */
  @Column({ name: 'due_at_ms', type: 'bigint', transformer: asNumber })
  dueAtMs!: number

  /** The planned time of the last tick that was sent, and when that was. */
  @Column({ name: 'last_tick_ms', type: 'bigint', nullable: true, transformer: asNumber })
  lastTickMs!: number | null

  @Column({ name: 'last_sent_at_ms', type: 'bigint', nullable: true, transformer: asNumber })
  lastSentAtMs!: number | null

  /** Why the next tick could not be sent so far. */
  @Column({ name: 'last_error', type: 'varchar', length: 1000, nullable: true })
  lastError!: string | null

  @Column({ name: 'delay_seconds', type: 'bigint', transformer: asNumber })
  delaySeconds!: number

  @Column({ name: 'visibility_timeout_seconds', type: 'integer', nullable: true, transformer: asNumber })
  visibilityTimeoutSeconds!: number | null

  /** Null: the queue's; 0: no limit. */
  @Column({ name: 'max_receives', type: 'integer', nullable: true, transformer: asNumber })
  maxReceives!: number | null

  @Column({ type: 'integer', transformer: asNumber })
  priority!: number

  @Column({ name: 'message_group', type: 'varchar', length: 191, nullable: true })
  messageGroup!: string | null

  /** JSON text of those that were given; each message gets its tick besides. */
  @Column({ type: 'text', nullable: true })
  attributes!: string | null

  /** JSON text. */
  @Column({ type: 'text' })
  body!: string

  @Column({ name: 'created_at_ms', type: 'bigint', transformer: asNumber })
  createdAtMs!: number
}
