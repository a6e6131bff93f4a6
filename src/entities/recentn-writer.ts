import { Column, Entity, PrimaryColumn } from 'typeorm'
import { BIGINT, LONG } from './columns'

/**
 * The last batch that a process has committed, written in the batch's own transaction: after a lost connection the row
 * shows whether the commit arrived. The transaction that writes a row locks it until it ends. In SQLite, which has no
 * connection to lose, the table stays empty.
 */
@Entity({ name: 'recentn_writers', synchronize: false })
export class RecentnWriter {
  /** Random, for each lane of a process's batches. */
  @PrimaryColumn({ type: 'varchar', length: 64 }) writer!: string
  @Column(BIGINT) batch!: bigint
  @Column({ ...LONG, name: 'seen_at_ms' }) seenAtMs!: number
}
