/**
 * Reading the newest items of groups. One statement shows head and items at one moment, so that a page and its total
 * always fit together. Takes no lock.
 */
import { createHash } from 'node:crypto'
import { type Parameter, placeholders, type Reader, type Row } from '../../database/engine'
import { MAX_PAYLOAD_BYTES } from '../../rules'
import type { PolicyCache, PolicySet } from './policies'
import {
  type Head,
  headColumns,
  headOf,
  type ItemRow,
  itemColumns,
  itemOf,
  itemRowOf,
  type Occupant,
  occupantColumns,
  occupantOf,
} from './rows'
import type { Recent, RecentOptions, Settings } from './types'
import { visible } from './window'

/** What is read of one group: checked, with the limit set. */
export interface ReadRequest extends RecentOptions {
  group: string
  limit: number
}

interface Statement {
  sql: string
  parameters: Parameter[]
}

const CHUNK = 250

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
  if (requests.some(mayBeTooLarge))
    return Promise.all(requests.map((request) => readCarefully(reader, policies, request)))
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
    else
      pages.push(
        empty.has(request.group) ? await readCarefully(reader, policies, request) : emptyPage(set, request.group),
      )
  }
  return pages
}

function mayBeTooLarge({ limit, maxBytes = Number.POSITIVE_INFINITY }: ReadRequest): boolean {
  return limit * MAX_PAYLOAD_BYTES > maxBytes
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
  if (!asLaidOut) return readCarefully(reader, policies, request)
  const items = rows.map((row) => itemRowOf(head.group, row)).sort((a, b) => (a.id < b.id ? 1 : -1))
  return page(request, head, settings, items.slice(0, request.limit), items.length > request.limit)
}

/**
 * The way for a group whose policy changed since it was laid out, for one that showed no item, and for pages that may
 * get too large: first who is in the window, without payloads; then the rows of the page. Between the two, items that were pushed out are left out.
 */
async function readCarefully(reader: Reader, policies: PolicyCache, request: ReadRequest): Promise<Recent> {
  const sql =
    `SELECT ${headColumns(reader.engine)}, ${occupantColumns(reader.engine)}, OCTET_LENGTH(i.payload) AS bytes, ${reader.now} AS now_ms ` +
    'FROM recent_groups g LEFT JOIN recent_items i ON i.group_key = g.group_key WHERE g.group_key = ?'
  const rows = await reader.rows(sql, [request.group])
  const [first] = rows
  if (!first) return emptyPage(await policies.current(reader), request.group)
  const head = headOf(first)
  const set = await policies.current(reader, [head.policyEpoch])
  const settings = set.settingsOf(head.group, head.own)
  const occupants = rows
    .filter((row) => row.id !== null)
    .map((row): Occupant & { bytes: number } => ({ ...occupantOf(row), bytes: Number(row.bytes ?? 0) }))
  const older = visible(occupants, settings, head.lastId, Number(first.now_ms)).filter(
    ({ id, member }) =>
      (request.before === undefined || id < request.before) && !(member !== null && request.exclude?.includes(member)),
  )
  const chosen = older.slice(0, fitting(older, request))
  const items = await itemsIn(reader, request.group, chosen)
  return page(request, head, settings, items, older.length > chosen.length)
}

/** How many of these make the page: up to the limit, and up to `maxBytes` but at least one. */
export function fitting(
  rows: readonly { bytes: number }[],
  { limit, maxBytes = Number.POSITIVE_INFINITY }: Pick<ReadRequest, 'limit' | 'maxBytes'>,
): number {
  let bytes = 0
  let count = 0
  while (count < rows.length && count < limit) {
    bytes += rows[count]?.bytes ?? 0
    if (count > 0 && bytes > maxBytes) break
    count++
  }
  return count
}

async function itemsIn(reader: Reader, group: string, chosen: readonly Occupant[]): Promise<ItemRow[]> {
  const wanted = new Set(chosen.map(({ id }) => id))
  const items: ItemRow[] = []
  for (let start = 0; start < chosen.length; start += CHUNK) {
    const slots = chosen.slice(start, start + CHUNK).map(({ slot }) => slot)
    const sql = `SELECT ${itemColumns(reader.engine)} FROM recent_items i WHERE i.group_key = ? AND i.slot IN (${placeholders(slots.length)})`
    for (const row of await reader.rows(sql, [group, ...slots])) items.push(itemRowOf(group, row))
  }
  return items.filter(({ id }) => wanted.has(id)).sort((a, b) => (a.id < b.id ? 1 : -1))
}

function page(request: ReadRequest, head: Head, settings: Settings, rows: readonly ItemRow[], more: boolean): Recent {
  const nextBefore = more ? (rows.at(-1)?.id ?? null) : null
  return {
    group: head.group,
    capacity: settings.capacity,
    mode: settings.mode,
    total: head.lastId + 1n,
    items: rows.map((row) => itemOf(row, request.payloads)),
    nextBefore,
    tag: tagOf(head, settings, rows, nextBefore),
  }
}

/**
 * Everything that can change a page: the group made anew, any change of it, the settings in force; and where items
 * expire, which does not touch the head, the ids of the page.
 */
function tagOf(head: Head, settings: Settings, rows: readonly ItemRow[], nextBefore: bigint | null): string {
  const base = `${head.incarnation.toString(36)}.${head.version.toString(36)}.${settingsTag(settings)}`
  if (settings.ttlSeconds === null) return base
  const ids = createHash('sha256').update(`${nextBefore}:${rows.map(({ id }) => id).join()}`)
  return `${base}.${ids.digest('base64url').slice(0, 16)}`
}

function settingsTag({ capacity, mode, ttlSeconds }: Settings): string {
  return `${capacity}${mode[0]}${ttlSeconds ?? ''}`
}

function emptyPage(set: PolicySet, group: string): Recent {
  const settings = set.settingsOf(group, {})
  const { capacity, mode } = settings
  return { group, capacity, mode, total: 0n, items: [], nextBefore: null, tag: `none.${settingsTag(settings)}` }
}
