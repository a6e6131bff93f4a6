/**
 * Data that is requested again and again while the page is visible. A hidden tab requests nothing. The last data stays
 * visible while the next answer is awaited, and if it does not come.
 */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { pauseMs } from '../shared/backoff'
import type { RecentnError } from '../shared/recentn-error'
import { answers, isAccessError, sentenceOf, serverNow, toError } from './api'
import { makeStore } from './store'
import { Time } from './time'

/** The usual pause, and that of what is more work for the server. */
export const EVERY_MS = 3000
export const SELDOM_MS = 5000
const FIRST_PAUSE_MS = 1000
const MAX_PAUSE_MS = 30_000

export interface Polled<T> {
  /** The last good answer. */
  data: T | null
  /** Why the last request failed; null if it did not. */
  error: RecentnError | null
  /** Requests the data at once. Resolves when it is there, or has failed. */
  refresh(): Promise<void> | undefined
}

const MAX_ANSWERS = 20

function remember(address: string, data: unknown): void {
  answers.delete(address)
  answers.set(address, data)
  const [oldest] = answers.keys()
  if (answers.size > MAX_ANSWERS) answers.delete(oldest)
}

/** Asks for what a later call with the address is to show first. If it fails, that call asks again. */
export async function askFirst({ address, load }: Asked<unknown>, signal: AbortSignal): Promise<void> {
  if (answers.has(address)) return
  const data = await load(signal).catch(() => undefined)
  if (data !== undefined) remember(address, data)
}

export interface Asked<T> {
  address: string
  load(signal: AbortSignal): Promise<T>
}

/**
 * With an `address` the last answer for it is shown first.
 *
 * Calls `load`, if there is one, when `key` changes, and `ms` after each answer, or only once if `ms` is null.
 */
export function usePolled<T>(
  load: ((signal: AbortSignal) => Promise<T>) | undefined,
  key: string,
  ms: number | null,
  address?: string,
): Polled<T> {
  type Shown = Pick<Polled<T>, 'data' | 'error'> & { address?: string | undefined }
  const [state, setState] = useState<Shown>({ data: null, error: null })
  const current = useRef(load)
  current.current = load
  const running = useRef<PageLoop>(null)
  useEffect(() => {
    if (current.current === undefined) return
    let isShown = address !== undefined && answers.has(address)
    const loop = new PageLoop(
      async (signal) => {
        const data = (await current.current?.(signal)) as T
        if (address !== undefined) remember(address, data)
        isShown = true
        answeredAt = new Date(serverNow())
        noteFailure(loop, null)
        setState({ data, error: null, address })
      },
      (error) => {
        const isOver = isAccessError(error) || error.status === 404
        if (isShown && !isOver) noteFailure(loop, error)
        setState(({ data }) => ({ data: isOver ? null : data, error, address }))
      },
      ms,
    )
    running.current = loop
    return () => {
      loop.end()
      // An act that ends later refreshes nothing.
      running.current = null
      noteFailure(loop, null)
    }
    // The key represents what `load` closes over.
  }, [key, ms])
  const last = address === state.address ? undefined : answers.get(address)
  const refresh = useCallback(() => running.current?.now(), [])
  return { ...state, ...(last !== undefined && { data: last as T }), refresh }
}

/**
 * Work that is done while the page is visible, and again `ms` after it has ended, or only until it has succeeded if `ms` is
 * null. After failures the pauses grow.
 */
export class PageLoop {
  #timer: ReturnType<typeof setTimeout> | undefined
  #running: AbortController | undefined
  #failures = 0
  #isDone = false

  constructor(
    /** Its signal is aborted when the page is hidden, and when the work has ended. */
    private readonly work: (signal: AbortSignal) => Promise<void>,
    private readonly failed: (error: RecentnError) => void,
    private readonly ms: number | null,
  ) {
    document.addEventListener('visibilitychange', this.#onVisibility)
    this.now()
  }

  /** Ends what runs, and begins again. */
  now(): Promise<void> | undefined {
    this.#stop()
    this.#isDone = false
    return document.hidden ? undefined : this.#run()
  }

  /** Work that takes its time has begun well: the next failure is the first. */
  works(): void {
    this.#failures = 0
  }

  end(): void {
    document.removeEventListener('visibilitychange', this.#onVisibility)
    this.#stop()
  }

  #stop(): void {
    clearTimeout(this.#timer)
    this.#running?.abort()
  }

  readonly #onVisibility = (): void => {
    if (document.hidden) this.#stop()
    else if (!this.#isDone) this.now()
  }

  async #run(): Promise<void> {
    const running = new AbortController()
    this.#running = running
    try {
      await this.work(running.signal)
      this.works()
    } catch (thrown) {
      if (running.signal.aborted) return
      this.#failures++
      this.failed(toError(thrown))
    }
    if (running.signal.aborted) return
    running.abort()
    this.#isDone = this.ms === null && this.#failures === 0
    const pause = this.#failures > 0 ? pauseMs(this.#failures, FIRST_PAUSE_MS, MAX_PAUSE_MS) : this.ms
    if (pause !== null) this.#timer = setTimeout(() => this.#run(), pause)
  }
}

const failing = makeStore<ReadonlyMap<PageLoop, RecentnError>>(new Map())
let answeredAt = new Date()

/** Null if it does not fail any more, or has ended. */
function noteFailure(loop: PageLoop, error: RecentnError | null): void {
  if (error === null && !failing.get().has(loop)) return
  const others = [...failing.get()].filter(([one]) => one !== loop)
  failing.set(new Map(error === null ? others : [...others, [loop, error]]))
}

/** One bar while requests fail: why, how old the data is that stays on the page, and a button for another try. */
export function OutageBar() {
  const loops = failing.use()
  const [error] = loops.values()
  if (error === undefined) return null
  const again = () => {
    for (const loop of loops.keys()) loop.now()
  }
  return (
    <p class="outage">
      <span role="alert">{sentenceOf(error)}</span>
      <span>
        Shown is what was there <Time at={answeredAt} />.
      </span>
      <button type="button" onClick={again}>
        Try again
      </button>
    </p>
  )
}
