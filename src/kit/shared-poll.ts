/**
 * One poll for all parts of a process that wait for what other processes do: each part asks its questions, and one call of
 * `ask` answers those of all. A part that has had events lately is polled for often; the longer it has been quiet, the less
 * often. There are no polls while no part waits. Owns when the next poll is. No SQL, no lock.
 *
 * Invariant: one poll at a time. A poll that fails calls `failed` of its parts, so that each finds the fault, or its end, by
 * itself.
 */
import { performance } from '../shared/platform'
import { Loop } from './loop'

export interface PollingPart<Question, Answer> {
  /** The topics whose events it waits for; none while it waits for nothing. */
  topics: () => readonly string[]
  question: (topic: string) => Question
  /** True: there are events. */
  answered: (topic: string, answer: Answer) => boolean
  failed: () => void
  /** The least time between two polls. */
  leastMs: () => number
}

/** A part that takes part in the poll. */
export interface JoinedPoll {
  /** It has begun to wait: the next poll comes after the least time. */
  begin(): void
  /** It has had events by another way. */
  hadEvents(): void
}

/** Time between two polls when there have been no events for some seconds, and for half a minute or longer. */
const [QUIET_MS, LONG_QUIET_MS] = [500, 900]
/** Part of the time since the last event: after a long quiet time a little more delay matters less. */
const [QUIET_SHARE, LONG_QUIET_SHARE] = [0.1, 0.03]
/** How long a part waits that had its last events then: the longer it has been quiet, the longer. */
export function quietPauseMs(eventsAt: number, longestMs: number): number {
  return Math.min(longestMs, (performance.now() - eventsAt) * QUIET_SHARE)
}

/** A poll takes at most this part (1 / 20) of the time, so that very many questions are asked less often … */
const POLL_SHARE = 20
/** … but at least once in this time. */
const LONGEST_MS = 1000
/** The pause that follows from the time of the last poll. */
export const shareOf = (tookMs: number): number => Math.min(tookMs * POLL_SHARE, LONGEST_MS)

const FAULT_PAUSES = { firstMs: 250, longestMs: 1000 }

export class SharedPoll<Question, Answer> {
  readonly #parts = new Set<Part<Question, Answer>>()
  readonly #loop: Loop
  #tookMs = 0

  constructor(private readonly options: { ask: (questions: readonly Question[]) => Promise<Answer[]> }) {
    this.#loop = new Loop({ round: () => this.#round(), faultPauses: FAULT_PAUSES })
  }

  join(part: PollingPart<Question, Answer>): JoinedPoll {
    const joined = new Part(part)
    this.#parts.add(joined)
    return {
      begin: () => {
        joined.at = Math.min(joined.at, performance.now() + joined.pauseMs(this.#tookMs))
        this.#loop.wake(joined.at - performance.now())
      },
      hadEvents: () => {
        joined.eventsAt = performance.now()
      },
    }
  }

  /** Asks one question; calls when the answer says that there is something to do, and when the poll has failed. */
  joinDue(
    due: { readonly question: Question; isDue(answer: Answer): boolean },
    { isOn, call, leastMs }: { isOn: () => boolean; call: () => void; leastMs: () => number },
  ): JoinedPoll {
    const answered = (_: string, answer: Answer) => {
      const isDue = due.isDue(answer)
      if (isDue) call()
      return isDue
    }
    const topics = () => (isOn() ? [''] : [])
    const joined = this.join({ topics, question: () => due.question, answered, failed: call, leastMs })
    joined.begin()
    return joined
  }

  /** Resolves when no poll runs; no other begins. */
  stop(): Promise<void> {
    return this.#loop.stop()
  }

  async #round(): Promise<number | null> {
    const now = performance.now()
    // Parts that would poll soon poll now, so that in quiet times all share one statement.
    const due = [...this.#parts].filter((part) => part.at - now <= part.pauseMs(this.#tookMs) / 2)
    const asked = due.map((part) => ({ part, topics: part.begun() })).filter(({ topics }) => topics.length > 0)
    try {
      const answers = await this.#answers(asked.flatMap(({ part, topics }) => topics.map(part.of.question)))
      for (const { part, topics } of asked) part.answered(topics, answers.splice(0, topics.length))
    } catch (error) {
      for (const { part } of asked) part.of.failed()
      throw error
    } finally {
      for (const { part } of asked) part.ended(this.#tookMs)
    }
    let next = Number.POSITIVE_INFINITY
    for (const { at } of this.#parts) next = Math.min(next, at)
    return next === Number.POSITIVE_INFINITY ? null : Math.max(0, next - performance.now())
  }

  async #answers(questions: readonly Question[]): Promise<Answer[]> {
    const since = performance.now()
    if (questions.length === 0) return []
    const answers = await this.options.ask(questions)
    this.#tookMs = performance.now() - since
    return answers
  }
}

class Part<Question, Answer> {
  /** Of its next poll, as `performance.now` counts; infinity while it waits for nothing. */
  at = Number.POSITIVE_INFINITY
  eventsAt = performance.now()

  constructor(readonly of: PollingPart<Question, Answer>) {}

  pauseMs(tookMs: number): number {
    const leastMs = this.of.leastMs()
    const longQuietMs = Math.min(LONG_QUIET_MS, (performance.now() - this.eventsAt) * LONG_QUIET_SHARE)
    return Math.max(quietPauseMs(this.eventsAt, QUIET_MS), longQuietMs, leastMs, shareOf(tookMs))
  }

  begun(): readonly string[] {
    this.at = Number.POSITIVE_INFINITY
    return this.of.topics()
  }

  answered(topics: readonly string[], answers: readonly Answer[]): void {
    for (const [index, topic] of topics.entries()) {
      if (this.of.answered(topic, answers[index] as Answer)) this.eventsAt = performance.now()
    }
  }

  /** Until the next poll. */
  ended(tookMs: number): void {
    this.at = Math.min(this.at, performance.now() + this.pauseMs(tookMs))
  }
}
