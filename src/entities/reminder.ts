import { Column, Entity, Index, PrimaryColumn } from 'typeorm'
import { asBigint, asNumber } from './bigint'

/**
 * When to look at a queue or a feed: rows are inserted and deleted, and never changed. The index says what is due, however many
 * queues and feeds there are.
 */
@Entity({ name: 'recentn_reminders', synchronize: false })
@Index('recentn_reminders_due', ['kind', 'dueAtMs', 'subjectId'])
export class Reminder {
  @PrimaryColumn({ type: 'bigint', generated: 'increment', transformer: asBigint })
  id!: bigint

  /** 1: of a queue; 2: of a feed. */
  @Column({ type: 'smallint', transformer: asNumber })
  kind!: number

  /** The id of the queue or feed. */
  @Column({ name: 'subject_id', type: 'bigint', transformer: asBigint })
  subjectId!: bigint

  @Column({ name: 'due_at_ms', type: 'bigint', transformer: asNumber })
  dueAtMs!: number
}
