/**
 * What a request is about, for keys that are confined to names with a prefix. Every route of the tables says it, as a
 * list of names that all must begin with the prefix, or by keeping to what is `within` in all that it does.
 */
import { type Fault, RecentnError } from '../errors'
import { RECENT_GROUPS } from '../feed-rules'

/** A name of a group, queue, feed or policy that a request is about, and where in the request it is. */
export interface Reached extends Pick<Fault, 'pointer' | 'parameter'> {
  name: string
  /** It tells of names that are not its own: nothing for a key that is confined. */
  tellsOfAll?: boolean
}

/**
 * `'nothing'`: it is about no name. `'within'`: the handler shows and changes nothing but what begins with `within`. Else
 * the names that it is about; the handler may still be given a `within` to keep to.
 */
export type Reach<I> = 'nothing' | 'within' | ((input: I) => readonly Reached[])

/** The name that the path has. */
export function pathName<K extends string>(parameter: K): (input: { path: Record<K, string> }) => Reached[] {
  return ({ path }) => [{ name: path[parameter], parameter }]
}

/** The feed that the path has: that of the groups tells the names of all of them. */
export function feedInPath({ path: { feed } }: { path: { feed: string } }): Reached[] {
  return [{ name: feed, parameter: 'feed', tellsOfAll: feed === RECENT_GROUPS }]
}

/** Throws `forbidden`, naming each that does not begin with the prefix. */
export function checkReach(prefix: string, reached: readonly Reached[]): void {
  const outside = reached.filter(({ name, tellsOfAll }) => tellsOfAll || !name.startsWith(prefix))
  if (outside.length === 0) return
  const begin = `begin with ${JSON.stringify(prefix)}`
  const named = outside.slice(0, 3).map(({ name }) => JSON.stringify(name))
  const more = outside.length > 3 ? ` and ${outside.length - 3} more` : ''
  const faults = outside.map(({ name, tellsOfAll, ...place }): Fault => {
    return { ...place, detail: tellsOfAll ? 'tells of all groups' : `does not ${begin}` }
  })
  const detail = `The key is confined to names that ${begin}, and may not touch ${named.join(', ')}${more}`
  throw new RecentnError('forbidden', detail, { faults })
}

/** What the names of a list begin with: what was asked for, as far as it is within; null when that is nothing. */
export function narrowed(asked: string | undefined, within: string | null): string | undefined | null {
  if (within === null || asked?.startsWith(within)) return asked
  return within.startsWith(asked ?? '') ? within : null
}
