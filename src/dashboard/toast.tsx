/** Results of actions: shown for some seconds at the edge of the window, whichever page is open by then. */
import { useEffect, useState } from 'preact/hooks'

interface Toast {
  text: string
  isBad: boolean
}

const SHOWN_MS = 5000
const SHOWN_BAD_MS = 12_000

const toasts = new Set<Toast>()
let draw = (_: readonly Toast[]) => {}

export function say(text: string, isBad = false): void {
  const toast = { text, isBad }
  toasts.add(toast)
  draw([...toasts])
  const hide = () => {
    toasts.delete(toast)
    draw([...toasts])
  }
  setTimeout(hide, isBad ? SHOWN_BAD_MS : SHOWN_MS)
}

export function Toasts() {
  const [shown, setShown] = useState<readonly Toast[]>([])
  useEffect(() => {
    draw = setShown
  }, [])
  const of = (isBad: boolean) =>
    shown.filter((toast) => toast.isBad === isBad).map((toast, i) => <p key={i}>{toast.text}</p>)
  return (
    <div class="toasts">
      <div role="status">{of(false)}</div>
      <div role="alert">{of(true)}</div>
    </div>
  )
}
