/**
 * The loop that sends what schedules have due. It sleeps until the next tick; a change of a schedule in this process wakes it,
 * and those of other processes are seen within a minute. Any number of processes may run it. After a fault (the database is
 * away) each pause is longer, and the loop recovers by itself. No SQL.
 */

import { Loop } from '../../kit/loop'
import type { TickRound } from '../../repositories/schedules/tick'
import { RecentnError } from '../../shared/errors'
import { safeMessage, safeText } from '../../shared/safe-text'
import type { WorkCounts } from '../counts'
import type { BackgroundWork } from '../option-types'

interface SchedulerOptions {
  /** Sends what is due, or part of it. */
  tick: () => Promise<TickRound>
  /** False: only `tick` sends. */
  isOn: boolean
  onError: (error: unknown, work: BackgroundWork) => void
  counts: Pick<WorkCounts, 'schedulerRounds' | 'schedulerFaults'>
}

/** The first look after the store was opened. */
const FIRST_MS = 500
/** The longest pause: schedules of other processes are found after at most this time. */
const LOOK_MS = 60_000
const FAULT_PAUSES = { firstMs: 1000, longestMs: 30_000 }

export class Scheduler {
  readonly #loop: Loop
  /** Schedules whose failure was reported, and which have not ticked since. */
  readonly #failing = new Set<string>()

  constructor(private readonly options: SchedulerOptions) {
    const { counts, onError, isOn } = options
    this.#loop = new Loop({
      round: async () => Math.min((await this.#round()).nextInMs ?? LOOK_MS, LOOK_MS),
      faultPauses: FAULT_PAUSES,
      onFault: (error, isFirst) => {
        counts.schedulerFaults++
        if (isFirst) onError(error, 'schedule')
      },
    })
    if (isOn) this.#loop.wake(FIRST_MS)
  }

  wake(): void {
    if (!this.options.isOn || this.#loop.isStopped) return
    // A commit shows that the database is back.
    this.#loop.recovered()
    this.#loop.wake()
  }

  async tick(): Promise<{ sent: number; failed: number }> {
    const all = { sent: 0, failed: 0 }
    for (let isMore = true; isMore; ) {
      const { sent, failed, nextInMs } = await this.#round()
      all.sent += sent
      all.failed += failed.length
      isMore = nextInMs === 0
    }
    return all
  }

  stop(): Promise<void> {
    return this.#loop.stop()
  }

  async #round(): Promise<TickRound> {
    const { tick, counts, onError } = this.options
    const round = await tick()
    counts.schedulerRounds++
    for (const schedule of round.done) this.#failing.delete(schedule)
    for (const { schedule, error } of round.failed) {
      counts.schedulerFaults++
      if (this.#failing.has(schedule)) continue
      this.#failing.add(schedule)
      onError(ofSchedule(schedule, error), 'schedule')
    }
    return round
  }
}

/** The same error, with the name of the schedule that could not send its tick. */
function ofSchedule(schedule: string, error: unknown): RecentnError {
  const code = error instanceof RecentnError ? error.code : 'internal'
  const reason = error instanceof Error ? safeMessage(error) : safeText(error)
  return new RecentnError(code, `The schedule ${JSON.stringify(schedule)} could not send: ${reason}`, { cause: error })
}
