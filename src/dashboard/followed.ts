/** Values that change outside of the components: the address, the key. */
import { useEffect, useState } from 'preact/hooks'

/**
 * The value, drawn again whenever the listener is called. An effect runs after the page is drawn: a change in between
 * calls no listener, so that the value is read once more.
 */
export function useFollowed<T extends string | null>(read: () => T, onChange: (listener: () => void) => () => void): T {
  const [value, setValue] = useState<T>(read)
  useEffect(() => {
    const follow = () => setValue(read())
    const off = onChange(follow)
    follow()
    return off
    // Both stay the same for as long as the component is there.
  }, [])
  return value
}
