/**
 * The quick way for the bodies that send messages, as `quick-items.ts` is for those that append: it answers what a surely
 * valid body asks to send, and null where it isn't sure. A property test holds its verdicts equal to those of the DTOs.
 */

import { bodyFault, delayFault, maxReceivesFault, priorityFault, visibilityFault } from '../../fields/queue-rules'
import { nameFault } from '../../fields/rules'
import { jsonFault } from '../../json'
import type { NewMessage, SendOptions } from '../../repositories/queues/types'
import type { JsonBody } from './body'
import { type Source, wholeSource } from './json-source'
import { isObject, memberText, quickList } from './quick-items'

const RULES: ReadonlyMap<string, (value: unknown) => string | null> = new Map<
  keyof SendOptions,
  (value: unknown) => string | null
>([
  ['delaySeconds', delayFault],
  ['visibilityTimeoutSeconds', visibilityFault],
  ['maxReceives', maxReceivesFault],
  ['dedupId', nameFault],
  ['priority', priorityFault],
  ['messageGroup', nameFault],
])

/** The message of a body that is surely one. */
export function quickMessage(body: JsonBody): NewMessage | null {
  return messageAt(body.value, wholeSource(body))
}

/** The messages of a body that is surely a list of them. */
export function quickMessages(body: JsonBody): NewMessage[] | null {
  return quickList(body, 'messages', messageAt)
}

function messageAt(value: unknown, source: Source): NewMessage | null {
  if (!isObject(value)) return null
  const message: NewMessage = {
    body: undefined,
    delaySeconds: undefined,
    visibilityTimeoutSeconds: null,
    maxReceives: undefined,
    dedupId: null,
    priority: undefined,
    messageGroup: null,
  }
  for (const key of Object.keys(value)) if (!readField(message, key, value[key], source)) return null
  return message.body === undefined ? null : message
}

/** Puts a field of a body into the message; false when it is not known or not surely valid. */
function readField(message: NewMessage, key: string, given: unknown, source: Source): boolean {
  if (key === 'body') {
    if (jsonFault(given, source !== null) !== null) return false
    message.body = memberText(key, given, source)
    return bodyFault(message.body) === null
  }
  const rule = RULES.get(key)
  if (rule === undefined) return false
  if (given === undefined) return true
  if (given === null) {
    if (key === 'maxReceives') message.maxReceives = null
    return true
  }
  if (rule(given) !== null) return false
  ;(message as unknown as Record<string, unknown>)[key] = given
  return true
}
