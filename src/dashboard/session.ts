/** The API key that the user typed: it is kept in this tab, and given to tabs that are opened while this one is there. */
import { makeStore } from './store'

const STORED = 'recentn.key'
const ASKING = 'key?'

/** False where the app that the dashboard is mounted in decides by itself who may do what, by its cookies for example. */
export const hasKeys = document.documentElement.dataset.keys !== 'none'

const key = makeStore(hasKeys ? sessionStorage.getItem(STORED) : null)
/** Until it has a key: one that its user has forgotten does not come back. */
let isNew = key.get() === null

export const session = {
  get key(): string | null {
    return key.get()
  },

  use(text: string | null): void {
    isNew = false
    if (text === null) sessionStorage.removeItem(STORED)
    else sessionStorage.setItem(STORED, text)
    key.set(text)
  },

  onChange: key.onChange,
}

/** Tabs of this server. A new one asks the others for their key; nothing is stored for longer than the tabs are there. */
const tabs = hasKeys ? new BroadcastChannel(`recentn.key ${location.pathname}`) : null
tabs?.addEventListener('message', ({ data }) => {
  if (data === ASKING && session.key !== null) tabs.postMessage(session.key)
  else if (data !== ASKING && isNew) session.use(data)
})
if (isNew) tabs?.postMessage(ASKING)

/** The key, for a component that shows it. */
export const useKey = key.use

/** The part of a key that may be shown: `rk_<id>`. */
export const keyName = (text: string) => /^rk_[^_]+(?=_)/.exec(text)?.[0] ?? 'a key'
