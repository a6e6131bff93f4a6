/**
 * Work on many messages, in steps of which each is one request. It continues while its page is left, for as long as the tab is
 * open, and the page says how far it is when it is opened again.
 */
import { useEffect, useState } from 'preact/hooks'
import type { RecentnError } from '../shared/recentn-error'
import { toError } from './api'
import { counted, Problem } from './parts'

/** Messages of one step. */
export const STEP = 500

interface Work {
  /** Such as `retried`. */
  did: string
  done: number
  of: number
  isRunning: boolean
  error: RecentnError | null
}

const works = new Map<string, Work>()
const stops = new Map<string, AbortController>()
const listeners = new Set<() => void>()

function set(key: string, work: Work): void {
  works.set(key, work)
  for (const listener of listeners) listener()
}

/** Repeats the step, which resolves to how many messages it did, until `of` are done or none is left. */
export async function startWork(
  key: string,
  did: string,
  of: number,
  step: (limit: number, signal: AbortSignal) => Promise<number>,
): Promise<void> {
  const stop = new AbortController()
  stops.get(key)?.abort()
  stops.set(key, stop)
  let work: Work = { did, done: 0, of, isRunning: true, error: null }
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
  if (stops.get(key) === stop) set(key, { ...work, isRunning: false })
}

function useWork(key: string): Work | null {
  const [, draw] = useState({})
  useEffect(() => {
    const listener = () => draw({})
    listeners.add(listener)
    return () => void listeners.delete(listener)
  }, [])
  return works.get(key) ?? null
}

export function useIsWorking(key: string): boolean {
  return useWork(key)?.isRunning ?? false
}

export function WorkProgress({ of: key }: { of: string }) {
  const work = useWork(key)
  if (work === null) return null
  const { did, done, of, isRunning, error } = work
  return (
    <div class="row">
      {isRunning && <progress max={of} value={done} aria-label={`Messages ${did}`} />}
      <p class="done" role="status">
        {isRunning ? `${done} of ${counted(of, 'message')} ${did} …` : `${counted(done, 'message')} ${did}.`}
      </p>
      {isRunning && (
        <button type="button" onClick={() => stops.get(key)?.abort()}>
          Stop
        </button>
      )}
      {error !== null && <Problem error={error} />}
    </div>
  )
}
