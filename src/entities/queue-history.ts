import { Column, Entity, PrimaryColumn } from 'typeorm'
import { asBigint, asNumber } from './bigint'

/**
 * A slot of the rings that keep how queues have been: one ring for each `step_seconds`, in which a time has the slot
 * `time / step` modulo the length of the ring. A row with another `at_ms` than the reader asks for is of an earlier round. The
 * row of the queue 0 says that all queues were counted at that time: then a queue without a row had no messages. The one of the
 * step 0 says from when on the next count may be made, so that one process makes it.
 */
@Entity({ name: 'recentn_queue_history', synchronize: false })
export class QueueHistorySlot {
  @PrimaryColumn({ name: 'step_seconds', type: 'integer', transformer: asNumber })
  stepSeconds!: number

  @PrimaryColumn({ type: 'integer', transformer: asNumber })
  slot!: number

  @PrimaryColumn({ name: 'queue_id', type: 'bigint', transformer: asBigint })
  queueId!: bigint

  @Column({ name: 'at_ms', type: 'bigint', transformer: asNumber })
  atMs!: number

  /** Of the step before `at_ms`, as the processes have reported them. */
  @Column({ type: 'bigint', transformer: asNumber })
  sent!: number

  @Column({ type: 'bigint', transformer: asNumber })
  acked!: number

  @Column({ type: 'bigint', transformer: asNumber })
  failed!: number

  /** At `at_ms`; null in a row that has only the numbers above. */
  @Column({ type: 'bigint', nullable: true, transformer: asNumber })
  ready!: number | null

  @Column({ name: 'in_flight', type: 'bigint', nullable: true, transformer: asNumber })
  inFlight!: number | null

  /** Plain `delayed` is a word of MySQL's. */
  @Column({ name: 'delayed_messages', type: 'bigint', nullable: true, transformer: asNumber })
  delayed!: number | null

  @Column({ type: 'bigint', nullable: true, transformer: asNumber })
  blocked!: number | null

  /** Dead messages that died in the queue, here and in its dead-letter queue. */
  @Column({ type: 'bigint', nullable: true, transformer: asNumber })
  died!: number | null

  @Column({ name: 'oldest_age_seconds', type: 'bigint', nullable: true, transformer: asNumber })
  oldestAgeSeconds!: number | null
}
