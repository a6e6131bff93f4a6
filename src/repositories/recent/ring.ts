/**
 * The ring of one group during a transaction: gives out the next ids, finds the slot of each, and keeps the last write of
 * every slot, so that a batch that wraps around the ring writes only the rows that remain. No statements; the caller holds
 * the head's lock.
 */

import { MAX_ID } from '../../fields/rules'
import { RecentnError } from '../../shared/errors'
import type { NewItem } from '../../shared/group-types'
import { keptIn } from './kept'
import type { Head, ItemRow, Occupant } from './rows'
import { expired, slotOf } from './window'

/** A checked item that is to be appended. */
export interface NewItemRow {
  group: string
  member: string | null
  payload: string | null
  occurredAtMs: number | null
  eventId: string | null
  score: number | null
  keep: NewItem['keep'] | null
}

export function exhausted(group: string): RecentnError {
  const message = `Group ${JSON.stringify(group)} has given out its last id, ${MAX_ID}`
  return new RecentnError('sequence_exhausted', message)
}

export class Ring {
  /** `history`: all rows in their order. Otherwise none. */
  readonly #appended: ItemRow[] = []
  /** `distinct` and `top`: the last row of each slot. */
  readonly #bySlot: Map<number, ItemRow> | null
  /** The items with an event id; null until there is one. */
  #events: Map<string, Occupant> | null = null
  readonly #kept: ReturnType<typeof keptIn>
  /** `history` only: the slot of the next id. */
  #nextSlot: number

  /** `occupants`: all of them, but in `history` mode those with an event id that may come again. */
  constructor(
    readonly head: Head,
    occupants: readonly Occupant[],
    readonly nowMs: number,
  ) {
    this.#nextSlot = slotOf(head.lastId + 1n, head.capacity)
    this.#kept = keptIn(head, occupants, nowMs)
    this.#bySlot = this.#kept && new Map()
    if (occupants.length > 0) this.#knowEvents(occupants)
  }

  #knowEvents(occupants: readonly Occupant[]): void {
    const withEvents = occupants.filter(({ eventId }) => eventId !== null)
    for (const occupant of withEvents.sort((a, b) => (a.id < b.id ? -1 : 1))) {
      this.#knowEvent(occupant.eventId as string, occupant)
    }
  }

  #knowEvent(eventId: string, occupant: Occupant): void {
    this.#events ??= new Map()
    this.#events.set(eventId, occupant)
  }

  get isChanged(): boolean {
    return this.#appended.length > 0 || (this.#bySlot !== null && this.#bySlot.size > 0)
  }

  /** The last write of each slot. */
  get writes(): Iterable<ItemRow> {
    return this.#bySlot?.values() ?? this.#appended.slice(-this.head.capacity)
  }

  withEvent(eventId: string): Occupant | null {
    const occupant = this.#events?.get(eventId)
    if (!occupant || expired(occupant, this.head, this.nowMs)) return null
    if (this.#kept !== null) {
      return this.#kept.members.get(occupant.member as string)?.id === occupant.id ? occupant : null
    }
    return occupant.id > this.head.lastId - BigInt(this.head.capacity) ? occupant : null
  }

  /** The item that an append of this one is answered with, because it is not kept beside it; null where it is appended. */
  standing(item: NewItemRow): Occupant | null {
    return this.#kept === null ? null : this.#kept.standing(item)
  }

  /** Gives the item the next id and its slot. Throws `sequence_exhausted` after the last BIGINT. */
  append({ group, member, payload, occurredAtMs, eventId, score }: NewItemRow): ItemRow {
    const { head, nowMs } = this
    if (head.lastId >= MAX_ID) throw exhausted(group)
    const id = head.lastId + 1n
    head.lastId = id
    const slot = this.#kept === null ? this.#nextSlot : this.#kept.slotFor(member as string)
    this.#nextSlot = this.#nextSlot + 1 === head.capacity ? 0 : this.#nextSlot + 1
    const row: ItemRow = { group, slot, id, member, eventId, score, createdAtMs: nowMs, payload, occurredAtMs }
    if (this.#bySlot === null) this.#appended.push(row)
    else this.#bySlot.set(slot, row)
    this.#kept?.put(row)
    if (eventId !== null) this.#knowEvent(eventId, row)
    return row
  }
}
