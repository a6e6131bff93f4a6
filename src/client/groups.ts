/** Groups of recent items, as `store.groups` of the library has them; policies and members too. */
import { everyOf, orNull, parted, wasThere } from './results'
import type { CallOptions, Transport } from './transport'
import { type GroupWatch, type WatchOptions, watchGroup } from './watch'
import type {
  Appended,
  Group,
  GroupPage,
  Item,
  MemberItems,
  Policy,
  PolicyPage,
  Recent,
  RecentMany,
} from './wire/answers'
import type { Operations } from './wire/operations'
import type { NewGroupItem, NewItem, NewPolicy, NewSettings, OwnSettings, PolicySettings } from './wire/requests'

type Query<Id extends keyof Operations> = Operations[Id]['query'] & CallOptions

export type RecentOptions = Query<'recentItems'>
export type RecentManyOptions = Omit<Query<'recentItemsOfMany'>, 'group'>
export type MemberOptions = Query<'memberItems'>
export type ErasureOptions = Query<'eraseMember'>
export type GroupListOptions = Query<'listGroups'>
export type PolicyListOptions = Query<'listPolicies'>

/** Where something else than `replaces` is set by now, nothing changes, and it throws `settings_changed`; null: nothing. */
type Replacing<Body extends { replaces?: unknown }> = Pick<Body, 'replaces'> & CallOptions

export class GroupsClient {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /**
   * Appends one item; creates the group where there is none. `appended` is false when an item with its `eventId` was
   * there: it is that item. Only with an `eventId` it is sent again where no answer came.
   */
  async append(group: string, item: NewItem = {}, options?: CallOptions): Promise<Item & { appended: boolean }> {
    const repeat = item.eventId ? 'safe' : 'once'
    const { status, value } = await this.#transport.call(
      'appendItem',
      { path: { group }, body: item },
      { repeat, ...options },
    )
    return Object.assign(value, { appended: status === 201 })
  }

  /**
   * Appends 1 to 1,000 items to any groups: one commit, all or nothing; where each is, in the order given. It is sent
   * again where no answer came when all have an `eventId`.
   */
  async appendMany(items: readonly NewGroupItem[], options?: CallOptions): Promise<Appended['items']> {
    const repeat = items.every(({ eventId }) => eventId) ? 'safe' : 'once'
    return (await this.#transport.call('appendItems', { body: { items } }, { repeat, ...options })).value.items
  }

  /** The newest items of one group, newest first; of a group that does not exist none. */
  async recent(group: string, options: RecentOptions = {}): Promise<Recent & { tag: string }> {
    const [query, call] = parted(options)
    const { value, tag } = await this.#transport.call('recentItems', { path: { group }, query }, call)
    return Object.assign(value, { tag })
  }

  /** The same for who has a page of this group, read with the same options: null while it is still the answer, by its `tag`. */
  async recentIfChanged(
    group: string,
    tag: string,
    options: RecentOptions = {},
  ): Promise<(Recent & { tag: string }) | null> {
    const [query, call] = parted(options)
    const headers = { 'If-None-Match': `"${tag}"` }
    const answer = await this.#transport.call('recentItems', { path: { group }, query, headers }, call)
    return answer.status === 304 ? null : Object.assign(answer.value, { tag: answer.tag })
  }

  /** All items of a group, newest first, page by page of `limit`. */
  async *allItems(group: string, options: RecentOptions = {}): AsyncGenerator<Item, void, undefined> {
    let { before } = options
    for (;;) {
      const { items, nextBefore } = await this.recent(group, { limit: 100, ...options, before })
      yield* items
      if (nextBefore === null) return
      before = nextBefore
    }
  }

  /** The newest items of 1 to 100 groups, in the order asked. */
  async recentMany(groups: readonly string[], options: RecentManyOptions = {}): Promise<RecentMany['groups']> {
    const [query, call] = parted(options)
    const answer = await this.#transport.call('recentItemsOfMany', { query: { ...query, group: groups } }, call)
    return answer.value.groups
  }

  /** Removes all items; ids go on from where they were. */
  async clear(group: string, options?: CallOptions): Promise<{ deleted: number }> {
    return (await this.#transport.call('clearGroup', { path: { group } }, options)).value
  }

  /** Removes one item; false when the window has none of this id. */
  remove(group: string, id: bigint, options?: CallOptions): Promise<boolean> {
    return wasThere(this.#transport.call('removeItem', { path: { group, id } }, options), 'item_not_found')
  }

  /** The group's settings in force; null for a group that does not exist. */
  async get(group: string, options?: CallOptions): Promise<Group | null> {
    const answer = await orNull(this.#transport.call('getGroup', { path: { group } }, options), 'group_not_found')
    return answer?.value ?? null
  }

  /** Creates the group or replaces its own settings; one left out follows the policy. */
  async put(
    group: string,
    settings: OwnSettings = {},
    options: Replacing<NewSettings> = {},
  ): Promise<Group & { created: boolean }> {
    const [more, call] = parted(options)
    const { status, value } = await this.#transport.call(
      'putGroup',
      { path: { group }, body: { ...settings, ...more } },
      call,
    )
    return Object.assign(value, { created: status === 201 })
  }

  /** Forgets the group and its items; false when there was none. */
  delete(group: string, options?: CallOptions): Promise<boolean> {
    return wasThere(this.#transport.call('deleteGroup', { path: { group } }, options), 'group_not_found')
  }

  /** Groups by name: a page. */
  async list(options: GroupListOptions = {}): Promise<GroupPage> {
    const [query, call] = parted(options)
    return (await this.#transport.call('listGroups', { query }, call)).value
  }

  /** All groups by name, page by page of `limit`. */
  all(options: GroupListOptions = {}): AsyncGenerator<Group, void, undefined> {
    const page = async (after: string | undefined) => {
      const { groups, nextAfter } = await this.list({ ...options, after })
      return { all: groups, nextAfter }
    }
    return everyOf(page, options.after)
  }

  /**
   * What happens to the group from now on, or since the item `after`, until it is left (`break`, `return()`, the signal).
   * It connects again by itself and goes on where it was. Throws what will not pass: `unauthorized`, `forbidden`,
   * `invalid_input`, an answer that is not recentn's.
   */
  watch(group: string, options: WatchOptions = {}): GroupWatch {
    return watchGroup(this.#transport, group, options)
  }

  /** What one member did in all groups, newest first: a page. */
  async memberItems(member: string, options: MemberOptions = {}): Promise<MemberItems> {
    const [query, call] = parted(options)
    return (await this.#transport.call('memberItems', { path: { member }, query }, call)).value
  }

  /** All of that, page by page of `limit`. */
  allMemberItems(member: string, options: MemberOptions = {}): AsyncGenerator<Item, void, undefined> {
    const page = async (after: string | undefined) => {
      const { items, nextAfter } = await this.memberItems(member, { ...options, after })
      return { all: items, nextAfter }
    }
    return everyOf(page, options.after)
  }

  /** Erases that, as it is when the call arrives, or what is in groups whose names begin with `prefix`; repeatable. */
  async eraseMember(member: string, options: ErasureOptions = {}): Promise<{ deleted: number }> {
    const [query, call] = parted(options)
    return (await this.#transport.call('eraseMember', { path: { member }, query }, call)).value
  }

  /** Null where there is none. */
  async getPolicy(prefix: string, options?: CallOptions): Promise<Policy | null> {
    const answer = await orNull(this.#transport.call('getPolicy', { path: { prefix } }, options), 'policy_not_found')
    return answer?.value ?? null
  }

  /** Creates or replaces the policy of the groups whose names begin with `prefix`. */
  async putPolicy(
    prefix: string,
    policy: PolicySettings,
    options: Replacing<NewPolicy> = {},
  ): Promise<Policy & { created: boolean }> {
    const [more, call] = parted(options)
    const { status, value } = await this.#transport.call(
      'putPolicy',
      { path: { prefix }, body: { ...policy, ...more } },
      call,
    )
    return Object.assign(value, { created: status === 201 })
  }

  /** False when there was none. */
  deletePolicy(prefix: string, options?: CallOptions): Promise<boolean> {
    return wasThere(this.#transport.call('deletePolicy', { path: { prefix } }, options), 'policy_not_found')
  }

  /** Policies by prefix: a page. */
  async listPolicies(options: PolicyListOptions = {}): Promise<PolicyPage> {
    const [query, call] = parted(options)
    return (await this.#transport.call('listPolicies', { query }, call)).value
  }

  /** All policies by prefix, page by page of `limit`. */
  allPolicies(options: PolicyListOptions = {}): AsyncGenerator<Policy, void, undefined> {
    const page = async (after: string | undefined) => {
      const { policies, nextAfter } = await this.listPolicies({ ...options, after })
      return { all: policies, nextAfter }
    }
    return everyOf(page, options.after)
  }
}
