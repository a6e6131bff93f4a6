/**
 * Transactions that a caller has begun on a query runner of TypeORM's. Their beginning and their end are heard by a subscriber of
 * the DataSource, and their statements, in which savepoints are seen, too.
 *
 * Invariant: the transaction ends between two of our operations, and none of our statements runs after its end, which would
 * commit by itself. A commit, and the end of a transaction inside of it (a savepoint), waits for the operations that run. A
 * rollback of the whole transaction waits for nothing.
 *
 * An end is not heard where it does not pass through the runner: by the driver's own connection, by DDL that commits implicitly,
 * in a stored procedure. Then no listener runs, and what they would have woken finds the news by polling.
 */
import type { EntitySubscriberInterface, QueryRunner } from 'typeorm'
import { AfterCommit } from '../transaction-guard'
import { settled } from '../turns'

interface CallersTransaction {
  isOpen: boolean
  readonly listeners: AfterCommit
  /** The object by which its operations take turns. */
  readonly source: object
}

const known = new WeakMap<QueryRunner, CallersTransaction>()

interface TransactionEvent {
  queryRunner: QueryRunner
}

/** How many transactions are open on the runner, one in the other. */
const depthOf = (runner: QueryRunner) => (runner as unknown as { transactionDepth: number }).transactionDepth

async function ending(runner: QueryRunner, isCommit: boolean): Promise<void> {
  const transaction = known.get(runner)
  if (transaction === undefined) return
  const isWhole = depthOf(runner) <= 1
  if (isCommit || !isWhole) await settled(transaction.source)
  if (isWhole) transaction.isOpen = false
}

/** The subscriber to the transactions of a DataSource, however many stores use it. It listens to nothing of entities. */
export const TRANSACTION_ENDS: EntitySubscriberInterface = {
  afterTransactionStart({ queryRunner }: TransactionEvent) {
    // Another one was before it, whose end was not heard.
    if (depthOf(queryRunner) === 1) known.delete(queryRunner)
  },
  beforeTransactionCommit: ({ queryRunner }: TransactionEvent) => ending(queryRunner, true),
  beforeTransactionRollback: ({ queryRunner }: TransactionEvent) => ending(queryRunner, false),
  afterQuery({ queryRunner, query, success }: TransactionEvent & { query: string; success: boolean }) {
    const transaction = known.get(queryRunner)
    if (transaction === undefined || !success || !transaction.listeners.ended(query)) return
    transaction.isOpen = false
    known.delete(queryRunner)
  },
}

export function callersTransaction(runner: QueryRunner, source: object): CallersTransaction {
  const found = known.get(runner)
  if (found) return found
  const { subscribers } = runner.connection
  if (!subscribers.includes(TRANSACTION_ENDS)) subscribers.push(TRANSACTION_ENDS)
  const transaction = { isOpen: true, listeners: new AfterCommit(), source }
  known.set(runner, transaction)
  return transaction
}
