/** What the options of workers, pollers and consumers have in common: delays, the bounds of a backoff, how they stop. */
import { type Fault, invalidInput } from '../errors'
import { anObject, faultsOf, orderFault, type Rules, whole } from './option-rules'

export interface Bounds {
  minSeconds: number
  maxSeconds: number
}

const MAX_DELAY_SECONDS = 315_360_000
const DEFAULT_BACKOFF: Bounds = { minSeconds: 1, maxSeconds: 600 }

/** From no delay to the longest. */
export const seconds = whole(0, MAX_DELAY_SECONDS)

const BACKOFF: Rules = { minSeconds: seconds, maxSeconds: seconds }
const STOP: Rules = {
  timeoutSeconds: (value) =>
    typeof value === 'number' && value >= 0 && value <= MAX_DELAY_SECONDS
      ? null
      : `must be a number from 0 to ${MAX_DELAY_SECONDS}`,
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
