import { Column, Entity, PrimaryColumn } from 'typeorm'
import { BIGINT, INTEGER, LONG, NAME } from './columns'

/** The settings of all groups whose names begin with the prefix; the primary key allows one policy for each prefix. */
@Entity({ name: 'recentn_policies', synchronize: false })
export class RecentPolicy {
  @PrimaryColumn(NAME) prefix!: string
  @Column(INTEGER) capacity!: number
  @Column({ type: 'varchar', length: 8 }) mode!: string
  @Column({ ...LONG, name: 'ttl_seconds', nullable: true }) ttlSeconds!: number | null
  /** After how many seconds an empty group is forgotten; null means never. */
  @Column({ ...LONG, name: 'forget_empty_seconds', nullable: true }) forgetEmptySeconds!: number | null
}

/**
 * One row, which counts the changes of policies. A process that sees a group with a later epoch than its own reads the
 * policies again before it writes to the group. So no layout returns to an older policy.
 */
@Entity({ name: 'recentn_policy_epoch', synchronize: false })
export class RecentPolicyEpoch {
  /** Always 1. */
  @PrimaryColumn(INTEGER) id!: number
  @Column(BIGINT) epoch!: bigint
}

/**
 * A changed prefix, or the name of a group that was locked at its turn. The sweeper still has to write the new expiry
 * to the groups; the row says how far it got.
 */
@Entity({ name: 'recentn_policy_rollouts', synchronize: false })
export class RecentPolicyRollout {
  @PrimaryColumn(NAME) prefix!: string
  @Column(BIGINT) epoch!: bigint
  /** The last group that has the new expiry; empty at the start. */
  @Column({ ...NAME, name: 'after_key' }) afterKey!: string
}
