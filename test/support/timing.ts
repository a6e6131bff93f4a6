/** What tests of waiting share: real time that passes, how much of it a call took, and moments to wait for. */

/**
 * What comes at once comes within this, also on a machine that has too much to do; what waits for the end of its time,
 * for a lock or for ever, takes longer.
 */
export const SOON_MS = 5_000

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** What a call answers, and after how many real milliseconds. */
export async function timed<T>(call: Promise<T>): Promise<{ answer: T; ms: number }> {
  const start = performance.now()
  const answer = await call
  return { answer, ms: performance.now() - start }
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
