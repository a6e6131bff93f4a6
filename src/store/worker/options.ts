/** The options of a worker: checked, every fault at once, and with what was left out. */
import { invalidInput } from '../../errors'
import { type Bounds, backoffFaults, boundsOf } from '../../fields/loop-option-rules'
import { aFunction, anObject, faultsOf, type Rules, whole } from '../../fields/option-rules'
import { MAX_VISIBILITY_SECONDS } from '../../fields/queue-rules'
import { nameFault } from '../../fields/rules'
import type { Handler, WorkOptions } from './types'

export interface WorkSettings {
  concurrency: number
  batchSize: number
  /** Null: the messages' own, or the queue's. */
  visibilityTimeoutSeconds: number | null
  backoff: Bounds
  onError: WorkOptions['onError']
}

const OPTIONS: Rules = {
  concurrency: whole(1, 10_000),
  batchSize: whole(1, 1000),
  visibilityTimeoutSeconds: whole(1, MAX_VISIBILITY_SECONDS),
  backoff: anObject,
  onError: aFunction,
}

/** Throws `invalid_input`. */
export function checkedWork(queue: string, handler: Handler, options: WorkOptions): WorkSettings {
  const nameDetail = nameFault(queue)
  const faults = [
    ...(nameDetail === null ? [] : [{ parameter: 'queue', detail: nameDetail }]),
    ...(typeof handler === 'function' ? [] : [{ parameter: 'handler', detail: 'must be a function' }]),
    ...faultsOf(options, OPTIONS, ''),
    ...backoffFaults(options?.backoff),
  ]
  if (faults.length > 0) throw invalidInput(faults)
  const { concurrency = 1, visibilityTimeoutSeconds = null, backoff, onError } = options
  // What is claimed ahead is bounded by what the handlers begin in a moment: a large batch is for quick ones only.
  const { batchSize = Math.min(Math.max(5 * concurrency, 10), 1000) } = options
  return { concurrency, batchSize, visibilityTimeoutSeconds, backoff: boundsOf(backoff), onError }
}
