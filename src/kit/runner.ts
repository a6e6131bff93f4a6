/**
 * Runs the operations of a store: some commit together, some are answered together, and long ones take turns. Owns the
 * mechanism of each operation. No SQL.
 */
import type { Session } from '../database/engine'
import type { CommitOperation, MergeOperation, Requester, Runnable, Runner } from '../repositories/runners'
import type { Admission } from './admission'
import type { GroupCommitOptions, Marks } from './commit-calls'
import { GroupCommit } from './group-commit'
import { MergedCalls, type MergedCallsOptions } from './merged-calls'

interface SharedRunnerOptions<Memory> extends Omit<Admission, 'what'> {
  session: Session
  /** The arguments of operations. */
  memory: Memory
  marks: Marks
}

type CommitNumbers = Pick<
  GroupCommitOptions<never, never>,
  'lanes' | 'batches' | 'maxPendingItems' | 'maxPendingBytes' | 'maxBatchItems'
>
type MergeNumbers = Pick<MergedCallsOptions<never, never>, 'atOnce' | 'maxPendingSize' | 'batches'>

interface Mechanism<Request, Result> {
  hand(request: Request, caller: Requester<Result>): void
}

type LongWork = () => Promise<unknown>

export class SharedRunner<Memory> implements Runner<Memory> {
  readonly #mechanisms = new Map<object, Mechanism<unknown, unknown>>()
  readonly #shared: { close(): Promise<void> }[] = []
  #turns: MergedCalls<LongWork, unknown> | null = null

  constructor(private readonly options: SharedRunnerOptions<Memory>) {}

  /** Requests of the operation go into one transaction. */
  commits<Request, Result>(operation: CommitOperation<Memory, Request, Result>, numbers: CommitNumbers): this {
    const { memory } = this.options
    const commits = new GroupCommit<Request, Result>({
      ...this.options,
      ...operation,
      ...numbers,
      keyOf: (request) => operation.keyOf(request, memory),
      run: (tx, requests, writing) => operation.run(tx, memory, requests, writing),
    })
    return this.#add(operation, commits)
  }

  /** Requests of the operation are answered by one statement. */
  merges<Request, Result>(operation: MergeOperation<Memory, Request, Result>, numbers: MergeNumbers): this {
    const { session, memory } = this.options
    const run = (requests: readonly Request[]) => operation.run(session, memory, requests)
    return this.#add(operation, new MergedCalls<Request, Result>({ ...this.options, ...operation, ...numbers, run }))
  }

  /** A few requests of these operations run at a time: the others take no connection while they wait for their turn. */
  takesTurns(operations: readonly Runnable<Memory, never, unknown>[], numbers: MergeNumbers & { what: string }): this {
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
  hand<Request, Result>(
    operation: Runnable<Memory, Request, Result>,
    request: Request,
    caller: Requester<Result>,
  ): void {
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
