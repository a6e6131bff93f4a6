/** What keeps a request to names that begin with a prefix: that of its key, or the one that an `access` function gave. */
import { type Fault, RecentnError } from '../errors'
import { RECENT_GROUPS } from '../fields/feeds'
import type { Subject, SubjectKind } from './subjects'

/** Of what a prefix confines to; members, consumers and keys of entries are not confined. */
const CONFINED: ReadonlySet<SubjectKind> = new Set(['groups', 'policies', 'queues', 'feeds'])

/**
 * Throws `forbidden`, naming each name that does not begin with the prefix. What a request is about by a prefix of its
 * own is not looked at here: the handler of the route keeps to what is within.
 */
export function checkReach(prefix: string, subjects: readonly Subject[]): void {
  const faults: Fault[] = []
  const outside: string[] = []
  for (const subject of subjects) {
    if (!CONFINED.has(subject.kind) || !('name' in subject)) continue
    const { kind, name, ...place } = subject
    const tellsOfAll = kind === 'feeds' && name === RECENT_GROUPS
    if (name.startsWith(prefix) && !tellsOfAll) continue
    outside.push(name)
    faults.push({
      ...place,
      detail: tellsOfAll ? 'tells of all groups' : `does not begin with ${JSON.stringify(prefix)}`,
    })
  }
  if (faults.length === 0) return
  const said = outside.slice(0, 3).map((name) => JSON.stringify(name))
  const more = outside.length > 3 ? ` and ${outside.length - 3} more` : ''
  const detail =
    `Access is confined to names that begin with ${JSON.stringify(prefix)}; ` +
    `the request names ${said.join(', ')}${more}`
  throw new RecentnError('forbidden', detail, { faults })
}

/** What the names of a list begin with: what was asked for, as far as it is within; null when that is nothing. */
export function narrowed(asked: string | undefined, within: string | null): string | undefined | null {
  if (within === null || asked?.startsWith(within)) return asked
  return within.startsWith(asked ?? '') ? within : null
}
