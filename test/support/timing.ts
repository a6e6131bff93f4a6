/** Shared by tests of waiting: real time that passes, how much of it a call took, and moments to wait for. */
import { readFileSync } from 'node:fs'
import { real } from '../../src/shared/platform'

/**
 * An answer at once comes within this, also on a machine that has too much to do; a call that waits for the end of its time,
 * for a lock or for ever, takes longer.
 */
export const SOON_MS = 5_000

/** Real, also while a test has other timers. */
const [later, every] = [setTimeout, setInterval]

export const pause = (ms: number): Promise<void> => new Promise((resolve) => later(resolve, ms))

/** The answer of a call, and after how many real milliseconds. */
export async function timed<T>(call: Promise<T>): Promise<{ answer: T; ms: number }> {
  const start = performance.now()
  const answer = await call
  return { answer, ms: performance.now() - start }
}

/** Past this a bound is judged on the busiest machine. */
const PATIENCE_MS = 60_000
/** The share of its time that this thread waits for a processor, from which on the machine is too busy to judge. */
const BUSY = 0.02

export interface Stopwatch {
  readonly ms: number
  /**
   * Whether more than this has passed. A machine that has no processor for its processes makes everybody late: while it is
   * like that, only a minute is too long.
   */
  isBeyond(ms: number): boolean
}

export function stopwatch(): Stopwatch {
  const [since, starved] = [performance.now(), starvedMs()]
  const passed = () => performance.now() - since
  return {
    get ms() {
      return passed()
    },
    isBeyond: (ms) => passed() > PATIENCE_MS || (passed() > ms && starvedMs() - starved < BUSY * passed()),
  }
}

const [begunAt, starvedBefore] = [performance.now(), starvedMs()]

/** A bound for what is measured without a stopwatch: a minute where the machine has been busy since this file was loaded. */
export function soonMs(ms = SOON_MS): number {
  const isBusy = starvedMs() - starvedBefore >= BUSY * (performance.now() - begunAt)
  return isBusy ? PATIENCE_MS : ms
}

/** Milliseconds that this thread was ready to run and did not, so far; 0 where the system does not say. */
function starvedMs(): number {
  try {
    return Number(readFileSync('/proc/self/schedstat', 'utf8').split(' ')[1]) / 1e6
  } catch {
    return 0
  }
}

/** Asks until `ask` answers true; rejects where that takes longer than `withinMs`, by a stopwatch. */
export async function eventually(
  withinMs: number,
  what: string,
  ask: () => boolean | Promise<boolean>,
  everyMs = 25,
): Promise<void> {
  const watch = stopwatch()
  while (!(await ask())) {
    if (watch.isBeyond(withinMs)) throw new Error(`not within ${withinMs} ms: ${what}`)
    await pause(everyMs)
  }
}

export interface Moment {
  /** Resolves when it has come. */
  reached: Promise<void>
  come(): void
}

/** A moment that one side of a test waits for and the other one brings about. */
export function moment(): Moment {
  let come = () => {}
  const reached = new Promise<void>((resolve) => {
    come = resolve
  })
  return { reached, come }
}

/**
 * Until it is restored, timers that a store sets do not run; they can be cleared. Then those that are left run: a loop whose
 * timer never did would rest for ever.
 */
export function withoutTimers(): { mockRestore(): void } {
  let isOver = false
  const hold = (run: () => void) => {
    const timer = every(() => {
      if (!isOver) return
      clearInterval(timer)
      run()
    }, 20)
    return timer.unref()
  }
  const spy = jest.spyOn(real, 'setTimeout').mockImplementation(hold as never)
  const mockRestore = () => {
    isOver = true
    spy.mockRestore()
  }
  return { mockRestore }
}
