/** The rights of the key, requested once for each key. Buttons for anything else are disabled. */

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

export type Scope = Access['scopes'][number]

/** Null until it is known. The scope `admin` includes all others. */
export function useMay(scope: Scope): boolean | null {
  const { access, isUnknown } = useContext(Allowed)
  if (isUnknown) return true
  return access === null ? null : access.scopes.includes(scope) || access.scopes.includes('admin')
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
export function AdminButton({
  scope = 'admin',
  name,
  class: kind,
  isDisabled = false,
  onClick,
  children,
}: ButtonProps) {
  const may = useMay(scope)
  return (
    <button
      type="button"
      class={kind}
      onClick={onClick}
      disabled={isDisabled || may !== true}
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
