/** The arguments of feeds. */
import { exactlyOne, list, optional, required, rulesOf, type Schema } from './field'
import { waitSeconds } from './queues'
import { digits, FORM, flag, MAX_BATCH, NAME, PAGE_LIMIT, PREFIX, SIGNAL, VALUE, whole } from './rules'

export const DEFAULT_TOMBSTONE_SECONDS = 604_800

/** A cursor is a sync id, or two: a horizon above one. */
export const SYNC_ID_BITS = 63n
const MAX_CURSOR = (1n << (2n * SYNC_ID_BITS)) - 1n
const SYNC_ID = (1n << SYNC_ID_BITS) - 1n
const DECIMAL = /^(0|[1-9][0-9]{0,37})$/

function isWireCursor(value: unknown): boolean {
  if (typeof value !== 'string' || !DECIMAL.test(value)) return false
  const cursor = BigInt(value)
  return cursor <= MAX_CURSOR && (cursor <= SYNC_ID || (cursor & SYNC_ID) > 0n)
}

/** A sync id, or the number that an answer gave in its place. */
export const CURSOR = digits(
  (value) =>
    typeof value === 'bigint' && value >= 0n && value <= MAX_CURSOR ? null : 'must be a cursor, a bigint of at least 0',
  (value) => (isWireCursor(value) ? null : 'must be a cursor: decimal digits without sign or leading zeros'),
  'Cursor',
)
export const CURSOR_SCHEMA: Schema = {
  type: 'string',
  pattern: DECIMAL.source,
  description: 'How far a consumer is: "0" is the beginning. Opaque; it may be greater than any sync id.',
}

export const VERSION = whole(0, Number.MAX_SAFE_INTEGER)
export const ifVersionOption = { ifVersion: optional(VERSION) }
export const IF_VERSION_RULES = rulesOf(ifVersionOption)

export const newEntry = { key: required(NAME), value: required(VALUE), ...ifVersionOption }
export const NEW_ENTRY_RULES = rulesOf(newEntry)

export const KEYS = list(NAME, MAX_BATCH)
export const selection = { keys: optional(KEYS), prefix: optional(PREFIX) }
export const SELECTION_RULES = rulesOf(selection)
export const selectionFaults = exactlyOne('keys', 'prefix')

export const moveCursorOptions = { force: optional(flag()), from: optional(CURSOR) }
export const MOVE_CURSOR_RULES = rulesOf(moveCursorOptions)

const values = optional(FORM)
export const VALUE_RULES = rulesOf({ values })
export const CHANGES_WAIT_SECONDS = waitSeconds('change')
export const changesOptions = {
  after: optional(CURSOR),
  consumer: optional(NAME),
  limit: optional(PAGE_LIMIT),
  waitSeconds: optional(CHANGES_WAIT_SECONDS),
  signal: optional(SIGNAL),
  values,
}
export const CHANGES_RULES = rulesOf(changesOptions)
