import { Column, Entity, Index, PrimaryColumn } from 'typeorm'
import { asBigint, asNumber } from './bigint'

/**
 * A poll of a user's table, by its name. Claims of a table without a status hold a shared lock on the row; moving the
 * cursor, which deletes the claims before it, waits for them.
 */
@Entity({ name: 'recentn_polls', synchronize: false })
@Index('recentn_polls_poll', ['poll'], { unique: true })
export class Poll {
  @PrimaryColumn({ type: 'bigint', generated: 'increment', transformer: asBigint })
  id!: bigint

  @Column({ type: 'varchar', length: 191 })
  poll!: string

  /** Every row up to this value of the sequence is finished; null: none is. */
  @Column({ name: 'cursor_value', type: 'text', nullable: true })
  cursorValue!: string | null

  @Column({ name: 'created_at_ms', type: 'bigint', transformer: asNumber })
  createdAtMs!: number

  /** What the poll does with the rows, as JSON: a poll of this name with another purpose is refused. Null: the next poll sets it. */
  @Column({ type: 'text', nullable: true })
  purpose!: string | null

  /** Digest of the condition that the rows were last chosen by, when done rows are remembered. */
  @Column({ name: 'where_digest', type: 'varchar', length: 64, nullable: true })
  whereDigest!: string | null
}

/**
 * What the user's table has no place for: the claim of a row and when it ends, its attempts, and the last error. By the
 * primary key a row has one claim at a time; `claim_key` fences off a poller that comes back late.
 */
@Entity({ name: 'recentn_poll_claims', synchronize: false })
@Index('recentn_poll_claims_due', ['pollId', 'state', 'dueAtMs', 'rowKey'])
export class PollClaim {
  @PrimaryColumn({ name: 'poll_id', type: 'bigint', transformer: asBigint })
  pollId!: bigint

  /** The key of the row if that is one whole number; otherwise a digest of its key, or of all of it. */
  @PrimaryColumn({ name: 'row_key', type: 'varchar', length: 64 })
  rowKey!: string

  /** 1 claimed, 2 failed and to be tried again, 3 done and remembered, 4 failed for good, 5 claimed in a row that is locked. */
  @Column({ type: 'smallint', transformer: asNumber })
  state!: number

  /** States 1 and 5: when the claim ends. State 2: when the row may be claimed again. */
  @Column({ name: 'due_at_ms', type: 'bigint', transformer: asNumber })
  dueAtMs!: number

  @Column({ name: 'claim_key', type: 'varchar', length: 22 })
  claimKey!: string

  @Column({ type: 'integer', transformer: asNumber })
  attempts!: number

  @Column({ name: 'first_claimed_at_ms', type: 'bigint', transformer: asNumber })
  firstClaimedAtMs!: number

  /** The key of the row as a JSON list of SQL literals, by which it is found again. */
  @Column({ name: 'row_values', type: 'text' })
  rowValues!: string

  @Column({ type: 'text', nullable: true })
  error!: string | null
}
