/**
 * The quick way for the bodies that append. Nearly all of them are valid, and to see that takes far less than
 * class-validator needs. A function here answers what a surely valid body asks to append, and null where it isn't sure:
 * the DTOs decide then, and they alone say what is wrong. Both go by the rules of `rules.ts`; a property test holds
 * their verdicts equal.
 */

import { MAX_BATCH, nameFault, payloadFault, timeFromText, timeTextFault } from '../../fields/rules'
import { JsonText, jsonFault } from '../../json'
import type { NewGroupItem, NewItem } from '../../repositories/recent/types'
import type { JsonBody } from './body'
import { elementSources, memberStart, type Source, valueSource, wholeSource } from './json-source'

/** The item of a body that is surely one. */
export function quickItem(body: JsonBody): NewItem | null {
  const { value } = body
  if (!isObject(value)) return null
  const source = wholeSource(body)
  const item: NewItem = { member: null, payload: null, occurredAt: null, eventId: null }
  for (const key of Object.keys(value)) if (!readField(item, key, value[key], source)) return null
  return item
}

/** The items of a body that is surely a batch. */
export function quickBatch(body: JsonBody): NewGroupItem[] | null {
  return quickList(body, 'items', groupItem)
}

/** What `read` makes of each element, of a body that is surely `{"<name>": [1 to 1,000]}`. */
export function quickList<T>(
  body: JsonBody,
  name: string,
  read: (value: unknown, source: Source) => T | null,
): T[] | null {
  const { value } = body
  if (!isObject(value) || Object.keys(value).length !== 1 || !Object.hasOwn(value, name)) return null
  const given = value[name]
  if (!Array.isArray(given) || given.length < 1 || given.length > MAX_BATCH) return null
  const sourceAt = elementSources(body, name)
  const list: T[] = []
  for (let i = 0; i < given.length; i++) {
    const one = read(given[i], sourceAt(i))
    if (one === null) return null
    list.push(one)
  }
  return list
}

function groupItem(value: unknown, source: Source): NewGroupItem | null {
  if (!isObject(value)) return null
  const item: NewGroupItem = { group: '', member: null, payload: null, occurredAt: null, eventId: null }
  for (const key of Object.keys(value)) {
    const given = value[key]
    if (key === 'group') {
      if (nameFault(given) !== null) return null
      item.group = given as string
    } else if (!readField(item, key, given, source)) return null
  }
  return item.group === '' ? null : item
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Puts a field of a body into the item; false when it is not known or not surely valid. */
function readField(item: NewItem, key: string, given: unknown, source: Source): boolean {
  switch (key) {
    case 'member':
    case 'eventId':
      if (given === null || given === undefined) return true
      if (nameFault(given) !== null) return false
      item[key] = given as string
      return true
    case 'occurredAt':
      if (given === null || given === undefined) return true
      if (timeTextFault(given) !== null) return false
      item.occurredAt = new Date(timeFromText(given as string) as number)
      return true
    case 'payload':
      if (given === null || given === undefined) return true
      if (jsonFault(given, source !== null) !== null) return false
      item.payload = memberText('payload', given, source)
      return payloadFault(item.payload) === null
    default:
      return false
  }
}

/** The text of a member of an object (a payload, say) that `jsonFault` finds nothing wrong with. */
export function memberText(name: string, value: unknown, source: Source): JsonText {
  if (source === null) return new JsonText(JSON.stringify(value))
  return new JsonText(valueSource(source.text, memberStart(source.text, source.start, name)))
}
