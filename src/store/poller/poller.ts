/**
 * `store.poll`: claims rows in batches, runs a handler on each, and records each result by itself. Owns the rows that wait
 * here and the handlers that run; the database's locks are the repository's.
 *
 * Invariants: a handler begins only while the claim of its row surely holds, and at most `concurrency` run. Every claim
 * that came in ends in exactly one way: done, to be tried again, failed, given back, or lost.
 */
import { AsyncResource } from 'node:async_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import { type ErrorCode, RecentnError } from '../../errors'
import { checkedStop } from '../../fields/options'
import { Pauses } from '../../kit/backoff'
import { within } from '../../kit/patience'
import type { PollRepository } from '../../repositories/polls/repository'
import type { PollCounts } from '../../repositories/polls/types'
import type { StopOptions } from '../worker/types'
import { BatchSize } from './batch'
import { Claims } from './claims'
import type { PollerFaults } from './faults'
import { type Lease, Leases } from './leases'
import type { PollSettings } from './options'
import { LONGEST_PAUSE_MS, RELEASE_MS, Recorder } from './results'
import { Rows } from './rows'
import type { Poller, PollHandler, PollResult } from './types'

/** How often `once` looks again for rows that others had locked, as claims do for a moment. */
const LOOKS = 5
const LOOK_MS = 20
/** How long others are waited for before a row begins alone, and then its end before others begin. */
const CAREFUL_MS = 3000
/** How long handlers have after they were told to abort. */
const LAST_MS = 1000

/** Pollers belong to no caller: one that is started inside a transaction must not run inside it. */
const OUTSIDE = new AsyncResource('recentn.Poller')

const refused = (code: ErrorCode, why: string) => Promise.reject(new RecentnError(code, why))

export interface RowPollerOptions<T> {
  repository: PollRepository
  handler: PollHandler<T>
  settings: PollSettings
  faults: PollerFaults<T>
  /** True for code inside a transaction that keeps all others waiting. */
  isInside: () => boolean
}

export class RowPoller<T> implements Poller {
  readonly #repository: PollRepository
  readonly #settings: PollSettings
  readonly #faults: PollerFaults<T>
  readonly #batch: BatchSize
  readonly #leases: Leases
  #waiting: Lease[] = []
  readonly #running = new Map<Lease, Promise<void>>()
  #once: Promise<PollResult> | null = null
  readonly #recorder: Recorder
  readonly #rows: Rows<T>
  readonly #isInside: () => boolean
  readonly #claims: Claims<T>
  readonly #ending = new AbortController()
  #wake: () => void = () => {}
  readonly #loop: Promise<void>
  #stopping: Promise<void> | null = null
  #hurry: () => void = () => {}
  readonly #hurried = new Promise<void>((resolve) => {
    this.#hurry = resolve
  })

  constructor({ repository, handler, settings, faults, isInside }: RowPollerOptions<T>) {
    this.#repository = repository
    this.#settings = settings
    this.#faults = faults
    this.#batch = new BatchSize(settings)
    const onFault = (error: unknown) => faults.database(error)
    const { timeoutMs } = settings
    this.#leases = new Leases({ timeoutMs, extend: (claims) => repository.extend(claims), onFault })
    this.#recorder = new Recorder({
      end: ({ claim }, outcome) => repository.end(claim, outcome),
      release: ({ claim }) => repository.release(claim),
      onFault,
      onEnd: (lease) => this.#leases.remove(lease),
    })
    this.#isInside = isInside
    const parts = { settings, faults, leases: this.#leases, recorder: this.#recorder }
    this.#rows = new Rows({ ...parts, handler, reread: (claim) => repository.reread(claim) })
    this.#claims = new Claims({ ...parts, repository, batch: this.#batch })
    this.#loop = settings.auto ? OUTSIDE.runInAsyncScope(() => this.#poll()) : Promise.resolve()
  }

  get #isEnding(): boolean {
    return this.#ending.signal.aborted
  }

  once(): Promise<PollResult> {
    if (this.#isEnding) return refused('closed', 'The poller was stopped')
    if (this.#waitsForItself)
      return refused('conflict', 'once() would wait for the handler or transaction it is called in')
    if (this.#settings.auto) return refused('invalid_input', 'The poller polls by itself: `once` is for auto: false')
    this.#once ??= OUTSIDE.runInAsyncScope(() => this.#onceAlone()).finally(() => {
      this.#once = null
    })
    return this.#once
  }

  counts(): Promise<PollCounts> {
    return this.#repository.counts()
  }

  /** Called in a handler of this poller, or in a transaction that its results would wait for. */
  get #waitsForItself(): boolean {
    return this.#rows.isInside || this.#isInside()
  }

  stop(options: StopOptions = {}): Promise<void> {
    const patienceMs = checkedStop(options)
    if (this.#waitsForItself)
      return refused('conflict', 'stop() would wait for the handler or transaction it is called in')
    if (patienceMs !== null) setTimeout(() => this.#hurry(), Math.min(patienceMs, 2 ** 31 - 1)).unref()
    this.#stopping ??= OUTSIDE.runInAsyncScope(() => this.#stop())
    return this.#stopping
  }

  // ---- claiming

  async #onceAlone(): Promise<PollResult> {
    this.#recorder.begin()
    this.#faults.answered()
    try {
      await this.#claimAll()
    } finally {
      await Promise.all(this.#running.values())
    }
    while (!this.#isEnding && (await this.#repository.tidy()));
    return this.#recorder.result
  }

  async #claimAll(): Promise<void> {
    for (let looks = 0; !this.#isEnding; ) {
      if (await this.#claim()) {
        looks = 0
        await this.#handleAll()
      } else if (this.#running.size > 0) await this.#oneEnded()
      else if (looks++ < LOOKS && (await this.#repository.isAnyReady())) await this.#pause(LOOK_MS * looks)
      else break
    }
  }

  async #poll(): Promise<void> {
    const pauses = new Pauses(LONGEST_PAUSE_MS)
    while (!this.#isEnding) {
      try {
        const claimed = await this.#claim()
        pauses.reset()
        this.#faults.answered()
        await this.#handleAll()
        const isMore = await this.#claims.tidy()
        if (!claimed && !isMore) await this.#pause(this.#settings.intervalMs * (0.9 + Math.random() / 5))
      } catch (error) {
        if (error instanceof RecentnError && error.code === 'closed') return
        this.#faults.database(error)
        await this.#pause(pauses.next())
      }
    }
  }

  /** Ends early when the poller is stopped. */
  async #pause(ms: number): Promise<void> {
    await delay(ms, undefined, { signal: this.#ending.signal }).catch(() => {})
  }

  /** Resolves to whether there was something to claim, or may be behind what there was. */
  async #claim(): Promise<boolean> {
    const { leases, isMore } = await this.#claims.next(this.#running.size)
    for (const lease of leases) this.#waiting.push(lease)
    return isMore
  }

  // ---- handling

  /** Resolves when a handler is free, and no row waits here. */
  async #handleAll(): Promise<void> {
    const began = performance.now()
    const rows = this.#waiting.length
    while (this.#waiting.length > 0 && !this.#isEnding) {
      if (this.#waiting[0]?.isSuspect) await this.#alone(this.#waiting.shift() as Lease)
      else if (this.#running.size < this.#settings.concurrency) this.#begin(this.#waiting.shift() as Lease)
      else await this.#oneEnded()
    }
    while (this.#running.size >= this.#settings.concurrency && !this.#isEnding) await this.#oneEnded()
    if (this.#isEnding) return this.#giveBack()
    this.#batch.handled(rows, performance.now() - began)
  }

  /** Resolves when a handler has ended, or the poller is stopped. */
  async #oneEnded(): Promise<void> {
    if (this.#isEnding) return
    await new Promise<void>((resolve) => {
      this.#wake = resolve
    })
  }

  /** Its last attempt, and those before never came to an end: so that no other row dies of it, where handlers end in time. */
  async #alone(lease: Lease): Promise<void> {
    await within(CAREFUL_MS, Promise.all(this.#running.values()))
    while (this.#running.size >= this.#settings.concurrency && !this.#isEnding) await this.#oneEnded()
    if (this.#isEnding) this.#waiting.push(lease)
    else {
      this.#begin(lease)
      await within(CAREFUL_MS, this.#running.get(lease) ?? Promise.resolve())
    }
  }

  #begin(lease: Lease): void {
    if (lease.isLost) {
      this.#recorder.lost(lease)
      return
    }
    const ended = this.#rows.run(lease).then(() => {
      this.#running.delete(lease)
      this.#wake()
    })
    this.#running.set(lease, ended)
  }

  async #giveBack(): Promise<void> {
    const until = performance.now() + RELEASE_MS
    for (const lease of this.#waiting.splice(0)) await this.#recorder.release(lease, until)
  }

  // ---- the end

  async #stop(): Promise<void> {
    this.#ending.abort()
    this.#wake()
    const ended = Promise.all([this.#loop, this.#once?.catch(() => {})]).then(() => Promise.all(this.#running.values()))
    await Promise.race([ended, this.#hurried])
    if (this.#running.size > 0) {
      for (const lease of this.#running.keys()) lease.abort()
      await within(LAST_MS, Promise.all(this.#running.values()))
    }
    // What does not end when it is told to is given back, and its result is not recorded.
    const until = performance.now() + RELEASE_MS
    for (const lease of this.#running.keys()) await this.#recorder.abandon(lease, until)
  }
}
