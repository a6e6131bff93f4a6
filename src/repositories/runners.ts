/**
 * How a repository has its operations run. In a transaction, and without a store, each request runs by itself (`alone`). A
 * store's runner lets the requests of many callers share commits and statements. The batches of an operation are defined
 * beside its SQL.
 */
import type { Reader, Session, Tx, WriteOptions } from '../database/engine'
import { invalidInput, RecentnError } from '../shared/errors'
import type { Merging, Requester, Waiting } from '../shared/requests'
import { forget, hasArrived, newWriter, type Writer } from './writers'

export interface Runner<Memory> {
  /** Throws where the request cannot be taken. */
  hand<Request, Result>(
    operation: Runnable<Memory, Request, Result>,
    request: Request,
    requester: Requester<Result>,
  ): void
}

/** The work of a runner: an operation that shares commits or statements, or one that runs by itself. */
export interface Runnable<Memory, Request, Result> {
  /** Runs one request by itself. */
  alone(session: Session, memory: Memory, request: Request): Promise<Result>
}

/** How group commit runs a batch. */
export interface BatchRun {
  /** Whose mark the transaction is to leave. */
  writer: Writer
  /** True when the same requests have failed: what makes an ordinary run faster and may fail is left out. */
  isCareful: boolean
}

export interface CommitOperation<Memory, Request, Result> {
  /** The counted things, as an error names them. */
  what: string
  /** Requests of one key keep their order. */
  keyOf(request: Request, memory: Memory): string | number
  sizeOf(request: Request): { items: number; bytes: number }
  /** Writes the requests: a result or an error for each. Without `batch` they are one caller's, in a transaction of any kind. */
  run(
    tx: Tx,
    memory: Memory,
    requests: readonly Request[],
    batch?: BatchRun,
  ): Promise<readonly (Result | RecentnError)[]>
  /** For each request the name of a lock that it needs and another transaction holds; null if there is none. Waits for none. */
  heldLocks(reader: Reader, requests: readonly Request[]): Promise<readonly (string | null)[]>
}

export function committing<Memory, Request, Result>(operation: CommitOperation<Memory, Request, Result>) {
  const alone: Runnable<Memory, Request, Result>['alone'] = (session, memory, request) =>
    session.write((tx) => operation.run(tx, memory, [request]).then(resultOf))
  /** The options of group commit, apart from numbers. */
  const shared = (session: Session, memory: Memory) => ({
    ...operation,
    keyOf: (request: Request) => operation.keyOf(request, memory),
    heldLocks: (requests: readonly Request[]) => session.read((reader) => operation.heldLocks(reader, requests)),
    run: (requests: readonly Request[], { retryMs, lockSeconds, ...batch }: BatchRun & WriteOptions) => {
      const arrived = (tx: Tx) => hasArrived(tx, batch.writer)
      return session.write((tx) => operation.run(tx, memory, requests, batch), { arrived, retryMs, lockSeconds })
    },
    newWriter,
    forget: (writers: readonly Writer[]) => forget(session, writers),
  })
  return { ...operation, alone, shared }
}

/** An operation whose requests one statement answers, or a few. */
export interface MergeOperation<Memory, Request, Result> extends Merging<Request, Result> {
  /** Answers requests of one kind: a result or an error for each. */
  run(session: Session, memory: Memory, requests: readonly Request[]): Promise<readonly (Result | RecentnError)[]>
}

export function merging<Memory, Request, Result>(operation: MergeOperation<Memory, Request, Result>) {
  const alone: Runnable<Memory, Request, Result>['alone'] = (session, memory, request) =>
    operation.run(session, memory, [request]).then(resultOf)
  /** The options of merged calls, apart from numbers. */
  const shared = (session: Session, memory: Memory) => ({
    ...operation,
    run: (requests: readonly Request[]) => operation.run(session, memory, requests),
  })
  return { ...operation, alone, shared }
}

function resultOf<Result>([result]: readonly (Result | RecentnError)[]): Result {
  if (result instanceof RecentnError) throw result
  return result as Result
}

/** In a transaction, and without a store. */
export function alone<Memory>(session: Session, memory: Memory): Runner<Memory> {
  return {
    hand(operation, request, requester) {
      const done = operation.alone(session, memory, request).then((result) => requester.resolve(result))
      done.catch((error) => requester.reject(error))
    },
  }
}

/** Lets callers wait. Throws where a call can't be taken. */
export interface Waits<Mark = void> {
  enter(topic: string, options: { waitMs: number; signal: AbortSignal | undefined }): Waiting<Mark>
}

const once: Waiting<unknown> = { look: () => {}, again: async () => false, leave: () => {} }

/** Calls look once, and can't wait. */
export const noWaits: Waits<unknown> = {
  enter(_, { waitMs }) {
    if (waitMs === 0) return once
    throw invalidInput([{ pointer: '/waitSeconds', detail: 'must be 0 inside a transaction, and without a store' }])
  },
}
