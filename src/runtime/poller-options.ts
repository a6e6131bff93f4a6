/** The options of a poller: checked, every fault at once, and with what was left out. What the table says comes later. */
import { type Fault, invalidInput } from '../errors'
import type { PollShape } from '../repositories/polls/types'
import { integerFault, nameFault } from '../rules'
import type { Bounds } from './backoff'
import type { PollHandler, PollOptions } from './poller-types'

type Rule = (value: unknown) => string | null
type Rules = Record<string, Rule>

const MAX_SECONDS = 315_360_000
const DEFAULT_BACKOFF = { minSeconds: 1, maxSeconds: 600 }
const DEFAULT_BATCH = { min: 1, max: 1000 }

export interface PollSettings {
  shape: PollShape
  concurrency: number
  batch: { min: number; max: number }
  backoff: Bounds
  intervalMs: number
  auto: boolean
  maxAttempts: number
  timeoutMs: number
}

const whole =
  (min: number, max: number): Rule =>
  (value) =>
    integerFault(value, min, max)
const oneOf =
  (...words: string[]): Rule =>
  (value) =>
    words.includes(value as string) ? null : `must be one of ${words.join(', ')}`
const aFunction: Rule = (value) => (typeof value === 'function' ? null : 'must be a function')
const anObject: Rule = (value) => (typeof value === 'object' && value !== null ? null : 'must be an object')
const aColumn: Rule = (value) => (typeof value === 'string' && value !== '' ? null : 'must be the name of a column')
const aValue: Rule = (value) =>
  typeof value === 'string' || Number.isSafeInteger(value) ? null : 'must be a text or a whole number'
const columns: Rule = (value) =>
  (Array.isArray(value) ? value.length > 0 && value.every((one) => aColumn(one) === null) : aColumn(value) === null)
    ? null
    : 'must be the name of a column, or a list of some'

const OPTIONS: Rules = {
  name: nameFault,
  key: columns,
  status: (value) => (typeof value === 'string' ? aColumn(value) : anObject(value)),
  claim: anObject,
  sequence: aColumn,
  lateSeconds: whole(0, MAX_SECONDS),
  onDone: oneOf('mark', 'delete', 'remember'),
  onFailed: oneOf('keep', 'delete'),
  where: (value) => (typeof value === 'string' && value.trim() !== '' ? null : anObject(value)),
  maxAttempts: whole(1, 1_000_000),
  claimTimeoutSeconds: whole(1, 43_200),
  concurrency: whole(1, 1000),
  batch: anObject,
  backoff: anObject,
  intervalMs: whole(1, 86_400_000),
  auto: (value) => (typeof value === 'boolean' ? null : 'must be true or false'),
  onError: aFunction,
  onWarning: aFunction,
}
const STATUS: Rules = { column: aColumn, ready: aValue, claimed: aValue, done: aValue, error: aValue }
const CLAIM: Rules = { claim: aColumn, attempts: aColumn, nextTime: aColumn, error: aColumn }
const BATCH: Rules = { min: whole(1, 1000), max: whole(1, 1000) }
const BACKOFF: Rules = { minSeconds: whole(0, MAX_SECONDS), maxSeconds: whole(0, MAX_SECONDS) }

function faultsOf(value: unknown, rules: Rules, at: string, required: readonly string[] = []): Fault[] {
  if (typeof value !== 'object' || value === null) return []
  const given = value as Record<string, unknown>
  const missing = required.filter((key) => given[key] === undefined)
  const wrong = Object.entries(given).flatMap(([key, one]) => {
    const rule = Object.hasOwn(rules, key) ? rules[key] : undefined
    const detail = rule ? (one === undefined ? null : rule(one)) : 'is not known'
    return detail === null ? [] : [{ pointer: `${at}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`, detail }]
  })
  return [...missing.map((key) => ({ pointer: `${at}/${key}`, detail: 'is required' })), ...wrong]
}

function orderFault(
  given: object | undefined,
  min: string,
  max: string,
  fallback: Record<string, number>,
  at: string,
): Fault[] {
  if (typeof given !== 'object' || given === null) return []
  const both = { ...fallback, ...given } as Record<string, number>
  const isOff = (both[max] as number) < (both[min] as number) && (given as Record<string, unknown>)[max] !== undefined
  return isOff ? [{ pointer: `${at}/${max}`, detail: `must not be less than ${min}, ${both[min]}` }] : []
}

/** Throws `invalid_input`. */
export function checkedPoll<T>(handler: PollHandler<T>, options: PollOptions<T>): PollSettings {
  const faults: Fault[] = typeof handler === 'function' ? [] : [{ parameter: 'handler', detail: 'must be a function' }]
  if (typeof options !== 'object' || options === null) faults.push({ pointer: '', detail: 'must be an object' })
  else {
    faults.push(
      ...faultsOf(options, OPTIONS, ''),
      ...faultsOf(options.status, STATUS, '/status', ['column']),
      ...faultsOf(options.claim, CLAIM, '/claim', ['claim', 'attempts', 'nextTime']),
      ...faultsOf(options.batch, BATCH, '/batch'),
      ...faultsOf(options.backoff, BACKOFF, '/backoff'),
      ...orderFault(options.batch, 'min', 'max', DEFAULT_BATCH, '/batch'),
      ...orderFault(options.backoff, 'minSeconds', 'maxSeconds', DEFAULT_BACKOFF, '/backoff'),
    )
  }
  if (faults.length > 0) throw invalidInput(faults)
  const {
    concurrency = 1,
    batch,
    backoff,
    intervalMs = 1000,
    auto = true,
    onError: _,
    onWarning: __,
    ...shape
  } = options
  const { min = 1, max = Math.max(min, DEFAULT_BATCH.max) } = batch ?? {}
  const { minSeconds = 1, maxSeconds = Math.max(minSeconds, DEFAULT_BACKOFF.maxSeconds) } = backoff ?? {}
  const { maxAttempts = 5, claimTimeoutSeconds = 60 } = shape
  return {
    shape,
    concurrency,
    batch: { min, max },
    backoff: { minSeconds, maxSeconds },
    intervalMs,
    auto,
    maxAttempts,
    timeoutMs: claimTimeoutSeconds * 1000,
  }
}
