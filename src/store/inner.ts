/** The calls of our own parts on a store: counts for monitoring, bounds of names, whether there are keys. */
import type { NamedKind } from '../fields/options'
import type { ApiKey } from '../shared/key-types'
import type { StoreCounts, StoreTotals } from './counts'
import type { Store, StoreKeys } from './types'

export interface InnerKeys extends StoreKeys {
  /**
   * `timeLimitMs`: if the database does not answer in this time, the answer is what this process knew of the key last, however
   * long ago, or `database_unavailable` if it knew nothing. For routes that work without a database.
   */
  verify(key: string, options?: { timeLimitMs?: number | undefined }): Promise<ApiKey | null>
  /** Whether there is a key, or ever was one. */
  exist(): Promise<boolean>
  /** As `exist`, without waiting for the database; null if it would have to be asked. */
  known(): boolean | null
}

export interface InnerStore extends Store {
  readonly keys: InnerKeys
  /** The work of this process with the store, in plain numbers; sends no statement. */
  counts(): StoreCounts
  /**
   * The content of all queues and feeds together. Counted along indexes, which takes the longer the more there is, and kept: an
   * answer may be 5 seconds old, or older where counting takes long.
   */
  totals(): Promise<StoreTotals>
  /** Whether the name exists, or fewer than `most` names of its kind begin with `prefix`. */
  mayCreate(kind: NamedKind, name: string, bound: { prefix: string; most: number }): Promise<boolean>
}

/** Every store that this package opens is one. */
export const innerOf = (store: Store): InnerStore => store as InnerStore
