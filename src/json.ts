/**
 * JSON as recentn keeps it: text that goes in and comes out unchanged.
 *
 * `JSON.parse` rounds numbers to doubles, so a payload that only passes through is carried as its source text
 * (`JsonText`) and never parsed on the way back.
 */

/** The deepest nesting that is taken: `[]` is one level, `[[]]` two. */
export const MAX_JSON_DEPTH = 64

/**
 * A JSON value as its text. Give one as a `payload` to store the text as it is, and ask for one
 * (`payloads: 'text'`) to pass it on without parsing. The maker vouches that the text is one well-formed
 * JSON value that `jsonFault` finds nothing wrong with; nothing checks it again.
 */
export class JsonText {
  constructor(readonly text: string) {}

  /** The value; numbers become doubles. */
  parse(): unknown {
    return JSON.parse(this.text)
  }

  toJSON(): unknown {
    return this.parse()
  }
}

/** A JSON value or its text. */
export function jsonTextOf(value: unknown): string {
  return value instanceof JsonText ? value.text : JSON.stringify(value)
}

/** How many bytes a text, or null, takes as JSON in UTF-8: of what is escaped a character takes up to six. */
export function jsonBytes(text: string | null): number {
  return Buffer.byteLength(JSON.stringify(text), 'utf8')
}

/**
 * What keeps a parsed value from being stored as JSON, or null: something JSON has no form for (a function, `undefined`
 * in an array, NaN, a bigint), a lone surrogate in a string or key, a cycle, or more than `MAX_JSON_DEPTH` levels.
 * Never recurses deeper than that, whatever it is given. `overflow`: the value comes from a text that will be kept, so
 * that a number beyond the range of a double is no fault.
 */
export function jsonFault(value: unknown, overflow = false, depth = 1): string | null {
  switch (typeof value) {
    case 'string':
      return value.isWellFormed() ? null : 'has a string with a lone surrogate'
    case 'boolean':
      return null
    case 'number':
      return overflow || Number.isFinite(value) ? null : `has the number ${value}, for which JSON has no form`
    case 'object':
      break
    default:
      return `has a value of type ${typeof value}, for which JSON has no form`
  }
  if (value === null) return null
  if (depth > MAX_JSON_DEPTH) return `is nested more than ${MAX_JSON_DEPTH} levels deep`
  return Array.isArray(value) ? arrayFault(value, overflow, depth) : objectFault(value, overflow, depth)
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

function arrayFault(value: readonly unknown[], overflow: boolean, depth: number): string | null {
  for (const element of value) {
    const fault = jsonFault(element, overflow, depth + 1)
    if (fault !== null) return fault
  }
  return null
}

function objectFault(value: object, overflow: boolean, depth: number): string | null {
  // A Date, and whatever else says how it wants to be written, is judged by what it writes.
  if (typeof (value as { toJSON?: unknown }).toJSON === 'function') {
    return jsonFault((value as { toJSON(): unknown }).toJSON(), overflow, depth + 1)
  }
  for (const key of Object.keys(value)) {
    if (!key.isWellFormed()) return 'has a key with a lone surrogate'
    const member = (value as Record<string, unknown>)[key]
    if (member === undefined) continue // JSON.stringify leaves it out, as everyone expects
    const fault = jsonFault(member, overflow, depth + 1)
    if (fault !== null) return fault
  }
  return null
}
