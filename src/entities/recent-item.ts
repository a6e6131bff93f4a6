import { Column, Entity, Index, PrimaryColumn } from 'typeorm'
import { asBigint, asNumber } from './bigint'

/**
 * One item in its slot. The primary key (group_key, slot) is the only unique key, and has to be: it is what makes
 * `REPLACE INTO` push out exactly one item, the one whose slot is taken (with another unique key it could delete
 * several). No foreign key and no AUTO_INCREMENT for the same reason.
 * The one further index serves a member's items and their erasure; each more would cost a fifth of the append rate.
 */
@Entity({ name: 'recentn_items', synchronize: false })
@Index('recentn_items_member', ['member', 'createdAtMs', 'group', 'id'])
export class RecentItem {
  @PrimaryColumn({ name: 'group_key', type: 'varchar', length: 191 })
  group!: string

  /** `history`: id modulo capacity. `distinct`: the place that the member, or the one pushed out, had. */
  @PrimaryColumn({ type: 'integer', transformer: asNumber })
  slot!: number

  @Column({ type: 'bigint', transformer: asBigint })
  id!: bigint

  @Column({ type: 'varchar', length: 191, nullable: true })
  member!: string | null

  /** JSON text, as it came in. */
  @Column({ type: 'text', nullable: true })
  payload!: string | null

  @Column({ name: 'occurred_at_ms', type: 'bigint', nullable: true, transformer: asNumber })
  occurredAtMs!: number | null

  @Column({ name: 'event_id', type: 'varchar', length: 191, nullable: true })
  eventId!: string | null

  @Column({ name: 'created_at_ms', type: 'bigint', transformer: asNumber })
  createdAtMs!: number
}
