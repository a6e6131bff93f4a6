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
  readonly #occupants: readonly Occupant[]
  /** Null until an event id is asked for. */
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
    this.#occupants = occupants
    this.#kept = keptIn(head, occupants, nowMs)
  }

  /** The newest item of each event id. */
  get #byEvent(): Map<string, Occupant> {
    if (this.#events !== null) return this.#events
    const withEvents = this.#occupants.filter(({ eventId }) => eventId !== null)
    withEvents.sort((a, b) => (a.id < b.id ? -1 : 1))
    this.#events = new Map(withEvents.map((occupant) => [occupant.eventId as string, occupant]))
    return this.#events
  }

  get isChanged(): boolean {
    return this.#appended.length > 0 || (this.#kept !== null && this.#kept.written.size > 0)
  }

  /** The last write of each slot. */
  get writes(): Iterable<ItemRow> {
    return this.#kept?.written.values() ?? this.#appended.slice(-this.head.capacity)
  }

  withEvent(eventId: string): Occupant | null {
    const occupant = this.#byEvent.get(eventId)
    if (!occupant || expired(occupant, this.head, this.nowMs)) return null
    if (this.#kept !== null) return this.#kept.find(occupant.member as string)?.id === occupant.id ? occupant : null
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
    if (this.#kept === null) this.#appended.push(row)
    else this.#kept.put(row)
    if (eventId !== null) this.#byEvent.set(eventId, row)
    return row
  }
}

/** The members that a `distinct` or `top` group keeps, a slot for each: which an append replaces, and whether it is kept. */
abstract class Kept {
  /** The last row of each member that was appended and is kept; the one appended last is the last. */
  readonly written = new Map<string, ItemRow>()
  /** The slots of the occupants, once a free one is looked for, and the lowest that may be free. */
  #taken: Set<number> | null = null
  #nextFree = 0

  /** `occupants`: in the order of pages. */
  constructor(
    protected readonly head: Head,
    protected readonly occupants: readonly Occupant[],
  ) {}

  /** The item of a member that is kept. */
  abstract find(member: string): Occupant | undefined

  /** The item that an append leaves as it is, and gives back in its place; null where it is to be appended. */
  abstract standing(item: NewItemRow): Occupant | null

  /** Makes the member go that has to go for another one, and gives its slot. */
  protected abstract evict(): number

  /** The member's item is now this one, in the slot that it was given. */
  put(item: ItemRow): void {
    this.written.delete(item.member as string)
    this.written.set(item.member as string, item)
  }

  /** The slot that the member has; if it has none, a free one, or that of the member that has to go. */
  slotFor(member: string): number {
    return this.find(member)?.slot ?? this.#freeSlot() ?? this.evict()
  }

  #freeSlot(): number | null {
    const { capacity } = this.head
    if (this.occupants.length === capacity) return null
    this.#taken ??= new Set(this.occupants.map(({ slot }) => slot))
    while (this.#taken.has(this.#nextFree)) this.#nextFree++
    return this.#nextFree < capacity ? this.#nextFree++ : null
  }
}

/**
 * The members seen last. Most batches append once to a group: the first search goes through the occupants, which takes less than to
 * make a map of them. The second one makes it.
 */
class LastSeen extends Kept {
  /** Occupants from here on have gone, or have been appended again. */
  #end = this.occupants.length
  #isSearched = false
  #byMember: Map<string | null, Occupant> | null = null

  find(member: string): Occupant | undefined {
    const written = this.written.get(member)
    if (written !== undefined) return written
    if (this.#isSearched) {
      this.#byMember ??= this.#mapped()
      return this.#byMember.get(member)
    }
    this.#isSearched = true
    return this.occupants.find((occupant) => occupant.member === member)
  }

  #mapped(): Map<string | null, Occupant> {
    const byMember = new Map<string | null, Occupant>()
    // The newest of a member is the last that is set.
    for (let at = this.#end - 1; at >= 0; at--) {
      const occupant = this.occupants[at] as Occupant
      byMember.set(occupant.member, occupant)
    }
    return byMember
  }

  standing(): null {
    return null
  }

  protected evict(): number {
    while (this.#end > 0) {
      const { member, slot } = this.occupants[--this.#end] as Occupant
      this.#byMember?.delete(member)
      if (member !== null && !this.written.has(member)) return slot
    }
    const { member, slot } = this.written.values().next().value as ItemRow
    this.written.delete(member as string)
    return slot
  }
}

/** The members of a `top` group: those with the highest scores. One that has expired gives way to any. */
class Top extends Kept {
  readonly #members = new Map<string, Occupant>()
  #last: Occupant | null = null

  constructor(
    head: Head,
    occupants: readonly Occupant[],
    private readonly nowMs: number,
  ) {
    super(head, occupants)
    for (const occupant of occupants) if (occupant.member !== null) this.#members.set(occupant.member, occupant)
  }

  find(member: string): Occupant | undefined {
    return this.#members.get(member)
  }

  /** The member's own item, if its score is not lower; or the last of a full group, if its score is not lower. */
  standing({ member, score, keep }: NewItemRow): Occupant | null {
    const own = this.#members.get(member as string)
    if (own === undefined && this.#members.size < this.head.capacity) return null
    const rival = own ?? this.#worst()
    if (!this.#isAlive(rival) || (own && keep === 'latest')) return null
    return (score as number) > (rival.score as number) ? null : rival
  }

  protected evict(): number {
    const { member, slot } = this.#worst()
    this.#members.delete(member as string)
    this.written.delete(member as string)
    return slot
  }

  #worst(): Occupant {
    this.#last ??= [...this.#members.values()].reduce((last, one) => (this.#isBehind(one, last) ? one : last))
    return this.#last
  }

  #isAlive(occupant: Occupant): boolean {
    return !expired(occupant, this.head, this.nowMs)
  }

  #isBehind(one: Occupant, other: Occupant): boolean {
    const [isAlive, otherIsAlive] = [this.#isAlive(one), this.#isAlive(other)]
    return isAlive === otherIsAlive ? byRank(one, other) > 0 : otherIsAlive
  }

  override put(item: ItemRow): void {
    super.put(item)
    this.#members.set(item.member as string, item)
    this.#last = null
  }
}

/** Null in a `history` group, where no member has a place of its own. */
function keptIn(head: Head, occupants: readonly Occupant[], nowMs: number): Kept | null {
  if (head.mode === 'history') return null
  return head.mode === 'top' ? new Top(head, occupants, nowMs) : new LastSeen(head, occupants)
}
