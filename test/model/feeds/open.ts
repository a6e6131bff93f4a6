/** A transaction of the model that has done its work and is not committed yet. */
import type { Store, Transaction } from '../../../src/index'
import { moment } from '../../support/timing'

const rolledBack = new Error('rolled back')

/** Runs `work` in a transaction that is committed, or rolled back at its end. */
export async function inTransaction(
  store: Store,
  isCommitted: boolean,
  work: (tx: Transaction) => Promise<unknown>,
): Promise<void> {
  const done = store.transaction(
    async (tx) => {
      await work(tx)
      if (!isCommitted) throw rolledBack
    },
    { retries: 0 },
  )
  await done.catch((error) => {
    if (error !== rolledBack) throw error
  })
}

export class OpenTransaction {
  readonly begun: Promise<unknown>
  readonly #done: Promise<void>
  readonly #end = moment()
  #isCommitted: boolean

  /** `locks`: what others would wait for. `committed`: called once it is. */
  constructor(
    store: Store,
    readonly locks: readonly string[],
    isCommitted: boolean,
    work: (tx: Transaction) => Promise<unknown>,
    readonly committed: () => void,
  ) {
    this.#isCommitted = isCommitted
    const begin = moment()
    this.#done = store.transaction(
      async (tx) => {
        await work(tx)
        begin.come()
        await this.#end.reached
        if (!this.#isCommitted) throw rolledBack
      },
      { retries: 0 },
    )
    // Where it fails before that, it has its error to tell.
    this.begun = Promise.race([begin.reached, this.#done])
  }

  async end(isAborted = false): Promise<void> {
    if (isAborted) this.#isCommitted = false
    this.#end.come()
    await this.#done.catch((error) => {
      if (error !== rolledBack) throw error
    })
    if (this.#isCommitted) this.committed()
  }
}
