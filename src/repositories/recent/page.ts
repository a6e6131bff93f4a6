/** A page of a group's newest items, and the tag that stands for it. No SQL. */
import { createHash } from 'node:crypto'
import { asRecent } from '../../results/groups'
import type { PolicySet } from './policies'
import type { Item, Recent, RecentOptions, Settings } from './types'

/** What is read of one group: checked, with the limit set. */
export interface ReadRequest extends RecentOptions {
  group: string
  limit: number
  /** Nothing is to be shown while the page still has this tag. */
  unlessTag?: string | undefined
}

/** The requests of one caller, all to be answered as of one moment. */
export interface Call {
  requests: readonly ReadRequest[]
  /** It was told to come again: now it gets items, whatever tags the caller has. */
  again: boolean
}

/** What of a head a page shows, and its tag goes by. */
export interface PageHead {
  group: string
  incarnation: bigint | string
  version: bigint | string
  lastId: bigint
}

export function pageFrom(
  head: PageHead,
  settings: Settings,
  items: Item[],
  nextBefore: bigint | null,
  isCut = false,
): Recent {
  const base = baseTag(head, settings)
  return asRecent({
    group: head.group,
    capacity: settings.capacity,
    mode: settings.mode,
    total: head.lastId + 1n,
    items,
    nextBefore,
    tag: isCut || settings.ttlSeconds !== null ? `${base}.${hashOf(items, nextBefore)}` : base,
  })
}

/**
 * Everything that can change a page: the group made anew, any change of it, the settings in force. Where items expire,
 * which does not touch the head, and where a page was cut by its size, the ids of the page follow.
 */
function baseTag({ incarnation, version }: PageHead, settings: Settings): string {
  return `${incarnation}.${version}.${settingsTag(settings)}`
}

function hashOf(items: readonly Item[], nextBefore: bigint | null): string {
  const ids = createHash('sha256').update(`${nextBefore}:${items.map(({ id }) => id).join()}`)
  return ids.digest('base64url').slice(0, 16)
}

function settingsTag({ capacity, mode, ttlSeconds }: Settings): string {
  return `${capacity}${mode[0]}${ttlSeconds ?? ''}`
}

/**
 * True when the head alone shows that a page with this tag would be answered unchanged. Where a page was cut by its
 * size the cut may fall elsewhere now, but the page that was given is still one of the group as it is.
 */
export function isUnchanged(tag: string, head: PageHead, settings: Settings): boolean {
  if (settings.ttlSeconds !== null) return false
  const base = baseTag(head, settings)
  return tag === base || (tag.length > base.length && tag.startsWith(`${base}.`))
}

/** Whether to look at the head alone first: not where, by its tag, the caller's page has items that expire. */
export function isHeadFirst({ requests, again }: Call): boolean {
  return !again && requests.every(({ unlessTag }) => unlessTag !== undefined && !EXPIRING.test(unlessTag))
}

const EXPIRING = /^\d+\.\d+\.\d+[a-z]\d+\./

export function emptyPage(set: PolicySet, group: string): Recent {
  const settings = set.settingsOf(group, {})
  const { capacity, mode } = settings
  const tag = `none.${settingsTag(settings)}`
  return asRecent({ group, capacity, mode, total: 0n, items: [], nextBefore: null, tag })
}
