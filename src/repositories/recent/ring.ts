/**
 * The ring of one group during a transaction: gives out the next ids and finds the slot of each. It keeps the last write of
 * every slot, so that a batch that wraps around the ring writes only the rows that remain. No statements; the caller holds
 * the head's lock.
 */

import { MAX_ID } from '../../fields/rules'
import { RecentnError } from '../../shared/errors'
import type { NewItem } from '../../shared/group-types'
import { byRank, type Head, type ItemRow, type Occupant } from './rows'
import { expired, slotOf } from './window'

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
  #events: Map<string, Occupant> | null = null
  readonly #kept: ReturnType<typeof keptIn>
  /** `history` only: the slot of the next id. */
  #nextSlot: number

  /** `occupants`: all of them in the order of pages, but in `history` mode those with an event id that may come again, in any. */
  constructor(
    readonly head: Head,
    occupants: readonly Occupant[],
    readonly nowMs: number,
  ) {
    this.#nextSlot = slotOf(head.lastId + 1n, head.capacity)
    this.#kept = keptIn(head, occupants, nowMs)
    this.#bySlot = this.#kept && new Map()
    if (occupants.some(({ eventId }) => eventId !== null)) this.#knowEvents(occupants)
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

type ByMember = Map<string, Occupant>

/** The members that a `distinct` or `top` group keeps, a slot for each: which an append replaces, and whether it is kept. */
abstract class Kept {
  readonly members: ByMember
  readonly #free: number[] = []

  constructor({ capacity }: Head, members: ByMember, occupants: readonly Occupant[]) {
    this.members = members
    if (members.size === capacity) return
    const taken = new Set(occupants.map(({ slot }) => slot))
    for (let slot = capacity - 1; slot >= 0 && members.size < capacity; slot--) {
      if (!taken.has(slot)) this.#free.push(slot)
    }
  }

  /** The item that an append leaves as it is, and gives back in its place; null where it is to be appended. */
  abstract standing(item: NewItemRow): Occupant | null

  /** The member that has to go for another one. */
  protected abstract last(): Occupant

  /** The member's item is now this one, in the slot that it was given. */
  abstract put(item: Occupant): void

  /** The slot that the member has; if it has none, a free one, or that of the member that has to go. */
  slotFor(member: string): number {
    const own = this.members.get(member)
    if (own) return own.slot
    const free = this.#free.pop()
    if (free !== undefined) return free
    const last = this.last()
    this.members.delete(last.member as string)
    return last.slot
  }
}

class LastSeen extends Kept {
  constructor(head: Head, occupants: readonly Occupant[]) {
    const members: ByMember = new Map()
    for (let at = occupants.length - 1; at >= 0; at--) {
      const occupant = occupants[at] as Occupant
      if (occupant.member !== null) members.set(occupant.member, occupant)
    }
    super(head, members, occupants)
  }

  standing(): null {
    return null
  }

  protected last(): Occupant {
    return this.members.values().next().value as Occupant
  }

  put(item: Occupant): void {
    // At the end, where the newest are.
    this.members.delete(item.member as string)
    this.members.set(item.member as string, item)
  }
}

/** The members of a `top` group: those with the highest scores. One that has expired gives way to any. */
class Top extends Kept {
  readonly #isAlive: (occupant: Occupant) => boolean
  readonly #capacity: number
  #last: Occupant | null = null

  constructor(head: Head, occupants: readonly Occupant[], nowMs: number) {
    const members: ByMember = new Map()
    for (const occupant of occupants) if (occupant.member !== null) members.set(occupant.member, occupant)
    super(head, members, occupants)
    this.#capacity = head.capacity
    this.#isAlive = (occupant) => !expired(occupant, head, nowMs)
  }

  /** The member's own item, if its score is not lower; or the last of a full group, if its score is not lower. */
  standing({ member, score, keep }: NewItemRow): Occupant | null {
    const own = this.members.get(member as string)
    if (own === undefined && this.members.size < this.#capacity) return null
    const rival = own ?? this.last()
    if (!this.#isAlive(rival) || (own && keep === 'latest')) return null
    return (score as number) > (rival.score as number) ? null : rival
  }

  protected last(): Occupant {
    this.#last ??= [...this.members.values()].reduce((last, one) => (this.#isBehind(one, last) ? one : last))
    return this.#last
  }

  #isBehind(one: Occupant, other: Occupant): boolean {
    const [isAlive, otherIsAlive] = [this.#isAlive(one), this.#isAlive(other)]
    return isAlive === otherIsAlive ? byRank(one, other) > 0 : otherIsAlive
  }

  put(item: Occupant): void {
    this.members.set(item.member as string, item)
    this.#last = null
  }
}

/** Null in a `history` group, where no member has a place of its own. */
function keptIn(head: Head, occupants: readonly Occupant[], nowMs: number): Kept | null {
  if (head.mode === 'history') return null
  return head.mode === 'top' ? new Top(head, occupants, nowMs) : new LastSeen(head, occupants)
}
