/**
 * What a request is about: the decoded names that it gives, wherever it gives them, and the beginnings of names that it
 * lists or changes. Every route of the tables says it. A prefix is enforced by it (`reach.ts`), and an `access` function
 * of the user's decides by it.
 */
import type { Fault } from '../errors'
import { RECENT_GROUPS } from '../fields/feeds'

/** The kinds of things that have names. A policy's name is its prefix, an entry's its key. */
export const KINDS = ['groups', 'members', 'policies', 'queues', 'feeds', 'entries', 'consumers'] as const
export type SubjectKind = (typeof KINDS)[number]

/** Names that the request gives, and where it gives them; or the beginning of the names that it is about. */
export type Subject =
  | ({ kind: SubjectKind; name: string } & Pick<Fault, 'pointer' | 'parameter'>)
  | { kind: SubjectKind; prefix: string }

/** All that a request is about, of one kind. */
export interface NamedSubjects {
  /** Names that the request gives in its path, its query or its body: decoded, each once. */
  readonly names: readonly string[]
  /** The request lists, reads or changes what has a name that begins with one of these. `''` is every name. */
  readonly prefixes: readonly string[]
}

/** What a request is about: an `access` function is told. Every kind is there; most are empty. */
export interface RequestSubjects extends Readonly<Record<SubjectKind, NamedSubjects>> {
  /** The `operationId` of the route in the OpenAPI document, such as `appendItem`; `openapi` for the document itself. */
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

/** Names that have one place in the request, those that are left out apart. */
export function named(
  kind: SubjectKind,
  names: readonly (string | null | undefined)[] | undefined,
  place: Pick<Fault, 'pointer' | 'parameter'>,
): Subject[] {
  const subjects: Subject[] = []
  for (const name of names ?? []) if (typeof name === 'string') subjects.push({ kind, name, ...place })
  return subjects
}

/** The name that the path has. */
export function pathName<K extends string>(
  kind: SubjectKind,
  parameter: K,
): (input: { path: Record<K, string> }) => Subject[] {
  return ({ path }) => named(kind, [path[parameter]], { parameter })
}

/** What a list shows: all, where no prefix is asked for. */
export function listed(kind: SubjectKind): (input: { query: { prefix?: string } }) => Subject[] {
  return ({ query }) => [{ kind, prefix: query.prefix ?? '' }]
}

/** The feed that the path has: that of the groups tells the names of all of them. */
export function feedInPath({ path: { feed } }: { path: { feed: string } }): Subject[] {
  const [subject] = named('feeds', [feed], { parameter: 'feed' })
  return feed === RECENT_GROUPS ? [subject as Subject, { kind: 'groups', prefix: '' }] : [subject as Subject]
}
