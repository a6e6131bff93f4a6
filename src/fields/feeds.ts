/** The arguments of feeds, and the bodies of their routes. */
import type { JsonText } from '../shared/json'
import { Checked, Component, Optional, object, Required, rulesOfDto, without } from './dto'
import { exactlyOne, Judged, list, optional, rulesOf, type Schema } from './field'
import { waitSeconds } from './queues'
import { defaulted, digits, FORM, flag, MAX_BATCH, NAME, PAGE_LIMIT, PREFIX, SIGNAL, VALUE, whole } from './rules'

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

const VERSION = whole(0, Number.MAX_SAFE_INTEGER)
export const IF_VERSION_RULES = rulesOf({ ifVersion: optional(VERSION) })

const KEYS = list(NAME, MAX_BATCH)
export const selectionFaults = exactlyOne('keys', 'prefix')

@Component('NewValue')
export class NewValueDto extends Judged {
  @Required(VALUE) value!: JsonText
}

@Component('NewEntry')
export class NewEntryDto extends Judged {
  @Required(NAME) key!: string
  @Required(VALUE) value!: JsonText

  @Optional(VERSION, 'The version that the entry must have, as it was read; 0: there must be none.')
  ifVersion?: number
}

export const NEW_ENTRY_RULES = rulesOfDto(NewEntryDto)

@Component('NewEntries')
export class NewEntriesDto extends Judged {
  @Required(list(object(NewEntryDto), MAX_BATCH)) entries!: readonly NewEntryDto[]
}

const KEY_PREFIX: typeof PREFIX = {
  ...PREFIX,
  schema: { ...PREFIX.schema, description: 'The prefix of the keys; "" selects all of them.' },
}

@Component('Republish', 'Exactly one of the two.')
@Checked(selectionFaults)
export class RepublishDto extends Judged {
  @Optional(KEYS) keys?: readonly string[]
  @Optional(KEY_PREFIX) prefix?: string
}

export const SELECTION_RULES = rulesOfDto(RepublishDto)

@Component('NewCursor')
export class NewCursorDto extends Judged {
  @Required(CURSOR) cursor!: bigint
  @Optional(defaulted(flag(), false, 'Backwards too.')) force?: boolean

  @Optional(
    CURSOR,
    'The cursor that the finished page was read from. If the stored cursor was put back before it since then, it stays there.',
  )
  from?: bigint
}
export const MOVE_CURSOR_RULES = without(rulesOfDto(NewCursorDto), 'cursor')

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
