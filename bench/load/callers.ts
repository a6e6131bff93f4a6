/** Concurrent callers: each is one loop that waits for its answer before it calls again. */
import { performance } from 'node:perf_hooks'

export const CALLERS = 256

export interface Timing {
  warmUpMs: number
  ms: number
}

/**
 * Runs `call` in `callers` loops at once through the warm-up and the measured time; gives by how much `count` grew per
 * second of the latter. Resolves when every caller has its last answer; rejects with the first failure.
 *
 * The callers look at the clock themselves: a contender that answers without ever waiting for a socket would keep a
 * timer from firing.
 */
export async function perSecond(
  callers: number,
  { warmUpMs, ms }: Timing,
  call: () => Promise<unknown>,
  count: () => number,
): Promise<number> {
  const warm = performance.now() + warmUpMs
  let first = { at: Number.NaN, count: 0 }
  let last: typeof first | null = null
  let failed = false
  const loop = async () => {
    while (last === null && !failed) {
      await call()
      const now = performance.now()
      if (now < warm) continue
      if (Number.isNaN(first.at)) first = { at: now, count: count() }
      if (now >= first.at + ms) last ??= { at: now, count: count() }
    }
  }
  const end = () => last as unknown as typeof first
  await Promise.all(Array.from({ length: callers }, loop)).finally(() => {
    failed = true
  })
  return ((end().count - first.count) * 1000) / (end().at - first.at)
}

/** One caller's latencies in milliseconds, sorted. */
export async function latencies({ warmUpMs, ms }: Timing, call: () => Promise<unknown>): Promise<Float64Array> {
  const samples: number[] = []
  const start = performance.now()
  for (let before = start; before < start + warmUpMs + ms; ) {
    await call()
    const now = performance.now()
    if (before >= start + warmUpMs) samples.push(now - before)
    before = now
  }
  return Float64Array.from(samples).sort()
}

export function percentile(sorted: Float64Array, p: number): number {
  const at = Math.min(sorted.length - 1, Math.floor((sorted.length * p) / 100))
  return sorted[at] ?? Number.NaN
}

/** Calls `work` for each, `width` at a time. */
export async function inParallel<T>(
  width: number,
  list: readonly T[],
  work: (each: T) => Promise<void>,
): Promise<void> {
  let next = 0
  const loop = async () => {
    while (next < list.length) await work(list[next++] as T)
  }
  await Promise.all(Array.from({ length: width }, loop))
}

/** Starts calls at even intervals, whether or not the ones before have their answer; resolves when all have theirs. */
export async function atRate(perSecond: number, ms: number, call: () => Promise<unknown>): Promise<void> {
  const calls: Promise<unknown>[] = []
  const start = performance.now()
  for (let begun = 0; begun < (ms / 1000) * perSecond; ) {
    const due = ((performance.now() - start) / 1000) * perSecond
    for (; begun < due; begun++) calls.push(call())
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  await Promise.all(calls)
}
