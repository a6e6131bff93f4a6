/**
 * Reading the newest items of groups. One statement shows head and items at one moment, so that a page and its total
 * always fit together. Takes no lock.
 */
import { type Parameter, placeholders, type Reader, type Row } from '../../database/engine'
import { MAX_PAYLOAD_BYTES } from '../../rules'
import { readCarefully } from './careful-read'
import { emptyPage, pageFrom, type ReadRequest } from './page'
import type { PolicyCache, PolicySet } from './policies'
import { type Head, headColumns, headOf, itemColumns, itemRowOf } from './rows'
import type { Recent } from './types'

interface Statement {
  sql: string
  parameters: Parameter[]
}

/** How many times the bound of one page a request for many groups may read at the very worst. */
const MANY_FACTOR = 16

/**
 * The hot read: the head by its primary key, the group's items by the prefix of theirs; the sort is over the window
 * at the most. Asks for one item more than the page has, to know whether anything older is there. It shows nothing of
 * a group without items (a LEFT JOIN would, and would cost a temporary table in every read).
 */
export function selectRecent(reader: Pick<Reader, 'engine' | 'now'>, request: ReadRequest): Statement {
  const { where, parameters } = pageFilter(request)
  return {
    sql:
      `SELECT ${headColumns(reader.engine)}, ${itemColumns(reader.engine)} FROM recent_groups g JOIN recent_items i ` +
      `ON i.group_key = g.group_key AND (g.ttl_seconds IS NULL OR i.created_at_ms > ${reader.now} - g.ttl_seconds * 1000)${where} ` +
      'WHERE g.group_key = ? ORDER BY i.id DESC LIMIT ?',
    parameters: [...parameters, request.group, request.limit + 1],
  }
}

function pageFilter({ before, exclude = [] }: ReadRequest): { where: string; parameters: Parameter[] } {
  const conditions: string[] = []
  const parameters: Parameter[] = []
  if (before !== undefined) {
    conditions.push(' AND i.id < ?')
    parameters.push(before)
  }
  if (exclude.length > 0) {
    conditions.push(` AND (i.member IS NULL OR i.member NOT IN (${placeholders(exclude.length)}))`)
    parameters.push(...exclude)
  }
  return { where: conditions.join(''), parameters }
}

/** The newest items of each request, in the order asked; one statement, unless one needs the careful way. */
export async function readRecent(
  reader: Reader,
  policies: PolicyCache,
  requests: readonly ReadRequest[],
): Promise<Recent[]> {
  if (mayBeTooLarge(requests)) return readInTurn(reader, policies, requests)
  const distinct = [...new Map(requests.map((request) => [request.group, request])).values()]
  const statements = distinct.map((request) => selectRecent(reader, request))
  const single = statements.length === 1 ? statements[0] : undefined
  const rows = await reader.rows(
    single?.sql ?? reader.engine.unionAll(statements.map(({ sql }) => sql)),
    statements.flatMap(({ parameters }) => parameters),
  )
  const byGroup = new Map<string, Row[]>()
  for (const row of rows) {
    const known = byGroup.get(row.head_group_key as string)
    if (known) known.push(row)
    else byGroup.set(row.head_group_key as string, [row])
  }
  const heads = new Map([...byGroup].map(([group, [row]]) => [group, headOf(row as Row)]))
  const set = await policies.current(
    reader,
    [...heads.values()].map(({ policyEpoch }) => policyEpoch),
  )
  const missing = distinct.map(({ group }) => group).filter((group) => !heads.has(group))
  const empty = new Set(missing.length > 1 ? await existing(reader, missing) : missing)
  const pages: Recent[] = []
  for (const request of requests) {
    const head = heads.get(request.group)
    if (head) pages.push(await pageOf(reader, policies, set, request, head, byGroup.get(request.group) ?? []))
    else if (empty.has(request.group)) pages.push((await readCarefully(reader, policies, request)).page)
    else pages.push(emptyPage(set, request.group))
  }
  return pages
}

/** A single page is kept below its bound; of many, the worst case must stay within what a process has to spare. */
function mayBeTooLarge(requests: readonly ReadRequest[]): boolean {
  const [{ limit, maxBytes = Number.POSITIVE_INFINITY }] = requests as [ReadRequest]
  const worst = requests.length * limit * MAX_PAYLOAD_BYTES
  return worst > (requests.length === 1 ? maxBytes : maxBytes * MANY_FACTOR) || limit * MAX_PAYLOAD_BYTES > maxBytes
}

/** One group after the other, all within `maxBytes`, but at least one item of each. */
async function readInTurn(reader: Reader, policies: PolicyCache, requests: readonly ReadRequest[]): Promise<Recent[]> {
  const pages: Recent[] = []
  let left = requests[0]?.maxBytes ?? Number.POSITIVE_INFINITY
  for (const request of requests) {
    const { page, bytes } = await readCarefully(reader, policies, { ...request, maxBytes: Math.max(left, 1) })
    pages.push(page)
    left -= bytes
  }
  return pages
}

/** Which of these groups there are. */
async function existing(reader: Reader, groups: readonly string[]): Promise<string[]> {
  const sql = `SELECT group_key FROM recent_groups WHERE group_key IN (${placeholders(groups.length)})`
  return (await reader.rows(sql, groups)).map(({ group_key }) => group_key as string)
}

async function pageOf(
  reader: Reader,
  policies: PolicyCache,
  set: PolicySet,
  request: ReadRequest,
  head: Head,
  rows: readonly Row[],
): Promise<Recent> {
  const settings = set.settingsOf(head.group, head.own)
  const asLaidOut =
    settings.capacity === head.capacity && settings.mode === head.mode && settings.ttlSeconds === head.ttlSeconds
  if (!asLaidOut) return (await readCarefully(reader, policies, request)).page
  const items = rows.map((row) => itemRowOf(head.group, row)).sort((a, b) => (a.id < b.id ? 1 : -1))
  const shown = items.slice(0, request.limit)
  return pageFrom(request, head, settings, shown, items.length > request.limit ? (shown.at(-1)?.id ?? null) : null)
}
