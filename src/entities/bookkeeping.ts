/** The tables of recentn itself: its keys, the version of its tables, the marks of its writers, and its reminders. */
import { Column, Entity, Index, PrimaryColumn } from 'typeorm'
import { BIGINT, INTEGER, LONG, NAME, SMALLINT } from './columns'

/**
 * An API key. Only the hash of its secret is stored. The row of a revoked key stays, so that the table shows whether
 * there has ever been a key. From the first one on, a server refuses every request without a key.
 */
@Entity({ name: 'recentn_keys', synchronize: false })
export class RecentnKey {
  /** Random, in hexadecimal: may be shown and logged. */
  @PrimaryColumn({ type: 'varchar', length: 16 }) id!: string
  /** SHA-256 of the secret's text, in hexadecimal. */
  @Column({ name: 'secret_hash', type: 'varchar', length: 64 }) secretHash!: string
  @Column(NAME) label!: string
  /** Separated by commas. */
  @Column({ type: 'varchar', length: 64 }) scopes!: string
  /** The key is confined to names that begin with this; null is all names. */
  @Column({ ...NAME, name: 'name_prefix', nullable: true }) namePrefix!: string | null
  @Column({ ...LONG, name: 'created_at_ms' }) createdAtMs!: number
  /** May be up to a minute late. */
  @Column({ ...LONG, name: 'last_used_at_ms', nullable: true }) lastUsedAtMs!: number | null
  @Column({ ...LONG, name: 'revoked_at_ms', nullable: true }) revokedAtMs!: number | null
}

/** One row: the version of the tables. Each migration writes it, whether recentn or the user's DataSource runs it. */
@Entity({ name: 'recentn_schema', synchronize: false })
export class RecentnSchema {
  /** Always 1. */
  @PrimaryColumn(INTEGER) id!: number
  @Column(INTEGER) version!: number
}

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
