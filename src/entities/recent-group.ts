import { Column, Entity, Index, PrimaryColumn } from 'typeorm'
import { BIGINT, INTEGER, LONG, NAME, TEXT } from './columns'

/**
 * The head row of a group, and its sequence: every write to the group locks this row first.
 * The primary key allows one row for each group; names are compared byte for byte.
 * The table belongs to recentn's migrations: TypeORM's `synchronize` does not touch it.
 */
@Entity({ name: 'recentn_groups', synchronize: false })
@Index('recentn_groups_sweep', ['sweepAtMs'])
@Index('recentn_groups_sync', ['syncId'])
export class RecentGroup {
  @PrimaryColumn({ ...NAME, name: 'group_key' }) group!: string
  /** Random, drawn each time a group of this name is created, so that a tag of an old group never fits a new one. */
  @Column(BIGINT) incarnation!: bigint
  /** Raised by every change of the group. */
  @Column(BIGINT) version!: bigint
  /** The last id; −1 before the first, so that ids end exactly at the greatest BIGINT. */
  @Column({ ...BIGINT, name: 'last_id' }) lastId!: bigint
  /**
   * The capacity by which the slots are laid out. After a change of a policy the one in force may differ until a write.
   */
  @Column(INTEGER) capacity!: number
  @Column({ type: 'varchar', length: 8 }) mode!: string
  @Column({ ...LONG, name: 'ttl_seconds', nullable: true }) ttlSeconds!: number | null
  /** The group's own settings; null follows the policy. */
  @Column({ ...INTEGER, name: 'own_capacity', nullable: true }) ownCapacity!: number | null
  @Column({ name: 'own_mode', type: 'varchar', length: 8, nullable: true }) ownMode!: string | null
  /** 0 means never, null follows the policy. */
  @Column({ ...LONG, name: 'own_ttl_seconds', nullable: true }) ownTtlSeconds!: number | null
  @Column({ ...LONG, name: 'forget_empty_seconds', nullable: true }) forgetEmptySeconds!: number | null
  /** 0 means never, null follows the policy. */
  @Column({ ...LONG, name: 'own_forget_empty_seconds', nullable: true }) ownForgetEmptySeconds!: number | null
  /** The epoch of the policies by which the layout was made. */
  @Column({ ...BIGINT, name: 'policy_epoch' }) policyEpoch!: bigint
  /** When the sweeper checks the group: not later than the first expiry; null if nothing expires. */
  @Column({ ...LONG, name: 'sweep_at_ms', nullable: true }) sweepAtMs!: number | null
  @Column({ ...LONG, name: 'created_at_ms' }) createdAtMs!: number
  /** Not in use; always null in a group that this version has written. */
  @Column({ ...BIGINT, name: 'sync_id', nullable: true }) syncId!: bigint | null
}

/**
 * One item in its slot. The primary key (group_key, slot) must be the only unique key, so that `REPLACE INTO` pushes out
 * exactly one item, the one in that slot. With another unique key it could delete several. For the same reason there is
 * no foreign key and no AUTO_INCREMENT. The one other index serves reading and erasing a member's items; each further
 * one would cost a fifth of the append rate.
 */
@Entity({ name: 'recentn_items', synchronize: false })
@Index('recentn_items_member', ['member', 'createdAtMs', 'group', 'id'])
export class RecentItem {
  @PrimaryColumn({ ...NAME, name: 'group_key' }) group!: string
  /**
   * `history`: id modulo capacity. Otherwise the slot of the member's old item, or of the item that is pushed out.
   */
  @PrimaryColumn(INTEGER) slot!: number
  @Column(BIGINT) id!: bigint
  @Column({ ...NAME, nullable: true }) member!: string | null
  /** JSON text, as it was sent. */
  @Column({ ...TEXT, nullable: true }) payload!: string | null
  @Column({ ...LONG, name: 'occurred_at_ms', nullable: true }) occurredAtMs!: number | null
  @Column({ ...NAME, name: 'event_id', nullable: true }) eventId!: string | null
  /** As `repositories/recent/rows.ts` stores it: sorted, but not to be read as a number. */
  @Column({ ...BIGINT, nullable: true }) score!: bigint | null
  @Column({ ...LONG, name: 'created_at_ms' }) createdAtMs!: number
}
