/**
 * The quick way for the bodies that write to feeds, as `quick-items.ts` is for those that append: it answers what a surely
 * valid body asks to write, and null where it isn't sure. A property test holds its verdicts equal to those of the DTOs.
 */

import { bodyFault } from '../../fields/queue-rules'
import { nameFault } from '../../fields/rules'
import { type JsonText, jsonFault } from '../../json'
import type { NewEntry } from '../../repositories/feeds/types'
import type { JsonBody } from './body'
import { type Source, wholeSource } from './json-source'
import { isObject, memberText, quickList } from './quick-items'

/** The value of a body that surely gives one. */
export function quickValue(body: JsonBody): JsonText | null {
  const { value } = body
  return isObject(value) && Object.keys(value).length === 1 ? textAt(value, wholeSource(body)) : null
}

/** The entries of a body that is surely a list of them. */
export function quickEntries(body: JsonBody): NewEntry[] | null {
  return quickList(body, 'entries', entryAt)
}

function entryAt(entry: unknown, source: Source): NewEntry | null {
  if (!isObject(entry) || Object.keys(entry).length !== 2 || !Object.hasOwn(entry, 'key')) return null
  const { key } = entry
  if (nameFault(key) !== null) return null
  const value = textAt(entry, source)
  return value === null ? null : { key: key as string, value }
}

/** The text of the member `value` of an object. */
function textAt(given: Record<string, unknown>, source: Source): JsonText | null {
  if (!Object.hasOwn(given, 'value') || jsonFault(given.value, source !== null) !== null) return null
  const text = memberText('value', given.value, source)
  return bodyFault(text) === null ? text : null
}
