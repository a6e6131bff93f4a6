/** The options of a poller: checked, every fault at once, and with defaults. The checks against the table come later. */
import { argumentFaults, faultsOf, optionRules, refuse } from '../../fields/field'
import {
  aBoolean,
  aFunction,
  anObject,
  type Bounds,
  backoffFaults,
  boundsOf,
  fraction,
  option,
  orderFault,
  partFaults,
  seconds,
} from '../../fields/options'
import { NAME, oneOf, SIGNAL, whole } from '../../fields/rules'
import type { PollShape } from '../../shared/poll-types'
import { MANY, WAIT } from '../worker/options'
import type { PollManyOptions, PollOptions } from './types'

const DEFAULT_BATCH = { min: 1, max: 1000 }

export interface PollSettings {
  shape: PollShape
  concurrency: number
  /** Maximum rows of one handler, and how long they are waited for. */
  size: number
  waitMs: number
  batch: { min: number; max: number }
  backoff: Bounds
  intervalMs: number
  auto: boolean
  signal: AbortSignal | undefined
  maxAttempts: number
  timeoutMs: number
}

const isColumn = (value: unknown) => typeof value === 'string' && value !== ''
const aColumn = option((value) => (isColumn(value) ? null : 'must be the name of a column'))
const columns = option((value) =>
  (Array.isArray(value) ? value.length > 0 && value.every(isColumn) : isColumn(value))
    ? null
    : 'must be the name of a column, or a list of some',
)
const aValue = option((value) =>
  typeof value === 'string' || Number.isSafeInteger(value) ? null : 'must be a text or a whole number',
)

const RULES = {
  name: NAME,
  key: columns,
  status: option((value) => (typeof value === 'string' ? aColumn : anObject).fault(value)),
  claim: anObject,
  sequence: aColumn,
  order: oneOf(['cycle']),
  lateSeconds: seconds,
  onDone: oneOf(['mark', 'delete', 'remember']),
  onFailed: oneOf(['keep', 'delete']),
  where: option((value) => (typeof value === 'string' && value.trim() !== '' ? null : anObject.fault(value))),
  maxAttempts: whole(1, 1_000_000),
  claimTimeoutSeconds: whole(1, 43_200),
  concurrency: whole(1, 1000),
  batch: anObject,
  backoff: anObject,
  intervalSeconds: fraction(0.001, 86_400),
  auto: aBoolean,
  signal: SIGNAL,
  around: aFunction,
  onError: aFunction,
  onWarning: aFunction,
}
const OPTIONS = optionRules<PollOptions<object>>(RULES)
const MANY_OPTIONS = optionRules<PollManyOptions<object>>({ ...RULES, batchSize: whole(1, 1000), waitSeconds: WAIT })
const READY = option((value) => (value === null ? null : aValue.fault(value)))
const words = option((value) =>
  Array.isArray(value) && value.length > 0 && value.every((one, at) => !aValue.fault(one) && value.indexOf(one) === at)
    ? null
    : 'must be a list of texts and whole numbers, each once',
)
const STATUS = optionRules(
  { column: aColumn, ready: READY, claimed: aValue, done: aValue, results: words, error: aValue },
  ['column'],
)
const CLAIM = optionRules({ claim: aColumn, attempts: aColumn, nextTime: aColumn, error: aColumn }, [
  'claim',
  'attempts',
  'nextTime',
])
const BATCH = optionRules({ min: whole(1, 1000), max: whole(1, 1000) })

const NO_RESULTS = { pointer: '/status/results', detail: 'are for `poll`: a handler of many has one answer for all' }

/** Throws `invalid_input`. */
export function checkedPoll<T>(
  handler: unknown,
  options: PollOptions<T> | PollManyOptions<T>,
  isMany: boolean,
): PollSettings {
  refuse([
    ...argumentFaults('handler', handler, aFunction),
    ...faultsOf(options, isMany ? MANY_OPTIONS : OPTIONS),
    ...partFaults(options?.status, STATUS, '/status'),
    ...partFaults(options?.claim, CLAIM, '/claim'),
    ...partFaults(options?.batch, BATCH, '/batch'),
    ...orderFault(Object(options?.batch), ['min', 'max'], DEFAULT_BATCH, '/batch'),
    ...backoffFaults(options?.backoff),
    ...(isMany && Object(options?.status).results ? [NO_RESULTS] : []),
  ])
  const {
    concurrency = 1,
    batch,
    backoff,
    intervalSeconds = 1,
    auto = true,
    signal,
    around: ___,
    onError: _,
    onWarning: __,
    batchSize = isMany ? MANY : 1,
    waitSeconds = 0,
    ...shape
  } = options as PollManyOptions<T>
  const { min = 1, max = Math.max(min, DEFAULT_BATCH.max) } = batch ?? {}
  const { maxAttempts = 5, claimTimeoutSeconds = 60 } = shape
  return {
    shape,
    concurrency,
    size: batchSize,
    // `once` has nothing to wait for.
    waitMs: auto ? waitSeconds * 1000 : 0,
    batch: { min, max },
    // In a cycle the round is the pause.
    backoff: boundsOf(backoff ?? (shape.order && { minSeconds: 0, maxSeconds: 0 })),
    intervalMs: intervalSeconds * 1000,
    auto,
    signal,
    maxAttempts,
    timeoutMs: claimTimeoutSeconds * 1000,
  }
}
