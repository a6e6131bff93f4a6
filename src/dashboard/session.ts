/** The API key that the user typed in: it stays in this tab, and is forgotten with it. */

const STORED = 'recentn.key'

let key = sessionStorage.getItem(STORED)
const listeners = new Set<() => void>()

export const session = {
  get key(): string | null {
    return key
  },

  /** Null forgets it. */
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

/** What may be shown of a key: `rk_<id>`. */
export function keyName(text: string): string {
  const [, id] = /^rk_([^_]+)_/.exec(text) ?? []
  return id === undefined ? 'a key' : `rk_${id}`
}
