/** A clock that a test moves: the database's, as the store reads it, and with it whatever waits in this process. */

import { passTime } from '../kit/test-time'
import { invalidInput } from '../shared/errors'
import { performance } from '../shared/platform'
import type { BoundStore } from '../store/store'

const UNIT_MS = {
  ms: 1,
  s: 1000,
  second: 1000,
  seconds: 1000,
  min: 60_000,
  minute: 60_000,
  minutes: 60_000,
  h: 3_600_000,
  hour: 3_600_000,
  hours: 3_600_000,
  d: 86_400_000,
  day: 86_400_000,
  days: 86_400_000,
}

/** Seconds, or a number with a unit: `'5 min'`, `'90 s'`, `'2 hours'`, `'30 days'`. */
export type Duration = number | `${number} ${keyof typeof UNIT_MS}`

export interface TestClock {
  /**
   * Moves the store's time forward, at once. Due work is done when it resolves: schedules have sent their messages (at most
   * a minute late, or as `missed` says). Delayed messages are ready, visibility timeouts and expired items have ended.
   * Pauses of workers, pollers and consumers that would have ended in this time end now, and so do waiting receives. A
   * handler that runs keeps its claim, as in a process that lives through this time. Throws `invalid_input`.
   */
  advance(time: Duration): Promise<void>
}

export class MovedClock implements TestClock {
  /** The store that goes by this clock; it is opened after it. */
  store: BoundStore | null = null
  #offsetMs = 0

  readonly offsetMs = () => this.#offsetMs

  async advance(time: Duration): Promise<void> {
    await passTime(millisecondsOf(time), (stepMs) => {
      this.#offsetMs += stepMs
    })
    if (this.store) await sweepAll(this.store)
  }
}

function millisecondsOf(time: Duration): number {
  const [, count, unit] = /^([\d.]+) ([a-z]+)$/.exec(typeof time === 'number' ? `${time} s` : String(time)) ?? []
  const ms = Number(count) * (UNIT_MS[unit as keyof typeof UNIT_MS] ?? Number.NaN)
  if (Number.isFinite(ms)) return ms
  const units = Object.keys(UNIT_MS).join(', ')
  throw invalidInput([
    { pointer: '/time', detail: `must be seconds, or a number with one of ${units}, such as '5 min'` },
  ])
}

/** A background sweeper holds what it moves for moments; a transaction of the test may stay open. */
const LONGEST_HOLD_MS = 2000

/** Due schedules, and rounds of the store's sweepers, until nothing is left to do. */
async function sweepAll({ opened: { groups, queues, feeds } }: BoundStore): Promise<void> {
  while ((await groups.sweep()).more);
  await queues.tick()
  const beganMs = performance.now()
  for (let isDone = false; !isDone; ) {
    const { more, held } = await queues.sweep({ all: true })
    isDone = !more && !(held && performance.now() - beganMs < LONGEST_HOLD_MS)
  }
  while ((await feeds.sweep()).more);
}
