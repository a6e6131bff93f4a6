/** What the key may do, asked once for each key: what it may not is not offered. */
import { type ComponentChildren, createContext } from 'preact'
import { useContext } from 'preact/hooks'
import { api } from './api'
import { usePolled } from './polled'
import type { Access, Scope } from './types'

interface Known {
  access: Access | null
  /** The server does not tell: whatever is pressed, it decides. */
  isUntold: boolean
}

const Allowed = createContext<Known>({ access: null, isUntold: false })

export function WithAccess({ children }: { children: ComponentChildren }) {
  const { data, error } = usePolled((signal) => api.access(signal), 'access', null)
  const known = { access: data, isUntold: error !== null && !error.isAccess }
  return <Allowed.Provider value={known}>{children}</Allowed.Provider>
}

/** Null until it is known. */
export function useAccess(): Access | null {
  return useContext(Allowed).access
}

function useMay(scope: Scope): boolean | null {
  const { access, isUntold } = useContext(Allowed)
  if (isUntold) return true
  return access === null ? null : access.scopes.includes(scope)
}

interface ButtonProps {
  class?: string
  isDisabled?: boolean
  isExpanded?: boolean
  onClick(): void
  children: ComponentChildren
}

/** For what changes something. Beside such buttons stands a `LookOnly`. */
export function AdminButton({ isDisabled = false, isExpanded, children, ...rest }: ButtonProps) {
  const may = useMay('admin')
  return (
    <button
      type="button"
      {...rest}
      disabled={isDisabled || may !== true}
      aria-expanded={isExpanded}
      title={may === false ? LOOK_ONLY : undefined}
    >
      {children}
    </button>
  )
}

const LOOK_ONLY = 'This key may only look: changes need the scope admin.'

/** Why the buttons do nothing, where they do nothing. */
export function LookOnly() {
  return useMay('admin') === false ? <p class="muted small note">{LOOK_ONLY}</p> : null
}
