/** What callers give, checked: every fault at once, nothing reaches a statement before. */
import { type Fault, invalidInput } from '../../errors'
import { oneOfFault } from '../../fields/queue-rules'
import {
  formFault,
  idFault,
  integerFault,
  MAX_BATCH,
  MAX_CAPACITY,
  MAX_PAYLOAD_BYTES,
  MAX_TTL_SECONDS,
  modeFault,
  nameFault,
  payloadFault,
  positionFault,
  timeFault,
} from '../../fields/rules'
import { JsonText, jsonFault, jsonTextOf } from '../../json'
import {
  addFaults,
  faultsOf,
  limitRule,
  named,
  nullable,
  optional,
  pageRules,
  prefixRule,
  type Rules,
  refuse,
  rulesOf,
} from '../checking'
import type { ReadRequest } from './page'
import type { NewItemRow } from './ring'
import type {
  NewGroupItem,
  NewItem,
  OwnSettings,
  PayloadForm,
  PayloadOptions,
  Policy,
  PolicySettings,
  RecentOptions,
  Replacing,
  WatchOptions,
} from './types'

const itemRules = {
  member: nullable(nameFault),
  payload: nullable(payloadFault),
  occurredAt: nullable(timeFault),
  eventId: nullable(nameFault),
}
const ITEM_RULES = rulesOf(itemRules)
const GROUP_ITEM_RULES = rulesOf({ group: nameFault, ...itemRules })

const PAYLOAD_FORMS: readonly PayloadForm[] = ['value', 'text', 'none']

const SETTINGS_RULES = rulesOf({
  capacity: optional((value) => integerFault(value, 1, MAX_CAPACITY)),
  mode: optional(modeFault),
  ttlSeconds: nullable((value) => integerFault(value, 1, MAX_TTL_SECONDS)),
})

const payloadRules = {
  payloads: optional((value) => oneOfFault(value, PAYLOAD_FORMS)),
  maxBytes: optional((value) => integerFault(value, 1, Number.MAX_SAFE_INTEGER)),
}

const READ_RULES = rulesOf({
  limit: optional(limitRule(MAX_CAPACITY)),
  before: optional(idFault),
  exclude: optional(excludeFault),
  ...payloadRules,
})

const WATCH_RULES = rulesOf({
  after: optional(positionFault),
  signal: optional((value) => (value instanceof AbortSignal ? null : 'must be an AbortSignal')),
  payloads: optional(formFault),
})

export const MEMBER_PAGE_RULES = rulesOf({ ...pageRules, ...payloadRules, prefix: prefixRule })
const ERASURE_RULES = rulesOf({ prefix: prefixRule })

function excludeFault(value: unknown): string | null {
  if (!Array.isArray(value) || value.length > 100) return 'must be a list of at most 100 members'
  const fault = value.map(nameFault).find((found) => found !== null)
  return fault ? `has a member that ${fault}` : null
}

export function checkName(key: string, value: unknown): void {
  refuse(named(key, value))
}

/** What the names of the groups begin with in which is erased. */
export function checkedErasure(member: unknown, options: { prefix?: string }): string | undefined {
  refuse([...named('member', member), ...faultsOf(options, ERASURE_RULES)])
  return options.prefix
}

export function checkId(id: unknown): void {
  const detail = idFault(id)
  refuse(detail === null ? [] : [{ parameter: 'id', detail }])
}

/** One item on its way in. */
export function checkedItem(group: unknown, item: NewItem): NewItemRow {
  const row = sureRow(group, item, ITEM_RULES)
  if (row !== null) return row
  const faults = named('group', group)
  addFaults(faults, item, ITEM_RULES, '')
  refuse(faults)
  return rowOf(group as string, item)
}

const PAYLOAD_RULES = rulesOf({ payloads: payloadRules.payloads })
const PAYLOAD_DEFAULTS: PayloadOptions = {}

/** How the payloads of what is appended are given back. */
export function checkedPayloads(options: PayloadOptions = PAYLOAD_DEFAULTS): PayloadOptions {
  if (options !== PAYLOAD_DEFAULTS) refuse(faultsOf(options, PAYLOAD_RULES))
  return options
}

/** 1 to 1,000 of them; faults at `/3/payload` and so on. */
export function checkedItems(items: readonly NewGroupItem[]): NewItemRow[] {
  if (!Array.isArray(items) || items.length < 1 || items.length > MAX_BATCH) {
    throw invalidInput([{ pointer: '', detail: `must be a list of 1 to ${MAX_BATCH} items` }])
  }
  const sure = items.map((item) => sureRow(item?.group, item, GROUP_ITEM_RULES))
  const faults: Fault[] = []
  for (const [index, item] of items.entries()) {
    if (!sure[index]) addFaults(faults, item, GROUP_ITEM_RULES, `/${index}`)
  }
  refuse(faults)
  return items.map((item, index) => sure[index] ?? rowOf(item.group, item))
}

/**
 * The row of an item that is surely valid, with one look at each field; null where it isn't sure, so that the rules
 * decide. A payload that says by itself how it wants to be written is not sure.
 */
function sureRow(group: unknown, item: NewItem, rules: Rules): NewItemRow | null {
  if (typeof item !== 'object' || item === null || nameFault(group) !== null) return null
  for (const key in item) if (!rules.has(key)) return null
  const { member = null, payload = null, occurredAt = null, eventId = null } = item
  if (member !== null && nameFault(member) !== null) return null
  if (eventId !== null && nameFault(eventId) !== null) return null
  if (occurredAt !== null && timeFault(occurredAt) !== null) return null
  let text: string | null = null
  if (payload !== null) {
    if (!(payload instanceof JsonText) && jsonFault(payload) !== null) return null
    text = jsonTextOf(payload)
    if (text.length > SURELY_FITS) return null
  }
  return { group: group as string, member, payload: text, occurredAtMs: occurredAt?.getTime() ?? null, eventId }
}

/** A UTF-16 unit takes at most three bytes. */
const SURELY_FITS = MAX_PAYLOAD_BYTES / 3

function rowOf(group: string, item: NewItem): NewItemRow {
  return {
    group,
    member: item.member ?? null,
    payload: item.payload === undefined || item.payload === null ? null : jsonTextOf(item.payload),
    occurredAtMs: item.occurredAt?.getTime() ?? null,
    eventId: item.eventId ?? null,
  }
}

/** A read of each group, with the limit set. */
export function checkedReads(groups: readonly string[], options: RecentOptions): ReadRequest[] {
  if (!Array.isArray(groups) || groups.length < 1 || groups.length > 100) {
    throw invalidInput([{ parameter: 'group', detail: 'must be 1 to 100 groups' }])
  }
  refuse([...groups.flatMap((group) => named('group', group)), ...faultsOf(options, READ_RULES)])
  return groups.map((group) => ({ ...options, group, limit: options.limit ?? 10 }))
}

export function checkWatch(group: unknown, options: WatchOptions): void {
  refuse([...named('group', group), ...faultsOf(options, WATCH_RULES)])
}

/** The tag of a page, as it was given. */
export function checkedTag(tag: unknown): string {
  if (typeof tag !== 'string') throw invalidInput([{ parameter: 'tag', detail: 'must be a string' }])
  return tag
}

export function checkSettings(group: unknown, settings: OwnSettings, options: Replacing<OwnSettings>): void {
  refuse([...named('group', group), ...faultsOf(settings, SETTINGS_RULES), ...replacedFaults(options)])
}

/** The policy of the settings for a prefix. */
export function checkedPolicy(prefix: string, given: PolicySettings, options: Replacing<PolicySettings>): Policy {
  const required = (['capacity', 'mode'] as const).filter((key) => given?.[key] === undefined)
  refuse([
    ...named('prefix', prefix),
    ...required.map((key) => ({ pointer: `/${key}`, detail: 'is required' })),
    ...faultsOf(given, SETTINGS_RULES),
    ...replacedFaults(options),
  ])
  return { prefix, capacity: given.capacity, mode: given.mode, ttlSeconds: given.ttlSeconds ?? null }
}

const REPLACING_RULES = rulesOf({ replaces: () => null })

function replacedFaults(options: Replacing<OwnSettings>): Fault[] {
  const faults = faultsOf(options, REPLACING_RULES)
  if (faults.length === 0 && options.replaces) addFaults(faults, options.replaces, SETTINGS_RULES, '/replaces')
  return faults
}
