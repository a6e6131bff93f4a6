/** The parts of an API key: its text, its scopes, and the prefix of the names that it is confined to. */
import type { Scope } from '../shared/key-types'
import { type Field, nullable, optionRules, required, rulesOf } from './field'
import { NAME, whole } from './rules'

/**
 * The scopes of a key. `append` appends and removes items of groups. `read` reads everything but feeds' entries.
 * `queue` sends, receives and settles messages. `feed` writes and reads the entries of feeds, their changes and
 * consumers. `admin` is for settings, policies and queues. It also removes more than items of one group, removes or moves
 * messages that were never received, and drops feeds.
 */
export const SCOPES = ['append', 'read', 'queue', 'feed', 'admin'] as const satisfies readonly Scope[]

/** Whether a key of these scopes may do what takes `needed`. `admin` may do all that the others may. */
export function covers(scopes: readonly Scope[], needed: Scope): boolean {
  return scopes.includes(needed) || scopes.includes('admin')
}

const SCOPE_LIST: Field<readonly Scope[]> = {
  fault(value) {
    const isList = Array.isArray(value) && value.length > 0 && value.every((each) => SCOPES.includes(each))
    return isList && new Set(value).size === value.length
      ? null
      : `must be one or more of ${SCOPES.join(', ')}, each once`
  },
  schema: {},
}
export const newKey = { label: required(NAME), scopes: required(SCOPE_LIST), prefix: nullable(NAME) }
export const NEW_KEY_RULES = rulesOf(newKey)
export const VERIFY_RULES = optionRules({ timeLimitMs: whole(0, Number.MAX_SAFE_INTEGER) })

/** 16 hexadecimal digits; anything but a string is none. */
export function isKeyId(value: unknown): value is string {
  return typeof value === 'string' && /^[0-9a-f]{16}$/.test(value)
}

/** Characters, which are ASCII: 32 bytes in base64url. */
export const SECRET_LENGTH = 43
const KEY = new RegExp(`^rk_([0-9a-f]{16})_([A-Za-z0-9_-]{${SECRET_LENGTH}})$`)

/** The two parts of a key as it was given out; null if it cannot be a key. */
export function partsOf(key: string): { id: string; secret: string } | null {
  const [, id, secret] = KEY.exec(key) ?? []
  return id === undefined || secret === undefined ? null : { id, secret }
}

export function keyText(id: string, secret: string): string {
  return `rk_${id}_${secret}`
}
