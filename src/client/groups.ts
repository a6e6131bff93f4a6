/** Groups of recent items, and members: the library's `store.groups`, without `watch`. Methods without a comment have the library's. */
import type * as Group from '../shared/group-types'
import type { Losses, PayloadAs } from '../shared/types'
import type { Headed } from './format'
import * as operations from './operations'
import type { AppendedPlace, UntaggedRecent } from './schemas'
import { SettingsCalls, type SettingsNames } from './settings'
import { type CallOptions, everyOf, orNull, parted, type Transport } from './transport'

type ParsedForm = Exclude<Group.PayloadForm, 'text'>

const GROUPS: SettingsNames = { many: 'groups', absent: 'group_not_found' }

/** `Payload` is the type that the caller says payloads have: nothing checks it. */
export class GroupCalls
  extends SettingsCalls<Group.Groups, [settings?: Group.OwnSettings]>
  implements Omit<Group.Groups, 'append' | 'appendMany' | 'item' | 'changeScore' | `recent${string}` | 'memberItems'>
{
  constructor(transport: Transport) {
    super(transport, GROUPS)
  }

  /**
   * Appends one item, and creates the group if there is none. `appended` is false if the group had an item with this
   * `eventId` already, which is returned then. A call without an `eventId` is not repeated if no answer came.
   */
  async append<Payload = unknown>(
    group: string,
    item: Group.NewItem<NoInfer<Payload>> = {},
    options?: CallOptions,
  ): Promise<Group.AppendedItem<Payload>> {
    const repeat = item.eventId ? 'safe' : 'once'
    const parts = { path: { group }, body: item }
    const { status, value } = await this.transport.call(operations.appendItem, parts, { repeat, ...options })
    return Object.assign(value as Group.Item<Payload>, { appended: status === 201 })
  }

  /**
   * Appends 1 to 1,000 items to any groups in one commit, all or none. Returns where each one is, in the order given. The
   * call is repeated if no answer came only if all items have an `eventId`.
   */
  async appendMany<Payload = unknown>(
    items: readonly Group.NewGroupItem<NoInfer<Payload>>[],
    options?: CallOptions,
  ): Promise<AppendedPlace[]> {
    const repeat = items.every(({ eventId }) => eventId) ? 'safe' : 'once'
    return (await this.transport.asked(operations.appendItems, null, { items, ...options }, repeat)).items
  }

  losses(group: string, settings: Group.OwnSettings = {}, options?: CallOptions): Promise<Losses> {
    const parts = { path: { group }, body: settings }
    return this.transport.value(operations.groupLosses, parts, { repeat: 'safe', ...options })
  }

  /** The newest items of one group, newest first (of a `top` group by score); none for a group that does not exist. */
  recent<Payload = unknown, Asked extends ParsedForm = 'value'>(
    group: string,
    options: Group.RecentOptions<Asked> & CallOptions = {},
  ): Promise<Group.Recent<PayloadAs<Payload, Asked>>> {
    return this.#page<Payload, Asked>(group, options) as Promise<Group.Recent<PayloadAs<Payload, Asked>>>
  }

  /** The same as `recent`; null if the answer is still the page that has this `tag`, read with the same options. */
  recentIfChanged<Payload = unknown, Asked extends ParsedForm = 'value'>(
    group: string,
    tag: string,
    options: Group.RecentOptions<Asked> & CallOptions = {},
  ): Promise<Group.Recent<PayloadAs<Payload, Asked>> | null> {
    return this.#page<Payload, Asked>(group, options, { 'If-None-Match': `"${tag}"` })
  }

  async #page<Payload, Asked extends ParsedForm>(
    group: string,
    options: Group.RecentOptions<Asked> & CallOptions,
    headers?: Headed['headers'],
  ): Promise<Group.Recent<PayloadAs<Payload, Asked>> | null> {
    const [parts, call] = parted(operations.recentItems, options)
    const { status, value, tag } = await this.transport.call(
      operations.recentItems,
      { path: { group }, headers, ...parts },
      call,
    )
    return status === 304 ? null : Object.assign(value as UntaggedRecent<PayloadAs<Payload, Asked>>, { tag })
  }

  /** All items of a group, in its order, in pages of `limit`. */
  allItems<Payload = unknown, Asked extends ParsedForm = 'value'>(
    group: string,
    options: Group.RecentOptions<Asked> & CallOptions = {},
  ): AsyncGenerator<Group.Item<PayloadAs<Payload, Asked>>, void, undefined> {
    return everyOf((page) => this.recent<Payload, Asked>(group, { limit: 100, ...page }), 'items', options, OLDER)
  }

  /** The newest items of each of 1 to 100 groups, in the order given. */
  async recentMany<Payload = unknown, Asked extends ParsedForm = 'value'>(
    groups: readonly string[],
    options?: Omit<Group.RecentOptions<Asked>, 'before'> & CallOptions,
  ): Promise<UntaggedRecent<PayloadAs<Payload, Asked>>[]> {
    const many = await this.transport.asked(operations.recentItemsOfMany, null, { ...options, group: groups })
    return many.groups as UntaggedRecent<PayloadAs<Payload, Asked>>[]
  }

  /** One item; null if the window of the group has none with this id. */
  item<Payload = unknown>(group: string, id: bigint, options?: CallOptions): Promise<Group.Item<Payload> | null> {
    const found = this.transport.valueOrNull(operations.getItem, { group, id }, 'item_not_found', options)
    return found as Promise<Group.Item<Payload> | null>
  }

  /**
   * Adds `by` to the score of a member's item in a `top` group; null where the member is not in it. The call is not repeated if no
   * answer came.
   */
  changeScore<Payload = unknown>(
    group: string,
    member: string,
    by: number,
    options?: CallOptions,
  ): Promise<Group.Item<Payload> | null> {
    const changed = this.transport.asked(operations.changeScore, { group }, { member, by, ...options })
    return orNull(changed, 'item_not_found') as Promise<Group.Item<Payload> | null>
  }

  clear(group: string, options?: CallOptions): Promise<{ deleted: number }> {
    return this.transport.asked(operations.clearGroup, { group }, options)
  }

  remove(group: string, id: bigint, options?: CallOptions): Promise<boolean> {
    return this.transport.wasThere(operations.removeItem, { group, id }, 'item_not_found', options)
  }

  /** A page of the items of one member in all groups, newest first. */
  memberItems<Payload = unknown, Asked extends ParsedForm = 'value'>(
    member: string,
    options?: Group.MemberOptions<Asked> & CallOptions,
  ): Promise<Group.MemberItems<PayloadAs<Payload, Asked>>> {
    const page = this.transport.asked(operations.memberItems, { member }, options)
    return page as Promise<Group.MemberItems<PayloadAs<Payload, Asked>>>
  }

  /** All items of one member, newest first, in pages of `limit`. */
  allMemberItems<Payload = unknown, Asked extends ParsedForm = 'value'>(
    member: string,
    options: Group.MemberOptions<Asked> & CallOptions = {},
  ): AsyncGenerator<Group.Item<PayloadAs<Payload, Asked>>, void, undefined> {
    return everyOf((page) => this.memberItems<Payload, Asked>(member, page), 'items', options, OLDER)
  }

  eraseMember(
    member: string,
    options?: Pick<Group.MemberOptions, 'prefix'> & CallOptions,
  ): Promise<{ deleted: number }> {
    return this.transport.asked(operations.eraseMember, { member }, options)
  }
}

const OLDER: ['before', 'nextBefore'] = ['before', 'nextBefore']
