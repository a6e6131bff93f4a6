/**
 * The memory of one store for groups, and the listeners that it wakes after its commits. All repositories of the store
 * share it: its own, and those inside transactions. Invariant: no decision depends on it alone.
 */
import type { Tx } from '../../database/engine'
import { RecentnError } from '../../shared/errors'
import { Layouts } from './layouts'
import { PolicyCache } from './policies'
import { Windows } from './windows'

interface GroupListeners {
  wake(groups: Iterable<string>): void
  /** Groups have changed, and it is not known which. */
  wakeAll(): void
}

export class GroupMemory {
  readonly policies: PolicyCache
  readonly layouts: Layouts
  #windows: Windows
  listeners: GroupListeners | null = null
  /** The store's counts of items, raised when they are committed. */
  counts: { itemsAppended: number; itemsDeduplicated: number } | null = null
  readonly #store: GroupMemory

  constructor(defaultCapacity = 10, windowBytes = 32 * 1024 * 1024, store: GroupMemory | null = null) {
    this.policies = store ? store.policies.forTransaction() : new PolicyCache(defaultCapacity)
    this.layouts = store ? store.layouts : new Layouts()
    this.#windows = new Windows(windowBytes)
    this.#store = store ?? this
  }

  get windows(): Windows {
    return this.#store.#windows
  }

  /**
   * The database may be an older copy of itself now, whose next versions have been given before. A call under way remembers in
   * the windows from before, which no call reads any more.
   */
  forgetWindows(): void {
    this.#store.#windows = new Windows(this.windows.maxBytes)
  }

  /** The memory of one transaction, which may see older policies than the store, and its own. */
  forTransaction(): GroupMemory {
    return new GroupMemory(this.policies.defaultCapacity, 0, this)
  }

  /** The transaction changes these groups: one call for each operation. */
  changes(tx: Tx, groups: readonly string[]): void {
    tx.afterCommit(() => this.windows.forget(groups))
    this.appendsTo(tx, groups)
  }

  /** The same of a transaction that remembers by itself what it writes. */
  appendsTo(tx: Tx, groups: Iterable<string>): void {
    tx.afterCommit(() => this.#store.listeners?.wake(groups))
  }

  /** Counts what requests have appended, once it is committed. */
  appended(tx: Tx, outcomes: readonly (readonly { appended: boolean }[] | RecentnError)[]): void {
    const { counts } = this.#store
    if (counts === null) return
    tx.afterCommit(() => {
      for (const outcome of outcomes) {
        if (outcome instanceof RecentnError) continue
        for (const { appended } of outcome) counts[appended ? 'itemsAppended' : 'itemsDeduplicated']++
      }
    })
  }

  /** The transaction changes policies, and so any group. */
  changesPolicies(tx: Tx): void {
    this.policies.forget()
    tx.afterCommit(() => {
      this.#store.policies.forget()
      this.#store.listeners?.wakeAll()
    })
  }
}
