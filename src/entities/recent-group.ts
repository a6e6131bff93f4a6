import { Column, Entity, Index, PrimaryColumn } from 'typeorm'
import { BIGINT, INTEGER, LONG, NAME } from './columns'

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
