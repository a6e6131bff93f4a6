/** The common parts of the options of stores, and of everything that runs for them. */
import type { Fault } from '../shared/errors'
import { schemaFault } from '../shared/schema'
import { addFaults, argumentFaults, type Field, faultsOf, optionRules, type Rule, type Rules, refuse } from './field'
import { MAX_DELAY_SECONDS } from './queues'
import { flag, MAX_CAPACITY, MAX_TTL_SECONDS, oneOf, SIGNAL, TABLE_PREFIX, text, whole } from './rules'

/** Most commits of appends that run at once. */
const MAX_LANES = 16

/** A field that only the library has. */
export const option = (fault: Rule): Field => ({ fault, schema: {} })
export const aFunction = option((value) => (typeof value === 'function' ? null : 'must be a function'))
export const anObject = option((value) => (typeof value === 'object' && value !== null ? null : 'must be an object'))
export const aBoolean = flag()
/** A promise of a store is a frequent mistake, which would show itself only with the first call. */
export const aStore = option((value) =>
  typeof (value as { groups?: { recent?: unknown } } | null | undefined)?.groups?.recent === 'function'
    ? null
    : 'must be a store: what openStore or attachStore resolves to',
)
export const fraction = (min: number, max: number): Field<number> => ({
  fault: (value) =>
    typeof value === 'number' && value >= min && value <= max ? null : `must be a number from ${min} to ${max}`,
  schema: {},
})
/** From no delay to the longest. */
export const seconds = whole(0, MAX_DELAY_SECONDS)

const anyCount = whole(1, Number.MAX_SAFE_INTEGER)
export const storeOptions = {
  tablePrefix: TABLE_PREFIX,
  defaultCapacity: whole(1, MAX_CAPACITY),
  groupMemoryBytes: whole(0, Number.MAX_SAFE_INTEGER),
  batching: anObject,
  sweep: aBoolean,
  publish: aBoolean,
  tick: aBoolean,
  history: aBoolean,
  feeds: anObject,
  join: oneOf(['ambient']),
  connectionTimeoutSeconds: fraction(0.001, 600),
  statementTimeoutSeconds: whole(1, 86_400),
  clockOffsetMs: aFunction,
  onBackgroundError: aFunction,
}
const STORE_RULES = optionRules(storeOptions)
export const openOptions = {
  ...storeOptions,
  url: text(),
  password: option((value) => (/^(string|function)$/.test(typeof value) ? null : 'must be a string or a function')),
  migrate: aBoolean,
  poolSize: whole(1, 10_000),
}
const OPEN_RULES = optionRules(openOptions, ['url'])
const BATCHING_RULES = optionRules({ lanes: whole(1, MAX_LANES), maxPendingItems: anyCount, maxPendingBytes: anyCount })
const FEEDS_RULES = optionRules({ tombstoneSeconds: whole(1, MAX_TTL_SECONDS) })
export const TRANSACTION_RULES = optionRules({ retries: whole(0, 1000), signal: SIGNAL })
export const SCHEMA_RULES = optionRules({ tablePrefix: TABLE_PREFIX })

interface StoreParts {
  batching?: unknown
  feeds?: unknown
}

export function storeFaults(options: StoreParts, isOpened: boolean): Fault[] {
  return [
    ...faultsOf(options, isOpened ? OPEN_RULES : STORE_RULES),
    ...partFaults(options?.batching, BATCHING_RULES, '/batching'),
    ...partFaults(options?.feeds, FEEDS_RULES, '/feeds'),
  ]
}

/** The faults of an option that is an object itself. Where it is none, the rule of the option says so. */
export function partFaults(value: unknown, rules: Rules, at: string): Fault[] {
  const faults: Fault[] = []
  if (value !== undefined && anObject.fault(value) === null) addFaults(faults, value, rules, at)
  return faults
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

export interface Bounds {
  minSeconds: number
  maxSeconds: number
}

const DEFAULT_BACKOFF: Bounds = { minSeconds: 1, maxSeconds: 600 }
const BACKOFF_RULES = optionRules({ minSeconds: seconds, maxSeconds: seconds })
const STOP_RULES = optionRules({
  timeoutSeconds: fraction(0, MAX_DELAY_SECONDS),
})

export function backoffFaults(given: Partial<Bounds> | undefined): Fault[] {
  const faults = partFaults(given, BACKOFF_RULES, '/backoff')
  if (faults.length > 0 || typeof given !== 'object' || given === null) return faults
  return orderFault<Partial<Bounds>>(given, ['minSeconds', 'maxSeconds'], DEFAULT_BACKOFF, '/backoff')
}

/** The options of all that runs handlers of messages and changes. */
export const handlingOptions = {
  backoff: anObject,
  schema: option(schemaFault),
  signal: SIGNAL,
  around: aFunction,
  onError: aFunction,
}

/** The faults of a handler and of its options. */
export function handlingFaults(handler: unknown, options: { backoff?: Partial<Bounds> }, rules: Rules): Fault[] {
  const faults = [...argumentFaults('handler', handler, aFunction), ...faultsOf(options, rules)]
  return [...faults, ...backoffFaults(options?.backoff)]
}

/** A bound that was left out takes its default, but never less than the least. */
export function boundsOf({ minSeconds = DEFAULT_BACKOFF.minSeconds, maxSeconds }: Partial<Bounds> = {}): Bounds {
  return { minSeconds, maxSeconds: maxSeconds ?? Math.max(minSeconds, DEFAULT_BACKOFF.maxSeconds) }
}

/** Milliseconds of the time limit, or null without one. Throws `invalid_input`. */
export function checkedStop(options: { timeoutSeconds?: number }): number | null {
  refuse(faultsOf(options, STOP_RULES))
  return options.timeoutSeconds === undefined ? null : options.timeoutSeconds * 1000
}

/** The kinds of objects that are created by name, one by one, and stay until they are dropped. */
const NAMED_KINDS = ['queues', 'schedules', 'policies', 'feeds'] as const
export type NamedKind = (typeof NAMED_KINDS)[number]

const isKind = (kind: string) => (NAMED_KINDS as readonly string[]).includes(kind)
/** The option `maxPerPrefix` of routers. */
export const PER_PREFIX = option((value) =>
  anObject.fault(value) === null &&
  Object.entries(value as object).every(
    ([kind, most]) => isKind(kind) && (most === undefined || anyCount.fault(most) === null),
  )
    ? null
    : `must be an object of whole numbers of at least 1: ${NAMED_KINDS.join(', ')}`,
)

const MAX_BYTES = Symbol('maxBytes')
/** Options of a read for our server: a page ends at about so many bytes of JSON, with one thing at least, if there is any. */
export function bounded<const Options extends object>(options: Options, maxBytes: number): Options {
  return { ...options, [MAX_BYTES]: maxBytes }
}
export function maxBytesOf(options: { limit?: number | undefined; [MAX_BYTES]?: number }): number {
  return options[MAX_BYTES] ?? Number.POSITIVE_INFINITY
}
