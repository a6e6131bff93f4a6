/** What feeds are given must be, for the library and the HTTP DTOs alike: null, or what is wrong. */
import { nameFault } from './rules'

/** A cursor is a sync id, or two: a horizon above one. */
export const SYNC_ID_BITS = 63n
const MAX_CURSOR = (1n << (2n * SYNC_ID_BITS)) - 1n
const SYNC_ID = (1n << SYNC_ID_BITS) - 1n
const DECIMAL = /^(0|[1-9][0-9]{0,37})$/

function isCursor(cursor: bigint): boolean {
  return cursor >= 0n && cursor <= MAX_CURSOR && (cursor <= SYNC_ID || (cursor & SYNC_ID) > 0n)
}

/** The feed of the groups of recent items, where the store was opened with `recentGroupsFeed`. */
export const RECENT_GROUPS = 'recent-groups'

export const DEFAULT_TOMBSTONE_SECONDS = 604_800

/** A cursor: a sync id, or the number that an answer gave in its place. */
export function cursorFault(value: unknown): string | null {
  return typeof value === 'bigint' && value >= 0n && value <= MAX_CURSOR
    ? null
    : 'must be a cursor, a bigint of at least 0'
}

/** A cursor as it is on the wire. */
export function cursorTextFault(value: unknown): string | null {
  const isGood = typeof value === 'string' && DECIMAL.test(value) && isCursor(BigInt(value))
  return isGood ? null : 'must be a cursor: decimal digits without sign or leading zeros'
}

/** What keys begin with; '' is all of them. */
export function keyPrefixFault(value: unknown): string | null {
  return value === '' ? null : nameFault(value)
}
