/** The entry of the n-th key: its value is a letter, recognisable when it comes back. */
import { letterOf, markOf } from '../letters'

export const FEED = 'users'
/** Entries of one call that writes, and changes of a page. */
export const PAGE = 1000
/** Who fills a feed at once. */
export const WRITERS = 4

export interface Entry {
  key: string
  value: unknown
}

/** Keys of one length, so that their order is that of the numbers. */
const FIRST = 10_000_000

export function keyOf(mark: number): string {
  return `user-${FIRST + mark}`
}

export function entryOf(mark: number): Entry {
  return { key: keyOf(mark), value: letterOf(mark) }
}

/** The number that the entry was made of; -1 for one that is not as it was made. */
export function markIn({ key, value }: Entry): number {
  const mark = markOf(value)
  return mark >= 0 && key === keyOf(mark) ? mark : -1
}

/** Pages of the marks from `from` on. */
export function pages(from: number, count: number): Entry[][] {
  const starts = Array.from({ length: Math.ceil(count / PAGE) }, (_, page) => page * PAGE)
  return starts.map((start) =>
    Array.from({ length: Math.min(PAGE, count - start) }, (_, at) => entryOf(from + start + at)),
  )
}
