/** What the attributes of queues and messages must be, for the library and the HTTP DTOs alike: null, or what is wrong. */
import { JsonText, jsonFault, jsonTextOf } from '../json'
import { integerFault } from './rules'

export const MAX_MESSAGE_BYTES = 256 * 1024
export const MAX_VISIBILITY_SECONDS = 43_200
export const MAX_DELAY_SECONDS = 315_360_000
export const MAX_RECEIVES = 1_000_000
export const DEFAULT_MAX_RECEIVES = 5
export const MAX_PRIORITY = 1000
export const MAX_WAIT_SECONDS = 20
export const MAX_ERROR_CHARACTERS = 1000

export const MESSAGE_STATES = ['ready', 'in-flight', 'delayed', 'dead', 'archived'] as const
export const ORDERS = ['ready', 'cycle'] as const
export const ON_DELETE = ['remove', 'archive'] as const

/** How `ranOutError` begins. */
export const RAN_OUT = 'The visibility timeout ran out after '

/** The `lastError` of a message whose last claim ran out, where nobody had said what went wrong. */
export function ranOutError(receives: number): string {
  return `${RAN_OUT}${receives} ${receives === 1 ? 'receive' : 'receives'}.`
}

export function oneOfFault(value: unknown, words: readonly string[]): string | null {
  return words.includes(value as string) ? null : `must be one of ${words.join(', ')}`
}

export function visibilityFault(value: unknown): string | null {
  return integerFault(value, 0, MAX_VISIBILITY_SECONDS)
}

export function delayFault(value: unknown): string | null {
  return integerFault(value, 0, MAX_DELAY_SECONDS)
}

/** Of a limit that is not null; callers take null, no limit, as valid before they ask. */
export function maxReceivesFault(value: unknown): string | null {
  const fault = integerFault(value, 1, MAX_RECEIVES)
  return fault === null ? null : `${fault}, or null for no limit`
}

/** The fault of `paused` among the settings of a queue: an app that sets its queues up must not undo an operator's pause. */
export const NO_PAUSED = 'is not a setting: pause the queue with `pause`, and resume it with `resume`'

export function priorityFault(value: unknown): string | null {
  return integerFault(value, -MAX_PRIORITY, MAX_PRIORITY)
}

/** The body of a message: any JSON value whose text has at most 256 KiB in UTF-8. A `JsonText` is checked for its size only. */
export function bodyFault(value: unknown): string | null {
  if (value === undefined) return 'is required'
  const fault = value instanceof JsonText ? null : jsonFault(value)
  if (fault !== null) return fault
  const text = jsonTextOf(value)
  // A UTF-16 unit takes at most three bytes, so that only a long text must be counted.
  if (text.length <= MAX_MESSAGE_BYTES / 3) return null
  return Buffer.byteLength(text, 'utf8') > MAX_MESSAGE_BYTES ? 'must have at most 256 KiB as JSON' : null
}
