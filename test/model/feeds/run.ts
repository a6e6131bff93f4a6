/** One run of the model: each operation on a store and on the oracle, and after each what can be seen is compared. */
import type { Store } from '../../../src/index'
import type { Followed } from '../../../src/repositories/feeds/followed'
import { sweptFeeds } from '../../contract/feeds/tools'
import { soonMs } from '../../support/timing'
import { compare } from './compare'
import { inTransaction, OpenTransaction } from './open'
import { FEEDS, type FeedName, type Operation, READERS, type Read, type Write } from './operations'
import {
  apply,
  changesAfter,
  isExpired,
  KEPT_SECONDS,
  liveIn,
  newWorld,
  type Position,
  sweep,
  type World,
  waitingIn,
} from './oracle'
import { areInTheWay, codeOr, isIdle, locksOf, type Names, namesOf, perform, TABLE, type Target } from './perform'
import { publish } from './publish'
import { Reader } from './reader'

/** Longer than all that an operation takes by itself. */
const LOCKED_MS = 4_000

export interface Bench {
  /** Of several processes, which take turns. */
  stores: readonly [Store, ...Store[]]
  clock: { offsetMs: number }
  /** Transactions may stay open while others continue. */
  mayStayOpen: boolean
}

/** No transaction waits for a row that is not held. */
async function patiently(operation: Operation, step: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const isOver = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`it waits for a lock: ${JSON.stringify(operation)}`)), soonMs(LOCKED_MS))
  })
  await Promise.race([step, isOver]).finally(() => clearTimeout(timer))
}

/** A republish of keys that are not there may wait for the entry that is next in the index. */
function mayWaitForNeighbours({ kind }: Write): boolean {
  return ['drop', 'republish', 'republishPrefix'].includes(kind)
}

/** Before the first sync id is the beginning. */
const known = (at: bigint) => (at < 0n ? 0n : at)

export class Run {
  readonly #names: Names
  readonly #readers: Record<FeedName, Reader[]>
  readonly #open: (OpenTransaction | null)[] = [null, null]
  #world = newWorld()
  #followed: Followed[] = []
  #value = 0

  constructor(
    readonly bench: Bench,
    name: string,
  ) {
    this.#names = namesOf(name)
    const readersOf = (feed: FeedName) => READERS.map((who) => new Reader(feed, who, this.#names))
    this.#readers = Object.fromEntries(FEEDS.map((feed) => [feed, readersOf(feed)])) as Record<FeedName, Reader[]>
  }

  get startedOver(): number {
    const all = FEEDS.flatMap((feed) => this.#readers[feed])
    return all.reduce((sum, { startedOver }) => sum + startedOver, 0)
  }

  get #store(): Store {
    const { stores } = this.bench
    return stores[this.#world.step % stores.length] as Store
  }

  get #target(): Target {
    const { feeds, sequences, dataSource } = this.#store
    return { feeds, sequences, manager: dataSource.manager }
  }

  async play(operations: readonly Operation[]): Promise<void> {
    try {
      await this.#follow()
      for (const operation of operations) {
        this.#world.step++
        await patiently(operation, this.#step(operation))
        await this.#compare(this.#touchedBy(operation))
      }
      await this.#finish()
    } finally {
      await this.#cleanUp()
    }
  }

  async #step(operation: Operation): Promise<void> {
    // A consumer that stores a cursor begins the feed, and waits for others that do so too.
    if ('who' in operation && this.#held.includes(`${operation.feed}/`)) return
    switch (operation.kind) {
      case 'read':
        return this.#read(operation)
      case 'keep':
        return this.#reader(operation).keep(this.#target, this.#world)
      case 'set':
        return this.#set(operation)
      case 'forget': {
        const { feed, who } = operation
        const there = this.#world.feeds[feed].consumers.delete(who)
        return expect(await this.#target.feeds.dropCursor(this.#names.feed(feed), who)).toBe(there)
      }
      case 'peek':
        return this.#peek(operation)
      case 'publish':
        return this.#publish(operation.feed === null ? FEEDS : [operation.feed], operation.feed)
      case 'sweep':
        return this.#sweep()
      case 'pass':
        this.bench.clock.offsetMs += operation.seconds * 1000
        this.#world.now += operation.seconds
        return operation.isSwept ? this.#sweep() : undefined
      case 'begin':
        return this.#begin(operation)
      case 'end':
        return this.#end(operation.slot)
      case 'followAgain':
        return this.#followAgain(operation.isDropped)
      default:
        return this.#write(operation)
    }
  }

  /** The feeds that it may change, and one that it must not. */
  #touchedBy(operation: Operation): Set<FeedName> {
    const all = ['begin', 'end', 'sweep', 'pass'].includes(operation.kind) ? FEEDS : []
    const other = FEEDS[this.#world.step % FEEDS.length] as FeedName
    const own = 'feed' in operation ? (operation.feed === null ? FEEDS : [operation.feed]) : []
    const rows = ['row', 'removeRow', 'followAgain'].includes(operation.kind) ? (['kv'] as const) : []
    return new Set([...all, ...own, ...rows, other])
  }

  #isHeld(locks: readonly string[]): boolean {
    return areInTheWay(locks, this.#held)
  }

  /** A feed that is begun again may wait for a transaction that has written to the next one by name, until it is purged. */
  #mayBeginAnew(): boolean {
    return FEEDS.some((feed) => this.#world.feeds[feed].wasDeleted && !this.#world.feeds[feed].hasBegun)
  }

  #isInTheWay(write: Write): boolean {
    return this.#open.some(Boolean) && mayWaitForNeighbours(write)
  }

  get #held(): string[] {
    return this.#open.flatMap((one) => one?.locks ?? [])
  }

  #reader({ feed, who }: { feed: FeedName; who: string }): Reader {
    return this.#readers[feed].find(({ name }) => name === who) as Reader
  }

  async #write(write: Write): Promise<void> {
    // It would wait for rows that others hold.
    if (this.#isHeld(locksOf(write))) return
    if (this.#isInTheWay(write)) return
    const value = `v${this.#value++}`
    const work = (target: Target) => this.#perform(target, this.#world, write, value)
    // The row and its tombstone are one transaction.
    if (write.kind === 'removeRow') await this.#store.transaction((tx) => work(tx), { retries: 0 })
    else await work(this.#target)
  }

  async #perform(target: Target, world: World, write: Write, value: string): Promise<void> {
    const answer = await perform(target, this.#names, write, value)
    expect({ write, answer }).toEqual({ write, answer: apply(world, write, value) })
  }

  async #begin({ slot, writes, isCommitted }: Extract<Operation, { kind: 'begin' }>): Promise<void> {
    await this.#end(slot)
    if (this.bench.mayStayOpen && this.#mayBeginAnew()) return
    const free = writes.filter((write) => !this.#isHeld(locksOf(write)) && !this.#isInTheWay(write))
    const staying = this.bench.mayStayOpen ? free.filter(({ kind }) => kind !== 'drop') : free
    const inside = structuredClone(this.#world)
    const values = staying.map(() => `v${this.#value++}`)
    const begins = staying.flatMap((write) =>
      'feed' in write && !this.#world.feeds[write.feed].hasBegun ? [`${write.feed}/`] : [],
    )
    const locks = begins
    const done: ((world: World) => unknown)[] = []
    const { now, step } = this.#world
    const work = async (tx: Target) => {
      for (const [nth, write] of staying.entries()) {
        const value = values[nth] as string
        // A transaction that deletes the feed waits for one that has only looked.
        if ('feed' in write) locks.push(`${write.feed}/shared`)
        if (!isIdle(write, inside)) {
          locks.push(...locksOf(write))
          done.push((world) => apply(world, write, value))
        }
        await this.#perform(tx, inside, write, value)
      }
      await compare({ target: tx, names: this.#names, world: inside, isInside: true }, FEEDS)
    }
    const open = new OpenTransaction(this.#store, locks, isCommitted, work, () => {
      for (const again of done) again({ ...this.#world, now, step })
    })
    this.#open[slot] = open
    await open.begun
    if (!this.bench.mayStayOpen) await this.#end(slot)
  }

  async #end(slot: 0 | 1): Promise<void> {
    const open = this.#open[slot]
    this.#open[slot] = null
    await open?.end()
  }

  async #read(operation: Read): Promise<void> {
    const reader = this.#reader(operation)
    const { inside } = operation
    if (inside === null) {
      await reader.read(this.#target, this.#world, operation)
      return
    }
    const undo = reader.remember()
    const before = structuredClone(this.#world)
    const read = (tx: Target) => reader.read(tx, this.#world, operation)
    await inTransaction(this.#store, inside === 'committed', read)
    if (inside === 'committed') return
    undo()
    this.#world = before
  }

  async #sweep(): Promise<void> {
    await sweptFeeds(this.#store)
    sweep(this.#world, (feed, key) => this.#isHeld([`${feed}/${key}`]))
  }

  /** Another process moves a stored cursor: back, by a sync id. */
  async #set({ feed, who, back, isForced }: Extract<Operation, { kind: 'set' }>): Promise<void> {
    const reader = this.#reader({ feed, who })
    if (who === 'plain') return
    const at = known(reader.position(this.#world).at - BigInt(back ?? 0))
    const asked = back === null ? 0n : at
    await reader.put(this.#target, this.#world, { at: asked, since: -1, cursor: asked }, isForced)
  }

  /** From a number, as who has saved that in place of the cursor. */
  async #peek({ feed, back, limit }: Extract<Operation, { kind: 'peek' }>): Promise<void> {
    const state = this.#world.feeds[feed]
    const after = known(state.last - BigInt(back))
    const position: Position = { at: after, since: -1, cursor: after }
    const answer = await codeOr(this.#target.feeds.changes(this.#names.feed(feed), { after, limit }))
    if (state.hasBegun && isExpired(state, position)) return expect(answer).toBe('cursor_expired')
    const expected = state.hasBegun ? changesAfter(state, after) : []
    const hasMore = expected.length > limit
    expect(answer).toMatchObject({ changes: expected.slice(0, limit), hasMore })
  }

  async #publish(feeds: readonly FeedName[], only: FeedName | null): Promise<void> {
    const isHeld = (lock: string) => this.#isHeld([lock])
    const [store] = this.bench.stores
    await publish({ store, names: this.#names, world: this.#world, isHeld }, feeds, only)
    this.#expectKnown(feeds)
  }

  /** Unless something waits still. */
  #expectKnown(feeds: readonly FeedName[]): void {
    for (const feed of feeds) {
      if (waitingIn(this.#world.feeds[feed]).length > 0) continue
      for (const reader of this.#readers[feed]) reader.expectKnown(this.#world)
    }
  }

  async #follow(): Promise<void> {
    const columns = { feed: this.#names.feed('kv'), syncColumn: 'sync', key: 'k', value: 'v' }
    this.#followed = await Promise.all(this.bench.stores.map((store) => store.feeds.follow(TABLE, columns)))
  }

  async #followAgain(isDropped: boolean): Promise<void> {
    const feed = this.#names.feed('kv')
    if (this.#isHeld(['kv/', 'kv.row/'])) return
    for (const followed of this.#followed) followed.stop()
    expect(await codeOr(this.#target.feeds.changes(feed))).toBe('invalid_input')
    if (isDropped && !this.#open.some(Boolean)) {
      expect(await this.#target.feeds.drop(feed)).toBe(true)
      apply(this.#world, { kind: 'drop', feed: 'kv' as 'a' }, null)
      this.#world.feeds.kv.hasBegun = true
    }
    await this.#follow()
  }

  /** By turns as everybody sees it, and inside a transaction. */
  async #compare(feeds: ReadonlySet<FeedName>): Promise<void> {
    const view = { names: this.#names, world: this.#world }
    if (this.#world.step % 2) await compare({ ...view, target: this.#target, isInside: false }, feeds)
    else await inTransaction(this.#store, true, (tx) => compare({ ...view, target: tx, isInside: true }, feeds))
  }

  /** In the end everyone knows everything. */
  async #finish(): Promise<void> {
    for (const slot of [0, 1] as const) await this.#end(slot)
    this.#world.step++
    await this.#publish(FEEDS, null)
    await this.#compare(new Set(FEEDS))
    const asked = { limit: 2, maxBytes: null, isKept: true }
    for (const reader of FEEDS.flatMap((feed) => this.#readers[feed])) {
      this.#world.step++
      for (
        let pages = 0;
        await reader.read(this.#target, this.#world, { ...asked, feed: reader.feed, who: reader.name });
      ) {
        if (++pages > 100) throw new Error('it never ends')
        this.#world.step++
      }
      // A reader of a feed that was deleted learns it once the feed is begun again.
      const feed = this.#world.feeds[reader.feed]
      if (feed.hasBegun) expect(reader.known).toEqual(liveIn(feed))
    }
  }

  async #cleanUp(): Promise<void> {
    for (const open of this.#open) await open?.end(true).catch(() => {})
    for (const followed of this.#followed) followed.stop()
    const { feeds, manager } = this.#target
    for (const feed of FEEDS) await feeds.drop(this.#names.feed(feed))
    await manager.query(`DELETE FROM ${TABLE}`)
    await this.bench.stores[0].feeds.publish()
    this.bench.clock.offsetMs += (KEPT_SECONDS + 100) * 1000
    await sweptFeeds(this.#store)
  }
}
