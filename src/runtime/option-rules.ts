/** What the options of workers and pollers have in common: rules for their members, and the bounds of a backoff. */
import { type Fault, invalidInput } from '../errors'
import { integerFault } from '../rules'
import type { Bounds } from './backoff'

export type Rule = (value: unknown) => string | null
export type Rules = Record<string, Rule>

const MAX_DELAY_SECONDS = 315_360_000
const DEFAULT_BACKOFF: Bounds = { minSeconds: 1, maxSeconds: 600 }

export const whole =
  (min: number, max: number): Rule =>
  (value) =>
    integerFault(value, min, max)
/** From no delay to the longest. */
export const seconds = whole(0, MAX_DELAY_SECONDS)
export const aFunction: Rule = (value) => (typeof value === 'function' ? null : 'must be a function')
export const anObject: Rule = (value) => (typeof value === 'object' && value !== null ? null : 'must be an object')

const BACKOFF: Rules = { minSeconds: seconds, maxSeconds: seconds }
const STOP: Rules = {
  timeoutSeconds: (value) =>
    typeof value === 'number' && value >= 0 && value <= MAX_DELAY_SECONDS
      ? null
      : `must be a number from 0 to ${MAX_DELAY_SECONDS}`,
}

/** The faults of the members that are given, and of those that must be. */
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

/** The fault of a greatest that is given and less than the least, where both are numbers as they must be. */
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

export function backoffFaults(given: Partial<Bounds> | undefined): Fault[] {
  if (given === undefined || anObject(given) !== null) return []
  const faults = faultsOf(given, BACKOFF, '/backoff')
  if (faults.length > 0) return faults
  return orderFault<Partial<Bounds>>(given, ['minSeconds', 'maxSeconds'], DEFAULT_BACKOFF, '/backoff')
}

/** What was left out takes its default, but never less than the least. */
export function boundsOf({ minSeconds = DEFAULT_BACKOFF.minSeconds, maxSeconds }: Partial<Bounds> = {}): Bounds {
  return { minSeconds, maxSeconds: maxSeconds ?? Math.max(minSeconds, DEFAULT_BACKOFF.maxSeconds) }
}

/** Milliseconds of patience, or null for no end of it. Throws `invalid_input`. */
export function checkedStop(options: { timeoutSeconds?: number }): number | null {
  const faults = faultsOf(options, STOP, '')
  if (faults.length > 0) throw invalidInput(faults)
  return options.timeoutSeconds === undefined ? null : options.timeoutSeconds * 1000
}
