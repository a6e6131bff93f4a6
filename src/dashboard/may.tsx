/** What the key may do, requested once for each key. Buttons for anything else are disabled. */

import { type ComponentChildren, createContext } from 'preact'
import { useContext } from 'preact/hooks'
import * as operations from '../client/operations'
import type { Answers } from '../client/schemas'
import { ask, isAccessError } from './api'
import { usePolled } from './polled'
import { hasKeys } from './session'

type Access = Answers['Access']

interface KnownAccess {
  access: Access | null
  /** The request failed: every button is enabled, and the server decides. */
  isUnknown: boolean
}

const Allowed = createContext<KnownAccess>({ access: null, isUnknown: false })

export function WithAccess({ children }: { children: ComponentChildren }) {
  const { data, error } = usePolled((signal) => ask(operations.getAccess, {}, signal), 'access', null)
  const known = { access: data, isUnknown: error !== null && !isAccessError(error) }
  return <Allowed.Provider value={known}>{children}</Allowed.Provider>
}

/** Null until it is known. */
export function useAccess(): Access | null {
  return useContext(Allowed).access
}

function useMay(scope: Access['scopes'][number]): boolean | null {
  const { access, isUnknown } = useContext(Allowed)
  if (isUnknown) return true
  return access === null ? null : access.scopes.includes(scope)
}

interface ButtonProps {
  class?: string
  isDisabled?: boolean
  isExpanded?: boolean
  onClick(): void
  children: ComponentChildren
}

/** A button that changes something. Each group of such buttons has a `ReadOnlyNote`. */
export function AdminButton({ isDisabled = false, isExpanded, children, ...rest }: ButtonProps) {
  const may = useMay('admin')
  return (
    <button
      type="button"
      {...rest}
      disabled={isDisabled || may !== true}
      aria-expanded={isExpanded}
      title={may === false ? READ_ONLY : undefined}
    >
      {children}
    </button>
  )
}

const READ_ONLY = `${hasKeys ? 'This key' : 'You'} may only read: changes need the scope admin.`

/** Says why the buttons are disabled, if they are. */
export function ReadOnlyNote() {
  return useMay('admin') === false ? <p class="muted small note">{READ_ONLY}</p> : null
}
