import { Column, Entity, PrimaryColumn } from 'typeorm'
import { asNumber } from './bigint'

/**
 * An API key. Of its secret only the hash is kept. A revoked key stays as a row, so that the table tells for good
 * whether there ever was a key: once there was one, a server never lets anybody in without.
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

  /** What the names begin with that the key is confined to; null is all names. */
  @Column({ name: 'name_prefix', type: 'varchar', length: 191, nullable: true })
  namePrefix!: string | null

  @Column({ name: 'created_at_ms', type: 'bigint', transformer: asNumber })
  createdAtMs!: number

  /** Up to a minute old. */
  @Column({ name: 'last_used_at_ms', type: 'bigint', nullable: true, transformer: asNumber })
  lastUsedAtMs!: number | null

  @Column({ name: 'revoked_at_ms', type: 'bigint', nullable: true, transformer: asNumber })
  revokedAtMs!: number | null
}
