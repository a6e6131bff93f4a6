/**
 * Moves what plain SQL has inserted into a table of the door to queues or groups, round after round. A round goes through the
 * queues or groups by their names, so that one with many rows, or one that is full, does not hold up the others. Owns how far
 * the round is, and whose rows wait.
 */
import type { Reader, Session } from '../../database/engine'
import { isPassing, RecentnError } from '../../shared/errors'
import { performance } from '../../shared/platform'
import { groupedBy } from '../chunks'
import type { QueueMemory } from '../queues/memory'
import type { GroupMemory } from '../recent/memory'
import { type DueQuestion, isYes, type PollAnswer, whether } from '../reminders'
import { appendsDoor, type Door, sendsDoor } from './doors'
import { type MoveTry, moveRows, refuseRow, type SeenRow, STUCK } from './move'

/** Rows of one transaction, and how long their texts may be together. */
const MAX_ROWS = 500
const MAX_UNITS = 4 * 1024 * 1024
/** Rows of a queue or group that had to wait. */
const MAX_WAITING = 10
const LOCK_SECONDS = 1
/** The time until the next round when rows wait for room or for a lock, or another process moves. */
const WAITING_MS = 2000
/** Rows that are stuck for now are tried again after this time, or so many times what the look has taken. */
const AGAIN_MS = 10_000
const AGAIN_SHARE = 200

export type DoorMovers = Readonly<Record<Door['table'], DoorMover>>

export function doorMovers(session: Session, queues: QueueMemory, groups: GroupMemory): DoorMovers {
  return { sends: new DoorMover(session, sendsDoor(queues)), appends: new DoorMover(session, appendsDoor(groups)) }
}

class DoorMover {
  /** The round continues behind this queue or group; null where it begins. */
  #after: string | null = null
  #moved = 0
  /** Whose rows had to wait in this round, and in the one before. */
  #waiting = new Set<unknown>()
  #waited = new Set<unknown>()
  /** Another process has the table's lock. */
  #isBusy = false
  #restsUntil = Number.NEGATIVE_INFINITY
  #againFrom = Number.NEGATIVE_INFINITY

  constructor(
    private readonly session: Session,
    private readonly door: Door,
  ) {}

  /** Whether a row is to be moved: one look at the index where there is none. */
  get due(): DueQuestion {
    const { table, index } = this.door
    const question = whether(({ engine, tables }) => [
      `SELECT 1 FROM ${tables[table]}${engine.useIndex(tables.index[index])} WHERE stuck = ${STUCK.not}`,
    ])
    const isDue = (answer: PollAnswer) => isYes(answer) && performance.now() >= this.#restsUntil
    return { question, isDue }
  }

  /**
   * Moves some of what is there; `more`: the next call should follow at once. With `isDue` false only rows that are tried again, for
   * the look that all share finds the others.
   */
  async move(isDue = true): Promise<{ moved: number; more: boolean }> {
    this.#isBusy = false
    const again = await this.#moveAgain()
    if (!isDue && this.#after === null) return { moved: again, more: again > 0 }
    const moved = again + (await this.#moveNext())
    this.#moved += moved
    if (this.#isBusy) this.#after = null
    return { moved, more: this.#after !== null || this.#endRound() }
  }

  /** Rows that had no queue and have one now, and those that had failed. */
  async #moveAgain(): Promise<number> {
    const since = performance.now()
    if (since < this.#againFrom) return 0
    const rows = await this.#look(({ tables }) => `stuck = ${STUCK.forNow} AND ${this.door.again(tables)}`)
    const pauseMs = Math.max(AGAIN_MS, (performance.now() - since) * AGAIN_SHARE)
    const moved = await this.#moveSeen(rows)
    if (moved === 0 || rows.length < MAX_ROWS) this.#againFrom = performance.now() + pauseMs
    return moved
  }

  async #moveNext(): Promise<number> {
    const after = this.#after
    const behind = after === null ? '' : ` AND ${this.door.key} > ?`
    const seen = await this.#look(() => `stuck = ${STUCK.not}${behind}`, after)
    const rows = this.#fitting(seen)
    const isWhole = rows.length === seen.length && seen.length < MAX_ROWS
    const last = rows.at(-1)?.key
    this.#after = !isWhole && typeof last === 'string' ? last : null
    // Those that had to wait in the last round come behind the others, in a separate transaction.
    const parts = groupedBy(rows, ({ key }) => this.#waited.has(key))
    let moved = 0
    for (const isWaiting of [false, true]) moved += await this.#moveSeen(parts.get(isWaiting) ?? [])
    return moved
  }

  #endRound(): boolean {
    const isMore = this.#moved > 0 && !this.#isBusy
    if (this.#isBusy || this.#waiting.size > 0) this.#restsUntil = performance.now() + WAITING_MS
    this.#waited = this.#waiting
    this.#waiting = new Set()
    this.#moved = 0
    return isMore
  }

  /** By their keys, and those of one key by their ids. Uncommitted rows are not seen. */
  #look(where: (reader: Reader) => string, after: string | null = null): Promise<SeenRow[]> {
    const { table, index, key, texts } = this.door
    const units = texts.map((column) => `COALESCE(LENGTH(${column}), 0)`).join(' + ')
    return this.session.read(async (reader) => {
      const { engine, tables } = reader
      const name = tables[table]
      const rows = await reader.rows(
        `SELECT ${engine.bigint('id')} AS id, ${key}, ${units} AS units FROM ${name}${engine.useIndex(tables.index[index])} ` +
          `WHERE ${where(reader)} ORDER BY ${key}, ${name}.id LIMIT ${MAX_ROWS}`,
        after === null ? [] : [after],
      )
      return rows.map((row) => ({ id: BigInt(row.id as string), key: row[key], units: Number(row.units) }))
    })
  }

  /** The first of them that fit into one transaction, with few of those that had to wait. */
  #fitting(seen: readonly SeenRow[]): SeenRow[] {
    const fitting: SeenRow[] = []
    const counts = new Map<unknown, number>()
    let units = 0
    for (const row of seen) {
      const count = counts.get(row.key) ?? 0
      if (count >= MAX_WAITING && this.#waited.has(row.key)) continue
      units += row.units
      if (units > MAX_UNITS && fitting.length > 0) break
      counts.set(row.key, count + 1)
      fitting.push(row)
    }
    return fitting
  }

  /** How many were moved: in one transaction, or where that does not do, in several, so that no row holds up those of other keys. */
  async #moveSeen(rows: readonly SeenRow[]): Promise<number> {
    if (rows.length === 0 || this.#isBusy) return 0
    const tried: MoveTry = { isLocked: false, requests: [] }
    try {
      const moved = await this.session.write((tx) => moveRows(tx, this.door, rows, tried), {
        // Where the commit has arrived, the rows are gone.
        arrived: async () => false,
        lockSeconds: LOCK_SECONDS,
      })
      this.#isBusy = moved === null
      for (const key of moved?.waiting ?? []) this.#waiting.add(key)
      return moved?.count ?? 0
    } catch (error) {
      return this.#moveApart(rows, tried, error)
    }
  }

  /** Rows that a transaction could not move as a whole. */
  async #moveApart(rows: readonly SeenRow[], { isLocked, requests }: MoveTry, error: unknown): Promise<number> {
    const isConflict = error instanceof RecentnError && error.code === 'conflict'
    const isOfRows = !isPassing(error) && !(error instanceof RecentnError && error.status >= 500)
    if (!isConflict && !isOfRows) throw error
    this.#isBusy = isConflict && !isLocked
    if (this.#isBusy) return 0
    const byKey = groupedBy(rows, ({ key }) => key)
    const [first] = rows as [SeenRow]
    if (byKey.size > 1) {
      const held = isConflict ? await this.#heldKeys(requests) : new Set()
      const free = [...byKey].filter(([key]) => !held.has(key)).map(([, some]) => some)
      for (const key of held) this.#waiting.add(key)
      return this.#moveEach(held.size > 0 ? [free.flat()] : free)
    }
    if (isConflict) this.#waiting.add(first.key)
    else if (rows.length > 1) return this.#moveEach(rows.map((row) => [row]))
    else await this.session.write((tx) => refuseRow(tx, this.door, first.id, error))
    return 0
  }

  async #moveEach(parts: readonly (readonly SeenRow[])[]): Promise<number> {
    let moved = 0
    for (const part of parts) moved += await this.#moveSeen(part)
    return moved
  }

  /** Those of which another transaction holds a lock, as far as is known. */
  async #heldKeys(requests: MoveTry['requests']): Promise<Set<unknown>> {
    const asked = requests.map(({ request }) => request)
    const locks = await this.session.read((reader) => this.door.heldLocks(reader, asked))
    return new Set(requests.filter((_, index) => locks[index] !== null).map(({ key }) => key))
  }
}
