/** The faults of a run of polls under fire, by the ledger of its handlers and the marks of its database. */
import type { Handling, Ledger } from './poll-ledger'
import { type Mark, NOTED } from './poll-marks'
import type { FireTable } from './poll-tables'

export interface Rules {
  maxAttempts: number
  timeoutMs: number
  /** Whether the handlers of this row always fail. */
  fails: (n: number) => boolean
}

/** A row's number, and when it was put in. */
export type Put = ReadonlyMap<number, number>

/** The server's clock and ours are one; both are cut to milliseconds. */
const TICK_MS = 2

export class Verdict {
  readonly faults: string[] = []
  /** Rows that were handled to the end more than once: their process was killed before the result was recorded. */
  again = 0
  /** Rows that were given up for attempts that were all cut off. */
  givenUp = 0
  readonly #rules: Rules

  constructor(rules: Rules) {
    this.#rules = rules
  }

  judge(one: FireTable, put: Put, ledger: Ledger, marks: readonly Mark[]): void {
    const say = (row: string, what: string, why: unknown) =>
      this.faults.push(`${one.title} (${one.name}), row ${row}: ${what} ${JSON.stringify(why)}`)
    const own = marks.filter(({ table }) => table === one.name)
    const noted = marks.filter(({ table }) => table === `${NOTED}${one.name}`)
    for (const { row, word, ...why } of [...own, ...noted])
      if (word === 'early') say(row, 'was taken from its holder', why)
    const givenUp = this.#results(one, put, own, noted, say)
    this.givenUp += givenUp
    const handlings = ledger.of(one.name)
    for (const n of put.keys()) {
      const all = handlings.get(String(n)) ?? []
      const recorded = own.filter(({ row, word }) => row === String(n) && isResult(word))
      this.#row(
        one,
        n,
        { putAt: put.get(n) as number, all, recorded, killed: new Set(ledger.kills), lost: ledger.lost },
        say,
      )
      if (all.filter(({ outcome }) => outcome === 'end').length > one.copies) this.again++
    }
    for (const n of handlings.keys()) if (!put.has(Number(n))) say(n, 'is no row', [])
    if (own.some(({ attempts }) => attempts !== null)) this.#attempts(handlings, own, givenUp, say)
    else if (one.options.onDone === undefined && !one.options.status) this.#attempts(handlings, noted, givenUp, say)
  }

  /** Each row has one result, and the right one. Answers how many were given up that would not have failed. */
  #results({ options, copies }: FireTable, put: Put, own: readonly Mark[], noted: readonly Mark[], say: Say): number {
    const isRemembered = options.onDone === undefined && !options.status && !options.claim
    const results = (isRemembered ? noted : own).filter(({ word }) => isResult(word))
    // A hard delete leaves what failed for good; where the table does not say so its note does.
    if (options.onDone && !options.status && !options.claim) results.push(...noted.filter(({ word }) => isResult(word)))
    const counts = new Map<string, number>()
    for (const { row } of results) counts.set(row, (counts.get(row) ?? 0) + 1)
    for (const [row, count] of counts)
      if (count !== copies)
        say(
          row,
          `has ${count} results`,
          results.filter((one) => one.row === row),
        )
    if (counts.size !== put.size) say('*', `are ${put.size}, of which ${counts.size} have a result`, [])
    const errors = results.filter(({ word }) => word === 'error').length
    const failing = options.onFailed === 'delete' ? 0 : [...put.keys()].filter(this.#rules.fails).length
    if (errors < failing) say('*', `should have failed: ${failing}, not ${errors}`, [])
    const tooEarly = [...own, ...noted].filter(
      ({ word, attempts }) => word === 'error' && attempts !== null && attempts !== this.#rules.maxAttempts,
    )
    for (const { row, ...why } of tooEarly) say(row, 'failed for good too early, or too late', why)
    return Math.max(errors - failing, 0)
  }

  #row({ copies }: FireTable, n: number, { putAt, all, recorded, killed, lost }: Story, say: Say): void {
    const { maxAttempts, timeoutMs, fails } = this.#rules
    const row = String(n)
    const ends = all.filter(({ outcome }) => outcome === 'end').length
    if (fails(n) && ends > 0) say(row, 'did not fail', all)
    // Of those that are alike one may be deleted as failed: all its attempts were cut off.
    if (!fails(n) && ends < copies && all.length < maxAttempts && !recorded.some(({ word }) => word === 'error')) {
      say(row, 'was forgotten', all)
    }
    let before: Handling | null = null
    for (const one of all) {
      const begins = copies > 1 && before !== null && one.attempt <= before.attempt
      const [since, attempt] = before === null || begins ? [putAt, 0] : [before.startedAt, before.attempt]
      const missed = one.attempt - attempt - 1
      if (missed < 0) say(row, 'was begun again as the same attempt', all)
      // Attempts that no handler saw are claims that ran out.
      if (one.startedAt - since + TICK_MS < missed * timeoutMs) say(row, 'has attempts that were none', all)
      if (one.attempt > maxAttempts) say(row, 'was tried too often', all)
      const [result] = recorded
      if (copies === 1 && result && one.startedAt > result.at + TICK_MS)
        say(row, 'was begun after its result', [all, result])
      // After its end only a kill before the record, or a claim that could not be renewed in time, has it begun again.
      if (copies === 1 && before?.outcome === 'end' && !killed.has(pidOf(before)) && !lost.has(before.claim))
        say(row, 'has a result that was dropped', all)
      before = one
    }
  }

  /**
   * Each recorded result has as many attempts as a handler saw that ended as the last of its row. Such a row may have been
   * given up instead, when its attempts after that were all cut off before their handlers began.
   */
  #attempts(handlings: ReadonlyMap<string, Handling[]>, marks: readonly Mark[], givenUp: number, say: Say): void {
    const ended = new Map<number, number>()
    for (const all of handlings.values()) {
      const last = all.at(-1)
      if (last?.outcome === 'end') ended.set(last.attempt, (ended.get(last.attempt) ?? 0) + 1)
    }
    const recorded = new Map<number, number>()
    for (const { word, attempts } of marks) {
      if (attempts !== null && (word === 'done' || word === 'deleted')) {
        recorded.set(attempts, (recorded.get(attempts) ?? 0) + 1)
      }
    }
    const without = [...ended].reduce((sum, [attempts, count]) => sum + count - (recorded.get(attempts) ?? 0), 0)
    const unseen = [...recorded].filter(([attempts, count]) => count > (ended.get(attempts) ?? 0))
    if (unseen.length > 0 || without > givenUp)
      say('*', 'have attempts', { recorded: [...recorded], ended: [...ended] })
  }
}

/** The facts about one row. */
interface Story {
  putAt: number
  all: readonly Handling[]
  recorded: readonly Mark[]
  killed: ReadonlySet<number>
  lost: ReadonlySet<string>
}

type Say = (row: string, what: string, why: unknown) => void

function pidOf({ claim }: Handling): number {
  return Number(claim.split('-')[0])
}

function isResult(word: Mark['word']): boolean {
  return word === 'done' || word === 'error' || word === 'deleted'
}
