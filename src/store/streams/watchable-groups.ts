/**
 * Groups whose changes can be listened to: whatever this process commits wakes those who listen, at once. What it does
 * not note here (the transactions of others) they find by themselves, a little later.
 */
import type { Session } from '../../database/engine'
import type { Outcome } from '../../repositories/recent/append'
import type { PolicyCache } from '../../repositories/recent/policies'
import { RecentRepository } from '../../repositories/recent/repository'
import type { NewRow } from '../../repositories/recent/ring'
import type { Group, OwnSettings, Policy, PolicySettings, Replacing } from '../../repositories/recent/types'
import { WatchReads } from '../../repositories/recent/watch'
import type { Writer } from '../../repositories/writers'
import { GroupStreams } from './group-streams'

export class WatchableGroups extends RecentRepository {
  readonly streams: GroupStreams

  /** `onError` is told when listeners can't be told of changes, for another reason than that the database is away. */
  constructor(session: Session, policies: PolicyCache, onError?: (error: unknown) => void) {
    super(session, policies)
    this.streams = new GroupStreams({ reads: new WatchReads(session, policies), onError })
  }

  override async appendBatch(
    requests: readonly (readonly NewRow[])[],
    writer: Writer,
    retryMs?: number,
  ): Promise<Outcome[]> {
    const outcomes = await super.appendBatch(requests, writer, retryMs)
    for (const rows of requests) this.#appended(rows)
    return outcomes
  }

  override async appendAlone(rows: readonly NewRow[], writer: Writer) {
    const appended = await super.appendAlone(rows, writer)
    this.#appended(rows)
    return appended
  }

  override clear(group: string): Promise<{ deleted: number }> {
    return this.#after(super.clear(group), group)
  }

  override remove(group: string, id: bigint): Promise<boolean> {
    return this.#after(super.remove(group, id), group)
  }

  override put(
    group: string,
    settings?: OwnSettings,
    options?: Replacing<OwnSettings>,
  ): Promise<Group & { created: boolean }> {
    return this.#after(super.put(group, settings, options), group)
  }

  override delete(group: string): Promise<boolean> {
    return this.#after(super.delete(group), group)
  }

  override eraseMember(member: string, options?: { prefix?: string }): Promise<{ deleted: number }> {
    return this.#after(super.eraseMember(member, options))
  }

  override putPolicy(
    prefix: string,
    policy: PolicySettings,
    options?: Replacing<PolicySettings>,
  ): Promise<Policy & { created: boolean }> {
    return this.#after(super.putPolicy(prefix, policy, options))
  }

  override deletePolicy(prefix: string): Promise<boolean> {
    return this.#after(super.deletePolicy(prefix))
  }

  override async sweep(): Promise<{ deleted: number; more: boolean }> {
    const swept = await super.sweep()
    if (swept.deleted > 0) this.streams.wakeAll()
    return swept
  }

  /** Wakes those who listen to the group, or to any. */
  async #after<T>(change: Promise<T>, group?: string): Promise<T> {
    const result = await change
    if (group === undefined) this.streams.wakeAll()
    else this.streams.wake([group])
    return result
  }

  #appended(rows: readonly NewRow[]): void {
    if (this.streams.watched === 0) return
    this.streams.wake(rows.map(({ group }) => group))
  }
}
