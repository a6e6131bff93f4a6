/**
 * How handlers are run on what a worker or a poller has claimed: on one claim at a time, or on many. One is a batch of one.
 */
import { failedOf } from '../shared/failures'
import type { Faults } from '../shared/faults'
import type { Lease } from '../shared/leases'
import type { Around } from '../shared/running'

interface Fates<Given> {
  /** The error of each that failed; the others are done. */
  failed: ReadonlyMap<Given, unknown>
  /** The answer of a handler of one. */
  answer?: unknown
}

/** If it throws, all have failed. */
export type Handle<Given, Context> = (given: readonly Given[], context: Context) => Promise<Fates<Given>>

const NONE: ReadonlyMap<never, never> = new Map<never, never>()

export function ofOne<Given, Context>(handler: (given: Given, context: Context) => unknown): Handle<Given, Context> {
  return async (given, context) => ({ failed: NONE, answer: await handler(given[0] as Given, context) })
}

export function ofMany<Given, Context>(handler: (given: Given[], context: Context) => unknown): Handle<Given, Context> {
  return async (given, context) => ({ failed: failedOf(await handler([...given], context), given) })
}

/**
 * The handler within the hook, which gets what is given, or a list of it that it may change. Whatever the hook resolves to, the
 * handler's answer counts.
 */
export function within<Given, Context>(
  around: Around<Given> | Around<Given[]>,
  isMany: boolean,
  handle: Handle<Given, Context>,
): Handle<Given, Context> {
  if (!around) return handle
  return async (given, context) => {
    let fates: Fates<Given> = { failed: NONE }
    await (around as NonNullable<Around<unknown>>)(isMany ? [...given] : given[0], async () => {
      fates = await handle(given, context)
    })
    return fates
  }
}

/** Runs it; each error is reported with what it is about. Never rejects. Without `async`, which takes twice the memory. */
export function fatesOf<Given, Context>(
  faults: Faults<Given>,
  handle: Handle<Given, Context>,
  given: readonly Given[],
  context: Context,
): Promise<Fates<Given>> {
  const reported = (fates: Fates<Given>) => {
    if (fates.failed.size === 0) faults.handled()
    else for (const [one, error] of fates.failed) faults.handler(error, one)
    return fates
  }
  const thrown = (error: unknown) => reported({ failed: new Map(given.map((one) => [one, error])) })
  return handle(given, context).then(reported, thrown)
}

/** Aborted when the first of the claims is lost: what is done from then on may be done twice. */
export function signalOf(leases: readonly Lease<unknown>[]): AbortSignal {
  const signals = leases.map(({ signal }) => signal)
  return signals.length === 1 ? (signals[0] as AbortSignal) : AbortSignal.any(signals)
}
