/**
 * The ring of one group during a transaction: gives out the next ids, finds the slot of each, and keeps the last write of
 * every slot, so that a batch that wraps around the ring writes only the rows that remain. No statements; the caller holds
 * the head's lock.
 */

import { MAX_ID } from '../../fields/rules'
import { RecentnError } from '../../shared/errors'
import type { Head, ItemRow, Occupant } from './rows'
import { expired, slotOf } from './window'

/** A checked item that is to be appended. */
export interface NewItemRow {
  group: string
  member: string | null
  payload: string | null
  occurredAtMs: number | null
  eventId: string | null
}

export class Ring {
  /** `history`: all rows in their order. `distinct`: none. */
  readonly #appended: ItemRow[] = []
  /** `distinct`: the last row of each slot. */
  readonly #bySlot: Map<number, ItemRow> | null
  /** The items with an event id; null until there is one. */
  #events: Map<string, Occupant> | null = null
  /** `distinct`: the members' items, oldest first. */
  readonly #members: Map<string, Occupant> | null
  readonly #free: number[] = []
  /** `history` only: the slot of the next id. */
  #nextSlot: number

  /** `occupants`: in `distinct` mode all of them, in `history` mode those with an event id that may come again. */
  constructor(
    readonly head: Head,
    occupants: readonly Occupant[],
    readonly nowMs: number,
  ) {
    this.#nextSlot = slotOf(head.lastId + 1n, head.capacity)
    this.#members = head.mode === 'distinct' ? new Map() : null
    this.#bySlot = head.mode === 'distinct' ? new Map() : null
    if (occupants.length > 0) this.#know(occupants)
    if (this.#members === null) return
    const taken = new Set(occupants.map(({ slot }) => slot))
    for (let slot = head.capacity - 1; slot >= 0 && this.#members.size < head.capacity; slot--) {
      if (!taken.has(slot)) this.#free.push(slot)
    }
  }

  #know(occupants: readonly Occupant[]): void {
    const oldestFirst = [...occupants].sort((a, b) => (a.id < b.id ? -1 : 1))
    for (const occupant of oldestFirst) {
      if (occupant.eventId !== null) this.#knowEvent(occupant.eventId, occupant)
      if (occupant.member !== null) this.#members?.set(occupant.member, occupant)
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
    if (this.#members !== null) {
      return this.#members.get(occupant.member as string)?.id === occupant.id ? occupant : null
    }
    return occupant.id > this.head.lastId - BigInt(this.head.capacity) ? occupant : null
  }

  /** Gives the item the next id and its slot. Throws `sequence_exhausted` after the last BIGINT. */
  append({ group, member, payload, occurredAtMs, eventId }: NewItemRow): ItemRow {
    const { head, nowMs } = this
    if (head.lastId >= MAX_ID) {
      throw new RecentnError(
        'sequence_exhausted',
        `Group ${JSON.stringify(group)} has given out its last id, ${MAX_ID}`,
      )
    }
    const id = head.lastId + 1n
    head.lastId = id
    const slot = this.#members === null ? this.#nextSlot : this.#slotFor(this.#members, member as string)
    this.#nextSlot = this.#nextSlot + 1 === head.capacity ? 0 : this.#nextSlot + 1
    const row: ItemRow = { group, slot, id, member, eventId, createdAtMs: nowMs, payload, occurredAtMs }
    if (this.#bySlot === null) this.#appended.push(row)
    else this.#bySlot.set(slot, row)
    this.#members?.set(member as string, row)
    if (eventId !== null) this.#knowEvent(eventId, row)
    return row
  }

  /** `distinct`: the slot that the member has; if it has none, a free one, or that of the member seen longest ago. */
  #slotFor(members: Map<string, Occupant>, member: string): number {
    const own = members.get(member)
    if (own) {
      members.delete(member) // set again at the end, where the newest are
      return own.slot
    }
    const free = this.#free.pop()
    if (free !== undefined) return free
    const [oldest, occupant] = members.entries().next().value as [string, Occupant]
    members.delete(oldest)
    return occupant.slot
  }
}
