/** The routes on the settings of one group, policy, queue or schedule: reading, putting, changing and dropping them. */
import type { AnswerOf } from '../../fields/answers'
import { type ErrorCode, RecentnError } from '../../shared/errors'
import type { IfTag, Tagged } from '../../shared/types'
import type { Store } from '../../store/types'
import { AlreadyExists } from '../output/problem'
import {
  answering,
  type BareRoute,
  type BodyReader,
  found,
  type Operation,
  type Route,
  removing,
  route,
} from '../route'
import type { Subject } from '../subjects'

/** The calls of the store. */
interface CallsOnSettings<S, Status, Put, Changes> {
  get(name: string): Promise<Status | null>
  put(name: string, settings: Put, options: IfTag): Promise<S & { created: boolean }>
  ensure(name: string, settings: Put): Promise<S & { created: boolean }>
  update(name: string, changes: Changes, options: IfTag): Promise<S>
  drop(name: string): Promise<boolean>
}

type Texts = Pick<Operation, 'summary' | 'description' | 'refusals'>

interface RoutedSettings<S extends Tagged, Status extends S, Put, Changes> {
  noun: 'Group' | 'Policy' | 'Queue' | 'Schedule'
  path: `/v1/${string}`
  /** The subjects beside the name in the path. */
  about?(): readonly Subject[]
  calls(store: Store): CallsOnSettings<S, Status, Put, Changes>
  shape: AnswerOf<S>
  /** The answer to GET. */
  status: AnswerOf<Status>
  /** Whether a caller that is confined to `within` may know of them, if their name does not say so. */
  isSeen?(settings: S, within: string): boolean
  get: Texts
  /** Examples: what was replaced, and what was created. */
  put: Texts &
    Pick<Route, 'creates' | 'ensureScope'> & {
      about?(): readonly Subject[]
      body: BodyReader<Put>
      examples?: readonly [object, object]
    }
  update: Texts & { body: BodyReader<Changes>; example?: object }
  drop: Texts
}

const nameIn = (path: unknown) => Object.values(path as Record<string, string>)[0] as string

export function settingsRoutes<S extends Tagged, Status extends S, Put, Changes>(
  given: RoutedSettings<S, Status, Put, Changes>,
): Record<'get' | 'put' | 'update' | 'drop', BareRoute> {
  const { noun, path: at, about = () => [], calls, shape, isSeen } = given
  const { example, ...updating } = given.update
  const what = noun.toLowerCase()
  const absent = `${what}_not_found` as ErrorCode
  const seen = async (store: Store, name: string, within: string | null) => {
    const there = await calls(store).get(name)
    return there === null || within === null || isSeen?.(there, within) !== false ? there : null
  }
  const requireSeen = async (store: Store, name: string, within: string | null) => {
    if (isSeen && within !== null) found(await seen(store, name, within), absent)
  }
  const common = { about, scope: 'admin', absent } as const
  return {
    get: answering(`GET ${at}`, {
      ...{ ...common, ...given.get, scope: 'read', id: `get${noun}`, hasSettings: true },
      gives: [given.status, `The ${what}.`],
      call: (store, { path, within }) => seen(store, nameIn(path), within),
    }),
    put: putting(given),
    update: answering(`PATCH ${at}`, {
      ...{ ...common, ...updating, id: `update${noun}`, hasSettings: true },
      gives: [shape, `The ${what} as it is now.`, example],
      async call(store, { path, body, within, ifTag }) {
        await requireSeen(store, nameIn(path), within)
        return calls(store).update(nameIn(path), body as Changes, { ifTag })
      },
    }),
    drop: removing(`DELETE ${at}`, {
      ...{ ...common, ...given.drop, id: `drop${noun}`, gives: `The ${what} is dropped.` },
      async call(store, { path, within }) {
        await requireSeen(store, nameIn(path), within)
        const dropping = calls(store).drop(nameIn(path))
        // The error names the queue that uses this one, which may be outside of the caller's prefix.
        return dropping.catch((error: unknown) => {
          const isInUse = error instanceof RecentnError && error.code === 'queue_in_use'
          throw isInUse && within !== null ? new RecentnError('queue_in_use') : error
        })
      },
    }),
  }
}

/** Puts settings, or creates what is not there. Throws `already_exists` if it only had to be created. */
function putting<S extends Tagged, Status extends S, Put, Changes>({
  noun,
  path: at,
  about,
  calls,
  shape,
  isSeen,
  put: { examples, ...texts },
}: RoutedSettings<S, Status, Put, Changes>): BareRoute {
  return route(`PUT ${at}`, {
    about,
    ...texts,
    scope: 'admin',
    id: `put${noun}`,
    hasSettings: true,
    outcomes: {
      200: { description: 'The settings were replaced.', shape, example: examples?.[0] },
      201: { description: `The ${noun.toLowerCase()} was created.`, shape, example: examples?.[1], located: 'always' },
    },
    async handle(store, { path, body, within, ifTag, isEnsuring }) {
      const name = nameIn(path)
      const asked = body as Put
      const settings = await (isEnsuring ? calls(store).ensure(name, asked) : calls(store).put(name, asked, { ifTag }))
      const text = within === null || isSeen?.(settings, within) !== false ? shape.json(settings, within) : null
      if (isEnsuring && !settings.created) throw new AlreadyExists(text)
      const answer = { status: 200, body: text ?? '', tag: settings.tag }
      const location = at.replace(/\{\w+\}/, () => encodeURIComponent(name))
      return settings.created ? { ...answer, status: 201, location } : answer
    },
  })
}
