import { Column, Entity, Index, PrimaryColumn } from 'typeorm'
import { asBigint, asNumber } from './bigint'

/**
 * One item in its slot. The primary key (group_key, slot) must be the only unique key, so that `REPLACE INTO` pushes out
 * exactly one item, the one in that slot. With another unique key it could delete several. For the same reason there is
 * no foreign key and no AUTO_INCREMENT. The one other index serves reading and erasing a member's items; each further
 * one would cost a fifth of the append rate.
 */
@Entity({ name: 'recentn_items', synchronize: false })
@Index('recentn_items_member', ['member', 'createdAtMs', 'group', 'id'])
export class RecentItem {
  @PrimaryColumn({ name: 'group_key', type: 'varchar', length: 191 })
  group!: string

  /**
   * `history`: id modulo capacity. Otherwise the slot of the member's old item, or of the item that is pushed out.
   */
  @PrimaryColumn({ type: 'integer', transformer: asNumber })
  slot!: number

  @Column({ type: 'bigint', transformer: asBigint })
  id!: bigint

  @Column({ type: 'varchar', length: 191, nullable: true })
  member!: string | null

  /** JSON text, as it was sent. */
  @Column({ type: 'text', nullable: true })
  payload!: string | null

  @Column({ name: 'occurred_at_ms', type: 'bigint', nullable: true, transformer: asNumber })
  occurredAtMs!: number | null

  @Column({ name: 'event_id', type: 'varchar', length: 191, nullable: true })
  eventId!: string | null

  /** As `repositories/recent/score.ts` stores it: sorted, but not to be read as a number. */
  @Column({ type: 'bigint', nullable: true, transformer: asBigint })
  score!: bigint | null

  @Column({ name: 'created_at_ms', type: 'bigint', transformer: asNumber })
  createdAtMs!: number
}
