/** A page of a group's newest items, and its tag. No statements, no locks. */
import { createHash } from 'node:crypto'
import { RECENT } from '../../fields/answers-groups'
import type { Item, Recent, RecentOptions, Settings } from '../../shared/group-types'
import { createdAtOf, decoded, type ItemLine, itemOfLine } from './lines'
import type { PolicySet } from './policies'
import type { SeenHead } from './rows'
import { expired } from './window'

export interface ReadRequest extends RecentOptions {
  group: string
  limit: number
  maxBytes: number
  /** The caller has the page with this tag: if that is still the page, the answer is null. */
  unlessTag?: string | undefined
}

/** The requests of one caller, all answered as of one moment. */
export interface ReadCall {
  /** They differ in their groups, and in nothing else that bounds a page. */
  requests: readonly ReadRequest[]
  /** True for a second quick read: this one reads items, whatever tags the caller has. */
  again: boolean
}

/** The page of these items, null where it has the caller's tag. `isCut`: it has fewer than `limit` because of `maxBytes`. */
export function pageFrom(
  head: SeenHead,
  settings: Settings,
  items: Item[],
  {
    isMore,
    isCut = false,
    unlessTag,
    before,
  }: { isMore: boolean; isCut?: boolean } & Pick<ReadRequest, 'unlessTag' | 'before'>,
): Recent | null {
  const nextBefore = isMore ? nextOf(settings, items, before) : null
  const base = baseTag(head, settings)
  const tag = isCut || settings.ttlSeconds !== null ? `${base}.${hashOf(items, nextBefore)}` : base
  if (tag === unlessTag) return null
  const { capacity, mode } = settings
  return RECENT.of({ group: head.group, capacity, mode, totalAppended: head.lastId + 1n, items, nextBefore, tag })
}

/** In a `top` group, whose members change their places, a cursor is the number of items above: an id would be lost. */
export function nextOf({ mode }: Pick<Settings, 'mode'>, items: readonly Item[], before = 0n): bigint | null {
  return mode === 'top' ? before + BigInt(items.length) : (items.at(-1)?.id ?? null)
}

export function emptyPage(set: PolicySet, { group, unlessTag }: ReadRequest): Recent | null {
  const settings = set.settingsOf(group, {})
  const { capacity, mode } = settings
  const tag = `none.${settingsTag(settings)}`
  return tag === unlessTag
    ? null
    : RECENT.of({ group, capacity, mode, totalAppended: 0n, items: [], nextBefore: null, tag })
}

/**
 * Everything that can change a page: the group being created again, any change of it, the settings in force. Where items
 * expire, which does not touch the head, and where `maxBytes` cut the page, a hash of the page's ids follows.
 */
function baseTag({ incarnation, version }: SeenHead, settings: Settings): string {
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
 * True when the head alone shows that a page with this tag would be answered unchanged. A page that `maxBytes` cut might be
 * cut elsewhere now, but the caller's page is still a page of the group as it is.
 */
export function isUnchanged(tag: string, head: SeenHead, settings: Settings): boolean {
  if (settings.ttlSeconds !== null) return false
  const base = baseTag(head, settings)
  return tag === base || (tag.length > base.length && tag.startsWith(`${base}.`))
}

/** Whether to look at the head alone first. Not if the caller's page, by its tag, has items that expire. */
export function isHeadFirst({ requests, again }: ReadCall): boolean {
  return !again && requests.every(({ unlessTag }) => unlessTag !== undefined && !EXPIRING.test(unlessTag))
}

const EXPIRING = /^\d+\.\d+\.\d+[a-z]\d+\./

/** The page of a group laid out by the settings in force: `lines` in the order of its mode. `isKept`: they are remembered. */
export function pageOfLines(
  request: ReadRequest,
  head: SeenHead,
  lines: readonly ItemLine[],
  isKept = false,
): Recent | null {
  const { limit, payloads, unlessTag, before } = request
  const wanted = wantedOf(request, head, lines)
  const count = Math.min(limit, wanted.length)
  const items: Item[] = []
  for (let at = 0; at < count; at++) items.push(itemOfLine(wanted[at] as ItemLine, payloads, isKept))
  return pageFrom(head, head, items, { isMore: wanted.length > limit, unlessTag, before })
}

function wantedOf({ before, exclude = [] }: ReadRequest, head: SeenHead, lines: readonly ItemLine[]) {
  if (head.ttlSeconds === null && before === undefined && exclude.length === 0) return lines
  const isTop = head.mode === 'top'
  const wanted = lines.filter((line) => {
    if (isLineExpired(line, head)) return false
    if (before !== undefined && !isTop && BigInt(line.digits) >= before) return false
    const member = exclude.length === 0 ? null : decoded(line).member
    return member === null || !exclude.includes(member)
  })
  return isTop ? wanted.slice(Number(before ?? 0n)) : wanted
}

export function isLineExpired(line: ItemLine, head: Settings & { nowMs: number }): boolean {
  return head.ttlSeconds !== null && expired({ createdAtMs: createdAtOf(line) }, head, head.nowMs)
}
