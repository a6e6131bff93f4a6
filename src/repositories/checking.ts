/** Checking what callers give: rules for the members of an object, and every fault of it at once. */
import { type Fault, invalidInput } from '../errors'
import { integerFault, nameFault } from '../fields/rules'
import type { Page } from './types'

export type Rule = (value: unknown) => string | null
/** Looked up and gone through for every item: a Map does both fastest. */
export type Rules = ReadonlyMap<string, Rule>

export function rulesOf(rules: Record<string, Rule>): Rules {
  return new Map(Object.entries(rules))
}

export const limitRule =
  (max: number): Rule =>
  (value) =>
    integerFault(value, 1, max)
export const optional =
  (rule: Rule): Rule =>
  (value) =>
    value === undefined ? null : rule(value)
export const nullable =
  (rule: Rule): Rule =>
  (value) =>
    value === undefined || value === null ? null : rule(value)

/** What every list takes. */
export const pageRules = {
  limit: optional(limitRule(1000)),
  after: optional((value) => (typeof value === 'string' ? null : 'must be a string')),
}

export const PAGE_RULES = rulesOf(pageRules)
/** The beginning of names; empty is that of all. */
export const prefixRule = optional((value) => (value === '' ? null : nameFault(value)))
export const PREFIX_PAGE_RULES = rulesOf({ ...pageRules, prefix: prefixRule })

/** Adds the faults of an object whose members each have a rule; a member without a rule is a fault. */
export function addFaults(faults: Fault[], value: unknown, rules: Rules, at: string): void {
  if (typeof value !== 'object' || value === null) {
    faults.push({ pointer: at, detail: 'must be an object' })
    return
  }
  const given = value as Record<string, unknown>
  for (const key of Object.keys(given)) {
    if (rules.has(key)) continue
    const pointer = `${at}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`
    faults.push({ pointer, detail: 'is not known' })
  }
  for (const [key, rule] of rules) {
    const detail = rule(given[key])
    if (detail !== null) faults.push({ pointer: `${at}/${key}`, detail })
  }
}

export function faultsOf(value: unknown, rules: Rules): Fault[] {
  const faults: Fault[] = []
  addFaults(faults, value, rules, '')
  return faults
}

export function refuse(faults: readonly Fault[]): void {
  if (faults.length > 0) throw invalidInput(faults)
}

export function named(key: string, value: unknown): Fault[] {
  const detail = nameFault(value)
  return detail === null ? [] : [{ parameter: key, detail }]
}

/** A page of a list, with the limit set; `rules` for what else the list takes. */
export function checkedPage<T extends Page>(page: T, rules = PAGE_RULES): T & { limit: number } {
  refuse(faultsOf(page, rules))
  return { ...page, limit: page.limit ?? 100 }
}
