import { Column, Entity, Index, PrimaryColumn } from 'typeorm'
import { asBigint, asNumber } from './bigint'

/**
 * Somebody's polling of a table of the user's, by its name. Claims of a table without a status hold a shared lock on
 * the row; moving the cursor, which forgets what lies before it, waits for them.
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

  /** What the rows go through, as JSON: who has the name for something else is refused. Null: the next one says it. */
  @Column({ type: 'text', nullable: true })
  purpose!: string | null

  /** Of the condition that the rows were last chosen by, where they are remembered. */
  @Column({ name: 'where_digest', type: 'varchar', length: 64, nullable: true })
  whereDigest!: string | null
}

/**
 * What the user's table has no place for: who works on a row and until when, how often it was tried, and the last error.
 * The primary key lets one claim a row at a time; `claim_key` keeps out who comes back late.
 */
@Entity({ name: 'recentn_poll_claims', synchronize: false })
@Index('recentn_poll_claims_due', ['pollId', 'state', 'dueAtMs', 'rowKey'])
export class PollClaim {
  @PrimaryColumn({ name: 'poll_id', type: 'bigint', transformer: asBigint })
  pollId!: bigint

  /** The key of the row if that is one whole number; otherwise a digest of its key, or of all of it. */
  @PrimaryColumn({ name: 'row_key', type: 'varchar', length: 64 })
  rowKey!: string

  /** 1 claimed, 2 failed and to be tried again, 3 done and remembered, 4 failed for good. */
  @Column({ type: 'smallint', transformer: asNumber })
  state!: number

  /** Claimed: until then nobody else may have it. To be tried again: not before. */
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
