/**
 * What a name, a time, a number and a payload must be. One function a rule, each answering what is wrong or null;
 * the library and the HTTP DTOs share them, so that the two can't disagree.
 */
import { JsonText, jsonFault, jsonTextOf } from '../json'

export const MAX_NAME_CODE_POINTS = 191
export const MAX_PAYLOAD_BYTES = 64 * 1024
export const MAX_CAPACITY = 10_000
export const MAX_BATCH = 1000
export const MAX_ID = 9_223_372_036_854_775_807n
/** Ten thousand years: what keeps every sum of times far inside a BIGINT. */
export const MAX_TTL_SECONDS = 315_360_000_000
/** 9999-12-31T23:59:59.999Z */
export const MAX_TIME_MS = 253_402_300_799_999

export const MODES = ['history', 'distinct'] as const
export type Mode = (typeof MODES)[number]

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
  if (typeof value !== 'number' || !Number.isInteger(value) || value < min || value > max) {
    return `must be a whole number from ${min} to ${max}`
  }
  return null
}

/** An id: a bigint from 0 to 2^63 - 1. */
export function idFault(value: unknown): string | null {
  return typeof value === 'bigint' && value >= 0n && value <= MAX_ID ? null : `must be an id from 0 to ${MAX_ID}`
}

/** The newest item that a listener knows of; −1 where it knows that there was none. */
export function positionFault(value: unknown): string | null {
  return value === -1n || idFault(value) === null ? null : `must be an id from 0 to ${MAX_ID}, or -1`
}

/** How JSON values are given: parsed, or as `JsonText`. */
export function formFault(value: unknown): string | null {
  return value === 'value' || value === 'text' ? null : 'must be "value" or "text"'
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

export function modeFault(value: unknown): string | null {
  return MODES.includes(value as Mode) ? null : `must be one of ${MODES.join(', ')}`
}

/** A time in milliseconds since 1970, as a `Date` holds it. */
export function timeFault(value: unknown): string | null {
  if (!(value instanceof Date)) return 'must be a Date'
  const ms = value.getTime()
  return ms >= 0 && ms <= MAX_TIME_MS ? null : 'must be a time from 1970 to 9999'
}

const RFC_3339 = /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?(?:[Zz]|([+-])(\d{2}):(\d{2}))$/

/** Milliseconds since 1970 of an RFC 3339 time, cut (not rounded) to milliseconds; null for what is none. */
export function timeFromText(text: string): number | null {
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
export function timeTextFault(value: unknown): string | null {
  if (typeof value !== 'string') return 'must be an RFC 3339 time such as "2026-11-21T10:00:00Z"'
  const ms = timeFromText(value)
  if (ms === null) return 'must be an RFC 3339 time such as "2026-11-21T10:00:00Z"'
  return ms >= 0 && ms <= MAX_TIME_MS ? null : 'must be a time from 1970 to 9999'
}

/** A payload: any JSON value whose text has at most 64 KiB in UTF-8. A `JsonText` is checked for its size only. */
export function payloadFault(value: unknown): string | null {
  const fault = value instanceof JsonText ? null : jsonFault(value)
  if (fault !== null) return fault
  const text = jsonTextOf(value)
  // A UTF-16 unit takes at most three bytes, so that only a long text must be counted.
  if (text.length <= MAX_PAYLOAD_BYTES / 3) return null
  return Buffer.byteLength(text, 'utf8') > MAX_PAYLOAD_BYTES ? 'must have at most 64 KiB as JSON' : null
}

/** The fault of a prefix of table names; null for one that can be used. With it no name exceeds 64 characters. */
export function tablePrefixFault(prefix: unknown): string | null {
  if (typeof prefix === 'string' && /^[a-z][a-z0-9_]{0,31}$/.test(prefix)) return null
  return 'must be 1 to 32 characters of a-z, 0-9 and _, and begin with a letter'
}
