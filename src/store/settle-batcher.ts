/**
 * Merged settling: while a statement is in flight the receipts that come in collect, and the next one settles them all.
 * No timer: a lone caller's settle starts at once. Owns what waits; no SQL.
 *
 * Invariant: a receipt is in one statement at a time, so that of two calls with the same receipt one is told that it
 * did it, and the other that it was too late.
 */

import { isShared, Pending } from '../kit/pending'
import { MAX_REMOVED, type Receipt } from '../repositories/queues/rows'

export interface SettleBatcherOptions {
  /** Statements in flight of one kind. */
  atOnce: number
  /** What may be unanswered at the most: beyond it calls are refused with `overloaded`. */
  maxPending: number
  /** Told of each call that is refused with `overloaded`. */
  onOverload?: () => void
}

type Settle = (receipts: readonly Receipt[]) => Promise<ReadonlySet<string>>

interface Call {
  receipts: readonly Receipt[]
  resolve: (settled: Set<string>) => void
  reject: (error: unknown) => void
}

/** Calls that may go together: of one queue, and to one end. */
interface Kind {
  settle: Settle
  waiting: Call[]
  inFlight: number
  receipts: Set<string>
}

/**
 * Receipts that go together, unless one call has more: no more than one statement deletes, so that no caller is told of
 * a failure that came after the caller's own were done.
 */
const MAX_RECEIPTS = MAX_REMOVED

export class SettleBatcher {
  readonly #options: SettleBatcherOptions
  readonly #kinds = new Map<string, Kind>()
  readonly #pending: Pending

  constructor(options: SettleBatcherOptions) {
    this.#options = options
    this.#pending = new Pending({
      what: 'receipts',
      maxItems: options.maxPending,
      onOverload: options.onOverload,
    })
  }

  /** Resolves to those of the receipts that `settle` says did it; it is the same for all calls of one `kind`. */
  add(kind: string, receipts: readonly Receipt[], settle: Settle): Promise<Set<string>> {
    return new Promise((resolve, reject) => {
      const refusal = this.#pending.admit({ items: receipts.length, bytes: 0 })
      if (refusal !== null) {
        reject(refusal)
        return
      }
      const known = this.#kinds.get(kind)
      const line = known ?? { settle, waiting: [], inFlight: 0, receipts: new Set() }
      if (!known) this.#kinds.set(kind, line)
      line.waiting.push({ receipts, resolve, reject })
      this.#next(kind, line)
    })
  }

  close(): Promise<void> {
    return this.#pending.close()
  }

  #next(kind: string, line: Kind): void {
    while (line.inFlight < this.#options.atOnce) {
      const calls = this.#take(line)
      if (calls.length === 0) break
      line.inFlight++
      this.#run(line, calls).finally(() => {
        line.inFlight--
        this.#next(kind, line)
      })
    }
    if (line.inFlight === 0 && line.waiting.length === 0) this.#kinds.delete(kind)
  }

  /** A second statement goes beside the first only when there is enough for it to do. */
  #take(line: Kind): Call[] {
    const size = line.waiting.reduce((sum, { receipts }) => sum + receipts.length, 0)
    if (line.inFlight > 0 && size < Math.min(line.receipts.size, MAX_RECEIPTS)) return []
    const taken: Call[] = []
    const left: Call[] = []
    let count = 0
    for (const call of line.waiting) {
      const fits = taken.length === 0 || count + call.receipts.length <= MAX_RECEIPTS
      if (fits && !call.receipts.some(({ receipt }) => line.receipts.has(receipt))) {
        taken.push(call)
        count += call.receipts.length
        for (const { receipt } of call.receipts) line.receipts.add(receipt)
      } else left.push(call)
    }
    line.waiting = left
    return taken
  }

  async #run(line: Kind, calls: readonly Call[]): Promise<void> {
    try {
      const settled = await line.settle(calls.flatMap(({ receipts }) => receipts))
      for (const call of calls) this.#answer(line, call, settled)
    } catch (error) {
      if (calls.length === 1 || isShared(error)) {
        for (const call of calls) this.#fail(line, call, error)
        return
      }
      for (const call of calls) {
        await line.settle(call.receipts).then(
          (settled) => this.#answer(line, call, settled),
          (own: unknown) => this.#fail(line, call, own),
        )
      }
    }
  }

  #answer(line: Kind, call: Call, settled: ReadonlySet<string>): void {
    this.#leave(line, call)
    call.resolve(new Set(call.receipts.map(({ receipt }) => receipt).filter((receipt) => settled.has(receipt))))
  }

  #fail(line: Kind, call: Call, error: unknown): void {
    this.#leave(line, call)
    call.reject(error)
  }

  #leave(line: Kind, { receipts }: Call): void {
    for (const { receipt } of receipts) line.receipts.delete(receipt)
    this.#pending.settle({ items: receipts.length, bytes: 0 })
  }
}
