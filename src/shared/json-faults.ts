/** Values that can be stored as JSON, and their length. */
import { JsonText, jsonTextOf } from './json'
import { escaped } from './recentn-error'

/** The deepest nesting that is taken: `[]` is one level, `[[]]` two. */
export const MAX_JSON_DEPTH = 64

/** How many bytes a text, or null, takes as JSON in UTF-8: of what is escaped a character takes up to six. */
export function jsonBytes(text: string | null): number {
  return Buffer.byteLength(JSON.stringify(text), 'utf8')
}

/**
 * The reason why a parsed value cannot be stored as JSON, or null. It may have a value without a form in JSON (a function,
 * `undefined` in an array, NaN, a bigint, a `Map`). Or it has a lone surrogate, a cycle, or over `MAX_JSON_DEPTH` levels. Never
 * recurses deeper than that. `overflow`: the value comes from a text that will be kept, so that a number beyond the range
 * of a double is no fault.
 */
export function jsonFault(value: unknown, overflow = false): string | null {
  const fault = faultIn(value, overflow, MAX_JSON_DEPTH)
  // A path of 64 keys says nothing.
  return fault === null || fault.at === '' || fault.detail === TOO_DEEP
    ? (fault?.detail ?? null)
    : `${fault.detail}, at ${fault.at}`
}

const TOO_DEEP = `is nested more than ${MAX_JSON_DEPTH} levels deep`

/** `at` is a pointer, '' for the whole. `deepest`: what was too deep. */
interface Found {
  at: string
  detail: string
  deepest?: object
}
const found = (detail: string, deepest?: object): Found => ({ at: '', detail, ...(deepest && { deepest }) })

/** The fault of a member, as that of what it is in. A value that is too deep and in itself is circular. */
function within(value: object, key: string | number, fault: Found): Found {
  if (fault.deepest === value) return { ...fault, at: '', detail: 'is circular' }
  fault.at = `/${escaped(String(key))}${fault.at}`
  return fault
}

function faultIn(value: unknown, overflow: boolean, left: number): Found | null {
  switch (typeof value) {
    case 'string':
      return value.isWellFormed() ? null : found('has a string with a lone surrogate')
    case 'boolean':
      return null
    case 'number':
      return overflow || Number.isFinite(value) ? null : found(`has the number ${value}, for which JSON has no form`)
    case 'object':
      break
    default:
      return found(`has a value of type ${typeof value}, for which JSON has no form`)
  }
  if (value === null) return null
  if (left <= 0) return found(TOO_DEEP, value)
  return Array.isArray(value) ? arrayFault(value, overflow, left) : objectFault(value, overflow, left)
}

/**
 * The text of a value that is surely JSON of at most `maxBytes` in UTF-8, so that it is written once, to be checked and to
 * be stored. Null if that is not sure: then the rules of the field decide.
 */
export function sureText(value: unknown, maxBytes: number): string | null {
  if (!(value instanceof JsonText) && jsonFault(value) !== null) return null
  const text = jsonTextOf(value)
  // A UTF-16 unit takes at most three bytes.
  return text.length <= maxBytes / 3 ? text : null
}

function arrayFault(value: readonly unknown[], overflow: boolean, left: number): Found | null {
  for (let index = 0; index < value.length; index++) {
    const fault = faultIn(value[index], overflow, left - 1)
    if (fault !== null) return within(value, index, fault)
  }
  return null
}

function objectFault(value: object, overflow: boolean, left: number): Found | null {
  // A Date, and whatever else says how it wants to be written, is judged by what it writes.
  if (typeof (value as { toJSON?: unknown }).toJSON === 'function') {
    return faultIn((value as { toJSON(): unknown }).toJSON(), overflow, left - 1)
  }
  const keys = Object.keys(value)
  if (keys.length === 0) return emptyFault(value)
  for (const key of keys) {
    if (!key.isWellFormed()) return found('has a key with a lone surrogate')
    const member = (value as Record<string, unknown>)[key]
    if (member === undefined) continue // JSON.stringify leaves it out, as everyone expects
    const fault = faultIn(member, overflow, left - 1)
    if (fault !== null) return within(value, key, fault)
  }
  return null
}

/** JSON has `{}` for a `Map`, a `Set`, a promise or an error: what is in them would be lost. */
function emptyFault(value: object): Found | null {
  const kind = Object.prototype.toString.call(value).slice(8, -1)
  if (EMPTY.has(kind)) return null
  return found(`has a ${kind}, for which JSON has no form`)
}
const EMPTY = new Set(['Object', 'String', 'Number', 'Boolean'])
