/** An action that a button starts, and its outcome. */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { RecentnError } from '../shared/recentn-error'
import { sentenceOf, toError } from './api'
import { AdminButton, type Scope } from './may'
import { Problem } from './parts'
import { say } from './toast'

export interface Action {
  isRunning: boolean
  error: RecentnError | null
  /** Resolves to whether the work succeeded. */
  run(work: () => Promise<string>): Promise<boolean>
}

/** The sentence that the work resolves to is shown as a toast. */
export function useAction(): Action {
  const [state, setState] = useState<Omit<Action, 'run'>>({ isRunning: false, error: null })
  const run = async (work: () => Promise<string>) => {
    setState({ isRunning: true, error: null })
    try {
      say(await work())
      setState({ isRunning: false, error: null })
      return true
    } catch (thrown) {
      setState({ isRunning: false, error: toError(thrown) })
      return false
    }
  }
  return { ...state, run }
}

export function ActionResult({ action: { error } }: { action: Action }) {
  return error === null ? null : <Problem error={error} />
}

interface ActProps {
  /** The text of the button. */
  label: string
  /** The text that a screen reader says in its place. */
  name?: string
  class?: string
  scope?: Scope
  work(): Promise<string>
  onDone?(): void
  /** The dialog that asks first. */
  children(ask: { onYes(): void; onClose(): void }): ComponentChildren
}

/** A button that asks, works, and says what came of it. */
export function Act({ label, name, class: kind, scope, work, onDone, children }: ActProps) {
  const [isAsking, setAsking] = useState(false)
  const [isRunning, setRunning] = useState(false)
  const run = async () => {
    setRunning(true)
    try {
      say(await work())
      onDone?.()
    } catch (thrown) {
      say(sentenceOf(toError(thrown)), true)
    }
    setRunning(false)
  }
  return (
    <>
      <AdminButton scope={scope} class={kind} name={name} isDisabled={isRunning} onClick={() => setAsking(true)}>
        {label}
      </AdminButton>
      {isAsking && children({ onYes: run, onClose: () => setAsking(false) })}
    </>
  )
}
