/**
 * Work on many messages, in steps of which each is one request. It continues while its page is left, for as long as the tab is
 * open, and the page says how far it is when it is opened again.
 */
import type { RecentnError } from '../shared/recentn-error'
import { toError } from './api'
import { counted, Problem, sentence } from './parts'
import { makeStore } from './store'

/** Messages of one step. */
export const STEP = 500

interface Work {
  /** Such as `retried`. */
  did: string
  done: number
  of: number
  isRunning: boolean
  error: RecentnError | null
  stop: AbortController
}

/** By their keys. */
const works = makeStore<ReadonlyMap<string, Work>>(new Map())

function set(key: string, work: Work): void {
  works.set(new Map(works.get()).set(key, work))
}

/** Repeats the step, which resolves to how many messages it did, until `of` are done or none is left. */
export async function startWork(
  key: string,
  did: string,
  of: number,
  step: (limit: number, signal: AbortSignal) => Promise<number>,
): Promise<void> {
  const stop = new AbortController()
  works.get().get(key)?.stop.abort()
  let work: Work = { did, done: 0, of, isRunning: true, error: null, stop }
  set(key, work)
  try {
    for (let last = 1; last > 0 && work.done < of && !stop.signal.aborted; ) {
      last = await step(Math.min(STEP, of - work.done), stop.signal)
      work = { ...work, done: work.done + last }
      set(key, work)
    }
  } catch (thrown) {
    if (!stop.signal.aborted) work = { ...work, error: toError(thrown) }
  }
  // Unless another one has begun.
  if (works.get().get(key)?.stop === stop) set(key, { ...work, isRunning: false })
}

export function useIsWorking(key: string): boolean {
  return works.use().get(key)?.isRunning ?? false
}

export function WorkProgress({ of: key }: { of: string }) {
  const work = works.use().get(key)
  if (work === undefined) return null
  const { did, done, of, isRunning, error, stop } = work
  return (
    <div class="row">
      {isRunning && <progress max={of} value={done} aria-label={`Messages ${did}`} />}
      <p class="done" role="status">
        {isRunning
          ? sentence`${done} of ${counted(of, 'message')} ${did} …`
          : sentence`${counted(done, 'message')} ${did}.`}
      </p>
      {isRunning && (
        <button type="button" onClick={() => stop.abort()}>
          Stop
        </button>
      )}
      {error !== null && <Problem error={error} />}
    </div>
  )
}
