/**
 * The subjects of a request: the decoded names in its path, query and body, and the prefixes of names that it lists or
 * changes. Every route of the tables declares it. It keeps a request to the prefix of its key, or to the one that the
 * user's `access` function returned, and that function decides by it.
 */
import { type Fault, RecentnError } from '../shared/errors'

/** The kinds of things that have names. The name of a policy is its prefix, the name of an entry its key. */
export const KINDS = ['groups', 'members', 'policies', 'queues', 'schedules', 'feeds', 'entries', 'consumers'] as const
export type SubjectKind = (typeof KINDS)[number]

/** A name in the request and its place there; or the prefix of the names that the request is about. */
export type Subject =
  | ({ kind: SubjectKind; name: string } & Pick<Fault, 'pointer' | 'parameter'>)
  | { kind: SubjectKind; prefix: string }

/** Everything of one kind that a request is about. */
interface NamedSubjects {
  /** The names in its path, query and body: decoded, each once. */
  readonly names: readonly string[]
  /** The request lists, reads or changes things whose names begin with one of these. `''` is every name. */
  readonly prefixes: readonly string[]
}

/** The subjects of a request, for an `access` function. It has every kind; most are empty. */
export interface RequestSubjects extends Readonly<Record<SubjectKind, NamedSubjects>> {
  /**
   * The `operationId` of the route in the OpenAPI document, such as `appendItem`; `openapi` for the document itself.
   */
  readonly operation: string
  /**
   * Whether the request may read or change something of this kind whose name begins with `prefix`: it names one, or is
   * about a prefix that includes some of them.
   */
  touches(kind: SubjectKind, prefix: string): boolean
}

export function subjectsOf(operation: string, subjects: readonly Subject[]): RequestSubjects {
  const kinds = {} as Record<SubjectKind, NamedSubjects>
  for (const kind of KINDS) {
    const names = new Set<string>()
    const prefixes = new Set<string>()
    for (const subject of subjects) {
      if (subject.kind !== kind) continue
      if ('name' in subject) names.add(subject.name)
      else prefixes.add(subject.prefix)
    }
    kinds[kind] = { names: [...names], prefixes: [...prefixes] }
  }
  return {
    operation,
    ...kinds,
    touches(kind, prefix) {
      const { names, prefixes } = kinds[kind]
      return (
        names.some((name) => name.startsWith(prefix)) ||
        prefixes.some((each) => each.startsWith(prefix) || prefix.startsWith(each))
      )
    },
  }
}

/** The subjects for names that share a place in the request; null and undefined are skipped. */
export function named(
  kind: SubjectKind,
  names: readonly (string | null | undefined)[] | undefined,
  place: Pick<Fault, 'pointer' | 'parameter'>,
): Subject[] {
  const subjects: Subject[] = []
  for (const name of names ?? []) if (typeof name === 'string') subjects.push({ kind, name, ...place })
  return subjects
}

/** The subject of a list: its `prefix`, or all names. */
export function listed(kind: SubjectKind): (input: { query: { prefix?: string } }) => Subject[] {
  return ({ query }) => [{ kind, prefix: query.prefix ?? '' }]
}

/** The kinds that a prefix confines. It does not confine members, consumers and keys of entries. */
const CONFINED: ReadonlySet<SubjectKind> = new Set(['groups', 'policies', 'queues', 'schedules', 'feeds'])

/**
 * Throws `forbidden` with a fault for each name that does not begin with the prefix. Subjects that are prefixes are not
 * checked here: the handlers narrow those (`narrowed`).
 */
export function checkReach(prefix: string, subjects: readonly Subject[]): void {
  const faults: Fault[] = []
  const outside: string[] = []
  for (const subject of subjects) {
    if (!CONFINED.has(subject.kind) || !('name' in subject)) continue
    const { kind: _, name, ...place } = subject
    if (name.startsWith(prefix)) continue
    outside.push(name)
    const fault = { ...place, detail: `does not begin with ${JSON.stringify(prefix)}` }
    faults.push(fault)
  }
  if (faults.length === 0) return
  const said = outside.slice(0, 3).map((name) => JSON.stringify(name))
  const more = outside.length > 3 ? ` and ${outside.length - 3} more` : ''
  const detail =
    `Access is confined to names that begin with ${JSON.stringify(prefix)}; ` +
    `the request names ${said.join(', ')}${more}`
  throw new RecentnError('forbidden', detail, { faults })
}

/** The prefix of a list: the one that was asked for, narrowed to `within`; null if no name fits both. */
export function narrowed(asked: string | undefined, within: string | null): string | undefined | null {
  if (within === null || asked?.startsWith(within)) return asked
  return within.startsWith(asked ?? '') ? within : null
}
