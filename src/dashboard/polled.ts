/**
 * Data that is requested again and again while the page is visible. A hidden tab requests nothing. The last data stays
 * visible while the next answer is awaited, and if it does not come.
 */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import type { RecentnError } from '../shared/recentn-error'
import { answers, isAccessError, toError } from './api'
import { noteAnswer, noteEnd, noteFailure } from './outage'
import { session } from './session'

const MAX_PAUSE_MS = 30_000

export interface Polled<T> {
  /** The last good answer. */
  data: T | null
  /** Why the last request failed; null if it did not. */
  error: RecentnError | null
  /** Requests the data at once. */
  refresh(): void
}

interface Shown<T> extends Pick<Polled<T>, 'data' | 'error'> {
  /** That the data is for. */
  address?: string | undefined
}

const MAX_ANSWERS = 20

function remember(address: string, data: unknown): void {
  answers.delete(address)
  answers.set(address, data)
  const oldest = answers.size > MAX_ANSWERS ? answers.keys().next().value : undefined
  if (oldest !== undefined) answers.delete(oldest)
}

/** Asks for what a later call with the address is to show first. If it fails, that call asks again. */
export async function askFirst(asked: Asked<unknown>, signal: AbortSignal): Promise<void> {
  if (!answers.has(asked.address)) {
    await asked.load(signal).then(
      (data) => remember(asked.address, data),
      () => {},
    )
  }
}

export interface Asked<T> {
  address: string
  load(signal: AbortSignal): Promise<T>
}

/**
 * With an `address` the last answer for it is shown first.
 *
 * Calls `load`, if there is one, when `key` or the API key changes, and `ms` after each answer, or only once if `ms` is null. After failures
 * the pauses grow up to half a minute.
 */
export function usePolled<T>(
  load: ((signal: AbortSignal) => Promise<T>) | undefined,
  key: string,
  ms: number | null,
  address?: string,
): Polled<T> {
  const [state, setState] = useState<Shown<T>>({ data: null, error: null })
  const current = useRef(load)
  current.current = load
  const wake = useRef(() => {})
  useEffect(() => {
    if (current.current === undefined) return
    let isShown = address !== undefined && answers.has(address)
    const loop = new PollLoop(
      async (signal) => {
        const data = (await current.current?.(signal)) as T
        if (address !== undefined) remember(address, data)
        isShown = true
        noteAnswer(loop)
        setState({ data, error: null, address })
      },
      (error) => {
        const isOver = isAccessError(error) || error.status === 404
        if (isShown && !isOver) noteFailure(loop, { error, again: () => loop.now() })
        setState(({ data }) => ({ data: isOver ? null : data, error, address }))
      },
      ms,
    )
    wake.current = () => loop.now()
    const off = session.onChange(() => {
      setState({ data: null, error: null })
      loop.now()
    })
    return () => {
      off()
      loop.end()
      noteEnd(loop)
    }
    // The key represents what `load` closes over.
  }, [key, ms])
  const last = address === state.address ? undefined : answers.get(address)
  return { ...state, ...(last !== undefined && { data: last as T }), refresh: useCallback(() => wake.current(), []) }
}

class PollLoop {
  #timer: ReturnType<typeof setTimeout> | undefined
  #running: AbortController | null = null
  #failures = 0

  constructor(
    private readonly work: (signal: AbortSignal) => Promise<void>,
    private readonly failed: (error: RecentnError) => void,
    private readonly ms: number | null,
  ) {
    document.addEventListener('visibilitychange', this.#onVisibility)
    if (!document.hidden) this.now()
  }

  now(): void {
    clearTimeout(this.#timer)
    this.#running?.abort()
    this.#run()
  }

  end(): void {
    document.removeEventListener('visibilitychange', this.#onVisibility)
    clearTimeout(this.#timer)
    this.#running?.abort()
  }

  readonly #onVisibility = (): void => {
    if (document.hidden) clearTimeout(this.#timer)
    else if (this.ms !== null || this.#running === null) this.now()
  }

  async #run(): Promise<void> {
    const running = new AbortController()
    this.#running = running
    try {
      await this.work(running.signal)
      this.#failures = 0
    } catch (thrown) {
      if (running.signal.aborted) return
      this.#failures++
      this.failed(toError(thrown))
    }
    if (running.signal.aborted || document.hidden) return
    const pause = this.#failures > 0 ? Math.min(1000 * 2 ** this.#failures, MAX_PAUSE_MS) : this.ms
    if (pause !== null) this.#timer = setTimeout(() => this.#run(), pause)
  }
}
