import { Column, Entity, PrimaryColumn } from 'typeorm'
import { asNumber } from './bigint'

/**
 * An API key. Only the hash of its secret is stored. The row of a revoked key stays, so that the table shows whether
 * there has ever been a key. From the first one on, a server refuses every request without a key.
 */
@Entity({ name: 'recentn_keys', synchronize: false })
export class RecentnKey {
  /** Random, in hexadecimal: may be shown and logged. */
  @PrimaryColumn({ type: 'varchar', length: 16 })
  id!: string

  /** SHA-256 of the secret's text, in hexadecimal. */
  @Column({ name: 'secret_hash', type: 'varchar', length: 64 })
  secretHash!: string

  @Column({ type: 'varchar', length: 191 })
  label!: string

  /** Separated by commas. */
  @Column({ type: 'varchar', length: 64 })
  scopes!: string

  /** The key is confined to names that begin with this; null is all names. */
  @Column({ name: 'name_prefix', type: 'varchar', length: 191, nullable: true })
  namePrefix!: string | null

  @Column({ name: 'created_at_ms', type: 'bigint', transformer: asNumber })
  createdAtMs!: number

  /** May be up to a minute late. */
  @Column({ name: 'last_used_at_ms', type: 'bigint', nullable: true, transformer: asNumber })
  lastUsedAtMs!: number | null

  @Column({ name: 'revoked_at_ms', type: 'bigint', nullable: true, transformer: asNumber })
  revokedAtMs!: number | null
}
