import { Column, Entity, Index, PrimaryColumn } from 'typeorm'
import { BIGINT, LONG, NAME, SMALLINT, TEXT } from './columns'

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

/**
 * One key of a feed and its latest value: the primary key allows one row for each key. The index has the entries
 * without a sync id first, in the order in which a publisher takes them, and then the others by sync id.
 */
@Entity({ name: 'recentn_feed_entries', synchronize: false })
@Index('recentn_feed_entries_sync', ['feedId', 'syncId', 'unpublishedSinceMs', 'deleted'])
export class FeedEntry {
  @PrimaryColumn({ ...BIGINT, name: 'feed_id' }) feedId!: bigint
  @PrimaryColumn({ ...NAME, name: 'entry_key' }) key!: string
  /** 0 until a publisher has numbered the row's current value. */
  @Column({ ...BIGINT, name: 'sync_id' }) syncId!: bigint
  @Column(LONG) version!: number
  /** 1 for a tombstone. */
  @Column(SMALLINT) deleted!: number
  @Column({ ...LONG, name: 'updated_at_ms' }) updatedAtMs!: number
  /** When the entry began to wait for its sync id; kept when it has one. */
  @Column({ ...LONG, name: 'unpublished_since_ms' }) unpublishedSinceMs!: number
  /** JSON text, `null` in a tombstone. */
  @Column(TEXT) value!: string
}

/** When a tombstone was written: a hint for the sweeper, which then reads the entry itself. */
@Entity({ name: 'recentn_feed_tombstones', synchronize: false })
export class FeedTombstone {
  @PrimaryColumn({ ...LONG, name: 'deleted_at_ms' }) deletedAtMs!: number
  @PrimaryColumn({ ...BIGINT, name: 'feed_id' }) feedId!: bigint
  @PrimaryColumn({ ...NAME, name: 'entry_key' }) key!: string
}
