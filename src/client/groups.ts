/** Groups of recent items, and members: the methods of the library's `store.groups`, without `watch`. */
import type {
  AppendedItem,
  Groups,
  Item,
  MemberItems,
  MemberOptions,
  NewGroupItem,
  NewItem,
  OwnSettings,
  PayloadForm,
  Recent,
  RecentOptions,
} from '../shared/group-types'
import type { Losses, PayloadAs } from '../shared/types'
import type { Headed } from './format'
import * as operations from './operations'
import type { AppendedPlace, UntaggedRecent } from './schemas'
import { SettingsCalls, type SettingsNames } from './settings'
import { type CallOptions, everyOf, parted, type Transport } from './transport'

type ParsedForm = Exclude<PayloadForm, 'text'>

const GROUPS: SettingsNames = { many: 'groups', absent: 'group_not_found' }

/** `Payload` is the type that the caller says payloads have: nothing checks it. */
export class GroupCalls
  extends SettingsCalls<Groups, [settings?: OwnSettings]>
  implements Omit<Groups, 'append' | 'appendMany' | 'item' | `recent${string}` | 'memberItems'>
{
  readonly #transport: Transport

  constructor(transport: Transport) {
    super(transport, GROUPS)
    this.#transport = transport
  }

  /**
   * Appends one item, and creates the group if there is none. `appended` is false if the group had an item with this
   * `eventId` already, which is returned then. A call without an `eventId` is not repeated if no answer came.
   */
  async append<Payload = unknown>(
    group: string,
    item: NewItem<NoInfer<Payload>> = {},
    options?: CallOptions,
  ): Promise<AppendedItem<Payload>> {
    const repeat = item.eventId ? 'safe' : 'once'
    const parts = { path: { group }, body: item }
    const { status, value } = await this.#transport.call(operations.appendItem, parts, { repeat, ...options })
    return Object.assign(value as Item<Payload>, { appended: status === 201 })
  }

  /**
   * Appends 1 to 1,000 items to any groups in one commit, all or none. Returns where each one is, in the order given. The
   * call is repeated if no answer came only if all items have an `eventId`.
   */
  async appendMany<Payload = unknown>(
    items: readonly NewGroupItem<NoInfer<Payload>>[],
    options?: CallOptions,
  ): Promise<AppendedPlace[]> {
    const repeat = items.every(({ eventId }) => eventId) ? 'safe' : 'once'
    return (await this.#transport.asked(operations.appendItems, null, { items, ...options }, repeat)).items
  }

  /** Counts what `put` would remove with these settings; changes nothing. */
  losses(group: string, settings: OwnSettings = {}, options?: CallOptions): Promise<Losses> {
    const parts = { path: { group }, body: settings }
    return this.#transport.value(operations.groupLosses, parts, { repeat: 'safe', ...options })
  }

  /** The newest items of one group, newest first; none for a group that does not exist. */
  async recent<Payload = unknown, Asked extends ParsedForm = 'value'>(
    group: string,
    options: RecentOptions<Asked> & CallOptions = {},
  ): Promise<Recent<PayloadAs<Payload, Asked>>> {
    return (await this.#page<Payload, Asked>(group, options)) as Recent<PayloadAs<Payload, Asked>>
  }

  /** The same as `recent`; null if the answer is still the page that has this `tag`, read with the same options. */
  recentIfChanged<Payload = unknown, Asked extends ParsedForm = 'value'>(
    group: string,
    tag: string,
    options: RecentOptions<Asked> & CallOptions = {},
  ): Promise<Recent<PayloadAs<Payload, Asked>> | null> {
    return this.#page<Payload, Asked>(group, options, { 'If-None-Match': `"${tag}"` })
  }

  async #page<Payload, Asked extends ParsedForm>(
    group: string,
    options: RecentOptions<Asked> & CallOptions,
    headers?: Headed['headers'],
  ): Promise<Recent<PayloadAs<Payload, Asked>> | null> {
    const [parts, call] = parted(operations.recentItems, options)
    const { status, value, tag } = await this.#transport.call(
      operations.recentItems,
      { path: { group }, headers, ...parts },
      call,
    )
    return status === 304 ? null : Object.assign(value as UntaggedRecent<PayloadAs<Payload, Asked>>, { tag })
  }

  /** All items of a group, newest first, in pages of `limit`. */
  allItems<Payload = unknown, Asked extends ParsedForm = 'value'>(
    group: string,
    options: RecentOptions<Asked> & CallOptions = {},
  ): AsyncGenerator<Item<PayloadAs<Payload, Asked>>, void, undefined> {
    return everyOf((page) => this.recent<Payload, Asked>(group, { limit: 100, ...page }), 'items', options, OLDER)
  }

  /** The newest items of each of 1 to 100 groups, in the order given. */
  async recentMany<Payload = unknown, Asked extends ParsedForm = 'value'>(
    groups: readonly string[],
    options?: Omit<RecentOptions<Asked>, 'before'> & CallOptions,
  ): Promise<UntaggedRecent<PayloadAs<Payload, Asked>>[]> {
    const many = await this.#transport.asked(operations.recentItemsOfMany, null, { ...options, group: groups })
    return many.groups as UntaggedRecent<PayloadAs<Payload, Asked>>[]
  }

  /** One item; null if the window of the group has none with this id. */
  item<Payload = unknown>(group: string, id: bigint, options?: CallOptions): Promise<Item<Payload> | null> {
    const found = this.#transport.valueOrNull(operations.getItem, { path: { group, id } }, 'item_not_found', options)
    return found as Promise<Item<Payload> | null>
  }

  /** Removes all items. The next item gets the next id, as if they were still there. */
  clear(group: string, options?: CallOptions): Promise<{ deleted: number }> {
    return this.#transport.asked(operations.clearGroup, { group }, options)
  }

  /** Removes one item; false if the window has no item with this id. */
  remove(group: string, id: bigint, options?: CallOptions): Promise<boolean> {
    return this.#transport.wasThere(operations.removeItem, { path: { group, id } }, 'item_not_found', options)
  }

  /** A page of the items of one member in all groups, newest first. */
  memberItems<Payload = unknown, Asked extends ParsedForm = 'value'>(
    member: string,
    options?: MemberOptions<Asked> & CallOptions,
  ): Promise<MemberItems<PayloadAs<Payload, Asked>>> {
    const page = this.#transport.asked(operations.memberItems, { member }, options)
    return page as Promise<MemberItems<PayloadAs<Payload, Asked>>>
  }

  /** All items of one member, newest first, in pages of `limit`. */
  allMemberItems<Payload = unknown, Asked extends ParsedForm = 'value'>(
    member: string,
    options: MemberOptions<Asked> & CallOptions = {},
  ): AsyncGenerator<Item<PayloadAs<Payload, Asked>>, void, undefined> {
    return everyOf((page) => this.memberItems<Payload, Asked>(member, page), 'items', options, OLDER)
  }

  /**
   * Erases the items that the member has when the call arrives, in all groups or in those whose names begin with `prefix`.
   * Repeatable.
   */
  eraseMember(member: string, options?: Pick<MemberOptions, 'prefix'> & CallOptions): Promise<{ deleted: number }> {
    return this.#transport.asked(operations.eraseMember, { member }, options)
  }
}

const OLDER: ['before', 'nextBefore'] = ['before', 'nextBefore']
