/** The options of a worker: checked, every fault at once, and with what was left out. */
import { type Fault, invalidInput } from '../errors'
import { integerFault, nameFault } from '../rules'
import type { Bounds } from './backoff'
import type { Handler, StopOptions, WorkOptions } from './worker-types'

const MAX_DELAY_SECONDS = 315_360_000
const MAX_VISIBILITY_SECONDS = 43_200
const DEFAULT_BACKOFF = { minSeconds: 1, maxSeconds: 600 }

export interface WorkSettings {
  concurrency: number
  batchSize: number
  /** Null: the messages' own, or the queue's. */
  visibilityTimeoutSeconds: number | null
  backoff: Bounds
  onError: WorkOptions['onError']
}

type Rule = (value: unknown) => string | null

const whole =
  (min: number, max: number): Rule =>
  (value) =>
    integerFault(value, min, max)

const OPTIONS: Record<string, Rule> = {
  concurrency: whole(1, 10_000),
  batchSize: whole(1, 1000),
  visibilityTimeoutSeconds: whole(1, MAX_VISIBILITY_SECONDS),
  backoff: (value) => (typeof value === 'object' && value !== null ? null : 'must be an object'),
  onError: (value) => (typeof value === 'function' ? null : 'must be a function'),
}
const BACKOFF: Record<string, Rule> = {
  minSeconds: whole(0, MAX_DELAY_SECONDS),
  maxSeconds: whole(0, MAX_DELAY_SECONDS),
}
const STOP: Record<string, Rule> = {
  timeoutSeconds: (value) =>
    typeof value === 'number' && value >= 0 && value <= MAX_DELAY_SECONDS
      ? null
      : `must be a number from 0 to ${MAX_DELAY_SECONDS}`,
}

function faultsOf(value: unknown, rules: Record<string, Rule>, at: string): Fault[] {
  if (typeof value !== 'object' || value === null) return [{ pointer: at, detail: 'must be an object' }]
  return Object.entries(value).flatMap(([key, given]) => {
    const rule = Object.hasOwn(rules, key) ? rules[key] : undefined
    const detail = rule ? (given === undefined ? null : rule(given)) : 'is not known'
    return detail === null ? [] : [{ pointer: `${at}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`, detail }]
  })
}

function backoffFaults(given: WorkOptions['backoff']): Fault[] {
  if (typeof given !== 'object' || given === null) return []
  const faults = faultsOf(given, BACKOFF, '/backoff')
  const { minSeconds, maxSeconds } = { ...DEFAULT_BACKOFF, ...given }
  if (faults.length === 0 && given.maxSeconds !== undefined && maxSeconds < minSeconds) {
    faults.push({ pointer: '/backoff/maxSeconds', detail: `must not be less than minSeconds, ${minSeconds}` })
  }
  return faults
}

function refuse(faults: readonly Fault[]): void {
  if (faults.length > 0) throw invalidInput(faults)
}

/** Throws `invalid_input`. */
export function checkedWork(queue: string, handler: Handler, options: WorkOptions): WorkSettings {
  const nameDetail = nameFault(queue)
  refuse([
    ...(nameDetail === null ? [] : [{ parameter: 'queue', detail: nameDetail }]),
    ...(typeof handler === 'function' ? [] : [{ parameter: 'handler', detail: 'must be a function' }]),
    ...faultsOf(options, OPTIONS, ''),
    ...backoffFaults(options?.backoff),
  ])
  const { concurrency = 1, visibilityTimeoutSeconds = null, onError } = options
  // What is claimed ahead is bounded by what the handlers begin in a moment: a large batch is for quick ones only.
  const { batchSize = Math.min(Math.max(5 * concurrency, 10), 1000) } = options
  const { minSeconds = DEFAULT_BACKOFF.minSeconds, maxSeconds = DEFAULT_BACKOFF.maxSeconds } = options.backoff ?? {}
  const backoff = { minSeconds, maxSeconds: Math.max(minSeconds, maxSeconds) }
  return { concurrency, batchSize, visibilityTimeoutSeconds, backoff, onError }
}

/** Milliseconds of patience, or null for no end of it. Throws `invalid_input`. */
export function checkedStop(options: StopOptions): number | null {
  refuse(faultsOf(options, STOP, ''))
  return options.timeoutSeconds === undefined ? null : options.timeoutSeconds * 1000
}
