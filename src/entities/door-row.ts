import { Column, Entity, Index, PrimaryColumn } from 'typeorm'
import { asBigint, asNumber } from './bigint'

/** The columns of both tables of the door: writers insert rows, and the process that moves them deletes them. */
abstract class DoorRow {
  @PrimaryColumn({ type: 'bigint', generated: 'increment', transformer: asBigint })
  id!: bigint

  /** 0: it is to be moved. 1: for now it cannot be, as where there is no such queue. 2: refused; it stays until its writer sets 0. */
  @Column({ type: 'smallint', default: 0, transformer: asNumber })
  stuck!: number

  /** Why it is still here. */
  @Column({ type: 'varchar', length: 1000, nullable: true })
  error!: string | null
}

/** A message that plain SQL has inserted, to be sent. */
@Entity({ name: 'recentn_sends', synchronize: false })
@Index('recentn_sends_waiting', ['stuck', 'queue', 'id'])
export class SendRow extends DoorRow {
  @Column({ type: 'varchar', length: 191 })
  queue!: string

  /** JSON text. */
  @Column({ type: 'text' })
  body!: string

  @Column({ name: 'delay_seconds', type: 'bigint', default: 0, transformer: asNumber })
  delaySeconds!: number

  @Column({ type: 'integer', default: 0, transformer: asNumber })
  priority!: number

  @Column({ name: 'message_group', type: 'varchar', length: 191, nullable: true })
  messageGroup!: string | null

  @Column({ name: 'dedup_id', type: 'varchar', length: 191, nullable: true })
  dedupId!: string | null

  /** JSON text. */
  @Column({ type: 'text', nullable: true })
  attributes!: string | null
}

/** An item that plain SQL has inserted, to be appended. */
@Entity({ name: 'recentn_appends', synchronize: false })
@Index('recentn_appends_waiting', ['stuck', 'group', 'id'])
export class AppendRow extends DoorRow {
  @Column({ name: 'group_key', type: 'varchar', length: 191 })
  group!: string

  @Column({ type: 'varchar', length: 191, nullable: true })
  member!: string | null

  /** JSON text. */
  @Column({ type: 'text', nullable: true })
  payload!: string | null

  @Column({ name: 'occurred_at_ms', type: 'bigint', nullable: true, transformer: asNumber })
  occurredAtMs!: number | null

  @Column({ name: 'event_id', type: 'varchar', length: 191, nullable: true })
  eventId!: string | null

  @Column({ type: 'double', nullable: true, transformer: asNumber })
  score!: number | null
}
