/** Results of actions: shown for some seconds at the edge of the window, whichever page is open by then. */
import type { ComponentChildren } from 'preact'
import { makeStore } from './store'

interface Toast {
  text: ComponentChildren
  isBad: boolean
}

const SHOWN_MS = 5000
const SHOWN_BAD_MS = 12_000

const toasts = makeStore<readonly Toast[]>([])

export function say(text: ComponentChildren, isBad = false): void {
  const toast = { text, isBad }
  toasts.set([...toasts.get(), toast])
  const hide = () => toasts.set(toasts.get().filter((one) => one !== toast))
  setTimeout(hide, isBad ? SHOWN_BAD_MS : SHOWN_MS)
}

export function Toasts() {
  const shown = toasts.use()
  const of = (isBad: boolean) =>
    shown.filter((toast) => toast.isBad === isBad).map((toast, i) => <p key={i}>{toast.text}</p>)
  return (
    <div class="toasts">
      <div role="status">{of(false)}</div>
      <div role="alert">{of(true)}</div>
    </div>
  )
}
