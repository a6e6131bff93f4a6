import { Column, Entity, Index, PrimaryColumn } from 'typeorm'
import { asBigint, asNumber } from './bigint'

/**
 * The head row of a group, and its sequence: every write to the group locks this row first.
 * The primary key allows one row for each group; names are compared byte for byte.
 * The table belongs to recentn's migrations: TypeORM's `synchronize` does not touch it.
 */
@Entity({ name: 'recentn_groups', synchronize: false })
@Index('recentn_groups_sweep', ['sweepAtMs'])
@Index('recentn_groups_sync', ['syncId'])
export class RecentGroup {
  @PrimaryColumn({ name: 'group_key', type: 'varchar', length: 191 })
  group!: string

  /** Random, drawn each time a group of this name is created, so that a tag of an old group never fits a new one. */
  @Column({ type: 'bigint', transformer: asBigint })
  incarnation!: bigint

  /** Raised by every change of the group. */
  @Column({ type: 'bigint', transformer: asBigint })
  version!: bigint

  /** The last id; −1 before the first, so that ids end exactly at the greatest BIGINT. */
  @Column({ name: 'last_id', type: 'bigint', transformer: asBigint })
  lastId!: bigint

  /**
   * The capacity by which the slots are laid out. After a change of a policy the one in force may differ until a write.
   */
  @Column({ type: 'integer', transformer: asNumber })
  capacity!: number

  @Column({ type: 'varchar', length: 8 })
  mode!: string

  @Column({ name: 'ttl_seconds', type: 'bigint', nullable: true, transformer: asNumber })
  ttlSeconds!: number | null

  /** The group's own settings; null follows the policy. */
  @Column({ name: 'own_capacity', type: 'integer', nullable: true, transformer: asNumber })
  ownCapacity!: number | null

  @Column({ name: 'own_mode', type: 'varchar', length: 8, nullable: true })
  ownMode!: string | null

  /** 0 means never, null follows the policy. */
  @Column({ name: 'own_ttl_seconds', type: 'bigint', nullable: true, transformer: asNumber })
  ownTtlSeconds!: number | null

  @Column({ name: 'forget_empty_seconds', type: 'bigint', nullable: true, transformer: asNumber })
  forgetEmptySeconds!: number | null

  /** 0 means never, null follows the policy. */
  @Column({ name: 'own_forget_empty_seconds', type: 'bigint', nullable: true, transformer: asNumber })
  ownForgetEmptySeconds!: number | null

  /** The epoch of the policies by which the layout was made. */
  @Column({ name: 'policy_epoch', type: 'bigint', transformer: asBigint })
  policyEpoch!: bigint

  /** When the sweeper checks the group: not later than the first expiry; null if nothing expires. */
  @Column({ name: 'sweep_at_ms', type: 'bigint', nullable: true, transformer: asNumber })
  sweepAtMs!: number | null

  @Column({ name: 'created_at_ms', type: 'bigint', transformer: asNumber })
  createdAtMs!: number

  /** Not in use; always null in a group that this version has written. */
  @Column({ name: 'sync_id', type: 'bigint', nullable: true, transformer: asBigint })
  syncId!: bigint | null
}
