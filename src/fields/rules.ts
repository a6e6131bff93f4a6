/** The kinds of values that all products share: names, ids, times, numbers, words and JSON. */
import type { Mode } from '../shared/group-types'
import { JsonText, jsonTextOf } from '../shared/json'
import { jsonFault, MAX_JSON_DEPTH } from '../shared/json-faults'
import { argumentFaults, type Field, faultsOf, optional, type Rule, ref, refuse, rulesOf, type Schema } from './field'

export const MAX_NAME_CODE_POINTS = 191
export const MAX_PAYLOAD_BYTES = 64 * 1024
/** Of the body of a message and of the value of an entry. */
export const MAX_VALUE_BYTES = 256 * 1024
export const MAX_CAPACITY = 10_000
export const MAX_BATCH = 1000
export const MAX_ID = 9_223_372_036_854_775_807n
/** Ten thousand years: what keeps every sum of times far inside a BIGINT. */
export const MAX_TTL_SECONDS = 315_360_000_000
/** 9999-12-31T23:59:59.999Z */
export const MAX_TIME_MS = 253_402_300_799_999

export const MODES = ['history', 'distinct', 'top'] as const satisfies readonly Mode[]

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/

/** A name of a group, member, policy prefix, `eventId` and so on. */
export function nameFault(value: unknown): string | null {
  if (typeof value !== 'string') return 'must be a string'
  if (value === '') return 'must not be empty'
  // A code point is at most two UTF-16 units, so that only a name in between must be counted.
  if (value.length > MAX_NAME_CODE_POINTS && codePoints(value) > MAX_NAME_CODE_POINTS) {
    return `must have at most ${MAX_NAME_CODE_POINTS} characters`
  }
  if (!value.isWellFormed()) return 'must be well-formed Unicode (it has a lone surrogate)'
  if (CONTROL.test(value)) return 'must not have control characters'
  if (value === '.' || value === '..') return 'must be neither "." nor ".."'
  return null
}

function codePoints(value: string): number {
  if (value.length > 2 * MAX_NAME_CODE_POINTS) return value.length
  let count = 0
  for (const _ of value) count++
  return count
}

/** A whole number from `min` to `max`. */
export function integerFault(value: unknown, min: number, max: number): string | null {
  const isWhole = typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max
  return isWhole ? null : `must be a whole number from ${min} to ${max}`
}

const BIGINT = `a bigint from 0n to ${MAX_ID}n`

/** An id: a bigint from 0 to 2^63 - 1. */
export function idFault(value: unknown): string | null {
  return typeof value === 'bigint' && value >= 0n && value <= MAX_ID ? null : `must be an id, ${BIGINT}`
}

/** The newest item that a listener knows of; −1 where it knows that there was none. */
function positionFault(value: unknown): string | null {
  return value === -1n || idFault(value) === null ? null : `must be an id, ${BIGINT}, or -1n`
}

const DECIMAL = /^(0|[1-9][0-9]{0,18})$/

/** An id as it is on the wire: decimal digits without sign or leading zeros. */
export function idTextFault(value: unknown): string | null {
  return typeof value === 'string' && DECIMAL.test(value) && BigInt(value) <= MAX_ID
    ? null
    : `must be an id: decimal digits from 0 to ${MAX_ID}`
}

/** A position as it is on the wire. */
export function positionTextFault(value: unknown): string | null {
  const fault = value === '-1' ? null : idTextFault(value)
  return fault === null ? null : `${fault}, or -1`
}

/** A time in milliseconds since 1970, as a `Date` holds it. */
function timeFault(value: unknown): string | null {
  if (!(value instanceof Date)) return 'must be a Date'
  const ms = value.getTime()
  return ms >= 0 && ms <= MAX_TIME_MS ? null : 'must be a time from 1970 to 9999'
}

const RFC_3339 = /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?(?:[Zz]|([+-])(\d{2}):(\d{2}))$/

/** Milliseconds since 1970 of an RFC 3339 time, cut (not rounded) to milliseconds; null for what is none. */
function timeFromText(text: string): number | null {
  const match = RFC_3339.exec(text)
  if (!match) return null
  const [, year, month, day, hour, minute, second, fraction, sign, offsetHour, offsetMinute] = match
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return null
  if (sign && (Number(offsetHour) > 23 || Number(offsetMinute) > 59)) return null
  const midnight = new Date(`${year}-${month}-${day}T00:00:00Z`)
  if (Number.isNaN(midnight.getTime()) || midnight.getUTCDate() !== Number(day)) return null
  const offset = (Number(offsetHour ?? 0) * 60 + Number(offsetMinute ?? 0)) * (sign === '-' ? -1 : 1)
  const seconds = (Number(hour) * 60 + Number(minute) - offset) * 60 + Number(second)
  return midnight.getTime() + seconds * 1000 + Number((fraction ?? '').slice(0, 3).padEnd(3, '0'))
}

/** An RFC 3339 time with any offset, years 1970 to 9999 (in UTC). */
function timeTextFault(value: unknown): string | null {
  if (readTime(value) !== undefined) return null
  return typeof value === 'string' && timeFromText(value) !== null
    ? 'must be a time from 1970 to 9999'
    : 'must be an RFC 3339 time such as "2026-11-21T10:00:00Z"'
}

function readTime(value: unknown): Date | undefined {
  const ms = typeof value === 'string' ? timeFromText(value) : null
  return ms !== null && ms >= 0 && ms <= MAX_TIME_MS ? new Date(ms) : undefined
}

/** The fault of a prefix of table names; null for one that can be used. With it no name exceeds 64 characters. */
export function tablePrefixFault(prefix: unknown): string | null {
  if (typeof prefix === 'string' && /^[a-z][a-z0-9_]{0,31}$/.test(prefix)) return null
  return 'must be 1 to 32 characters of a-z, 0-9 and _, and begin with a letter'
}

export const NAME: Field<string> = { fault: nameFault, schema: ref('Name') }
export const nameFaults = (parameter: string, value: unknown) => argumentFaults(parameter, value, NAME)
/** A prefix of names; '' selects all of them. */
export const PREFIX: Field<string> = {
  fault: (value) => (value === '' ? null : nameFault(value)),
  schema: { type: 'string' },
}
/** A part of a name may be what no whole name is. */
const partFault: Rule = (value) => (value === '.' || value === '..' ? null : PREFIX.fault(value))
export const PART: Field<string> = { ...PREFIX, fault: partFault }
/** A value that is a bigint in the library and decimal digits on the wire. */
export const digits = (fault: Rule, textFault: Rule, component: string): Field<bigint> => ({
  fault,
  schema: ref(component),
  wire: { fault: textFault, read: (value) => (textFault(value) === null ? BigInt(value as string) : undefined) },
})
export const ID = digits(idFault, idTextFault, 'Id')
export const POSITION = digits(positionFault, positionTextFault, 'Position')
export const TIME: Field<Date> = {
  fault: timeFault,
  schema: ref('Time'),
  wire: { fault: timeTextFault, read: readTime },
}
export const TABLE_PREFIX: Field<string> = { fault: tablePrefixFault, schema: { type: 'string' } }

/** A whole number from `min` to `max`. */
export function whole(min: number, max: number): Field<number> {
  return {
    fault: (value) => integerFault(value, min, max),
    schema: { type: 'integer', minimum: min, maximum: max },
  }
}

/** A field with a default for a value that is left out; the document states it. */
export type Defaulted<T> = Field<T> & { readonly default: T }
export function defaulted<T>(field: Field<T>, byDefault: T, description?: string): Defaulted<T> {
  const schema = { ...field.schema, default: byDefault, ...(description !== undefined && { description }) }
  return { ...field, default: byDefault, schema }
}

const kind =
  <T>(isOne: (value: unknown) => boolean, detail: string, schema: Schema = {}) =>
  (description?: string): Field<T> => ({
    fault: (value) => (isOne(value) ? null : detail),
    schema: description === undefined ? schema : { ...schema, description },
  })
export const flag = kind<boolean>((value) => typeof value === 'boolean', 'must be true or false', { type: 'boolean' })
export const text = kind<string>((value) => typeof value === 'string', 'must be a string', { type: 'string' })
export const SIGNAL = kind<AbortSignal>((value) => value instanceof AbortSignal, 'must be an AbortSignal')()

export function oneOf<const W extends string>(words: readonly W[]): Field<W> {
  return {
    fault: (value) => (words.includes(value as W) ? null : `must be one of ${words.join(', ')}`),
    schema: { enum: [...words] },
  }
}

/** How JSON values are given: parsed, or as `JsonText`. */
const FORMS = ['value', 'text'] as const
export const FORM: Field<(typeof FORMS)[number]> = {
  fault: (value) => (FORMS.includes(value as 'value') ? null : 'must be "value" or "text"'),
  schema: {},
}

/** Any JSON value whose text has at most `maxBytes` in UTF-8. A `JsonText` is checked for its size only. */
export function json(maxBytes: number): Field & { readonly isJson: true } {
  const [kib, depth] = [maxBytes / 1024, MAX_JSON_DEPTH]
  return {
    fault(value) {
      if (value === undefined) return 'is required'
      const fault = value instanceof JsonText ? null : jsonFault(value)
      if (fault !== null) return fault
      const text = jsonTextOf(value)
      // A UTF-16 unit takes at most three bytes, so that only a long text must be counted.
      if (text.length <= maxBytes / 3) return null
      return Buffer.byteLength(text, 'utf8') > maxBytes ? `must have at most ${kib} KiB as JSON` : null
    },
    schema: {
      description: `Any JSON value of at most ${kib} KiB and ${depth} levels; stored and given back unchanged.`,
    },
    isJson: true,
  }
}
export const PAYLOAD = json(MAX_PAYLOAD_BYTES)
export const VALUE = json(MAX_VALUE_BYTES)

/** The options of every list. */
export const PAGE_LIMIT = defaulted(whole(1, MAX_BATCH), 100)
export const page = { limit: optional(PAGE_LIMIT), after: optional(text()) }
const PAGE_RULES = rulesOf(page)
export const prefixPage = { ...page, prefix: optional(PREFIX), contains: optional(PART) }
export const PREFIX_PAGE_RULES = rulesOf(prefixPage)

/** A page of a list, with the limit set; `rules` for what else the list takes. */
export function checkedPage<T extends { limit?: number | undefined }>(
  given: T,
  rules = PAGE_RULES,
): T & { limit: number } {
  refuse(faultsOf(given, rules))
  return { ...given, limit: given.limit ?? PAGE_LIMIT.default }
}

/** The components of the OpenAPI document that the fields here refer to. */
export const VALUE_SCHEMAS: Readonly<Record<string, Schema>> = {
  Name: {
    type: 'string',
    minLength: 1,
    maxLength: MAX_NAME_CODE_POINTS,
    description:
      'Well-formed Unicode without control characters, neither "." nor "..". Two names are the same only when they are ' +
      'the same bytes.',
  },
  Id: { type: 'string', pattern: DECIMAL.source, description: `From "0" to "${MAX_ID}".` },
  Position: {
    type: 'string',
    pattern: '^(-1|0|[1-9][0-9]{0,18})$',
    description:
      'The id of the newest item that a listener knows of, which is `totalAppended` less one; "-1" where there was none.',
  },
  TotalAppended: {
    type: 'string',
    pattern: DECIMAL.source,
    description: `How many appends there were, ever: from "0" to "${MAX_ID + 1n}".`,
  },
  Time: {
    type: 'string',
    format: 'date-time',
    description: 'RFC 3339, years 1970 to 9999; cut to milliseconds. Answers are in UTC.',
  },
}
