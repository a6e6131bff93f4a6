import { Column, Entity, PrimaryColumn } from 'typeorm'
import { LONG, NAME } from './columns'

/**
 * An API key. Only the hash of its secret is stored. The row of a revoked key stays, so that the table shows whether
 * there has ever been a key. From the first one on, a server refuses every request without a key.
 */
@Entity({ name: 'recentn_keys', synchronize: false })
export class RecentnKey {
  /** Random, in hexadecimal: may be shown and logged. */
  @PrimaryColumn({ type: 'varchar', length: 16 }) id!: string
  /** SHA-256 of the secret's text, in hexadecimal. */
  @Column({ name: 'secret_hash', type: 'varchar', length: 64 }) secretHash!: string
  @Column(NAME) label!: string
  /** Separated by commas. */
  @Column({ type: 'varchar', length: 64 }) scopes!: string
  /** The key is confined to names that begin with this; null is all names. */
  @Column({ ...NAME, name: 'name_prefix', nullable: true }) namePrefix!: string | null
  @Column({ ...LONG, name: 'created_at_ms' }) createdAtMs!: number
  /** May be up to a minute late. */
  @Column({ ...LONG, name: 'last_used_at_ms', nullable: true }) lastUsedAtMs!: number | null
  @Column({ ...LONG, name: 'revoked_at_ms', nullable: true }) revokedAtMs!: number | null
}
