import { Column, Entity, Index, PrimaryColumn } from 'typeorm'
import { BIGINT, LONG, NAME, SMALLINT, TEXT } from './columns'

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
