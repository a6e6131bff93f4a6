/** The checks of callers' arguments: every fault at once, nothing reaches a statement before. */

import { addFaults, argumentFaults, faultsOf, Judged, type Rules, refuse } from '../../fields/field'
import * as fields from '../../fields/groups'
import { maxBytesOf } from '../../fields/options'
import { ID, MAX_BATCH, MAX_PAYLOAD_BYTES, nameFault, nameFaults, TIME } from '../../fields/rules'
import { type Fault, invalidInput } from '../../shared/errors'
import type {
  GroupChanges,
  IfTag,
  NewGroupItem,
  NewItem,
  OwnSettings,
  PayloadOptions,
  PolicySettings,
  RecentOptions,
  WatchOptions,
} from '../../shared/group-types'

import { jsonTextOf } from '../../shared/json'
import { sureText } from '../../shared/json-faults'
import { givenOf, ifTagFaults } from '../settings'
import type { ReadRequest } from './page'
import type { PolicyRow } from './policies'
import type { NewItemRow } from './ring'
import { plain } from './rows'

export function checkName(key: string, value: unknown): void {
  refuse(nameFaults(key, value))
}

/** The prefix of the groups in which items are erased. */
export function checkedErasure(member: unknown, options: { prefix?: string }): string | undefined {
  refuse([...nameFaults('member', member), ...faultsOf(options, fields.ERASE_RULES)])
  return options.prefix
}

export function checkItem(group: unknown, id: unknown, options: unknown = {}): void {
  refuse([...nameFaults('group', group), ...argumentFaults('id', id, ID), ...faultsOf(options, fields.ITEM_RULES)])
}

export function checkScoreChange(group: unknown, member: unknown, by: unknown, options: unknown = {}): void {
  const faults = [...nameFaults('group', group), ...faultsOf({ member, by }, fields.SCORE_CHANGE_RULES)]
  refuse([...faults, ...faultsOf(options, fields.ITEM_RULES)])
}

export function checkedItem(group: unknown, item: NewItem): NewItemRow {
  const row = sureRow(group, item, fields.NEW_ITEM_RULES)
  if (row !== null) return row
  const faults = nameFaults('group', group)
  addFaults(faults, item, fields.NEW_ITEM_RULES, '')
  refuse(faults)
  return rowOf(group as string, item)
}

const PAYLOAD_DEFAULTS: PayloadOptions = {}

export function checkedPayloads(options: PayloadOptions = PAYLOAD_DEFAULTS): PayloadOptions {
  if (options !== PAYLOAD_DEFAULTS) refuse(faultsOf(options, fields.APPEND_RULES))
  return options
}

/** 1 to 1,000 of them; faults at `/3/payload` and so on. */
export function checkedItems(items: readonly NewGroupItem[]): NewItemRow[] {
  if (!Array.isArray(items) || items.length < 1 || items.length > MAX_BATCH) {
    throw invalidInput([{ pointer: '', detail: `must be a list of 1 to ${MAX_BATCH} items` }])
  }
  const sure = items.map((item: NewGroupItem) =>
    item instanceof Judged ? rowOf(item.group, item) : sureRow(item?.group, item, fields.NEW_GROUP_ITEM_RULES),
  )
  const faults: Fault[] = []
  for (const [index, item] of items.entries()) {
    if (!sure[index]) addFaults(faults, item, fields.NEW_GROUP_ITEM_RULES, `/${index}`)
  }
  refuse(faults)
  return items.map((item, index) => sure[index] ?? rowOf(item.group, item))
}

/**
 * The row of an item that is surely valid, with one look at each field; null where it isn't sure, so that the rules
 * decide. A payload with `toJSON` is not sure.
 */
function sureRow(group: unknown, item: NewItem, rules: Rules): NewItemRow | null {
  if (typeof item !== 'object' || item === null || nameFault(group) !== null) return null
  if (item instanceof Judged) return rowOf(group as string, item)
  for (const key in item) if (!rules.has(key)) return null
  const { member = null, payload = null, occurredAt = null, eventId = null, score = null, keep = null } = item
  if (member !== null && nameFault(member) !== null) return null
  if (eventId !== null && nameFault(eventId) !== null) return null
  if (score !== null && fields.SCORE.fault(score) !== null) return null
  if (keep !== null && fields.KEEP.fault(keep) !== null) return null
  if (occurredAt !== null && TIME.fault(occurredAt) !== null) return null
  const text = payload === null ? null : sureText(payload, MAX_PAYLOAD_BYTES)
  if (payload !== null && text === null) return null
  return {
    group: group as string,
    member,
    payload: text,
    occurredAtMs: occurredAt?.getTime() ?? null,
    eventId,
    score: score === null ? null : plain(score),
    keep,
  }
}

function rowOf(group: string, item: NewItem): NewItemRow {
  return {
    group,
    member: item.member ?? null,
    payload: item.payload === undefined || item.payload === null ? null : jsonTextOf(item.payload),
    occurredAtMs: item.occurredAt?.getTime() ?? null,
    eventId: item.eventId ?? null,
    score: typeof item.score === 'number' ? plain(item.score) : null,
    keep: item.keep ?? null,
  }
}

export function checkedReads(groups: readonly string[], options: RecentOptions): ReadRequest[] {
  if (!Array.isArray(groups) || groups.length < 1 || groups.length > fields.MAX_GROUPS) {
    throw invalidInput([{ parameter: 'group', detail: `must be 1 to ${fields.MAX_GROUPS} groups` }])
  }
  refuse([...groups.flatMap((group) => nameFaults('group', group)), ...faultsOf(options, fields.RECENT_RULES)])
  const { limit = fields.RECENT_LIMIT.default, before, exclude, payloads } = options
  const maxBytes = maxBytesOf(options)
  return groups.map((group) => ({ group, limit, before, exclude, payloads, maxBytes }))
}

export function checkWatch(group: unknown, options: WatchOptions): void {
  refuse([...nameFaults('group', group), ...faultsOf(options, fields.WATCH_RULES)])
}

export function checkedTag(tag: unknown): string {
  if (typeof tag !== 'string') throw invalidInput([{ parameter: 'tag', detail: 'must be a string' }])
  return tag
}

export function checkSettings(group: unknown, settings: OwnSettings, options: IfTag = {}): void {
  refuse([...nameFaults('group', group), ...faultsOf(settings, fields.OWN_SETTINGS_RULES), ...ifTagFaults(options)])
}

export function checkChanges(group: unknown, changes: GroupChanges, options: IfTag): void {
  refuse([...nameFaults('group', group), ...faultsOf(changes, fields.GROUP_CHANGES_RULES), ...ifTagFaults(options)])
}

export function checkedPolicy(prefix: string, given: PolicySettings, options: IfTag): PolicyRow {
  refuse([...nameFaults('prefix', prefix), ...faultsOf(given, fields.POLICY_SETTINGS_RULES), ...ifTagFaults(options)])
  const { capacity, mode, ttlSeconds = null, forgetEmptySeconds = null } = given
  return { prefix, capacity, mode, ttlSeconds, forgetEmptySeconds }
}

export function checkedPolicyChanges(prefix: string, given: OwnSettings, options: IfTag): Partial<PolicyRow> {
  refuse([...nameFaults('prefix', prefix), ...faultsOf(given, fields.OWN_SETTINGS_RULES), ...ifTagFaults(options)])
  return givenOf(given) as Partial<PolicyRow>
}
