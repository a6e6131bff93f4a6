/**
 * Reading pages of a caller: by a quick read if that has them or if the pages show the whole windows, otherwise by the
 * thorough read. That is one statement that sorts each group's window and cuts the pages by the settings in force, by `limit` and
 * by `maxBytes`.
 *
 * Invariant: a page is what one statement showed. The settings go into the thorough statement, which shows the heads too:
 * if they show other settings in force, it runs again by those. Takes no lock.
 */
import type { Reader, Statement } from '../../database/engine'
import { MAX_CAPACITY } from '../../fields/rules'
import type { Recent, Settings } from '../../shared/group-types'
import type { Runnable } from '../runners'
import { areShownWhole, isQuick, isSame, type Layouts, mayBeTooLarge } from './layouts'
import { BARE_ITEM_LINE, ITEM_LINE, itemOfLine, orderOf, type Snapshot, snapshotOf } from './lines'
import type { GroupMemory } from './memory'
import { emptyPage, pageFrom, type ReadRequest } from './page'
import type { PolicyCache, PolicySet } from './policies'
import { readQuickly, wholePlan } from './quick-read'
import { FRAME_BYTES, headText, type ReadFacts } from './rows'

export const LONG_READS: Runnable<GroupMemory, readonly ReadRequest[], (Recent | null)[]> = {
  alone: (session, memory, requests) => session.read((reader) => readRecent(reader, memory, requests)),
}

/** The newest items of each request, in the order asked; null where a page still has the tag that the caller has. */
async function readRecent(
  reader: Reader,
  { policies, layouts }: GroupMemory,
  requests: readonly ReadRequest[],
): Promise<(Recent | null)[]> {
  const memory = { policies, layouts, windows: null }
  for (const again of [false, true]) {
    if (!isQuick(layouts, { requests, again })) break
    const [outcome] = await readQuickly(reader, memory, [{ requests, again }])
    if (typeof outcome === 'object') return outcome
    if (outcome === 'alone') break
  }
  if (areShownWhole(layouts, requests)) {
    const [outcome] = await readQuickly(reader, memory, [{ requests, again: true }], wholePlan(requests))
    if (typeof outcome === 'object') return outcome
  }
  return readThoroughly(reader, policies, layouts, requests)
}

/** By group, the settings to read it by; null for those that it is laid out by, unless its mode is `top`. */
type SettingsToReadBy = ReadonlyMap<string, Settings | null>

async function readThoroughly(
  reader: Reader,
  policies: PolicyCache,
  layouts: Layouts,
  requests: readonly ReadRequest[],
): Promise<(Recent | null)[]> {
  const distinct = [...new Map(requests.map((request) => [request.group, request])).values()]
  const readBy = new Map(distinct.map(({ group }) => [group, layouts.of(group)?.sorting ?? null]))
  // Ends when no process has changed the settings since the statement before.
  for (;;) {
    const { sql, parameters } = thoroughSelect(reader, distinct, readBy)
    const rows = await reader.rows(sql, parameters)
    const snapshot = snapshotOf(rows)
    const set = await policies.current(reader, snapshot.heads.values())
    const others = new Map<string, Settings>()
    for (const head of snapshot.heads.values()) {
      const settings = set.settingsOf(head.group, head.own)
      layouts.learn(head, settings)
      const by = readBy.get(head.group) ?? null
      // The statement must know that a group is to be sorted by scores.
      const isUnsorted = by === null && settings.mode === 'top'
      if (isUnsorted || !isSame(by ?? head, settings)) others.set(head.group, settings)
    }
    if (others.size === 0) {
      const pages = new Map(distinct.map((request) => [request.group, pageOf(request, snapshot, set)]))
      return requests.map(({ group }) => pages.get(group) ?? null)
    }
    for (const [group, settings] of others) readBy.set(group, settings)
  }
}

function pageOf(request: ReadRequest, { heads, items, found }: Snapshot, set: PolicySet): Recent | null {
  const { group, limit, payloads, unlessTag, before } = request
  const head = heads.get(group)
  if (!head) return emptyPage(set, request)
  const settings = set.settingsOf(group, head.own)
  const lines = items.get(group) ?? []
  const page = lines.sort(orderOf(settings.mode)).slice(0, limit)
  const shown = page.map((line) => itemOfLine(line, payloads))
  const isMore = page.length < (found.get(group) ?? lines.length)
  const isCut = isMore && page.length < limit
  return pageFrom(head, settings, shown, { isMore, isCut, unlessTag, before })
}

/**
 * Heads, and the items of the pages. Only the keys of items are sorted; their texts are selected for those that are left.
 * Each page gets one item more than it shows, if there is one. Pages that may be too large are cut by the statement. It
 * selects no more items than `maxBytes` has room for, but one of each page, and says how many it has `found`.
 */
export function thoroughSelect(
  facts: ReadFacts,
  requests: readonly ReadRequest[],
  readBy: SettingsToReadBy,
): Statement {
  const { engine, tables, now } = facts
  const [{ limit, payloads, maxBytes }] = requests as [ReadRequest]
  const heads = engine.values([requests.map(({ group }) => group)])
  const newest = requests.map((request, n) => newestKeys(facts, request, readBy.get(request.group) ?? null, n))
  const keys = engine.unionAll(newest.map((one) => one.sql))
  const isBounded = mayBeTooLarge(requests)
  const texts = ['k.group_key', 's.member', 's.event_id', ...(payloads === 'none' ? [] : ['s.payload'])]
  const bytes = [FRAME_BYTES, ...texts.map((text) => `COALESCE(OCTET_LENGTH(${text}), 4)`)].join(' + ')
  const cut =
    'SELECT k.group_key, k.slot, ROW_NUMBER() OVER (PARTITION BY k.page ORDER BY k.id DESC) AS place, ' +
    `COUNT(*) OVER (PARTITION BY k.page) AS found, SUM(${bytes}) OVER (ORDER BY k.page, k.id DESC) AS bytes ` +
    `FROM (${keys}) k ${engine.joinNext} ${tables.items} s ON s.group_key = k.group_key AND s.slot = k.slot`
  return {
    sql:
      `SELECT ${headText('g.', now)} AS line${isBounded ? ', NULL AS found' : ''} FROM ${tables.groups} g WHERE g.group_key IN ${heads.sql}\nUNION ALL\n` +
      `SELECT ${payloads === 'none' ? BARE_ITEM_LINE : ITEM_LINE}${isBounded ? ', p.found' : ''} ` +
      `FROM (${isBounded ? cut : keys}) p ${engine.joinNext} ${tables.items} i ON i.group_key = p.group_key AND i.slot = p.slot` +
      (isBounded ? ` WHERE p.place <= ${limit} AND (p.place = 1 OR p.bytes <= ${maxBytes})` : ''),
    parameters: [...heads.parameters, ...newest.flatMap(({ parameters }) => parameters)],
  }
}

/** The keys of the first items that a page may show, and one more. Those of a `top` group have places for ids. */
function newestKeys(facts: ReadFacts, request: ReadRequest, settings: Settings | null, page: number): Statement {
  const { engine, tables, now } = facts
  const { group, limit, before, exclude = [] } = request
  const key = engine.values([[group]])
  let parameters = key.parameters
  const isTop = settings?.mode === 'top'
  const place = isTop ? `${MAX_CAPACITY} - ROW_NUMBER() OVER (ORDER BY i.score DESC, i.id) AS id` : 'i.id'
  let window = `SELECT ${page} AS page, i.group_key, i.slot, ${place} FROM ${tables.groups} g JOIN `
  if (settings !== null && settings.mode !== 'history') {
    const order = (table: string) => (isTop ? `${table}.score DESC, ${table}.id` : `${table}.id DESC`)
    const nth = `ROW_NUMBER() OVER (PARTITION BY o.member ORDER BY ${order('o')}) AS nth`
    const columns = `o.group_key, o.slot, o.id, o.member, o.created_at_ms${isTop ? ', o.score' : ''}`
    const isKept = `${isTop ? ' AND o.score IS NOT NULL' : ''}${since('o', settings, now)}`
    window +=
      `(SELECT * FROM (SELECT ${columns}, ${nth} FROM ${tables.items} o WHERE o.group_key = ${key.sql} AND ` +
      `o.member IS NOT NULL${isKept}) m WHERE m.nth = 1 ORDER BY ${order('m')} LIMIT ${settings.capacity}) i`
    parameters = [...key.parameters, ...key.parameters]
  } else window += `${tables.items} i`
  window += ` ON i.group_key = g.group_key WHERE g.group_key = ${key.sql}`
  if (settings?.mode === 'history') window += ` AND i.id > g.last_id - ${settings.capacity}`
  if (settings === null) window += ` AND (g.ttl_seconds IS NULL OR i.created_at_ms > ${now} - g.ttl_seconds * 1000)`
  else if (settings.mode === 'history') window += since('i', settings, now)
  if (before !== undefined && !isTop) window += ` AND i.id < ${before}`
  if (exclude.length > 0) {
    const members = engine.values([exclude])
    window += ` AND (i.member IS NULL OR i.member NOT IN ${members.sql})`
    parameters = [...parameters, ...members.parameters]
  }
  const end = isTop ? `i.score DESC, i.id LIMIT ${limit + 1} OFFSET ${before ?? 0}` : `i.id DESC LIMIT ${limit + 1}`
  return { sql: `${window} ORDER BY ${end}`, parameters }
}

function since(table: string, { ttlSeconds }: Settings, now: string): string {
  return ttlSeconds === null ? '' : ` AND ${table}.created_at_ms > ${now} - ${ttlSeconds * 1000}`
}
