import { Column, Entity, Index, PrimaryColumn } from 'typeorm'
import { INTEGER, LONG, NAME, TEXT } from './columns'

/**
 * A schedule: when messages are sent to a queue, and what they say. The row is the lock of its ticks: the transaction that
 * sends a tick moves `next_tick_ms` on, so that no other one sends it.
 */
@Entity({ name: 'recentn_schedules', synchronize: false })
@Index('recentn_schedules_due', ['dueAtMs'])
export class QueueSchedule {
  @PrimaryColumn(NAME) schedule!: string
  /** By its name: a queue that is dropped and made again gets the messages. */
  @Column(NAME) queue!: string
  /** Null where `every_seconds` is given. */
  @Column({ ...NAME, nullable: true }) cron!: string | null
  @Column({ ...LONG, name: 'every_seconds', nullable: true }) everySeconds!: number | null
  @Column({ name: 'time_zone', type: 'varchar', length: 64 }) timeZone!: string
  /** `send-once` or `skip`. */
  @Column({ type: 'varchar', length: 16 }) missed!: string
  /** The planned time of the next tick. */
  @Column({ ...LONG, name: 'next_tick_ms' }) nextTickMs!: number
  /** When a store looks at it next: the next tick, or later where sending that failed. */
  @Column({ ...LONG, name: 'due_at_ms' }) dueAtMs!: number
  /** The planned time of the last tick that was sent, and when that was. */
  @Column({ ...LONG, name: 'last_tick_ms', nullable: true }) lastTickMs!: number | null
  @Column({ ...LONG, name: 'last_sent_at_ms', nullable: true }) lastSentAtMs!: number | null
  /** Why the next tick could not be sent so far. */
  @Column({ name: 'last_error', type: 'varchar', length: 1000, nullable: true }) lastError!: string | null
  @Column({ ...LONG, name: 'delay_seconds' }) delaySeconds!: number
  @Column({ ...INTEGER, name: 'visibility_timeout_seconds', nullable: true }) visibilityTimeoutSeconds!: number | null
  /** Null: the queue's; 0: no limit. */
  @Column({ ...INTEGER, name: 'max_receives', nullable: true }) maxReceives!: number | null
  @Column(INTEGER) priority!: number
  @Column({ ...NAME, name: 'message_group', nullable: true }) messageGroup!: string | null
  /** JSON text of those that were given; each message gets its tick besides. */
  @Column({ ...TEXT, nullable: true }) attributes!: string | null
  /** JSON text. */
  @Column(TEXT) body!: string
  @Column({ ...LONG, name: 'created_at_ms' }) createdAtMs!: number
}
