/** What callers give, checked: every fault at once, nothing reaches a statement before. */
import { type Fault, invalidInput } from '../../errors'
import { jsonTextOf } from '../../json'
import {
  idFault,
  integerFault,
  MAX_BATCH,
  MAX_CAPACITY,
  MAX_TTL_SECONDS,
  modeFault,
  nameFault,
  payloadFault,
  timeFault,
} from '../../rules'
import type { ReadRequest } from './page'
import type { NewRow } from './ring'
import type { NewGroupItem, NewItem, OwnSettings, Page, Policy, RecentOptions } from './types'

type Rule = (value: unknown) => string | null

const limitRule =
  (max: number): Rule =>
  (value) =>
    integerFault(value, 1, max)
const optional =
  (rule: Rule): Rule =>
  (value) =>
    value === undefined ? null : rule(value)
const nullable =
  (rule: Rule): Rule =>
  (value) =>
    value === undefined || value === null ? null : rule(value)

const ITEM_RULES: Record<string, Rule> = {
  member: nullable(nameFault),
  payload: nullable(payloadFault),
  occurredAt: nullable(timeFault),
  eventId: nullable(nameFault),
}
const GROUP_ITEM_RULES = { group: nameFault, ...ITEM_RULES }

const SETTINGS_RULES: Record<string, Rule> = {
  capacity: optional((value) => integerFault(value, 1, MAX_CAPACITY)),
  mode: optional(modeFault),
  ttlSeconds: nullable((value) => integerFault(value, 1, MAX_TTL_SECONDS)),
}

const PAGE_RULES: Record<string, Rule> = {
  limit: optional(limitRule(1000)),
  after: optional((value) => (typeof value === 'string' ? null : 'must be a string')),
}

const READ_RULES: Record<string, Rule> = {
  limit: optional(limitRule(MAX_CAPACITY)),
  before: optional(idFault),
  exclude: optional(excludeFault),
  payloads: optional((value) => (value === 'value' || value === 'text' ? null : 'must be "value" or "text"')),
  maxBytes: optional((value) => integerFault(value, 1, Number.MAX_SAFE_INTEGER)),
}

function excludeFault(value: unknown): string | null {
  if (!Array.isArray(value) || value.length > 100) return 'must be a list of at most 100 members'
  const fault = value.map(nameFault).find((found) => found !== null)
  return fault ? `has a member that ${fault}` : null
}

/** The faults of an object whose members each have a rule; a member without a rule is a fault. */
function faultsOf(value: unknown, rules: Record<string, Rule>, at: string): Fault[] {
  if (typeof value !== 'object' || value === null) return [{ pointer: at, detail: 'must be an object' }]
  const given = value as Record<string, unknown>
  const unknown = Object.keys(given).filter((key) => !Object.hasOwn(rules, key))
  return [
    ...unknown.map((key) => ({
      pointer: `${at}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`,
      detail: 'is not known',
    })),
    ...Object.entries(rules).flatMap(([key, rule]) => {
      const detail = rule(given[key])
      return detail === null ? [] : [{ pointer: `${at}/${key}`, detail }]
    }),
  ]
}

function refuse(faults: readonly Fault[]): void {
  if (faults.length > 0) throw invalidInput(faults)
}

function named(key: string, value: unknown): Fault[] {
  const detail = nameFault(value)
  return detail === null ? [] : [{ parameter: key, detail }]
}

export function checkName(key: string, value: unknown): void {
  refuse(named(key, value))
}

export function checkId(id: unknown): void {
  const detail = idFault(id)
  refuse(detail === null ? [] : [{ parameter: 'id', detail }])
}

/** One item on its way in. */
export function checkedItem(group: unknown, item: NewItem): NewRow {
  refuse([...named('group', group), ...faultsOf(item, ITEM_RULES, '')])
  return rowOf({ ...item, group: group as string })
}

/** 1 to 1,000 of them; faults at `/3/payload` and so on. */
export function checkedItems(items: readonly NewGroupItem[]): NewRow[] {
  if (!Array.isArray(items) || items.length < 1 || items.length > MAX_BATCH) {
    throw invalidInput([{ pointer: '', detail: `must be a list of 1 to ${MAX_BATCH} items` }])
  }
  refuse(items.flatMap((item, index) => faultsOf(item, GROUP_ITEM_RULES, `/${index}`)))
  return items.map(rowOf)
}

function rowOf(item: NewGroupItem): NewRow {
  return {
    group: item.group,
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
  refuse([...groups.flatMap((group) => named('group', group)), ...faultsOf(options, READ_RULES, '')])
  return groups.map((group) => ({ ...options, group, limit: options.limit ?? 10 }))
}

export function checkSettings(group: unknown, settings: OwnSettings): void {
  refuse([...named('group', group), ...faultsOf(settings, SETTINGS_RULES, '')])
}

export function checkPolicy({ prefix, ...settings }: Policy): void {
  const required = (['capacity', 'mode'] as const).filter((key) => settings[key] === undefined)
  refuse([
    ...named('prefix', prefix),
    ...required.map((key) => ({ pointer: `/${key}`, detail: 'is required' })),
    ...faultsOf(settings, SETTINGS_RULES, ''),
  ])
}

/** A page of a list, with the limit set; `rules` for what else the list takes. */
export function checkedPage<T extends Page>(
  page: T,
  extra: 'prefix' | 'member' | 'none' = 'none',
): T & { limit: number } {
  const rules = { ...PAGE_RULES }
  if (extra === 'prefix') rules.prefix = optional((value) => (value === '' ? null : nameFault(value)))
  if (extra === 'member') Object.assign(rules, { payloads: READ_RULES.payloads, maxBytes: READ_RULES.maxBytes })
  refuse(faultsOf(page, rules, ''))
  return { ...page, limit: page.limit ?? 100 }
}
