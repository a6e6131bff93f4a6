/** Checks of callers' arguments: every fault at once, before anything reaches a statement. */

import * as fields from '../../fields/feeds'
import { addFaults, addListFaults, faultsOf, Judged, refuse, sureList } from '../../fields/field'
import { maxBytesOf } from '../../fields/options'
import { MAX_BATCH, MAX_VALUE_BYTES, nameFault, nameFaults, PAGE_LIMIT, VALUE } from '../../fields/rules'
import type { Fault } from '../../shared/errors'
import type {
  ChangesOptions,
  IfVersion,
  MoveCursorOptions,
  NewEntry,
  RepublishSelection,
  ValueOptions,
} from '../../shared/feed-types'
import { jsonTextOf } from '../../shared/json'
import { sureText } from '../../shared/json-faults'
import type { ChangesRequest } from './changes'
import type { EntryText } from './put'

export function checkFeed(feed: unknown): void {
  refuse(nameFaults('feed', feed))
}

export function checkKey(feed: unknown, key: unknown, options: ValueOptions = {}): void {
  refuse([...keyFaults(feed, key), ...faultsOf(options, fields.VALUE_RULES)])
}

const conditionFaults = (options: IfVersion) => faultsOf(options, fields.IF_VERSION_RULES)

const keyFaults = (feed: unknown, key: unknown): Fault[] => [...nameFaults('feed', feed), ...nameFaults('key', key)]

export function checkDelete(feed: unknown, key: unknown, options: IfVersion): void {
  refuse([...keyFaults(feed, key), ...conditionFaults(options)])
}

export function checkedEntry(feed: unknown, key: unknown, value: unknown, options: IfVersion): EntryText {
  const faults = [...keyFaults(feed, key), ...conditionFaults(options)]
  const text = sureText(value, MAX_VALUE_BYTES)
  const detail = text === null ? VALUE.fault(value) : null
  if (detail !== null) faults.push({ pointer: '/value', detail })
  refuse(faults)
  return { key: key as string, text: text ?? jsonTextOf(value), ifVersion: options.ifVersion }
}

/** 1 to 1,000 of them; faults at `/3/value` and so on. */
export function checkedEntries(feed: unknown, entries: readonly NewEntry[]): EntryText[] {
  const faults: Fault[] = nameFaults('feed', feed)
  const sure = sureList(entries, MAX_BATCH, sureEntry)
  if (sure === null) addListFaults(faults, entries, 'entries', fields.NEW_ENTRY_RULES, MAX_BATCH)
  refuse(faults)
  const rows = sure ?? entries.map(({ key, value, ifVersion }) => ({ key, text: jsonTextOf(value), ifVersion }))
  if (rows.some(hasCondition)) refuse(repeatedFaults(rows))
  return rows
}

export const hasCondition = ({ ifVersion }: EntryText) => ifVersion !== undefined

/** A condition on a key that is given twice could hold for one of the two at most. */
function repeatedFaults(rows: readonly EntryText[]): Fault[] {
  const times = new Map<string, number>()
  for (const { key } of rows) times.set(key, (times.get(key) ?? 0) + 1)
  const detail = 'must be left out: the key is given twice'
  return rows.flatMap((row, at) =>
    hasCondition(row) && times.get(row.key) !== 1 ? [{ pointer: `/${at}/ifVersion`, detail }] : [],
  )
}

/** The entry that is surely valid; null where it isn't sure. */
function sureEntry(entry: NewEntry): EntryText | null {
  if (entry instanceof Judged) return { key: entry.key, text: jsonTextOf(entry.value), ifVersion: entry.ifVersion }
  if (typeof entry !== 'object' || entry === null) return null
  for (const name in entry) if (name !== 'key' && name !== 'value') return null
  const text = nameFault(entry.key) === null ? sureText(entry.value, MAX_VALUE_BYTES) : null
  return text === null ? null : { key: entry.key, text }
}

export function checkedSelection(
  feed: unknown,
  selection: RepublishSelection,
): { keys: readonly string[] } | { prefix: string } {
  const faults: Fault[] = nameFaults('feed', feed)
  addFaults(faults, selection, fields.SELECTION_RULES, '')
  const { keys, prefix } = (selection ?? {}) as RepublishSelection
  if (Array.isArray(keys)) {
    for (const [index, key] of keys.entries()) {
      const detail = nameFault(key)
      if (detail !== null) faults.push({ pointer: `/keys/${index}`, detail })
    }
  }
  refuse([...faults, ...fields.selectionFaults({ keys, prefix })])
  return keys === undefined ? { prefix: prefix as string } : { keys }
}

export function checkedChanges(feed: unknown, options: ChangesOptions): ChangesRequest {
  const faults = [...nameFaults('feed', feed), ...faultsOf(options, fields.CHANGES_RULES)]
  if (options?.after !== undefined && options.consumer !== undefined) {
    for (const name of ['after', 'consumer']) {
      faults.push({ pointer: `/${name}`, detail: 'must be left out: either after or consumer, not both' })
    }
  }
  refuse(faults)
  const { limit = PAGE_LIMIT.default, values } = options
  return { feed: feed as string, limit, maxBytes: maxBytesOf(options), values }
}

export function checkConsumer(feed: unknown, consumer: unknown): void {
  refuse([...nameFaults('feed', feed), ...nameFaults('consumer', consumer)])
}

export function checkCursor(feed: unknown, consumer: unknown, cursor: unknown, options: MoveCursorOptions): void {
  const names = [...nameFaults('feed', feed), ...nameFaults('consumer', consumer)]
  const faults = [...names, ...faultsOf(options, fields.MOVE_CURSOR_RULES)]
  const detail = fields.CURSOR.fault(cursor)
  if (detail !== null) faults.push({ pointer: '/cursor', detail })
  refuse(faults)
}
