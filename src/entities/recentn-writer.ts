import { Column, Entity, PrimaryColumn } from 'typeorm'
import { asBigint, asNumber } from './bigint'

/**
 * The last batch that a process has committed, written in the batch's own transaction: the row tells after a lost
 * connection whether the commit arrived. A row is locked by the transaction that writes it until that has ended. SQLite,
 * which has no connection to lose, keeps it empty.
 */
@Entity({ name: 'recentn_writers', synchronize: false })
export class RecentnWriter {
  /** Random, one for each lane of a process's batches. */
  @PrimaryColumn({ type: 'varchar', length: 64 })
  writer!: string

  @Column({ type: 'bigint', transformer: asBigint })
  batch!: bigint

  @Column({ name: 'seen_at_ms', type: 'bigint', transformer: asNumber })
  seenAtMs!: number
}
