/**
 * Handles: the calls on one queue, group or feed, with its name bound and a type for what it holds. The store, a transaction
 * and the client make them. A handle has nothing but the name, and making one asks nobody.
 */
import { RecentnError } from './recentn-error'

export const QUEUE_CALLS = [
  'get',
  'put',
  'ensure',
  'update',
  'pause',
  'resume',
  'drop',
  'send',
  'sendMany',
  'receive',
  'cycle',
  'ack',
  'nack',
  'extend',
  'ackMany',
  'nackMany',
  'extendMany',
  'peek',
  'message',
  'remove',
  'redrive',
  'promote',
  'purge',
] as const

export const GROUP_CALLS = [
  'append',
  'recent',
  'recentIfChanged',
  'item',
  'clear',
  'remove',
  'get',
  'put',
  'update',
  'ensure',
  'drop',
] as const

export const FEED_CALLS = [
  'put',
  'putMany',
  'get',
  'delete',
  'republish',
  'changes',
  'cursor',
  'moveCursor',
  'dropCursor',
  'status',
  'drop',
] as const

export type QueueCall = (typeof QUEUE_CALLS)[number]
export type GroupCall = (typeof GROUP_CALLS)[number]
export type FeedCall = (typeof FEED_CALLS)[number]

/**
 * The calls of these names without their first argument. The type parameter of a call becomes the one that `Calls` was
 * given: TypeScript infers from a generic signature by its constraints.
 */
export type Handle<Calls, Names extends keyof Calls> = {
  /** The name of the queue, group or feed. */
  readonly name: string
} & {
  readonly [Name in Names]: Calls[Name] extends (name: string, ...rest: infer Rest) => infer Result
    ? (...rest: Rest) => Result
    : never
}

/** Binds the calls of these names to the name of a queue, group or feed. */
export function handleOf<Bound>(calls: object, name: string, names: readonly string[]): Bound {
  const all = calls as Record<string, (...given: unknown[]) => unknown>
  const bound = names.map((each) => [each, (...rest: unknown[]) => all[each]?.(name, ...rest)])
  return { name, ...Object.fromEntries(bound) }
}

/** A call that takes the name as a member of its argument at `at`, or of each entry of that argument if it is a list. */
type FilledCall = readonly [call: string, at: number, member: string]

export const FILLED = {
  group: ['appendMany', 0, 'group'],
  feed: ['follow', 1, 'feed'],
} as const satisfies Record<string, FilledCall>

/** `handleOf`, and a call into which the handle fills the name; it rejects with `invalid_input` where another name is given. */
export function fillingHandle<Bound>(
  calls: object,
  name: string,
  names: readonly string[],
  [call, at, member]: FilledCall,
): Bound {
  const filled = (given: unknown): unknown => {
    if (Array.isArray(given)) return given.map(filled)
    // Anything else stays as it is, for the call to refuse.
    if (typeof given !== 'object' || given === null) return given
    const { [member]: other = name } = given as Record<string, unknown>
    if (other !== name) throw new RecentnError('invalid_input', `The handle fills in ${member}: leave it out`)
    return { ...given, [member]: name }
  }
  const all = calls as Record<string, (...given: unknown[]) => unknown>
  const filling = async (...rest: unknown[]) =>
    all[call]?.(...rest.map((one, index) => (index === at ? filled(one) : one)))
  return { ...handleOf<object>(calls, name, names), [call]: filling } as Bound
}
