/**
 * Reading a group whose policy changed since it was laid out, one that showed no item, and pages that may get too
 * large. First who is in the window, without payloads, which says how far down the page goes; then the same again with
 * the payloads down to there: each answer is what one statement saw. Takes no lock.
 */
import type { Parameter, Reader, Row } from '../../database/engine'
import { MAX_ID } from '../../fields/rules'
import { emptyPage, pageFrom, type ReadRequest } from './page'
import type { PolicyCache } from './policies'
import { type Head, headColumns, headOf, type ItemRow, itemBytes, itemOf, itemRowOf, occupantColumns } from './rows'
import type { Recent, Settings } from './types'
import { visible } from './window'

const MAX_TRIES = 5

interface Sized extends ItemRow {
  /** Of the payload. */
  bytes: number
}

/** What one statement saw of a group. */
interface Sight {
  head: Head
  settings: Settings
  /** What the request asks for, newest first, whatever its limit. */
  asked: Sized[]
}

/** The page, and how many bytes its items take as JSON, about. */
export async function readCarefully(
  reader: Reader,
  policies: PolicyCache,
  request: ReadRequest,
): Promise<{ page: Recent; bytes: number }> {
  let sight = await look(reader, policies, request, null)
  for (let tries = 0; sight !== null; tries++) {
    const lastId = sight.asked[fitting(sight.asked, request) - 1]?.id
    if (lastId === undefined) return found(request, sight, [], null)
    sight = await look(reader, policies, request, lastId)
    if (sight === null) break
    const loaded = sight.asked.filter(({ id }) => id >= lastId)
    const shown = loaded.slice(0, fitting(loaded, request))
    const isMore = sight.asked.length > shown.length
    // All that was to be shown has been removed meanwhile, and older items are there: look again, further down.
    if (shown.length === 0 && isMore && tries < MAX_TRIES) continue
    return found(request, sight, shown, isMore ? (shown.at(-1)?.id ?? lastId) : null)
  }
  return { page: emptyPage(await policies.current(reader), request.group), bytes: 0 }
}

function found(request: ReadRequest, { head, settings, asked }: Sight, shown: Sized[], nextBefore: bigint | null) {
  const bytes = shown.reduce((sum, item) => sum + itemBytes(item, item.bytes), 0)
  const items = shown.map((row) => itemOf(row, request.payloads))
  const isCut = items.length < Math.min(request.limit, asked.length)
  return { page: pageFrom(head, settings, items, nextBefore, isCut), bytes }
}

/** The group as it is, with the payloads of the items down to `downTo`; null when there is no such group. */
async function look(
  reader: Reader,
  policies: PolicyCache,
  request: ReadRequest,
  downTo: bigint | null,
): Promise<Sight | null> {
  const { engine } = reader
  const isBare = request.payloads === 'none'
  const hasPayloads = downTo !== null && !isBare
  const payload = hasPayloads ? 'CASE WHEN i.id BETWEEN ? AND ? THEN i.payload END' : 'NULL'
  const bytes = isBare ? '0' : 'OCTET_LENGTH(i.payload)'
  const upTo = request.before === undefined ? MAX_ID : request.before - 1n
  const parameters: Parameter[] = hasPayloads ? [downTo, upTo, request.group] : [request.group]
  const sql =
    `SELECT ${headColumns(engine)}, ${occupantColumns(engine)}, ${bytes} AS bytes, ${payload} AS payload, ` +
    `i.occurred_at_ms AS occurred_at_ms, ${reader.now} AS now_ms ` +
    `FROM ${reader.tables.groups} g LEFT JOIN ${reader.tables.items} i ON i.group_key = g.group_key WHERE g.group_key = ?`
  const rows = await reader.rows(sql, parameters)
  const [first] = rows
  if (!first) return null
  const head = headOf(first)
  const settings = (await policies.current(reader, [head.policyEpoch])).settingsOf(head.group, head.own)
  const items = rows.filter((row) => row.id !== null).map((row) => sizedOf(head.group, row))
  const asked = visible(items, settings, head.lastId, Number(first.now_ms)).filter(
    ({ id, member }) =>
      (request.before === undefined || id < request.before) && !(member !== null && request.exclude?.includes(member)),
  )
  return { head, settings, asked }
}

function sizedOf(group: string, row: Row): Sized {
  return { ...itemRowOf(group, row), bytes: Number(row.bytes ?? 0) }
}

/** How many of these make the page: up to the limit, and up to `maxBytes` but at least one. */
function fitting(
  rows: readonly Sized[],
  { limit, maxBytes = Number.POSITIVE_INFINITY }: Pick<ReadRequest, 'limit' | 'maxBytes'>,
): number {
  let bytes = 0
  let count = 0
  if (maxBytes === Number.POSITIVE_INFINITY) return Math.min(rows.length, limit)
  while (count < rows.length && count < limit) {
    const row = rows[count] as Sized
    bytes += itemBytes(row, row.bytes)
    if (count > 0 && bytes > maxBytes) break
    count++
  }
  return count
}
