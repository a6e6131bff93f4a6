/**
 * The quick read: one statement for many callers' groups that sorts nothing. It selects all heads, the whole windows of
 * small groups, and of large `history` groups the slots that the head says are the newest; the pages are cut here. Of a
 * group whose window is remembered it selects the head alone.
 *
 * Invariant: a page is what one statement showed, or would have. Takes no lock.
 */
import type { Reader, Session, Statement } from '../../database/engine'
import { isPassing } from '../../shared/errors'
import type { Recent } from '../../shared/group-types'
import { merging } from '../runners'
import { HEAD_ALONE, hasQuickPages, isSame, type Layouts, MEDIUM, NEWEST, SMALL, slotsFor, WHOLE } from './layouts'
import { BARE_ITEM_LINE, ITEM_LINE, type ItemLine, orderOf, type Snapshot, snapshotOf } from './lines'
import type { GroupMemory } from './memory'
import {
  emptyPage,
  isHeadFirst,
  isLineExpired,
  isUnchanged,
  pageOfLines,
  type ReadCall,
  type ReadRequest,
} from './page'
import type { PolicyCache, PolicySet } from './policies'
import { headText, type ReadFacts, type SeenHead } from './rows'
import { isSameState, type Window, type Windows } from './windows'

/** The pages of a call, null where the caller has the page; or how to get them. */
type QuickOutcome = (Recent | null)[] | Retry

/** 'again': another quick read may have the pages, by what is known now. 'alone': only the thorough read has them. */
type Retry = 'again' | 'alone'

export interface QuickPlan {
  /** How much of each group. */
  slots: Map<string, number>
  /** How many slots, where the newest are read. */
  newest: number
  payloads: boolean
  /** The windows that need only their heads. */
  known: Map<string, Window>
}

export function planOf({ layouts, windows }: ReadMemory, calls: readonly ReadCall[]): QuickPlan {
  const plan: QuickPlan = { slots: new Map(), newest: 0, payloads: false, known: new Map() }
  for (const call of calls) {
    const headFirst = isHeadFirst(call)
    for (const request of call.requests) {
      const { group, limit, payloads } = request
      plan.payloads ||= payloads !== 'none'
      const window = windows?.of(group) ?? null
      const isKnown = window !== null && mayShow(window, request)
      if (isKnown) plan.known.set(group, window)
      const slots = headFirst || isKnown ? HEAD_ALONE : (slotsFor(layouts, request) ?? HEAD_ALONE)
      plan.slots.set(group, Math.max(slots, plan.slots.get(group) ?? HEAD_ALONE))
      if (slots === NEWEST) plan.newest = Math.max(plan.newest, limit + 1)
    }
  }
  return plan
}

export function wholePlan(requests: readonly ReadRequest[]): QuickPlan {
  const slots = new Map(requests.map(({ group }) => [group, WHOLE]))
  return { slots, newest: 0, payloads: requests.some(({ payloads }) => payloads !== 'none'), known: new Map() }
}

/** Whether the window has the page, if it is the group's and nothing of it has expired. */
function mayShow(
  { lines, isWhole, hasPayloads }: Window,
  { limit, before, exclude = [], payloads }: ReadRequest,
): boolean {
  if (!hasPayloads && payloads !== 'none') return false
  return isWhole || (before === undefined && exclude.length === 0 && lines.length > limit)
}

/** Finds heads by their primary key, items by their whole primary key or its prefix. Only the numbers of slots are a temporary table. */
export function quickSelect(
  { engine, tables, now }: ReadFacts,
  { slots, newest, payloads }: Omit<QuickPlan, 'known'>,
): Statement {
  const itemLine = payloads ? ITEM_LINE : BARE_ITEM_LINE
  const next = engine.joinNext
  const all: Statement = { sql: '', parameters: [] }
  const add = (select: string, groups: readonly string[], rest = '') => {
    if (groups.length === 0) return
    const { sql, parameters } = engine.values([groups])
    all.sql += `${all.sql === '' ? '' : '\nUNION ALL\n'}${select} IN ${sql}${rest}`
    for (const parameter of parameters) all.parameters.push(parameter)
  }
  const reading = (wanted: number) => [...slots].filter(([, given]) => given === wanted).map(([group]) => group)
  const time = `CASE WHEN g.ttl_seconds IS NULL THEN '' ELSE ${now} END`
  add(`SELECT ${headText('g.', time)} AS line FROM ${tables.groups} g WHERE g.group_key`, [...slots.keys()])
  for (const window of [SMALL, MEDIUM, WHOLE]) {
    const select = `SELECT ${itemLine} FROM ${tables.items} i WHERE i.group_key`
    add(select, reading(window), ` AND i.slot < ${window}`)
  }
  const numbers = Array.from({ length: newest }, (_, n) => `SELECT ${n} AS n`).join(' UNION ALL ')
  add(
    `SELECT ${itemLine} FROM ${tables.groups} g ${next} (${numbers}) d ${next} ${tables.items} i ` +
      'ON i.group_key = g.group_key AND i.slot = (g.last_id - d.n) % g.capacity WHERE g.group_key',
    reading(NEWEST),
    " AND g.mode = 'history' AND d.n < g.capacity",
  )
  return all
}

/** A process's memory of groups before it reads. Without `windows` nothing is remembered: the reader may see uncommitted rows. */
interface ReadMemory {
  policies: PolicyCache
  layouts: Layouts
  windows: Windows | null
}

const IS_LONG = Promise.resolve<QuickOutcome>('alone')

/** All quick reads of a store share statements. In a transaction, and without a store, each call is a long read. */
export const QUICK_READS = {
  ...merging<GroupMemory, ReadCall, QuickOutcome>({
    what: 'reads',
    sizeOf: ({ requests }) => requests.length,
    // More groups gain nothing, and by 200 the servers begin to plan by guesses.
    maxBatchSize: 100,
    startsAtOnce: true,
    run: readTogether,
    again: (call, outcome) => (outcome === 'again' ? { ...call, again: true } : undefined),
  }),
  alone: () => IS_LONG,
}

async function readTogether(
  session: Session,
  memory: GroupMemory,
  calls: readonly ReadCall[],
): Promise<QuickOutcome[]> {
  try {
    return await session.read((reader) => readQuickly(reader, memory, calls))
  } catch (error) {
    if (isPassing(error)) memory.forgetWindows()
    throw error
  }
}

export async function readQuickly(
  reader: Reader,
  memory: ReadMemory,
  calls: readonly ReadCall[],
  plan = planOf(memory, calls),
): Promise<QuickOutcome[]> {
  const { policies, layouts, windows } = memory
  const { sql, parameters } = quickSelect(reader, plan)
  const snapshot = snapshotOf(await reader.rows(sql, parameters))
  for (const [group, { mode }] of snapshot.heads) snapshot.items.get(group)?.sort(orderOf(mode))
  const set = await policies.current(reader, snapshot.heads.values())
  for (const head of snapshot.heads.values()) layouts.learn(head, set.settingsOf(head.group, head.own))
  if (windows !== null) learn(windows, plan, snapshot)
  return calls.map(({ requests, again }) => {
    const pages: (Recent | null)[] = []
    for (const request of requests) {
      const answer = answerTo(request, snapshot, set, plan, memory)
      if (typeof answer === 'string') return again || !hasQuickPages(layouts, requests) ? 'alone' : answer
      pages.push(answer)
    }
    return pages
  })
}

/** Remembers what the statement has read of groups, and forgets what it has shown to have changed. */
function learn(windows: Windows, { slots, payloads, known }: QuickPlan, { heads, items }: Snapshot): void {
  for (const [group, read] of slots) {
    const head = heads.get(group)
    if (head === undefined) {
      windows.forget([group])
      continue
    }
    const { incarnation, version } = head
    if (read === HEAD_ALONE) {
      const window = known.get(group)
      if (window && !isSameState(window, head) && windows.of(group) === window) windows.doubt(group, head)
      continue
    }
    const lines = items.get(group) ?? []
    const isWhole = read === NEWEST ? lines.length === inWindow(head) : head.capacity <= read
    if (isWhole || read === NEWEST)
      windows.learn(group, { incarnation, version, lines, isWhole, hasPayloads: payloads })
  }
}

function answerTo(
  request: ReadRequest,
  { heads, items }: Snapshot,
  set: PolicySet,
  plan: QuickPlan,
  { layouts, windows }: ReadMemory,
): Recent | null | Retry {
  const { group, unlessTag } = request
  const head = heads.get(group)
  if (!head) return emptyPage(set, request)
  const settings = set.settingsOf(group, head.own)
  if (unlessTag !== undefined && isUnchanged(unlessTag, head, settings)) return null
  if (!isSame(head, settings)) return 'alone'
  const slots = plan.slots.get(group) ?? HEAD_ALONE
  if (slots === HEAD_ALONE) {
    const window = [plan.known.get(group), windows?.of(group)].find((one) => one && isSameState(one, head))
    if (!window || !mayShow(window, request)) return 'again'
    const isAll = window.isWhole || hasNewest(request, head, window.lines)
    return isAll ? pageOfLines(request, head, window.lines, true) : 'alone'
  }
  const lines = items.get(group) ?? []
  const isAll = slots === NEWEST ? hasNewest(request, head, lines) : head.capacity <= slots
  if (isAll) return pageOfLines(request, head, lines)
  const better = slotsFor(layouts, request)
  return better === null || better === slots ? 'alone' : 'again'
}

/** Whether these newest slots surely have the whole page: where one of them is empty, older items may belong to it. */
function hasNewest({ limit, before, exclude = [] }: ReadRequest, head: SeenHead, lines: readonly ItemLine[]): boolean {
  if (head.mode !== 'history' || before !== undefined || exclude.length > 0) return false
  return lines.length >= Math.min(limit + 1, inWindow(head)) && lines.every((line) => !isLineExpired(line, head))
}

/** How many items the window of a `history` group has, unless some were removed. */
function inWindow({ lastId, capacity }: SeenHead): number {
  return lastId < BigInt(capacity) ? Number(lastId) + 1 : capacity
}
