/** The public shapes of the client's workers and consumers, and what both have in common: their options, and how they stop. */

import type { ConsumeHandlingOptions, HandlingOptions, ManyOptions, WorkHandlingOptions } from '../shared/handler-types'
import type { Message } from '../shared/message-types'
import { invalidInput } from '../shared/recentn-error'
import type { StopOptions, Surroundings } from '../shared/running'
import { schemaFault } from '../shared/schema'
import { aFunction, numberFault, type OptionRule, refuseFaults } from './options'
import { pause } from './retry'

export type { BatchHandler, ConsumeContext, ConsumeHandler, Handler, WorkContext } from '../shared/handler-types'
export type { Running } from '../shared/running'

export interface ClientWorkOptions<Body = unknown> extends WorkHandlingOptions<Body> {
  /** Maximum handlers at the same time, 1 to 1,000; default 1. */
  concurrency?: number | undefined
}

export type ClientWorkManyOptions<Body = unknown> = ManyOptions<ClientWorkOptions<Body>, Message>

export type ClientConsumeOptions<Value = unknown> = ConsumeHandlingOptions<Value>

export function whole(min: number, max: number): OptionRule {
  const isIn = (value: unknown) => Number.isInteger(value) && (value as number) >= min && (value as number) <= max
  return (value) => (isIn(value) ? null : `must be a whole number from ${min} to ${max}`)
}

/** How long one receive, or one read of changes, waits. */
export const WAIT_SECONDS = 20
/** From one without a result to the next, also where a server or a proxy does not wait. */
export const BETWEEN_MS = 100
const MAX_SECONDS = 315_360_000
const aDelay = whole(0, MAX_SECONDS)

export const LOOP_RULES: Readonly<Record<keyof HandlingOptions<never, never>, OptionRule>> = {
  backoff: (value) => {
    const { minSeconds, maxSeconds, ...others } = pausesOf(Object(value))
    const isFine = !aDelay(minSeconds) && !aDelay(maxSeconds) && maxSeconds >= minSeconds
    if (typeof value === 'object' && isFine && Object.keys(others).length === 0) return null
    return 'must be { minSeconds, maxSeconds }, in order'
  },
  schema: schemaFault,
  signal: (value) => (value instanceof AbortSignal ? null : 'must be an AbortSignal'),
  around: aFunction,
  onError: aFunction,
}

/** Throws `invalid_input` with every fault of the handler and the options. */
export function checkLoop(handler: unknown, options: object, rules: Readonly<Record<string, OptionRule>>): void {
  const detail = aFunction(handler)
  refuseFaults(options, rules, detail ? [{ parameter: 'handler', detail }] : [])
}

/** An option that is left out takes its default, but the longest pause is never shorter than the shortest. */
export function pausesOf({ minSeconds = 1, ...others }: HandlingOptions<never, never>['backoff'] = {}) {
  const { maxSeconds = Math.max(minSeconds, 600) } = others
  return { ...others, minSeconds, maxSeconds }
}

/** Milliseconds of the time limit, or null without one. Throws `invalid_input`. */
function checkedTimeLimit({ timeoutSeconds }: StopOptions): number | null {
  if (timeoutSeconds === undefined) return null
  const detail = numberFault(timeoutSeconds, MAX_SECONDS)
  if (!detail) return timeoutSeconds * 1000
  throw invalidInput([{ pointer: '/timeoutSeconds', detail }])
}

/** The clock of both loops: the timers of the page, or of the process. */
export const SURROUNDINGS: Surroundings = {
  clock: {
    now: () => performance.now(),
    after: (ms, run) => {
      const timer = setTimeout(run, ms)
      return () => clearTimeout(timer)
    },
    endOfTurn: (run) => setTimeout(run),
    pause,
  },
  timeLimitOf: checkedTimeLimit,
}
