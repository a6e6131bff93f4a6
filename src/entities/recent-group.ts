import { Column, Entity, Index, PrimaryColumn } from 'typeorm'
import { asBigint, asNumber } from './bigint'

/**
 * The head row of a group, and its sequence: whoever writes to the group locks this row first.
 * The primary key makes it one row a group; names are compared byte for byte.
 * The table belongs to recentn's migrations: TypeORM's own synchronization leaves it alone.
 */
@Entity({ name: 'recentn_groups', synchronize: false })
@Index('recentn_groups_sweep', ['sweepAtMs'])
@Index('recentn_groups_sync', ['syncId'])
export class RecentGroup {
  @PrimaryColumn({ name: 'group_key', type: 'varchar', length: 191 })
  group!: string

  /** Drawn again each time a group of this name is made, so that a tag of the old one never fits the new one. */
  @Column({ type: 'bigint', transformer: asBigint })
  incarnation!: bigint

  /** Raised by every change of the group. */
  @Column({ type: 'bigint', transformer: asBigint })
  version!: bigint

  /** The id given out last; −1 before the first, so that ids end exactly at the last BIGINT. */
  @Column({ name: 'last_id', type: 'bigint', transformer: asBigint })
  lastId!: bigint

  /** How the slots are laid out now. Behind a policy that changed, the settings in force may differ until a write. */
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

  /** 0 is "never", null follows the policy. */
  @Column({ name: 'own_ttl_seconds', type: 'bigint', nullable: true, transformer: asNumber })
  ownTtlSeconds!: number | null

  /** The state of the policies that the layout was made by. */
  @Column({ name: 'policy_epoch', type: 'bigint', transformer: asBigint })
  policyEpoch!: bigint

  /** When the sweeper should look: not later than the first expiry; null where nothing expires. */
  @Column({ name: 'sweep_at_ms', type: 'bigint', nullable: true, transformer: asNumber })
  sweepAtMs!: number | null

  @Column({ name: 'created_at_ms', type: 'bigint', transformer: asNumber })
  createdAtMs!: number

  /** Its number in the feed `recent-groups`; null from each change until a publisher has numbered it. */
  @Column({ name: 'sync_id', type: 'bigint', nullable: true, transformer: asBigint })
  syncId!: bigint | null
}
