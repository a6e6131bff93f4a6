import { Column, Entity, Index, PrimaryColumn } from 'typeorm'
import { BIGINT, INTEGER, LONG, NAME, SMALLINT, TEXT } from './columns'

/**
 * A poll of a user's table, by its name. Claims of a table without a status hold a shared lock on the row: moving the
 * cursor, which deletes the claims before it, waits for them.
 */
@Entity({ name: 'recentn_polls', synchronize: false })
@Index('recentn_polls_poll', ['poll'], { unique: true })
export class Poll {
  @PrimaryColumn({ ...BIGINT, generated: 'increment' }) id!: bigint
  @Column(NAME) poll!: string
  /** Every row up to this value of the sequence is finished; null if none is. */
  @Column({ ...TEXT, name: 'cursor_value', nullable: true }) cursorValue!: string | null
  @Column({ ...LONG, name: 'created_at_ms' }) createdAtMs!: number
  /** JSON: what the poll does with the rows. One with another purpose is refused. Null: the next poll sets it. */
  @Column({ ...TEXT, nullable: true }) purpose!: string | null
  /** The digest of the last condition that chose the rows, if finished rows are remembered. */
  @Column({ name: 'where_digest', type: 'varchar', length: 64, nullable: true }) whereDigest!: string | null
}

/**
 * The facts of a claim that the user's table has no columns for: its key, its end, the attempts, and the last error.
 * The primary key allows one claim for each row; `claim_key` refuses a worker that comes back after its claim has
 * ended.
 */
@Entity({ name: 'recentn_poll_claims', synchronize: false })
@Index('recentn_poll_claims_due', ['pollId', 'state', 'dueAtMs', 'rowKey'])
export class PollClaim {
  @PrimaryColumn({ ...BIGINT, name: 'poll_id' }) pollId!: bigint
  /** The key of the row if that is one whole number; otherwise a digest of its key, or of all of it. */
  @PrimaryColumn({ name: 'row_key', type: 'varchar', length: 64 }) rowKey!: string
  /**
   * 1 claimed; 2 failed, and will be tried again; 3 done and remembered; 4 failed for good. 5: a renewal of a claim whose
   * row, with the claim in its own columns, was locked by another transaction.
   */
  @Column(SMALLINT) state!: number
  /** The end of the claim; for a row that failed, the time of the next attempt. */
  @Column({ ...LONG, name: 'due_at_ms' }) dueAtMs!: number
  @Column({ name: 'claim_key', type: 'varchar', length: 22 }) claimKey!: string
  @Column(INTEGER) attempts!: number
  @Column({ ...LONG, name: 'first_claimed_at_ms' }) firstClaimedAtMs!: number
  /** The key of the row as a JSON list of SQL literals, to find the row again. */
  @Column({ ...TEXT, name: 'row_values' }) rowValues!: string
  @Column({ ...TEXT, nullable: true }) error!: string | null
}
