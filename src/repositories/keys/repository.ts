/**
 * API keys as rows. Owns recentn_keys; a row is changed by single statements only, so that it needs no lock. Of a
 * secret only a plain hash is stored: 256 random bits cannot be guessed, however fast the hash is.
 */
import { createHash, randomBytes } from 'node:crypto'
import { placeholders, type Reader, type Row, type Session } from '../../database/engine'
import { faultsOf, refuse } from '../../fields/field'
import { isKeyId, keyText, NEW_KEY_RULES, SCOPES } from '../../fields/keys'
import { checkedPage } from '../../fields/rules'
import type { ApiKey, CreatedKey, KeyPage, Keys, NewKey, Scope } from '../../shared/key-types'
import type { Page } from '../../shared/types'
import { column, shaped } from '../row-shape'

export const USE_MS = 60_000

export interface KnownKey extends ApiKey {
  secretHash: Buffer
}

const KEY = shaped({
  id: column.text.of('k.id'),
  secretHash: column.text.of('k.secret_hash'),
  label: column.text.of('k.label'),
  scopes: column.text.of('k.scopes'),
  prefix: column.text.orNull('k.name_prefix'),
  createdAt: column.time.of('k.created_at_ms'),
  lastUsedAt: column.time.orNull('k.last_used_at_ms'),
  revokedAt: column.time.orNull('k.revoked_at_ms'),
})

export function hashOf(secret: string): Buffer {
  return createHash('sha256').update(secret).digest()
}

export class KeyRepository implements Keys {
  readonly #session: Session

  constructor(session: Session) {
    this.#session = session
  }

  async create(given: NewKey): Promise<CreatedKey> {
    refuse(faultsOf(given, NEW_KEY_RULES))
    const { label, prefix = null } = given
    const scopes = SCOPES.filter((scope) => given.scopes.includes(scope))
    const id = randomBytes(8).toString('hex')
    const secret = randomBytes(32).toString('base64url')
    const createdAtMs = await this.#session.write(async (tx) => {
      const [row] = await tx.rows(`SELECT ${tx.now} AS now_ms`)
      const nowMs = Number(row?.now_ms)
      await tx.later(
        `INSERT INTO ${tx.tables.keys} (id, secret_hash, label, scopes, name_prefix, created_at_ms) VALUES (${placeholders(6)})`,
        [id, hashOf(secret).toString('hex'), label, scopes.join(','), prefix, nowMs],
      )
      return nowMs
    })
    const key = { id, label, scopes, prefix, createdAt: new Date(createdAtMs), lastUsedAt: null, revokedAt: null }
    return { key: keyText(id, secret), ...key }
  }

  async list(options: Page = {}): Promise<KeyPage> {
    const { limit, after = '' } = checkedPage(options)
    const rows = await this.#session.read((reader) =>
      reader.rows(`SELECT ${KEY.columns(reader)} FROM ${reader.tables.keys} k WHERE k.id > ? ORDER BY k.id LIMIT ?`, [
        after,
        limit + 1,
      ]),
    )
    const keys = rows.slice(0, limit).map((row): ApiKey => {
      const { secretHash: _, ...shown } = knownOf(row)
      return shown
    })
    return { keys, nextAfter: rows.length > limit ? (keys.at(-1)?.id ?? null) : null }
  }

  async revoke(id: string): Promise<boolean> {
    if (!isKeyId(id)) return false
    return this.#session.write(async (tx) => {
      const revoke = `UPDATE ${tx.tables.keys} SET revoked_at_ms = ${tx.now} WHERE id = ? AND revoked_at_ms IS NULL`
      await tx.later(revoke, [id])
      return (await tx.rows(`SELECT id FROM ${tx.tables.keys} WHERE id = ?`, [id])).length > 0
    })
  }

  async exist(): Promise<boolean> {
    const rows = await this.#session.read((reader) => reader.rows(`SELECT id FROM ${reader.tables.keys} LIMIT 1`))
    return rows.length > 0
  }

  /** Those of the ids that there are keys of, revoked ones included: up to 250. */
  async find(ids: readonly string[]): Promise<Map<string, KnownKey>> {
    const rows = await this.#session.read((reader) =>
      reader.rows(
        `SELECT ${KEY.columns(reader)} FROM ${reader.tables.keys} k WHERE k.id IN (${placeholders(ids.length)})`,
        ids,
      ),
    )
    return new Map(rows.map((row) => [row.id as string, knownOf(row)]))
  }

  /** Writes that these keys, up to 250, are used now, unless that was written less than a minute ago. */
  async used(ids: readonly string[]): Promise<void> {
    const sql = ({ now, tables }: Pick<Reader, 'now' | 'tables'>) =>
      `UPDATE ${tables.keys} SET last_used_at_ms = ${now} WHERE id IN (${placeholders(ids.length)}) ` +
      `AND (last_used_at_ms IS NULL OR last_used_at_ms <= ${now} - ${USE_MS})`
    await this.#session.write((tx) => tx.later(sql(tx), ids))
  }
}

function knownOf(row: Row): KnownKey {
  const { secretHash, scopes, ...key } = KEY.of(row)
  return { ...key, scopes: scopes.split(',') as Scope[], secretHash: Buffer.from(secretHash, 'hex') }
}
