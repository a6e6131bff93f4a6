import { Column, Entity, Index, PrimaryColumn } from 'typeorm'
import { asNumber, BIGINT, INTEGER, LONG, NAME, SMALLINT, TEXT } from './columns'

/** The columns of both tables of the door: writers insert rows, and the process that moves them deletes them. */
abstract class DoorRow {
  @PrimaryColumn({ ...BIGINT, generated: 'increment' }) id!: bigint
  /** 0: it is to be moved. 1: for now it cannot be, as where there is no such queue. 2: refused; it stays until its writer sets 0. */
  @Column({ ...SMALLINT, default: 0 }) stuck!: number
  /** Why it is still here. */
  @Column({ type: 'varchar', length: 1000, nullable: true }) error!: string | null
}

/** A message that plain SQL has inserted, to be sent. */
@Entity({ name: 'recentn_sends', synchronize: false })
@Index('recentn_sends_waiting', ['stuck', 'queue', 'id'])
export class SendRow extends DoorRow {
  @Column(NAME) queue!: string
  /** JSON text. */
  @Column(TEXT) body!: string
  @Column({ ...LONG, name: 'delay_seconds', default: 0 }) delaySeconds!: number
  @Column({ ...INTEGER, default: 0 }) priority!: number
  @Column({ ...NAME, name: 'message_group', nullable: true }) messageGroup!: string | null
  @Column({ ...NAME, name: 'dedup_id', nullable: true }) dedupId!: string | null
  /** JSON text. */
  @Column({ ...TEXT, nullable: true }) attributes!: string | null
}

/** An item that plain SQL has inserted, to be appended. */
@Entity({ name: 'recentn_appends', synchronize: false })
@Index('recentn_appends_waiting', ['stuck', 'group', 'id'])
export class AppendRow extends DoorRow {
  @Column({ ...NAME, name: 'group_key' }) group!: string
  @Column({ ...NAME, nullable: true }) member!: string | null
  /** JSON text. */
  @Column({ ...TEXT, nullable: true }) payload!: string | null
  @Column({ ...LONG, name: 'occurred_at_ms', nullable: true }) occurredAtMs!: number | null
  @Column({ ...NAME, name: 'event_id', nullable: true }) eventId!: string | null
  @Column({ type: 'double', nullable: true, transformer: asNumber }) score!: number | null
}
