/** An action that a button starts, and its outcome. */
import { useState } from 'preact/hooks'
import type { RecentnError } from '../shared/recentn-error'
import { toError } from './api'
import { Problem } from './parts'

export interface Action {
  isRunning: boolean
  done: string | null
  error: RecentnError | null
  /** Resolves to whether the work succeeded. */
  run(work: () => Promise<string>): Promise<boolean>
}

export function useAction(): Action {
  const [state, setState] = useState<Omit<Action, 'run'>>({ isRunning: false, done: null, error: null })
  const run = async (work: () => Promise<string>) => {
    setState({ isRunning: true, done: null, error: null })
    try {
      setState({ isRunning: false, done: await work(), error: null })
      return true
    } catch (thrown) {
      setState({ isRunning: false, done: null, error: toError(thrown) })
      return false
    }
  }
  return { ...state, run }
}

export function ActionResult({ action }: { action: Action }) {
  return (
    <>
      <p class="done" role="status">
        {action.done}
      </p>
      {action.error !== null && <Problem error={action.error} />}
    </>
  )
}
