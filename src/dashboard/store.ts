/** Values of the whole page, such as the key and the toasts, which components follow. */
import { useEffect, useState } from 'preact/hooks'

type OnChange = (listener: () => void) => () => void

/**
 * The value, drawn again whenever the listener is called, and read again when `key` is another one. An effect runs after the
 * page is drawn: a change in between calls no listener, so that the value is read once more.
 */
export function useFollowed<T>(read: () => T, onChange: OnChange, key?: unknown): T {
  const [value, setValue] = useState<T>(read)
  useEffect(() => {
    const follow = () => setValue(() => read())
    const off = onChange(follow)
    follow()
    return off
  }, [key])
  return value
}

export function makeStore<T>(first: T) {
  let value = first
  const listeners = new Set<() => void>()
  const onChange: OnChange = (listener) => {
    listeners.add(listener)
    return () => void listeners.delete(listener)
  }
  return {
    get: () => value,
    set(next: T): void {
      value = next
      for (const listener of listeners) listener()
    },
    onChange,
    use: () => useFollowed(() => value, onChange),
  }
}
