/** The options of a poller: checked, every fault at once, and with what was left out. What the table says comes later. */
import { type Fault, invalidInput } from '../../errors'
import { type Bounds, backoffFaults, boundsOf, seconds } from '../../fields/loop-option-rules'
import {
  aBoolean,
  aFunction,
  anObject,
  faultsOf,
  orderFault,
  partFaults,
  type Rule,
  type Rules,
  whole,
} from '../../fields/option-rules'
import { nameFault } from '../../fields/rules'
import type { PollShape } from '../../repositories/polls/types'
import type { PollHandler, PollOptions } from './types'

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

const oneOf =
  (...words: string[]): Rule =>
  (value) =>
    words.includes(value as string) ? null : `must be one of ${words.join(', ')}`
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
  lateSeconds: seconds,
  onDone: oneOf('mark', 'delete', 'remember'),
  onFailed: oneOf('keep', 'delete'),
  where: (value) => (typeof value === 'string' && value.trim() !== '' ? null : anObject(value)),
  maxAttempts: whole(1, 1_000_000),
  claimTimeoutSeconds: whole(1, 43_200),
  concurrency: whole(1, 1000),
  batch: anObject,
  backoff: anObject,
  intervalMs: whole(1, 86_400_000),
  auto: aBoolean,
  onError: aFunction,
  onWarning: aFunction,
}
const STATUS: Rules = {
  column: aColumn,
  ready: (value) => (value === null ? null : aValue(value)),
  claimed: aValue,
  done: aValue,
  error: aValue,
}
const CLAIM: Rules = { claim: aColumn, attempts: aColumn, nextTime: aColumn, error: aColumn }
const BATCH: Rules = { min: whole(1, 1000), max: whole(1, 1000) }

/** Throws `invalid_input`. */
export function checkedPoll<T>(handler: PollHandler<T>, options: PollOptions<T>): PollSettings {
  const faults: Fault[] = typeof handler === 'function' ? [] : [{ parameter: 'handler', detail: 'must be a function' }]
  if (typeof options !== 'object' || options === null) faults.push({ pointer: '', detail: 'must be an object' })
  else {
    faults.push(
      ...faultsOf(options, OPTIONS, ''),
      ...partFaults(options.status, STATUS, '/status', ['column']),
      ...partFaults(options.claim, CLAIM, '/claim', ['claim', 'attempts', 'nextTime']),
      ...partFaults(options.batch, BATCH, '/batch'),
      ...orderFault(Object(options.batch), ['min', 'max'], DEFAULT_BATCH, '/batch'),
      ...backoffFaults(options.backoff),
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
  const { maxAttempts = 5, claimTimeoutSeconds = 60 } = shape
  return {
    shape,
    concurrency,
    batch: { min, max },
    backoff: boundsOf(backoff),
    intervalMs,
    auto,
    maxAttempts,
    timeoutMs: claimTimeoutSeconds * 1000,
  }
}
