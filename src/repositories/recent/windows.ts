/**
 * The windows of groups that this process has read or written last, bounded in bytes; those least recently used go first. No
 * statements, no locks.
 *
 * Invariant: whoever uses a window compares it with a head that the same statement shows, or that the transaction has locked.
 * Each change of a group's items raises the version under the head's lock, so with the same incarnation and version the
 * items in the database are those of the window. Only what is committed is remembered.
 */
import { type ItemLine, lineOf, newestFirst, unitsOfLine } from './lines'
import type { Head, ItemRow } from './rows'

/** The state of a group: its rows are the same as long as both numbers are. */
type State = Pick<Head, 'incarnation' | 'version'>

export interface Window extends State {
  /** The first items of the group, in the order of its mode: all of its rows if `isWhole`. */
  lines: readonly ItemLine[]
  isWhole: boolean
  hasPayloads: boolean
}

/** A group that another process has changed: it is remembered again when two reads in a row have found the same state. */
interface Unsure extends State {
  lines: null
}

interface Remembered {
  window: Window | Unsure
  bytes: number
}

/** About what a line takes beside its text, decoded and with its value, and what a group does. */
const [LINE_BYTES, GROUP_BYTES] = [300, 240]
/** A window takes at most this part of the memory. */
const LARGEST_SHARE = 64

export class Windows {
  readonly #known = new Map<string, Remembered>()
  #bytes = 0

  constructor(readonly maxBytes: number) {}

  of(group: string): Window | null {
    const known = this.#known.get(group)
    if (known === undefined || known.window.lines === null) return null
    if (this.#isOrdered) {
      this.#known.delete(group)
      this.#known.set(group, known)
    }
    return known.window
  }

  /** The order of windows matters only once the memory fills. */
  get #isOrdered(): boolean {
    return this.#bytes * 2 > this.maxBytes
  }

  /** A statement has shown these rows of the group. */
  learn(group: string, window: Window): void {
    const known = this.#known.get(group)?.window
    if (known === undefined || isSameState(known, window)) {
      if (known?.lines && isMore(known, window)) return
      this.#set(group, window)
    } else if (known.incarnation !== window.incarnation || known.version < window.version) this.doubt(group, window)
  }

  /** The window is not the group's any more, or may not be. */
  doubt(group: string, { incarnation, version }: State): void {
    if (this.#known.has(group)) this.#set(group, { incarnation, version, lines: null })
  }

  forget(groups: Iterable<string>): void {
    if (this.#known.size > 0) for (const group of groups) this.#drop(group)
  }

  /** A transaction that has locked the head in the state of `was` has committed these rows, and nothing else, as the next version. */
  wrote(group: string, was: Window, rows: readonly ItemRow[], order: (a: ItemLine, b: ItemLine) => number): void {
    const lines: ItemLine[] = rows.map(lineOf)
    // The written rows are newer than the others.
    if (order === newestFirst && lines.length > 1) lines.sort(order)
    const [first] = rows
    const slots = rows.length === 1 ? null : new Set(rows.map(({ slot }) => slot))
    for (const line of was.lines) {
      if (slots === null ? line.slot !== first?.slot : !slots.has(line.slot)) lines.push(line)
    }
    if (order !== newestFirst) lines.sort(order)
    if (!was.isWhole) lines.length = Math.min(lines.length, was.lines.length)
    this.#set(group, { ...was, version: was.version + 1n, lines })
  }

  #set(group: string, window: Window | Unsure): void {
    let bytes = GROUP_BYTES + group.length
    for (const line of window.lines ?? []) bytes += LINE_BYTES + unitsOfLine(line) * 2
    const isTooLarge = bytes > this.maxBytes / LARGEST_SHARE
    if (isTooLarge || this.#isOrdered) this.#drop(group)
    if (isTooLarge) return
    this.#bytes += bytes - (this.#known.get(group)?.bytes ?? 0)
    this.#known.set(group, { window, bytes })
    while (this.#bytes > this.maxBytes) this.#drop(this.#known.keys().next().value as string)
  }

  #drop(group: string): void {
    this.#bytes -= this.#known.get(group)?.bytes ?? 0
    this.#known.delete(group)
  }
}

export function isSameState(a: State, b: State): boolean {
  return a.incarnation === b.incarnation && a.version === b.version
}

/** Whether the first of two windows of one state has all that the second has. */
function isMore(known: Window, other: Window): boolean {
  if (other.hasPayloads && !known.hasPayloads) return false
  return known.isWhole || (!other.isWhole && known.lines.length >= other.lines.length)
}
