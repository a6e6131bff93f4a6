/** The calls and the options of a worker: checked, every fault at once, and with what was left out. */
import { argumentFaults, faultsOf, optionRules, refuse } from '../../fields/field'
import { aBoolean, aFunction, anObject, type Bounds, backoffFaults, boundsOf, option } from '../../fields/options'
import { MAX_VISIBILITY_SECONDS } from '../../fields/queues'
import { nameFaults, SIGNAL, whole } from '../../fields/rules'
import type { Handler } from '../../shared/handling-shapes'
import type { Queues } from '../../shared/queue-types'
import { schemaFault } from '../../shared/schema'
import type { WorkOptions } from './types'

export interface StoreWorkSource extends Pick<Queues, 'receive' | 'ackMany' | 'nackMany' | 'extendMany' | 'hold'> {
  /**
   * Ends claims as if they had not been made: ready again, with the receive count that they had before. Stale handles
   * are ignored.
   */
  giveBack(queue: string, receiptHandles: readonly string[]): Promise<unknown>
  /** Throws where `once` would wait for itself. */
  guard?: (() => void) | undefined
}

export interface WorkSettings extends Omit<WorkOptions, 'backoff'> {
  concurrency: number
  batchSize: number
  auto: boolean
  backoff: Bounds
}

const OPTIONS = optionRules<WorkOptions>({
  concurrency: whole(1, 10_000),
  batchSize: whole(1, 1000),
  visibilityTimeoutSeconds: whole(1, MAX_VISIBILITY_SECONDS),
  auto: aBoolean,
  backoff: anObject,
  schema: option(schemaFault),
  signal: SIGNAL,
  around: aFunction,
  onError: aFunction,
  onDone: aFunction,
  onDead: aFunction,
})

/** Throws `invalid_input`. */
export function checkedWork(queue: string, handler: Handler, options: WorkOptions): WorkSettings {
  refuse([
    ...nameFaults('queue', queue),
    ...argumentFaults('handler', handler, aFunction),
    ...faultsOf(options, OPTIONS),
    ...backoffFaults(options?.backoff),
  ])
  const { concurrency = 1, auto = true, backoff } = options
  // Only messages that the handlers begin in a moment are claimed ahead: a large batch is for quick ones only.
  const { batchSize = Math.min(Math.max(5 * concurrency, 10), 1000) } = options
  return { ...options, concurrency, batchSize, auto, backoff: boundsOf(backoff) }
}
