/** A page of a group's newest items, and the tag that stands for it. No SQL. */
import { createHash } from 'node:crypto'
import type { PolicySet } from './policies'
import { type Head, type ItemRow, itemOf } from './rows'
import type { Recent, RecentOptions, Settings } from './types'

/** What is read of one group: checked, with the limit set. */
export interface ReadRequest extends RecentOptions {
  group: string
  limit: number
}

export function pageFrom(
  request: ReadRequest,
  head: Head,
  settings: Settings,
  rows: readonly ItemRow[],
  nextBefore: bigint | null,
  hashed = settings.ttlSeconds !== null,
): Recent {
  return {
    group: head.group,
    capacity: settings.capacity,
    mode: settings.mode,
    total: head.lastId + 1n,
    items: rows.map((row) => itemOf(row, request.payloads)),
    nextBefore,
    tag: tagOf(head, settings, hashed ? { rows, nextBefore } : null),
  }
}

/**
 * Everything that can change a page: the group made anew, any change of it, the settings in force. Where items expire,
 * which does not touch the head, and where a page was cut by its size, the ids of the page too.
 */
function tagOf(
  head: Head,
  settings: Settings,
  page: { rows: readonly ItemRow[]; nextBefore: bigint | null } | null,
): string {
  const base = `${head.incarnation.toString(36)}.${head.version.toString(36)}.${settingsTag(settings)}`
  if (page === null) return base
  const ids = createHash('sha256').update(`${page.nextBefore}:${page.rows.map(({ id }) => id).join()}`)
  return `${base}.${ids.digest('base64url').slice(0, 16)}`
}

function settingsTag({ capacity, mode, ttlSeconds }: Settings): string {
  return `${capacity}${mode[0]}${ttlSeconds ?? ''}`
}

export function emptyPage(set: PolicySet, group: string): Recent {
  const settings = set.settingsOf(group, {})
  const { capacity, mode } = settings
  return { group, capacity, mode, total: 0n, items: [], nextBefore: null, tag: `none.${settingsTag(settings)}` }
}
