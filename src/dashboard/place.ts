/** Where in the dashboard one is: the hash of the address, such as `#/groups/article%3A42`. Names are percent-encoded. */
import { useEffect, useState } from 'preact/hooks'

export interface Place {
  /** The parts of the path, decoded. */
  parts: readonly string[]
  query: URLSearchParams
}

/** The link to a place. `query` values that are null or empty are left out. */
export function link(parts: readonly string[], query: Record<string, string | null> = {}): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value) search.set(name, value)
  const text = search.toString()
  return `#/${parts.map(encodeURIComponent).join('/')}${text === '' ? '' : `?${text}`}`
}

export function placeOf(hash: string): Place {
  const cut = hash.indexOf('?')
  const path = cut === -1 ? hash : hash.slice(0, cut)
  const parts = path.replace(/^#?\/?/, '').split('/')
  return {
    parts: parts.filter((part) => part !== '').map(decoded),
    query: new URLSearchParams(cut === -1 ? '' : hash.slice(cut + 1)),
  }
}

/** Someone's hand may have written it. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

export function usePlace(): Place {
  const [place, setPlace] = useState(() => placeOf(location.hash))
  useEffect(() => {
    const move = () => setPlace(placeOf(location.hash))
    addEventListener('hashchange', move)
    return () => removeEventListener('hashchange', move)
  }, [])
  return place
}

/** As a link to there would. */
export function goTo(parts: readonly string[]): void {
  location.hash = link(parts)
}

/** Another query of the same place, as of a search that is being typed: no step of the browser's history. */
export function replaceQuery(parts: readonly string[], query: Record<string, string | null>): void {
  history.replaceState(null, '', link(parts, query))
  dispatchEvent(new HashChangeEvent('hashchange'))
}
