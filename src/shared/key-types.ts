/** The shapes of API keys, for the library's users. Times are `Date` with milliseconds in UTC. */
import type { Page } from './types'

/** The rights of a key. */
export type Scope = 'append' | 'read' | 'queue' | 'feed' | 'admin'

export interface NewKey {
  /** For people: who has it, what for. As names are, 1 to 191 characters. */
  label: string
  scopes: readonly Scope[]
  /** Confines the key to groups, queues, schedules, feeds and policies whose names begin with this; null or left out: all names. */
  prefix?: string | null | undefined
}

/** The facts about a key that may be shown. */
export interface ApiKey {
  id: string
  label: string
  scopes: Scope[]
  prefix: string | null
  createdAt: Date
  /** Up to a minute late; null when it was never used. */
  lastUsedAt: Date | null
  /** Null while it is good. */
  revokedAt: Date | null
}

/** A key that was just made. */
export interface CreatedKey extends ApiKey {
  /** `rk_<id>_<secret>`: what the client sends as a bearer token. Only the hash of its secret is kept. */
  key: string
}

export interface KeyPage {
  keys: ApiKey[]
  nextAfter: string | null
}

/** The operations on API keys. */
export interface Keys {
  /** Makes a key with 256 random bits. Throws `invalid_input`. */
  create(key: NewKey): Promise<CreatedKey>
  /** All keys by id, including those that were revoked. */
  list(options?: Page): Promise<KeyPage>
  /** Revokes the key. Every process refuses it within 5 seconds. False when no key has this id. */
  revoke(id: string): Promise<boolean>
}
