/** Rules for the members of options objects, and every fault of such an object at once. */
import type { Fault } from '../errors'
import { integerFault } from './rules'

/** What is wrong with a value, or null. */
export type Rule = (value: unknown) => string | null
/** A rule for each member that may be given; any other is a fault. */
export type Rules = Readonly<Record<string, Rule>>

export const whole =
  (min: number, max: number): Rule =>
  (value) =>
    integerFault(value, min, max)
export const aBoolean: Rule = (value) => (typeof value === 'boolean' ? null : 'must be true or false')
export const aString: Rule = (value) => (typeof value === 'string' ? null : 'must be a string')
export const aFunction: Rule = (value) => (typeof value === 'function' ? null : 'must be a function')
export const anObject: Rule = (value) => (typeof value === 'object' && value !== null ? null : 'must be an object')
export const anAbortSignal: Rule = (value) => (value instanceof AbortSignal ? null : 'must be an AbortSignal')

/** A fault for each member that breaks its rule, has none, or is missing from those required. Undefined counts as left out. */
export function faultsOf(value: unknown, rules: Rules, at: string, required: readonly string[] = []): Fault[] {
  const detail = anObject(value)
  if (detail !== null) return [{ pointer: at, detail }]
  const given = value as Record<string, unknown>
  const missing = required.filter((key) => given[key] === undefined)
  const wrong = Object.entries(given).flatMap(([key, one]) => {
    const rule = Object.hasOwn(rules, key) ? rules[key] : undefined
    const fault = rule ? (one === undefined ? null : rule(one)) : 'is not known'
    return fault === null
      ? []
      : [{ pointer: `${at}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`, detail: fault }]
  })
  return [...missing.map((key) => ({ pointer: `${at}/${key}`, detail: 'is required' })), ...wrong]
}

/** A fault if the max that is given is less than the min. Both must be numbers. */
export function orderFault<T extends object>(
  given: T,
  [min, max]: readonly [keyof T & string, keyof T & string],
  fallback: Required<T>,
  at: string,
): Fault[] {
  const both = { ...fallback, ...given }
  if (given[max] === undefined || Number(both[max]) >= Number(both[min])) return []
  return [{ pointer: `${at}/${max}`, detail: `must not be less than ${min}, ${both[min]}` }]
}

/** The same for a member that is an object itself. Where it is none, the rule of the member says so. */
export function partFaults(value: unknown, rules: Rules, at: string, required: readonly string[] = []): Fault[] {
  return value === undefined || anObject(value) !== null ? [] : faultsOf(value, rules, at, required)
}
