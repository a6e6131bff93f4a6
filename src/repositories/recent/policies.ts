/**
 * Policies by prefix, and the cache of them in this process.
 *
 * Invariants: `recentn_policy_epoch` has one row, which every change of a policy locks and raises. Reads may use policies
 * that are up to `MAX_AGE_MS` old; a write asks for the epoch once it has its lock, and reads the policies again if that has
 * changed. A new group gets the policies of the moment (the epoch row is locked for share, so that a change comes either
 * wholly before, or finds the group). A layout never goes back to an older policy.
 */
import type { Reader, Tx } from '../../database/engine'
import { LostRows } from '../../database/schema/schema'
import type { Tables } from '../../database/tables'
import type { Mode, OwnSettings, Settings } from '../../shared/group-types'
import { performance } from '../../shared/platform'

/** Half of the five seconds within which every process applies a changed policy. */
const MAX_AGE_MS = 2500

export interface PolicyRow extends Settings {
  prefix: string
}

export const selectEpoch = ({ tables }: Reader) => `SELECT epoch FROM ${tables.policyEpoch} WHERE id = 1`
/** Throws `schema_missing` for a row that is gone: a test may have emptied the table. */
export function epochOf(value: unknown, { policyEpoch }: Tables): bigint {
  if (value === undefined || value === null) throw new LostRows([policyEpoch])
  return BigInt(value as string)
}

/** The epoch, and all policies unless it is the given one: a join that reads no policies then. */
const selectNewer = ({ engine, tables }: Reader, lock: string) =>
  engine.unionAll([
    `SELECT ${engine.bigint('epoch')} AS epoch, NULL AS prefix, NULL AS capacity, NULL AS mode, NULL AS ttl_seconds, ` +
      `NULL AS forget_empty_seconds FROM ${tables.policyEpoch} WHERE id = 1${lock}`,
    `SELECT NULL, p.prefix, p.capacity, p.mode, p.ttl_seconds, p.forget_empty_seconds FROM ${tables.policyEpoch} e ` +
      `JOIN ${tables.policies} p WHERE e.id = 1 AND e.epoch <> ?${lock}`,
  ])

export class PolicySet {
  readonly #byPrefix: ReadonlyMap<string, PolicyRow>
  /** The lengths (in UTF-16 units) that prefixes have, longest first: the only ones worth looking up. */
  readonly #lengths: readonly number[]

  constructor(
    readonly epoch: bigint,
    policies: readonly PolicyRow[],
    readonly defaultCapacity: number,
  ) {
    this.#byPrefix = new Map(policies.map((policy) => [policy.prefix, policy]))
    this.#lengths = [...new Set(policies.map(({ prefix }) => prefix.length))].sort((a, b) => b - a)
  }

  /** The settings in force of a group: its own, then those of the longest matching prefix, then the defaults. */
  settingsOf(group: string, own: OwnSettings): Settings {
    const policy = this.#match(group)
    const { ttlSeconds = policy?.ttlSeconds ?? null, forgetEmptySeconds = policy?.forgetEmptySeconds ?? null } = own
    return {
      capacity: own.capacity ?? policy?.capacity ?? this.defaultCapacity,
      mode: own.mode ?? policy?.mode ?? 'history',
      ttlSeconds,
      forgetEmptySeconds,
    }
  }

  /** The same with another policy of this prefix; null for none. */
  with(prefix: string, policy: PolicyRow | null): PolicySet {
    const others = [...this.#byPrefix.values()].filter((each) => each.prefix !== prefix)
    return new PolicySet(this.epoch, policy === null ? others : [...others, policy], this.defaultCapacity)
  }

  /** The policy that a group follows where it has no own setting; null where none matches. */
  prefixOf(group: string): string | null {
    return this.#match(group)?.prefix ?? null
  }

  #match(group: string): PolicyRow | undefined {
    for (const length of this.#lengths) {
      if (length > group.length) continue
      const policy = this.#byPrefix.get(group.slice(0, length))
      if (policy) return policy
    }
    return undefined
  }
}

/** The policies as one process (or, with a parent, one transaction) knows them. */
export class PolicyCache {
  #set: PolicySet | null = null
  #readAt = Number.NEGATIVE_INFINITY
  /** The read that is in flight: callers that need the policies before it ends share it. */
  #reading: Promise<PolicySet> | null = null
  #forgets = 0
  readonly #inTransaction: boolean
  #isChanged = false

  constructor(
    readonly defaultCapacity: number,
    private parent: PolicyCache | null = null,
  ) {
    this.#inTransaction = parent !== null
  }

  /** A cache for one transaction: it begins with the policies of this one, and does not share what it reads. */
  forTransaction(): PolicyCache {
    return new PolicyCache(this.defaultCapacity, this)
  }

  /**
   * Policies that are at most `MAX_AGE_MS` old, and not older than the epoch or those of these heads. In a transaction at
   * REPEATABLE READ a plain read may show older ones than the head that was just locked: then a locking read.
   */
  async current(reader: Reader, heads: Iterable<{ policyEpoch: bigint }>, epoch = 0n): Promise<PolicySet> {
    let newest = epoch
    for (const { policyEpoch } of heads) if (policyEpoch > newest) newest = policyEpoch
    const known = this.#known()
    if (known && known.epoch >= newest) return known
    if (!('run' in reader)) return this.#shared(reader, newest)
    const read = await this.#read(reader, '')
    return read.epoch >= newest ? read : this.#read(reader, reader.engine.forShare)
  }

  /** Readers that find the policies too old read them once. A read that began before an epoch was seen may not show it. */
  async #shared(reader: Reader, newest: bigint): Promise<PolicySet> {
    const shared = await this.#reading?.catch(() => null)
    if (shared && shared.epoch >= newest) return shared
    const again = this.#known()
    if (again && again.epoch >= newest) return again
    const reading = this.#read(reader, '').finally(() => {
      if (this.#reading === reading) this.#reading = null
    })
    this.#reading = reading
    return reading
  }

  /** The policies of the moment, which no process changes until the transaction ends. */
  locked(tx: Tx): Promise<PolicySet> {
    return this.#read(tx, tx.engine.forShare)
  }

  /**
   * The same for a transaction that has just read this epoch. If its policies are known, and statements go together, the
   * lock is taken with the next statement that is awaited, or the commit. That fails if the epoch has changed since.
   */
  async lockedAt(tx: Tx, epoch: bigint): Promise<PolicySet> {
    const known = this.#latest
    if (!tx.gathers || known?.epoch !== epoch) return this.locked(tx)
    // EXP(710) is beyond the range of a double, which is an error; EXP(0) is none.
    await tx.later(
      `SELECT EXP(710 * (epoch <> ${epoch})) FROM ${tx.tables.policyEpoch} WHERE id = 1${tx.engine.forShare}`,
    )
    return known
  }

  /** Reads the policies again when they are needed next, whatever the process knows. */
  forget(): void {
    this.#isChanged = true
    this.#forgets++
    this.#reading = null
    this.parent = null
    this.#readAt = Number.NEGATIVE_INFINITY
  }

  /** The policies that were read last, however old. */
  get #latest(): PolicySet | null {
    return this.#set ?? (this.parent === null ? null : this.parent.#set)
  }

  #known(): PolicySet | null {
    // A transaction that changed policies may have taken it back, to a savepoint.
    if (this.#inTransaction && this.#isChanged) return null
    if (this.#set && performance.now() - this.#readAt <= MAX_AGE_MS) return this.#set
    return this.parent === null ? null : this.parent.#known()
  }

  async #read(reader: Reader, lock: string): Promise<PolicySet> {
    const readAt = performance.now()
    const forgets = this.#forgets
    const known = this.#latest
    const rows = await reader.rows(selectNewer(reader, lock), [known?.epoch ?? -1n])
    const epoch = epochOf(rows.find((row) => row.epoch !== null)?.epoch, reader.tables)
    const policies = rows.filter(({ prefix }) => prefix !== null).map(policyOf)
    const set = known?.epoch === epoch ? known : new PolicySet(epoch, policies, this.defaultCapacity)
    // A read that began before `forget` may show the policies from before the change.
    if (forgets === this.#forgets) {
      this.#set = set
      this.#readAt = readAt
    }
    return set
  }
}

export function policyOf(row: Record<string, unknown>): PolicyRow {
  return {
    prefix: row.prefix as string,
    capacity: Number(row.capacity),
    mode: row.mode as Mode,
    ttlSeconds: row.ttl_seconds === null ? null : Number(row.ttl_seconds),
    forgetEmptySeconds: row.forget_empty_seconds === null ? null : Number(row.forget_empty_seconds),
  }
}
