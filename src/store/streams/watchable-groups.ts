/**
 * Groups whose changes can be listened to: whatever this process commits wakes those who listen, at once. What it does
 * not note here (the transactions of others) they find by themselves, a little later.
 */
import type { Session } from '../../database/engine'
import type { PolicyCache } from '../../repositories/recent/policies'
import { RecentRepository } from '../../repositories/recent/repository'
import type { Group, OwnSettings, Policy, PolicySettings, Replacing } from '../../repositories/recent/types'
import { WatchReads } from '../../repositories/recent/watch'
import { GroupStreams } from './group-streams'

export class WatchableGroups extends RecentRepository {
  readonly streams: GroupStreams

  /** `onError` is told when listeners can't be told of changes, for another reason than that the database is away. */
  constructor(session: Session, policies: PolicyCache, onError?: (error: unknown) => void) {
    super(session, policies)
    this.streams = new GroupStreams({ reads: new WatchReads(session, policies), onError })
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
}
