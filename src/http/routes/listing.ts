/** The routes that list groups, policies, queues, schedules and feeds, each by the beginning of their names. */
import type { AnswerOf } from '../../fields/answers'
import type { Store } from '../../store/types'
import { containsParameter, type Parameters, pageParameters, prefixParameter, type Values } from '../input/parameters'
import { answering, type BareRoute, type Operation } from '../route'
import { listed, narrowed, type Subject } from '../subjects'

interface Listing<P, Q extends Parameters> extends Pick<Operation, 'id' | 'summary' | 'description'> {
  /** Examples of the two parameters. */
  prefix: string
  after: string
  /** A page. */
  shape: AnswerOf<P>
  /** Parameters of this list alone. */
  also?: Q
  /** The subjects that the query names, or a page shows, beside the names that are listed. */
  alsoAbout?: (input: { query: Values<Q> }) => readonly Subject[]
  /** The other members of an empty page. */
  nothing?: object
  page(store: Store, query: PageQuery & Values<Q>, within: string | null): Promise<P>
}

interface PageQuery {
  prefix: string | undefined
  contains?: string | undefined
  after: string | undefined
  limit: number
}

/** `GET /v1/<kind>`. The page is empty if no name begins with both the prefix in the query and that of the caller. */
export function listing<P, Q extends Parameters = Record<never, never>>(
  kind: 'groups' | 'policies' | 'queues' | 'schedules' | 'feeds',
  { prefix, after, shape, also, alsoAbout = () => [], nothing, page, ...operation }: Listing<P, Q>,
): BareRoute {
  const about = listed(kind)
  const names = kind === 'policies' ? 'prefixes' : 'names'
  return answering(`GET /v1/${kind}`, {
    ...operation,
    scope: 'read',
    about: (input) => [...about(input), ...alsoAbout(input as never)],
    queryParameters: {
      prefix: prefixParameter(`Return only ${kind} whose ${names} begin with this.`, prefix),
      contains: containsParameter(`Return only ${kind} whose ${names} have this in them, in either case.`, prefix),
      ...pageParameters(after),
      ...also,
    },
    gives: [shape, `A page of ${kind}.`],
    async call(store, { query, within }) {
      const prefix = narrowed(query.prefix, within)
      if (prefix === null) return { [kind]: [], nextAfter: null, ...nothing } as P
      return page(store, { ...(query as PageQuery & Values<Q>), prefix }, within)
    },
  })
}
