import { Column, Entity, Index, PrimaryColumn } from 'typeorm'
import { asBigint, asNumber } from './bigint'

/**
 * One key of a feed and its latest value: the primary key allows one row for each key. The index has the entries
 * without a sync id first, in the order in which a publisher takes them, and then the others by sync id.
 */
@Entity({ name: 'recentn_feed_entries', synchronize: false })
@Index('recentn_feed_entries_sync', ['feedId', 'syncId', 'unpublishedSinceMs', 'deleted'])
export class FeedEntry {
  @PrimaryColumn({ name: 'feed_id', type: 'bigint', transformer: asBigint })
  feedId!: bigint

  @PrimaryColumn({ name: 'entry_key', type: 'varchar', length: 191 })
  key!: string

  /** 0 until a publisher has numbered the row's current value. */
  @Column({ name: 'sync_id', type: 'bigint', transformer: asBigint })
  syncId!: bigint

  @Column({ type: 'bigint', transformer: asNumber })
  version!: number

  /** 1 for a tombstone. */
  @Column({ type: 'smallint', transformer: asNumber })
  deleted!: number

  @Column({ name: 'updated_at_ms', type: 'bigint', transformer: asNumber })
  updatedAtMs!: number

  /** When the entry began to wait for its sync id; kept when it has one. */
  @Column({ name: 'unpublished_since_ms', type: 'bigint', transformer: asNumber })
  unpublishedSinceMs!: number

  /** JSON text, `null` in a tombstone. */
  @Column({ type: 'text' })
  value!: string
}

/** When a tombstone was written: a hint for the sweeper, which then reads the entry itself. */
@Entity({ name: 'recentn_feed_tombstones', synchronize: false })
export class FeedTombstone {
  @PrimaryColumn({ name: 'deleted_at_ms', type: 'bigint', transformer: asNumber })
  deletedAtMs!: number

  @PrimaryColumn({ name: 'feed_id', type: 'bigint', transformer: asBigint })
  feedId!: bigint

  @PrimaryColumn({ name: 'entry_key', type: 'varchar', length: 191 })
  key!: string
}
