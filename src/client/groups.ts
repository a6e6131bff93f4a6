/** Groups of recent items, policies and members: the methods of the library's `store.groups`, without `watch`. */
import * as operations from './operations'
import { type CallOptions, everyOf, parted, type Transport } from './transport'
import type Wire from './wire'
import type {
  Appended,
  Group,
  GroupPage,
  Item,
  MemberItems,
  NewGroupItem,
  NewItem,
  NewPolicy,
  NewSettings,
  OwnSettings,
  Policy,
  PolicyPage,
  PolicySettings,
  Recent,
  RecentMany,
} from './wire'

type QueryOptions<Id extends keyof Wire> = Wire[Id]['query'] & CallOptions

export type RecentOptions = QueryOptions<'recentItems'>
export type RecentManyOptions = Omit<QueryOptions<'recentItemsOfMany'>, 'group'>
export type MemberOptions = QueryOptions<'memberItems'>
export type ErasureOptions = QueryOptions<'eraseMember'>
export type GroupListOptions = QueryOptions<'listGroups'>
export type PolicyListOptions = QueryOptions<'listPolicies'>

/**
 * `replaces` are the settings that the caller expects to replace; null expects none. If there are others by now, nothing
 * changes and the call throws `settings_changed`.
 */
type ReplaceOptions<Body extends { replaces?: unknown }> = Pick<Body, 'replaces'> & CallOptions

/** `Payload` is the type that the caller says payloads have: nothing checks it. */
export class GroupCalls<Base = unknown> {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /**
   * Appends one item, and creates the group if there is none. `appended` is false if the group had an item with this
   * `eventId` already, which is returned then. A call without an `eventId` is not repeated if no answer came.
   */
  async append<Payload extends Base = Base>(
    group: string,
    item: NewItem<NoInfer<Payload>> = {},
    options?: CallOptions,
  ): Promise<Item<Payload> & { appended: boolean }> {
    const repeat = item.eventId ? 'safe' : 'once'
    const parts = { path: { group }, body: item }
    const { status, value } = await this.#transport.call(operations.appendItem, parts, { repeat, ...options })
    return Object.assign(value as Item<Payload>, { appended: status === 201 })
  }

  /**
   * Appends 1 to 1,000 items to any groups in one commit, all or none. Returns where each one is, in the order given. The
   * call is repeated if no answer came only if all items have an `eventId`.
   */
  async appendMany<Payload extends Base = Base>(
    items: readonly NewGroupItem<NoInfer<Payload>>[],
    options?: CallOptions,
  ): Promise<Appended['items']> {
    const repeat = items.every(({ eventId }) => eventId) ? 'safe' : 'once'
    return (await this.#transport.value(operations.appendItems, { body: { items } }, { repeat, ...options })).items
  }

  /** The newest items of one group, newest first; none for a group that does not exist. */
  async recent<Payload extends Base = Base>(
    group: string,
    options: RecentOptions = {},
  ): Promise<Recent<Payload> & { tag: string }> {
    const [query, call] = parted(options)
    const { value, tag } = await this.#transport.call(operations.recentItems, { path: { group }, query }, call)
    return Object.assign(value as Recent<Payload>, { tag })
  }

  /** The same as `recent`; null if the answer is still the page that has this `tag`, read with the same options. */
  async recentIfChanged<Payload extends Base = Base>(
    group: string,
    tag: string,
    options: RecentOptions = {},
  ): Promise<(Recent<Payload> & { tag: string }) | null> {
    const [query, call] = parted(options)
    const headers = { 'If-None-Match': `"${tag}"` }
    const answer = await this.#transport.call(operations.recentItems, { path: { group }, query, headers }, call)
    return answer.status === 304 ? null : Object.assign(answer.value as Recent<Payload>, { tag: answer.tag })
  }

  /** All items of a group, newest first, in pages of `limit`. */
  allItems<Payload extends Base = Base>(
    group: string,
    options: RecentOptions = {},
  ): AsyncGenerator<Item<Payload>, void, undefined> {
    return everyOf((page) => this.recent<Payload>(group, { limit: 100, ...page }), 'items', options, OLDER)
  }

  /** The newest items of each of 1 to 100 groups, in the order given. */
  async recentMany<Payload extends Base = Base>(
    groups: readonly string[],
    options: RecentManyOptions = {},
  ): Promise<RecentMany<Payload>['groups']> {
    const [query, call] = parted(options)
    const { value } = await this.#transport.call(
      operations.recentItemsOfMany,
      { query: { ...query, group: groups } },
      call,
    )
    return (value as RecentMany<Payload>).groups
  }

  /** One item; null if the window of the group has none with this id. */
  item<Payload extends Base = Base>(group: string, id: bigint, options?: CallOptions): Promise<Item<Payload> | null> {
    const found = this.#transport.valueOrNull(operations.getItem, { path: { group, id } }, 'item_not_found', options)
    return found as Promise<Item<Payload> | null>
  }

  /** Removes all items. The next item gets the next id, as if they were still there. */
  clear(group: string, options?: CallOptions): Promise<{ deleted: number }> {
    return this.#transport.value(operations.clearGroup, { path: { group } }, options)
  }

  /** Removes one item; false if the window has no item with this id. */
  remove(group: string, id: bigint, options?: CallOptions): Promise<boolean> {
    return this.#transport.wasThere(operations.removeItem, { path: { group, id } }, 'item_not_found', options)
  }

  /** The group with the settings in force; null if it does not exist. */
  get(group: string, options?: CallOptions): Promise<Group | null> {
    return this.#transport.valueOrNull(operations.getGroup, { path: { group } }, 'group_not_found', options)
  }

  /** Creates the group or replaces its own settings. A setting that is left out follows the policy. */
  async put(
    group: string,
    settings: OwnSettings = {},
    options: ReplaceOptions<NewSettings> = {},
  ): Promise<Group & { created: boolean }> {
    const [more, call] = parted(options)
    const parts = { path: { group }, body: { ...settings, ...more } }
    return this.#transport.made(operations.putGroup, parts, call)
  }

  /** Deletes the group and its items; false if there was none. */
  drop(group: string, options?: CallOptions): Promise<boolean> {
    return this.#transport.wasThere(operations.deleteGroup, { path: { group } }, 'group_not_found', options)
  }

  /** A page of groups, by name. */
  list(options: GroupListOptions = {}): Promise<GroupPage> {
    const [query, call] = parted(options)
    return this.#transport.value(operations.listGroups, { query }, call)
  }

  /** All groups by name, in pages of `limit`. */
  all(options: GroupListOptions = {}): AsyncGenerator<Group, void, undefined> {
    return everyOf((page) => this.list(page), 'groups', options)
  }

  /** A page of the items of one member in all groups, newest first. */
  memberItems<Payload extends Base = Base>(member: string, options: MemberOptions = {}): Promise<MemberItems<Payload>> {
    const [query, call] = parted(options)
    const page = this.#transport.value(operations.memberItems, { path: { member }, query }, call)
    return page as Promise<MemberItems<Payload>>
  }

  /** All items of one member, newest first, in pages of `limit`. */
  allMemberItems<Payload extends Base = Base>(
    member: string,
    options: MemberOptions = {},
  ): AsyncGenerator<Item<Payload>, void, undefined> {
    return everyOf((page) => this.memberItems<Payload>(member, page), 'items', options, OLDER)
  }

  /**
   * Erases the items that the member has when the call arrives, in all groups or in those whose names begin with `prefix`.
   * Repeatable.
   */
  eraseMember(member: string, options: ErasureOptions = {}): Promise<{ deleted: number }> {
    const [query, call] = parted(options)
    return this.#transport.value(operations.eraseMember, { path: { member }, query }, call)
  }

  /** The policy with exactly this prefix; null if there is none. */
  getPolicy(prefix: string, options?: CallOptions): Promise<Policy | null> {
    return this.#transport.valueOrNull(operations.getPolicy, { path: { prefix } }, 'policy_not_found', options)
  }

  /** Creates or replaces the policy of the groups whose names begin with `prefix`. */
  async putPolicy(
    prefix: string,
    policy: PolicySettings,
    options: ReplaceOptions<NewPolicy> = {},
  ): Promise<Policy & { created: boolean }> {
    const [more, call] = parted(options)
    const parts = { path: { prefix }, body: { ...policy, ...more } }
    return this.#transport.made(operations.putPolicy, parts, call)
  }

  /** Deletes a policy; false if there was none. */
  deletePolicy(prefix: string, options?: CallOptions): Promise<boolean> {
    return this.#transport.wasThere(operations.deletePolicy, { path: { prefix } }, 'policy_not_found', options)
  }

  /** A page of policies, by prefix. */
  listPolicies(options: PolicyListOptions = {}): Promise<PolicyPage> {
    const [query, call] = parted(options)
    return this.#transport.value(operations.listPolicies, { query }, call)
  }

  /** All policies by prefix, in pages of `limit`. */
  allPolicies(options: PolicyListOptions = {}): AsyncGenerator<Policy, void, undefined> {
    return everyOf((page) => this.listPolicies(page), 'policies', options)
  }
}

const OLDER: ['before', 'nextBefore'] = ['before', 'nextBefore']
