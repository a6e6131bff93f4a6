import { Column, Entity, Index, PrimaryColumn } from 'typeorm'
import { asBigint, asNumber } from './bigint'

/**
 * A feed. The unique index makes names unique, byte for byte. An id is never used again, so that nothing of a dropped
 * feed ever belongs to a later feed of the same name. A transaction that writes entries holds a shared lock on the row:
 * dropping the feed waits for them.
 */
@Entity({ name: 'recentn_feeds', synchronize: false })
@Index('recentn_feeds_feed', ['feed'], { unique: true })
export class Feed {
  @PrimaryColumn({ type: 'bigint', generated: 'increment', transformer: asBigint })
  id!: bigint

  @Column({ type: 'varchar', length: 191 })
  feed!: string

  /** The table whose rows are the entries; null if the feed has its own entries. */
  @Column({ name: 'followed_table', type: 'varchar', length: 191, nullable: true })
  followedTable!: string | null

  @Column({ name: 'created_at_ms', type: 'bigint', transformer: asNumber })
  createdAtMs!: number
}

/**
 * A sequence: the last number that it has given out. One of the kind `feed` numbers a feed, outlives it, and is the
 * lock of its publishers, which they hold to the commit. One of the kind `user` is the application's own. The primary
 * key allows one row for each kind and name.
 */
@Entity({ name: 'recentn_sequences', synchronize: false })
export class Sequence {
  @PrimaryColumn({ type: 'varchar', length: 8 })
  kind!: string

  @PrimaryColumn({ name: 'sequence_name', type: 'varchar', length: 191 })
  name!: string

  @Column({ type: 'bigint', transformer: asBigint })
  value!: bigint

  /** The greatest sync id of a tombstone that was removed. */
  @Column({ type: 'bigint', transformer: asBigint })
  horizon!: bigint
}

/** How far a consumer has read a feed. */
@Entity({ name: 'recentn_feed_consumers', synchronize: false })
export class FeedConsumer {
  @PrimaryColumn({ name: 'feed_id', type: 'bigint', transformer: asBigint })
  feedId!: bigint

  @PrimaryColumn({ type: 'varchar', length: 191 })
  consumer!: string

  @Column({ name: 'cursor_id', type: 'bigint', transformer: asBigint })
  cursorId!: bigint

  /** The consumer misses no removed tombstone up to here: it began later, or has read past it. */
  @Column({ name: 'knows_horizon', type: 'bigint', transformer: asBigint })
  knowsHorizon!: bigint

  @Column({ name: 'updated_at_ms', type: 'bigint', transformer: asNumber })
  updatedAtMs!: number
}

/** A feed that was dropped and may still have entries to remove. */
@Entity({ name: 'recentn_feed_drops', synchronize: false })
export class FeedDrop {
  @PrimaryColumn({ name: 'feed_id', type: 'bigint', transformer: asBigint })
  feedId!: bigint
}
