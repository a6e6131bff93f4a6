import { Column, Entity, Index, PrimaryColumn } from 'typeorm'
import { BIGINT, LONG, SMALLINT } from './columns'

/**
 * When to look at a queue or a feed: rows are inserted and deleted, and never changed. The index says what is due, however many
 * queues and feeds there are.
 */
@Entity({ name: 'recentn_reminders', synchronize: false })
@Index('recentn_reminders_due', ['kind', 'dueAtMs', 'subjectId'])
export class Reminder {
  @PrimaryColumn({ ...BIGINT, generated: 'increment' }) id!: bigint
  /** 1: of a queue; 2: of a feed. */
  @Column(SMALLINT) kind!: number
  /** The id of the queue or feed. */
  @Column({ ...BIGINT, name: 'subject_id' }) subjectId!: bigint
  @Column({ ...LONG, name: 'due_at_ms' }) dueAtMs!: number
}
