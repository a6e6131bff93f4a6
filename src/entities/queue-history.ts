import { Column, Entity, PrimaryColumn } from 'typeorm'
import { BIGINT, INTEGER, LONG } from './columns'

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
