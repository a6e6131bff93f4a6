/** The rights of the key, requested once for each key. Buttons for anything else are disabled. */

import { type ComponentChildren, createContext } from 'preact'
import { useContext } from 'preact/hooks'
import * as operations from '../client/operations'
import type { Answers } from '../client/schemas'
import { ask, isAccessError } from './api'
import { type Polled, usePolled } from './polled'
import { hasKeys } from './session'

type Access = Answers['Access']

const Allowed = createContext<Pick<Polled<Access>, 'data' | 'error'>>({ data: null, error: null })

export function WithAccess({ children }: { children: ComponentChildren }) {
  const access = usePolled((signal) => ask(operations.getAccess, {}, signal), 'access', null)
  return <Allowed.Provider value={access}>{children}</Allowed.Provider>
}

/** Null until it is known. */
export function useAccess(): Access | null {
  return useContext(Allowed).data
}

export type Scope = Access['scopes'][number]

/** Null until it is known. The scope `admin` includes all others. */
export function useMay(scope: Scope): boolean | null {
  const { data: access, error } = useContext(Allowed)
  // Every button is enabled, and the server decides.
  if (error !== null && !isAccessError(error)) return true
  return access && (access.scopes.includes(scope) || access.scopes.includes('admin'))
}

interface ButtonProps {
  class?: string | undefined
  /** For a screen reader, where the text alone does not say what the button acts on. */
  name?: string | undefined
  scope?: Scope | undefined
  isDisabled?: boolean
  onClick(): void
  children: ComponentChildren
}

/** A button that changes something. Each group of such buttons has a `ReadOnlyNote`. */
export function AdminButton({ scope = 'admin', name, class: kind, isDisabled, onClick, children }: ButtonProps) {
  const may = useMay(scope)
  return (
    <button
      type="button"
      class={kind}
      onClick={onClick}
      disabled={isDisabled === true || may !== true}
      aria-label={name}
      title={may === false ? readOnly(scope) : undefined}
    >
      {children}
    </button>
  )
}

const readOnly = (scope: Scope) => `${hasKeys ? 'This key' : 'You'} may only read: changes need the scope ${scope}.`

/** The buttons of a page, beside its title. */
export function Actions({ scope, children }: { scope?: Scope | undefined; children: ComponentChildren }) {
  return (
    <div class="actions">
      <div class="buttons">{children}</div>
      <ReadOnlyNote scope={scope} />
    </div>
  )
}

/** Says why the buttons are disabled, if they are. */
export function ReadOnlyNote({ scope = 'admin' }: { scope?: Scope | undefined }) {
  return useMay(scope) === false ? <p class="muted small note">{readOnly(scope)}</p> : null
}
