import { Column, Entity, Index, PrimaryColumn } from 'typeorm'
import { BIGINT, INTEGER, LONG, NAME, TEXT } from './columns'

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
  /** As `repositories/recent/score.ts` stores it: sorted, but not to be read as a number. */
  @Column({ ...BIGINT, nullable: true }) score!: bigint | null
  @Column({ ...LONG, name: 'created_at_ms' }) createdAtMs!: number
}
