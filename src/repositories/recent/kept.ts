/**
 * The members that a `distinct` or a `top` group keeps, during a transaction: which of them an append replaces, and whether it
 * is kept at all. No statements; the caller holds the head's lock.
 */
import type { NewItem } from '../../shared/group-types'
import type { Head, Occupant } from './rows'
import { byRank } from './score'
import { expired } from './window'

type ByMember = Map<string, Occupant>

/** An item that is to be appended. */
interface Candidate {
  member: string | null
  score: number | null
  keep: NewItem['keep'] | null
}

/** A slot for each member. */
abstract class Kept {
  readonly members: ByMember
  readonly #free: number[] = []

  constructor({ capacity }: Head, members: ByMember, taken: ReadonlySet<number>) {
    this.members = members
    for (let slot = capacity - 1; slot >= 0 && members.size < capacity; slot--) {
      if (!taken.has(slot)) this.#free.push(slot)
    }
  }

  /** The item that an append leaves as it is, and gives back in its place; null where it is to be appended. */
  abstract standing(item: Candidate): Occupant | null

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

/** The members of a `distinct` group: those seen last. */
export class LastSeen extends Kept {
  constructor(head: Head, occupants: readonly Occupant[]) {
    const members: ByMember = new Map()
    for (const occupant of [...occupants].sort((a, b) => (a.id < b.id ? -1 : 1))) {
      if (occupant.member !== null) members.set(occupant.member, occupant)
    }
    super(head, members, new Set(occupants.map(({ slot }) => slot)))
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
export class Top extends Kept {
  readonly #isAlive: (occupant: Occupant) => boolean
  readonly #capacity: number
  #last: Occupant | null = null

  constructor(head: Head, occupants: readonly Occupant[], nowMs: number) {
    const members: ByMember = new Map()
    for (const occupant of occupants) if (occupant.member !== null) members.set(occupant.member, occupant)
    super(head, members, new Set(occupants.map(({ slot }) => slot)))
    this.#capacity = head.capacity
    this.#isAlive = (occupant) => !expired(occupant, head, nowMs)
  }

  /** The member's own item, if its score is not lower; or the last of a full group, if its score is not lower. */
  standing({ member, score, keep }: Candidate): Occupant | null {
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
export function keptIn(head: Head, occupants: readonly Occupant[], nowMs: number): Kept | null {
  if (head.mode === 'history') return null
  return head.mode === 'top' ? new Top(head, occupants, nowMs) : new LastSeen(head, occupants)
}
