/**
 * Reading the newest items of groups: by a quick read where that has them, else by one statement that sorts each
 * group's window, so that a page and its total always fit together. Takes no lock.
 */
import type { Reader, Statement } from '../../database/engine'
import { readCarefully } from './careful-read'
import { isQuick, type Layouts, mayBeTooLarge } from './layouts'
import { BARE_ITEM_LINE, headLine, ITEM_LINE, sightOf } from './lines'
import { type Call, emptyPage, type ReadRequest } from './page'
import type { PolicyCache } from './policies'
import { cutPage, isLaidOut, readQuickly, unlessSame } from './quick-read'
import type { Recent } from './types'

/** The newest items of each request, in the order asked; null where a page still has the tag that the caller has. */
export async function readRecent(
  reader: Reader,
  policies: PolicyCache,
  layouts: Layouts,
  requests: readonly ReadRequest[],
): Promise<(Recent | null)[]> {
  for (let call: Call = { requests, again: false }; isQuick(layouts, call); call = { requests, again: true }) {
    const [outcome] = await readQuickly(reader, policies, layouts, [call])
    if (typeof outcome === 'object') return outcome
    if (outcome === 'alone') break
  }
  return readThoroughly(reader, policies, requests)
}

/**
 * Whatever the groups' sizes: all heads, and of each group the page sorted by the database. Asks for one item more than
 * a page has, to know whether anything older is there.
 */
export function thoroughSelect(
  reader: Pick<Reader, 'engine' | 'tables' | 'now'>,
  requests: readonly ReadRequest[],
): Statement {
  const { engine, tables, now } = reader
  const heads = engine.values([requests.map(({ group }) => group)])
  const statement = {
    selects: [`SELECT ${headLine(now)} FROM ${tables.groups} g WHERE g.group_key IN ${heads.sql}`],
    parameters: heads.parameters,
  }
  for (const request of requests) {
    const page = selectPage(reader, request)
    statement.selects.push(page.sql)
    for (const parameter of page.parameters) statement.parameters.push(parameter)
  }
  return { sql: engine.unionAll(statement.selects), parameters: statement.parameters }
}

function selectPage(
  { engine, tables, now }: Pick<Reader, 'engine' | 'tables' | 'now'>,
  { group, limit, before, exclude = [], payloads }: ReadRequest,
): Statement {
  const key = engine.values([[group]])
  const statement: Statement = {
    sql:
      `SELECT ${payloads === 'none' ? BARE_ITEM_LINE : ITEM_LINE} FROM ${tables.groups} g JOIN ${tables.items} i ON i.group_key = g.group_key ` +
      `AND (g.ttl_seconds IS NULL OR i.created_at_ms > ${now} - g.ttl_seconds * 1000) WHERE g.group_key = ${key.sql}`,
    parameters: key.parameters,
  }
  if (before !== undefined) statement.sql += ` AND i.id < ${before}`
  if (exclude.length > 0) {
    const members = engine.values([exclude])
    statement.sql += ` AND (i.member IS NULL OR i.member NOT IN ${members.sql})`
    for (const parameter of members.parameters) statement.parameters.push(parameter)
  }
  statement.sql += ` ORDER BY i.id DESC LIMIT ${limit + 1}`
  return statement
}

async function readThoroughly(
  reader: Reader,
  policies: PolicyCache,
  requests: readonly ReadRequest[],
): Promise<(Recent | null)[]> {
  if (mayBeTooLarge(requests)) return readInTurn(reader, policies, requests)
  const distinct = [...new Map(requests.map((request) => [request.group, request])).values()]
  const { sql, parameters } = thoroughSelect(reader, distinct)
  const { heads, items } = sightOf(await reader.rows(sql, parameters))
  const epochs = [...heads.values()].map(({ policyEpoch }) => policyEpoch)
  const set = await policies.current(reader, epochs)
  const pages: (Recent | null)[] = []
  for (const request of requests) {
    const head = heads.get(request.group)
    const settings = set.settingsOf(request.group, head?.own ?? {})
    if (!head) pages.push(unlessSame(emptyPage(set, request.group), request.unlessTag))
    else if (isLaidOut(head, settings)) {
      pages.push(unlessSame(cutPage(request, head, settings, items.get(request.group) ?? []), request.unlessTag))
    } else pages.push(await carefulPage(reader, policies, request))
  }
  return pages
}

async function carefulPage(reader: Reader, policies: PolicyCache, request: ReadRequest): Promise<Recent | null> {
  return unlessSame((await readCarefully(reader, policies, request)).page, request.unlessTag)
}

/** One group after the other, all within `maxBytes`, but at least one item of each. */
async function readInTurn(
  reader: Reader,
  policies: PolicyCache,
  requests: readonly ReadRequest[],
): Promise<(Recent | null)[]> {
  const pages: (Recent | null)[] = []
  let left = requests[0]?.maxBytes ?? Number.POSITIVE_INFINITY
  for (const request of requests) {
    const { page, bytes } = await readCarefully(reader, policies, { ...request, maxBytes: Math.max(left, 1) })
    pages.push(unlessSame(page, request.unlessTag))
    left -= bytes
  }
  return pages
}
