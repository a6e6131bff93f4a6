/**
 * Reading the newest items of many groups by one statement that nothing has to be sorted for: all heads, the whole
 * windows of small groups, and of large `history` rings the slots that the head says are the newest. The page is cut
 * here. One statement shows one moment. Takes no lock.
 */
import type { Reader, Statement } from '../../database/engine'
import { HEAD_ALONE, hasQuickPages, type Layouts, MEDIUM, NEWEST, SMALL, slotsFor } from './layouts'
import {
  BARE_ITEM_LINE,
  createdAtOf,
  type HeadLine,
  headLine,
  ITEM_LINE,
  type ItemLine,
  itemOfLine,
  memberOf,
  newestFirst,
  type Sight,
  sightOf,
} from './lines'
import { type Call, emptyPage, isHeadFirst, isUnchanged, pageFrom, type ReadRequest } from './page'
import type { PolicyCache, PolicySet } from './policies'
import type { Recent, Settings } from './types'
import { expired } from './window'

/** Each page, null where it still has the tag that the caller has; or what to do to get them. */
export type Outcome = (Recent | null)[] | Retry

/** Worth another quick read, by what is known now; or not. */
export type Retry = 'again' | 'alone'

/** What a statement is to read. */
export interface Plan {
  /** How much of each group. */
  slots: Map<string, number>
  /** How many of the newest slots, where these are read. */
  newest: number
  /** Whether any caller wants payloads. */
  payloads: boolean
}

export function planOf(layouts: Layouts, calls: readonly Call[]): Plan {
  const plan: Plan = { slots: new Map(), newest: 0, payloads: false }
  for (const call of calls) {
    const headFirst = isHeadFirst(call)
    for (const request of call.requests) {
      const { group, limit, payloads } = request
      plan.payloads ||= payloads !== 'none'
      const slots = headFirst ? HEAD_ALONE : (slotsFor(layouts, request) ?? HEAD_ALONE)
      plan.slots.set(group, Math.max(slots, plan.slots.get(group) ?? HEAD_ALONE))
      if (slots === NEWEST) plan.newest = Math.max(plan.newest, limit + 1)
    }
  }
  return plan
}

/**
 * The hot read: heads by their primary key, items by the prefix of theirs or by all of it, each row as one text
 * (`lines.ts`). The only temporary table is that of the numbers of the newest slots.
 */
export function quickSelect({ engine, tables, now }: Pick<Reader, 'engine' | 'tables' | 'now'>, plan: Plan): Statement {
  const { slots, newest } = plan
  const itemLine = plan.payloads ? ITEM_LINE : BARE_ITEM_LINE
  const all: Statement = { sql: '', parameters: [] }
  const add = (select: string, groups: readonly string[], rest = '') => {
    if (groups.length === 0) return
    const { sql, parameters } = engine.values([groups])
    all.sql += `${all.sql === '' ? '' : '\nUNION ALL\n'}${select} IN ${sql}${rest}`
    for (const parameter of parameters) all.parameters.push(parameter)
  }
  const reading = (wanted: number) => [...slots].filter(([, given]) => given === wanted).map(([group]) => group)
  add(`SELECT ${headLine(now)} FROM ${tables.groups} g WHERE g.group_key`, [...slots.keys()])
  for (const window of [SMALL, MEDIUM]) {
    const select = `SELECT ${itemLine} FROM ${tables.items} i WHERE i.group_key`
    add(select, reading(window), ` AND i.slot < ${window}`)
  }
  add(
    `SELECT ${itemLine} FROM ${tables.groups} g JOIN (${numbers(newest)}) d JOIN ${tables.items} i ` +
      'ON i.group_key = g.group_key AND i.slot = (g.last_id - d.n) % g.capacity WHERE g.group_key',
    reading(NEWEST),
    " AND g.mode = 'history' AND d.n < g.capacity",
  )
  return all
}

function numbers(count: number): string {
  return Array.from({ length: count }, (_, n) => `SELECT ${n} AS n`).join(' UNION ALL ')
}

/** Reads for many callers at once: an outcome for each. */
export async function readQuickly(
  reader: Reader,
  policies: PolicyCache,
  layouts: Layouts,
  calls: readonly Call[],
): Promise<Outcome[]> {
  const plan = planOf(layouts, calls)
  const { sql, parameters } = quickSelect(reader, plan)
  const sight = sightOf(await reader.rows(sql, parameters))
  const epochs: bigint[] = []
  for (const head of sight.heads.values()) {
    epochs.push(head.policyEpoch)
    layouts.learn(head.group, head)
  }
  const set = await policies.current(reader, epochs)
  return calls.map(({ requests, again }) => {
    const pages: (Recent | null)[] = []
    for (const request of requests) {
      const answer = answerTo(request, sight, set, plan.slots.get(request.group) ?? HEAD_ALONE, layouts)
      if (typeof answer === 'string') return again || !hasQuickPages(layouts, requests) ? 'alone' : answer
      pages.push(answer)
    }
    return pages
  })
}

/** The page, or null where it is unchanged, from as much as was read of the group. */
function answerTo(
  request: ReadRequest,
  { heads, items }: Sight,
  set: PolicySet,
  slots: number,
  layouts: Layouts,
): Recent | null | Retry {
  const { group, unlessTag } = request
  const head = heads.get(group)
  if (!head) return unlessSame(emptyPage(set, group), unlessTag)
  const settings = set.settingsOf(group, head.own)
  if (!isLaidOut(head, settings)) return 'alone'
  if (unlessTag !== undefined && isUnchanged(unlessTag, head, settings)) return null
  const lines = items.get(group) ?? []
  const isAll = slots === NEWEST ? hasNewest(request, head, settings, lines) : head.capacity <= slots
  if (isAll) return unlessSame(cutPage(request, head, settings, lines), unlessTag)
  const better = slotsFor(layouts, request)
  return better === null || better === slots ? 'alone' : 'again'
}

export function unlessSame(page: Recent, tag: string | undefined): Recent | null {
  return page.tag === tag ? null : page
}

/** False for a group whose policy has changed since its slots were laid out. */
export function isLaidOut(head: HeadLine, { capacity, mode, ttlSeconds }: Settings): boolean {
  return capacity === head.capacity && mode === head.mode && ttlSeconds === head.ttlSeconds
}

/** Whether the page is surely made of these, of the newest slots: where one is empty, older items may belong to it. */
function hasNewest(
  { limit, before, exclude = [] }: ReadRequest,
  head: HeadLine,
  settings: Settings,
  lines: readonly ItemLine[],
): boolean {
  if (head.mode !== 'history' || before !== undefined || exclude.length > 0) return false
  const inWindow = head.lastId < BigInt(head.capacity) ? Number(head.lastId) + 1 : head.capacity
  return lines.length >= Math.min(limit + 1, inWindow) && lines.every((line) => !isExpired(line, settings, head))
}

/** The page of a group of which these items are the window, or as much of it as the page needs. */
export function cutPage(
  { limit, before, exclude = [], payloads }: ReadRequest,
  head: HeadLine,
  settings: Settings,
  lines: readonly ItemLine[],
): Recent {
  const isAsked = (line: ItemLine) => {
    if (isExpired(line, settings, head)) return false
    if (before !== undefined && BigInt(line.id) >= before) return false
    const member = exclude.length === 0 ? null : memberOf(line)
    return member === null || !exclude.includes(member)
  }
  const asked = lines.filter(isAsked).sort(newestFirst)
  const items = asked.slice(0, limit).map((line) => itemOfLine(line, payloads))
  return pageFrom(head, settings, items, asked.length > limit ? (items.at(-1)?.id ?? null) : null)
}

function isExpired(line: ItemLine, settings: Settings, { nowMs }: HeadLine): boolean {
  return settings.ttlSeconds !== null && expired({ createdAtMs: createdAtOf(line) }, settings, nowMs)
}
