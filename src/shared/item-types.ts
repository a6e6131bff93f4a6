/** The shapes of items, as they are appended and given. */
import type { JsonText } from './json'
import type { Form } from './types'

/**
 * `history` keeps every item; `distinct` keeps each member once, with its newest item; `top` keeps the members with the highest
 * scores, each once.
 */
export type Mode = 'history' | 'distinct' | 'top'

/** An item to append. A field without a value is left out or null. */
export interface NewItem<Payload = unknown> {
  /** The member that the item belongs to; required in groups whose mode is `distinct` or `top`. */
  member?: string | null | undefined
  /** Any JSON value up to 64 KiB, or a `JsonText`. */
  payload?: Payload | JsonText | undefined
  /** When it happened, according to the caller. It has no effect on order or expiry. Years 1970 to 9999. */
  occurredAt?: Date | null | undefined
  /** Makes a retry safe: while an item of the window has it, appending it again appends nothing. */
  eventId?: string | null | undefined
  /** Required in groups whose mode is `top`, and kept in all. Whole numbers are exact up to 2^53. */
  score?: number | null | undefined
  /** In a `top` group, whether the member keeps the higher of two scores (when left out), or the latest. */
  keep?: 'highest' | 'latest' | null | undefined
}

export interface NewGroupItem<Payload = unknown> extends NewItem<Payload> {
  group: string
}

/** An item as it is stored. */
export interface Item<Payload = unknown> {
  group: string
  /** Its number in the group: 0, 1, 2 and so on to 2^63 - 1, without gap or reuse. */
  id: bigint
  /** Its place in the ring, from 0 to capacity - 1. */
  slot: number
  member: string | null
  score: number | null
  /** The value, or a `JsonText` where `payloads: 'text'` was asked. Null if it was left out. */
  payload: Payload
  occurredAt: Date | null
  eventId: string | null
  /** The database's time at the append. */
  createdAt: Date
}

/**
 * An appended item. `appended` is false if it was not appended because of another item, and then it is that one. That is an item with
 * its `eventId`, or in a `top` group the member's own or the last one of the full group, whose scores are not lower.
 */
export interface AppendedItem<Payload = unknown> extends Item<Payload> {
  appended: boolean
}

export interface PayloadOptions<Asked extends Form = Form> {
  /** `'text'` gives payloads as `JsonText`, unparsed. */
  payloads?: Asked | undefined
}
