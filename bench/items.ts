/** The item of the n-th append: the same for every contender, and recognisable wherever it comes back. */
import type { NewItem, StoredItem } from './types'

export const WINDOW = 10
/** Members of a `distinct` group: three times as many as fit in. */
const VIEWERS = 30

export function itemOf(op: number): NewItem {
  return { member: `user-${op % 10_007}`, payload: { page: `/articles/${op}`, ref: 'home' } }
}

/** The number that the item was made of; -1 for one that is not as it was made. */
export function opOf({ member, payload }: StoredItem): number {
  const { page, ref } = (payload ?? {}) as { page?: unknown; ref?: unknown }
  if (typeof page !== 'string' || !page.startsWith('/articles/') || ref !== 'home') return -1
  const op = Number(page.slice('/articles/'.length))
  return member === `user-${op % 10_007}` ? op : -1
}

/** Who views in the n-th append: some come again and again. */
export function viewerOf(op: number): string {
  let mixed = Math.imul(op ^ (op >>> 15), 0x2c1b3c6d)
  mixed = (mixed ^ (mixed >>> 13)) >>> 0
  const one = mixed % VIEWERS
  const other = (mixed >>> 8) % VIEWERS
  return `user-${Math.min(one, other)}`
}

/** The score in the n-th append: scores rise, so that a full group goes on changing, and many are too low for it. */
export function scoreOf(op: number): number {
  return op + ((Math.imul(op ^ (op >>> 13), 0x5bd1e995) >>> 0) % 20_000)
}

export function groupNames(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `article:${index}`)
}
