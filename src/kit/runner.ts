/**
 * Runs the operations of a store: some commit together, some are answered together, and long ones take turns. Owns the
 * mechanism of each operation. No SQL.
 */
import type { Requester } from '../shared/requests'
import type { Admission } from './admission'
import type { GroupCommitOptions } from './commit-calls'
import { GroupCommit } from './group-commit'
import { MergedCalls, type MergedCallsOptions } from './merged-calls'

interface SharedRunnerOptions<Session, Memory> extends Omit<Admission, 'what'> {
  /** The arguments of operations. */
  session: Session
  memory: Memory
}

type CommitNumbers = Pick<
  GroupCommitOptions<never, never>,
  'lanes' | 'batches' | 'maxPendingItems' | 'maxPendingBytes' | 'maxBatchItems'
>
type MergeNumbers = Pick<MergedCallsOptions<never, never>, 'atOnce' | 'maxPendingSize' | 'batches'>

/** An operation that shares commits or statements. */
interface SharedOperation<Session, Memory, Options> {
  /** The options of its mechanism, apart from numbers. */
  shared(session: Session, memory: Memory): Options
}

/** An operation that runs each request by itself. */
interface LongOperation<Session, Memory> {
  alone(session: Session, memory: Memory, request: never): Promise<unknown>
}

interface Mechanism<Request, Result> {
  hand(request: Request, caller: Requester<Result>): void
}

type LongWork = () => Promise<unknown>

export class SharedRunner<Session, Memory> {
  readonly #mechanisms = new Map<object, Mechanism<unknown, unknown>>()
  readonly #shared: { close(): Promise<void> }[] = []
  #turns: MergedCalls<LongWork, unknown> | null = null

  constructor(private readonly options: SharedRunnerOptions<Session, Memory>) {}

  /** Requests of the operation go into one transaction. */
  commits<Request, Result>(
    operation: SharedOperation<Session, Memory, Omit<GroupCommitOptions<Request, Result>, 'lanes'>>,
    numbers: CommitNumbers,
  ): this {
    const { session, memory } = this.options
    return this.#add(operation, new GroupCommit({ ...this.options, ...operation.shared(session, memory), ...numbers }))
  }

  /** Requests of the operation are answered by one statement. */
  merges<Request, Result>(
    operation: SharedOperation<Session, Memory, Omit<MergedCallsOptions<Request, Result>, keyof MergeNumbers>>,
    numbers: MergeNumbers,
  ): this {
    const { session, memory } = this.options
    return this.#add(operation, new MergedCalls({ ...this.options, ...operation.shared(session, memory), ...numbers }))
  }

  /** A few requests of these operations run at a time: the others take no connection while they wait for their turn. */
  takesTurns(operations: readonly LongOperation<Session, Memory>[], numbers: MergeNumbers & { what: string }): this {
    const turns = new MergedCalls<LongWork, unknown>({
      ...this.options,
      ...numbers,
      maxBatchSize: 1,
      startsAtOnce: true,
      run: (work) => Promise.all(work.map((one) => one())),
    })
    this.#turns = turns
    const { session, memory } = this.options
    for (const operation of operations) {
      this.#mechanisms.set(operation, {
        hand: (request: never, caller) => turns.hand(() => operation.alone(session, memory, request), caller),
      })
    }
    return this
  }

  #add(operation: object, mechanism: Mechanism<unknown, unknown> & { close(): Promise<void> }): this {
    this.#mechanisms.set(operation, mechanism)
    this.#shared.push(mechanism)
    return this
  }

  /** Throws where the request cannot be taken. */
  hand<Request, Result>(operation: object, request: Request, caller: Requester<Result>): void {
    const mechanism = this.#mechanisms.get(operation) as Mechanism<Request, Result>
    mechanism.hand(request, caller)
  }

  /** Refuses later requests; resolves when all that were accepted are answered. */
  async close(): Promise<void> {
    await Promise.all(this.#shared.map((mechanism) => mechanism.close()))
    // Last: a request that a merged read has no answer for becomes a long one.
    await this.#turns?.close()
  }
}
