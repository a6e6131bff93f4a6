import { Column, Entity, Index, PrimaryColumn } from 'typeorm'
import { BIGINT, LONG, NAME } from './columns'

/**
 * A feed. The unique index makes names unique, byte for byte. An id is never used again, so that nothing of a dropped
 * feed ever belongs to a later feed of the same name. A transaction that writes entries holds a shared lock on the row:
 * dropping the feed waits for them.
 */
@Entity({ name: 'recentn_feeds', synchronize: false })
@Index('recentn_feeds_feed', ['feed'], { unique: true })
export class Feed {
  @PrimaryColumn({ ...BIGINT, generated: 'increment' }) id!: bigint
  @Column(NAME) feed!: string
  /** The table whose rows are the entries; null if the feed has its own entries. */
  @Column({ ...NAME, name: 'followed_table', nullable: true }) followedTable!: string | null
  @Column({ ...LONG, name: 'created_at_ms' }) createdAtMs!: number
}

/**
 * A sequence: the last number that it has given out. One of the kind `feed` numbers a feed, outlives it, and is the
 * lock of its publishers, which they hold to the commit. One of the kind `user` is the application's own. The primary
 * key allows one row for each kind and name.
 */
@Entity({ name: 'recentn_sequences', synchronize: false })
export class Sequence {
  @PrimaryColumn({ type: 'varchar', length: 8 }) kind!: string
  @PrimaryColumn({ ...NAME, name: 'sequence_name' }) name!: string
  @Column(BIGINT) value!: bigint
  /** The greatest sync id of a tombstone that was removed. */
  @Column(BIGINT) horizon!: bigint
}

/** How far a consumer has read a feed. */
@Entity({ name: 'recentn_feed_consumers', synchronize: false })
export class FeedConsumer {
  @PrimaryColumn({ ...BIGINT, name: 'feed_id' }) feedId!: bigint
  @PrimaryColumn(NAME) consumer!: string
  @Column({ ...BIGINT, name: 'cursor_id' }) cursorId!: bigint
  /** The consumer misses no removed tombstone up to here: it began later, or has read past it. */
  @Column({ ...BIGINT, name: 'knows_horizon' }) knowsHorizon!: bigint
  @Column({ ...LONG, name: 'updated_at_ms' }) updatedAtMs!: number
}

/** A feed that was dropped and may still have entries to remove. */
@Entity({ name: 'recentn_feed_drops', synchronize: false })
export class FeedDrop {
  @PrimaryColumn({ ...BIGINT, name: 'feed_id' }) feedId!: bigint
}
