/** The address of a page: the hash of the URL, such as `#/groups/article%3A42`. Names are percent-encoded. */
import { useMemo } from 'preact/hooks'
import { useFollowed } from './store'

/**
 * The parts of the dashboard that have lists: the first part of their addresses, their titles, the word for one thing, and the
 * field of its name.
 */
export const PARTS = {
  queues: { title: 'Queues', one: 'queue', name: 'queue' },
  schedules: { title: 'Schedules', one: 'schedule', name: 'schedule' },
  groups: { title: 'Groups', one: 'group', name: 'group' },
  policies: { title: 'Policies', one: 'policy', name: 'prefix' },
  feeds: { title: 'Feeds', one: 'feed', name: 'feed' },
} as const

export type Part = keyof typeof PARTS

const QUERY = ['prefix', 'contains', 'state', 'sort', 'error', 'from', 'after', 'before'] as const

/** Null is left out. `contains` is the text that the names of a list contain; `error` and `from` are those of dead messages. */
export type PageQuery = Readonly<Record<(typeof QUERY)[number], string | null>>

export interface PageAddress {
  /** The parts of the path, decoded. */
  parts: readonly string[]
  query: PageQuery
}

/** The link to a page. `query` values that are null or empty are left out. */
export function link(parts: readonly string[], query: Partial<PageQuery> = {}): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value) search.set(name, value)
  const text = search.toString()
  return `#/${parts.map(encodeURIComponent).join('/')}${text === '' ? '' : `?${text}`}`
}

function addressOf(hash: string): PageAddress {
  const [, path = '', search] = /^#?([^?]*)\??(.*)/.exec(hash) ?? []
  const parts = path.split('/').filter((part) => part !== '')
  const query = new URLSearchParams(search)
  return {
    parts: parts.map(decoded),
    query: Object.fromEntries(QUERY.map((name) => [name, query.get(name)])) as PageQuery,
  }
}

/** A hash that a user has typed may not be decodable. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

export function usePageAddress(): PageAddress {
  const hash = useFollowed(() => location.hash, onHashChange)
  return useMemo(() => addressOf(hash), [hash])
}

function onHashChange(listener: () => void): () => void {
  addEventListener('hashchange', listener)
  return () => removeEventListener('hashchange', listener)
}

/** Opens a page, as a link to it would. */
export function goTo(parts: readonly string[], query?: Partial<PageQuery>): void {
  location.hash = link(parts, query)
}

/** Changes the query without a step in the browser's history, for a search that is being typed. */
export function replaceQuery(parts: readonly string[], query: PageQuery): void {
  history.replaceState(history.state, '', link(parts, query))
  dispatchEvent(new HashChangeEvent('hashchange'))
}
