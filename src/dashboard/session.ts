/** The API key that the user typed: it is kept in this tab, and given to tabs that are opened while this one is there. */
import { useFollowed } from './address'

const STORED = 'recentn.key'
const ASKING = 'key?'

/** False where the app that the dashboard is mounted in decides by itself who may do what, by its cookies for example. */
export const hasKeys = document.documentElement.dataset.keys !== 'none'

let key = hasKeys ? sessionStorage.getItem(STORED) : null
const listeners = new Set<() => void>()

export const session = {
  get key(): string | null {
    return key
  },

  use(text: string | null): void {
    key = text
    if (text === null) sessionStorage.removeItem(STORED)
    else sessionStorage.setItem(STORED, text)
    for (const listener of listeners) listener()
  },

  onChange(listener: () => void): () => void {
    listeners.add(listener)
    return () => listeners.delete(listener)
  },
}

/** Tabs of this server. A new one asks the others for their key; nothing is stored for longer than the tabs are there. */
const tabs = hasKeys ? new BroadcastChannel(`recentn.key ${location.pathname}`) : null
tabs?.addEventListener('message', ({ data }) => {
  if (data === ASKING && key !== null) tabs.postMessage(key)
  else if (data !== ASKING && key === null && isNew) session.use(data)
})
/** Until it has a key: one that its user has forgotten does not come back. */
let isNew = key === null
session.onChange(() => {
  isNew = false
})
if (isNew) tabs?.postMessage(ASKING)

/** The key, for a component that shows it. */
export function useKey(): string | null {
  return useFollowed(() => session.key, session.onChange)
}

/** The part of a key that may be shown: `rk_<id>`. */
export function keyName(text: string): string {
  const [, id] = /^rk_([^_]+)_/.exec(text) ?? []
  return id === undefined ? 'a key' : `rk_${id}`
}
