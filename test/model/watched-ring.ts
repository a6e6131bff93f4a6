/** A group of recent items as a plain array, and a follower that knows it by the events of a listener. */

import type { ItemRow } from '../../src/repositories/recent/rows'
import type { ItemPlace, WatchedWindow } from '../../src/repositories/recent/watch'
import type { Mode } from '../../src/shared/group-types'
import { GroupListener } from '../../src/store/streams/group-listener'
import type { WatchedGroup } from '../../src/store/streams/watched-group'

/** A few of these fill a listener. */
const PAYLOAD = JSON.stringify('x'.repeat(400_000))

export class Ring {
  #places: ItemPlace[] = []
  #lastId = -1n
  #version = 0

  constructor(
    readonly capacity: number,
    readonly mode: Mode,
  ) {}

  append(): void {
    if (
      this.mode === 'top' &&
      this.ids.length === this.capacity &&
      byScore(this.ids.sort(byScore).at(-1) ?? 0n, this.#lastId + 1n) < 0
    )
      return
    this.#lastId++
    const taken = new Set(this.#places.map(({ slot }) => slot))
    const free = Array.from({ length: this.capacity }, (_, slot) => slot).find((slot) => !taken.has(slot))
    const slot = this.mode === 'history' ? Number(this.#lastId % BigInt(this.capacity)) : free
    const last = this.mode === 'top' ? this.ids.sort(byScore).at(-1) : this.ids[0]
    const pushedOut =
      slot === undefined
        ? this.#places.find(({ id }) => id === last)
        : this.#places.find((place) => place.slot === slot)
    if (pushedOut !== undefined) this.#drop(pushedOut)
    this.#places.push({ id: this.#lastId, slot: slot ?? (pushedOut as ItemPlace).slot, createdAtMs: 0 })
    this.#version++
  }

  /** By its place from the oldest. */
  remove(at: number): void {
    const place = this.#places[at % this.capacity]
    if (place === undefined) return
    this.#drop(place)
    this.#version++
  }

  clear(): void {
    this.#places = []
    this.#version++
  }

  get ids(): bigint[] {
    return this.#places.map(({ id }) => id)
  }

  window(): WatchedWindow {
    const settings = { capacity: this.capacity, mode: this.mode, ttlSeconds: null, forgetEmptySeconds: null }
    const places = [...this.#places]
    const lastId = this.#lastId
    return { group: 'g', incarnation: '1', version: String(this.#version), lastId, settings, nowMs: 0, places }
  }

  rows(places: readonly ItemPlace[]): Map<number, ItemRow> {
    const wanted = new Set(places.map(({ slot }) => slot))
    const there = this.#places.filter(({ slot }) => wanted.has(slot))
    const rest = { group: 'g', member: null, eventId: null, score: null, occurredAtMs: null, payload: PAYLOAD }
    return new Map(there.map((place) => [place.slot, { ...rest, ...place }]))
  }

  #drop(place: ItemPlace): void {
    this.#places = this.#places.filter((one) => one !== place)
  }
}

/** The higher score first, which some number of the id is; of equal ones the older. */
function byScore(a: bigint, b: bigint): number {
  const scoreOf = (id: bigint) => Number((id * 7919n) % 13n)
  return scoreOf(b) - scoreOf(a) || Number(a - b)
}

function kept(ids: readonly bigint[], mode: Mode, capacity: number): bigint[] {
  if (mode !== 'top') return ids.slice(-capacity)
  const best = [...ids].sort(byScore).slice(0, capacity)
  return ids.filter((id) => best.includes(id))
}

/** Keeps what the documentation says of the items it gets; comes back after where it was. */
export class Follower {
  ids: bigint[] = []
  resets = 0
  #after = -1n
  #listener: GroupListener
  #next: Promise<void> | null = null
  #isWaiting = false

  constructor(
    readonly ring: Ring,
    readonly watched: WatchedGroup,
  ) {
    this.#read()
    this.#listener = this.#listen()
  }

  /** Events that were sent and not taken are lost. */
  comeBack(): void {
    this.#listener.end()
    this.#listener = this.#listen()
    this.#next = null
  }

  /** Takes up to so many events. */
  async take(count: number): Promise<void> {
    for (let n = 0; n < count; n++) {
      this.#isWaiting = true
      this.#next ??= this.#takeOne(this.#listener)
      await Promise.race([this.#next, Promise.resolve().then(() => {})])
      if (this.#isWaiting) return
    }
  }

  #listen(): GroupListener {
    const listener: GroupListener = new GroupListener(
      { after: this.#after, resumes: true, payloads: 'text' },
      { drained: () => {}, ended: () => this.watched.listeners.delete(listener) },
    )
    this.watched.listeners.add(listener)
    return listener
  }

  async #takeOne(listener: GroupListener): Promise<void> {
    const { value: event } = await listener.next()
    if (event === undefined || listener !== this.#listener) return
    this.#isWaiting = false
    this.#next = null
    const { capacity, mode } = this.ring
    if (event.type === 'removed') this.ids = this.ids.filter((id) => id !== event.id)
    else if (event.type === 'reset') this.#startAnew(event.totalAppended)
    else {
      this.#after = event.item.id
      if (!this.ids.includes(event.item.id)) this.ids = kept([...this.ids, event.item.id], mode, capacity)
      if (mode === 'history') this.ids = this.ids.filter((id) => id > event.item.id - BigInt(capacity))
    }
  }

  /** Items that are newer than the reset will be sent. */
  #startAnew(total: bigint): void {
    this.resets++
    this.#read()
    this.ids = this.ids.filter((id) => id < total)
    this.#after = total - 1n
  }

  #read(): void {
    this.ids = this.ring.ids
    this.#after = this.ring.window().lastId
  }
}
