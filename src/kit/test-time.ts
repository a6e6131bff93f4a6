/**
 * The parts that wait by the clock of this process for something that the database's clock decides: loops, long polls, held claims. A
 * test that moves the database's clock moves them on with it (`recentn/testing`). Owns the list of them, which is of the
 * whole process: one that is moved on for nothing looks and waits again.
 *
 * Invariant: a claim that is held here is extended before it can expire, however far the clock moves.
 */
import type { Lease, Leases } from '../shared/leases'

export interface WaitsByClock {
  /** The longest step that it bears; any step when left out. */
  readonly longestStepMs?: number
  /** Called when `ms` have passed. Work that waits for that may begin; resolves when its claims are extended. */
  timePassed(ms: number): Promise<void> | void
}

const waiting = new Set<WaitsByClock>()

/** To be called until `leaveTestTime`. */
export function joinTestTime(one: WaitsByClock): void {
  waiting.add(one)
}

export function leaveTestTime(one: WaitsByClock): void {
  waiting.delete(one)
}

/**
 * The leases move on until `stopped`. A lease has a half of its time left, or more: a step spends half of that before it is
 * extended.
 */
export function extendInTestTime<Held extends Lease<unknown>>(leases: Leases<Held>, stopped: Promise<unknown>): void {
  const held = {
    get longestStepMs() {
      let shortestMs = Number.POSITIVE_INFINITY
      for (const { ms } of leases.held.values()) shortestMs = Math.min(shortestMs, ms)
      return shortestMs / 4
    },
    timePassed: () => leases.extend([...leases.held.values()]),
  }
  joinTestTime(held)
  void stopped.then(() => leaveTestTime(held))
}

/** `move`: moves the database's clock by one step. */
export async function passTime(ms: number, move: (stepMs: number) => void): Promise<void> {
  for (let left = ms; left > 0; ) {
    let stepMs = left
    for (const { longestStepMs = left } of waiting) stepMs = Math.min(stepMs, longestStepMs)
    move(stepMs)
    await Promise.all([...waiting].map((one) => one.timePassed(stepMs)))
    left -= stepMs
  }
}
