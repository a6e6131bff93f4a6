/** Shared by the suites of transactions: the ways to run one, one that is rolled back, and a user's own table. */
import type { Store, Transaction } from '../../../src/index'
import type { Context } from '../context'

export type Work = (tx: Transaction) => Promise<unknown>

export interface TransactionTools {
  boom: Error
  /** `store.transaction`, and `store.within` in a transaction of the user's. */
  WAYS: readonly (readonly [string, (work: Work) => Promise<unknown>])[]
  /** `WAYS`, and `store.within` in a transaction that a query runner begins and ends by hand. */
  ALL_WAYS: TransactionTools['WAYS']
  inTransaction(work: Work, store?: Store): Promise<unknown>
  /** Runs the work in a transaction that then fails by `boom`. */
  rolledBack(run: (work: Work) => Promise<unknown>, work: Work): Promise<void>
  /** Makes the table of notes. */
  makeNotes(): Promise<unknown>
  /** Inserts its one parameter into the table of notes. */
  insert: string
  isNoted(note: string): Promise<boolean>
}

/** `notes` is the name of a table that no other suite has. */
export function transactionTools(context: Context, notes: string): TransactionTools {
  const query = (sql: string, parameters: unknown[] = []) => context.store.dataSource.query(sql, parameters)
  const boom = new Error('boom')
  const inTransaction = (work: Work, store: Store = context.store) => store.transaction(work)
  const within = (work: Work) => context.store.dataSource.transaction((manager) => work(context.store.within(manager)))
  const byRunner = async (work: Work) => {
    const runner = context.store.dataSource.createQueryRunner()
    try {
      await runner.startTransaction()
      await work(context.store.within(runner))
      await runner.commitTransaction()
    } catch (error) {
      await runner.rollbackTransaction()
      throw error
    } finally {
      await runner.release()
    }
  }
  const WAYS: TransactionTools['WAYS'] = [
    ['store.transaction', inTransaction],
    ['store.within', within],
  ]
  return {
    boom,
    WAYS,
    ALL_WAYS: [...WAYS, ['a query runner', byRunner]],
    inTransaction,
    async rolledBack(run, work) {
      const failed = run(async (tx) => {
        await work(tx)
        throw boom
      })
      await expect(failed).rejects.toBe(boom)
    },
    makeNotes: () => query(`CREATE TABLE ${notes} (note varchar(100) NOT NULL PRIMARY KEY)`),
    insert: `INSERT INTO ${notes} (note) VALUES (?)`,
    isNoted: async (note) => (await query(`SELECT note FROM ${notes} WHERE note = ?`, [note])).length === 1,
  }
}
