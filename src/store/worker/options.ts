/** The calls and the options of a worker: checked, every fault at once, and with what was left out. */
import { optionRules, refuse } from '../../fields/field'
import {
  aBoolean,
  aFunction,
  type Bounds,
  boundsOf,
  fraction,
  handlingFaults,
  handlingOptions,
} from '../../fields/options'
import { MAX_VISIBILITY_SECONDS } from '../../fields/queues'
import { nameFaults, whole } from '../../fields/rules'
import type { Message, Queues, ReceiveOptions } from '../../shared/queue-types'
import type { WorkManyOptions, WorkOptions } from './types'

/** Maximum claims of one handler of many, if it is not said. */
export const MANY = 100
/** How long a handler of many waits for more. */
export const WAIT = fraction(0, 3600)

export interface StoreWorkSource extends Pick<Queues, 'ackMany' | 'nackMany' | 'extendMany' | 'hold'> {
  /** `onClaim` is called before each statement that may claim. */
  receive(queue: string, options: ReceiveOptions, onClaim: () => void): Promise<Message[]>
  /** Ends claims as if they had not been made, with the receive count that they had before. Stale handles are ignored. */
  giveBack(queue: string, receiptHandles: readonly string[]): Promise<unknown>
  /** Throws where `once` would wait for itself. */
  guard?: (() => void) | undefined
}

export interface WorkSettings extends Omit<WorkOptions, 'backoff' | 'around'> {
  concurrency: number
  batchSize: number
  /** Maximum messages of one handler, and how long they are waited for. */
  size: number
  waitMs: number
  auto: boolean
  backoff: Bounds
}

const RULES = {
  concurrency: whole(1, 10_000),
  batchSize: whole(1, 1000),
  visibilityTimeoutSeconds: whole(1, MAX_VISIBILITY_SECONDS),
  auto: aBoolean,
  ...handlingOptions,
  onDone: aFunction,
  onDead: aFunction,
}
const OPTIONS = optionRules<WorkOptions>(RULES)
const MANY_OPTIONS = optionRules<WorkManyOptions>({ ...RULES, waitSeconds: WAIT })

/** Throws `invalid_input`. */
export function checkedWork(queue: string, handler: unknown, options: WorkManyOptions, isMany: boolean): WorkSettings {
  const rules = isMany ? MANY_OPTIONS : OPTIONS
  refuse([...nameFaults('queue', queue), ...handlingFaults(handler, options, rules)])
  const { concurrency = 1, auto = true, backoff, around: _, waitSeconds = 0, ...others } = options
  // Only messages that the handlers begin in a moment are claimed ahead: a large batch is for quick ones only.
  const { batchSize = isMany ? MANY : Math.min(Math.max(5 * concurrency, 10), 1000) } = options
  const size = isMany ? batchSize : 1
  // `once` has nothing to wait for.
  const waitMs = auto ? waitSeconds * 1000 : 0
  return { ...others, concurrency, batchSize, size, waitMs, auto, backoff: boundsOf(backoff) }
}
