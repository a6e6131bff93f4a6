/**
 * The shapes that the recent-items part takes and gives: of the library's users, so every field says what it is.
 * Ids and totals are `bigint`, times `Date` with milliseconds in UTC.
 */
import type { AppendedItem, Item, Mode, NewGroupItem, NewItem, PayloadOptions } from './item-types'
import type { Form, IfTag, ListOptions, Losses, Page, PayloadAs, Tagged } from './types'

/** How a group keeps its items. */
export interface Settings {
  /** N of "the last N", 1 to 10,000. */
  capacity: number
  mode: Mode
  /** Seconds from `createdAt` to expiry; null is never. */
  ttlSeconds: number | null
  /**
   * Seconds after which a group without items is forgotten, with its own settings; null is never. A group that is made by
   * that name later begins at id 0 again.
   */
  forgetEmptySeconds: number | null
}

/** A group's own settings; what is left out (or undefined) follows the policy. */
export type OwnSettings = { [Name in keyof Settings]?: Settings[Name] | undefined }

/** The changes of `update` of a group: null lets a setting follow the policy again. */
export type GroupChanges = { [Name in keyof Settings]?: Settings[Name] | null | undefined }

/** `capacity`, `mode`, `ttlSeconds` and `forgetEmptySeconds` are those in force. */
export interface Group extends Settings, Tagged {
  group: string
  /** The settings that are the group's own, and only those: what `put` was given. */
  own: OwnSettings
  /** The prefix of the policy that the other settings come from; null if they are the defaults. */
  policy: string | null
  /** The number of all appends ever. */
  totalAppended: bigint
  createdAt: Date
}

export interface Policy extends Settings, Tagged {
  prefix: string
}

/** The settings for `policies.put`; null for a time is never. */
export type PolicySettings = Pick<Settings, 'capacity' | 'mode'> &
  Pick<OwnSettings, 'ttlSeconds' | 'forgetEmptySeconds'>

export type { AppendedItem, Item, Mode, NewGroupItem, NewItem, PayloadOptions } from './item-types'
export type { GroupEvent, GroupWatch, WatchOptions } from './watch-types'
export type { IfTag, ListOptions, Losses, Page, Tagged }

/** `'text'` gives payloads as `JsonText`, unparsed; `'none'` gives null for each, and does not read them. */
export type PayloadForm = 'value' | 'text' | 'none'

export interface RecentOptions<Asked extends PayloadForm = PayloadForm> {
  /** How payloads are given; `'value'` when left out. */
  payloads?: Asked | undefined
  /** Maximum number of items, 1 to 10,000; 10 when left out. */
  limit?: number | undefined
  /** Only items with a smaller id, in a `top` group those behind as many: the `nextBefore` of the page before. */
  before?: bigint | undefined
  /** Members whose items are left out; at most 100. */
  exclude?: readonly string[] | undefined
}

/** The newest items of a group, newest first; in a `top` group by score, the highest first. */
export interface Recent<Payload = unknown> {
  group: string
  capacity: number
  mode: Mode
  /** All appends ever; 0n for a group that does not exist. */
  totalAppended: bigint
  items: Item<Payload>[]
  /** The `before` of the next page; null when nothing more is there. */
  nextBefore: bigint | null
  /** A strong tag of this page (without quotes): it changes with everything that can change the page. */
  tag: string
}

export interface GroupPage {
  groups: Group[]
  nextAfter: string | null
}

export interface PolicyPage {
  policies: Policy[]
  nextAfter: string | null
}

export interface MemberItems<Payload = unknown> {
  items: Item<Payload>[]
  /** The cursor to give as `before` for the next page; null when nothing older is there. */
  nextBefore: string | null
}

/** Of `memberItems`. */
export interface MemberOptions<Asked extends PayloadForm = PayloadForm>
  extends Pick<Page, 'limit'>,
    Pick<RecentOptions<Asked>, 'payloads'> {
  /** Only older items: the `nextBefore` of the page before. */
  before?: string | undefined
  /** Only in groups whose names begin with this. */
  prefix?: string | undefined
}

/**
 * The operations on groups of recent items: `store.groups` and `tx.groups`. `Payload` is the type that the caller says payloads
 * have: nothing checks it. Where items may have none it includes null.
 */
export interface Groups {
  /** Appends one item; creates the group where there is none. */
  append<Payload = unknown, Asked extends Form = 'value'>(
    group: string,
    item?: NewItem<NoInfer<Payload>>,
    options?: PayloadOptions<Asked>,
  ): Promise<AppendedItem<PayloadAs<Payload, Asked>>>
  /** Appends up to 1,000 items to any groups: one commit, all or nothing, in the order given. */
  appendMany<Payload = unknown, Asked extends Form = 'value'>(
    items: readonly NewGroupItem<NoInfer<Payload>>[],
    options?: PayloadOptions<Asked>,
  ): Promise<AppendedItem<PayloadAs<Payload, Asked>>[]>
  /** The newest items of one group. */
  recent<Payload = unknown, Asked extends PayloadForm = 'value'>(
    group: string,
    options?: RecentOptions<Asked>,
  ): Promise<Recent<PayloadAs<Payload, Asked>>>
  /**
   * The same for a caller who has a page of this group, read with the same options: null while that page, by its
   * `tag`, is still the answer. Then it costs a look at the group's head row; where items expire they are read.
   */
  recentIfChanged<Payload = unknown, Asked extends PayloadForm = 'value'>(
    group: string,
    tag: string,
    options?: RecentOptions<Asked>,
  ): Promise<Recent<PayloadAs<Payload, Asked>> | null>
  /** The newest items of up to 100 groups, in the order asked; one statement, one snapshot. */
  recentMany<Payload = unknown, Asked extends PayloadForm = 'value'>(
    groups: readonly string[],
    options?: Omit<RecentOptions<Asked>, 'before'>,
  ): Promise<Recent<PayloadAs<Payload, Asked>>[]>
  /** One item; null if the window has none of this id. */
  item<Payload = unknown, Asked extends Form = 'value'>(
    group: string,
    id: bigint,
    options?: PayloadOptions<Asked>,
  ): Promise<Item<PayloadAs<Payload, Asked>> | null>
  /**
   * Adds `by` to the score of a member's item in a `top` group; null where the member is not in the group. The item gets the next
   * id, and keeps its place among the `capacity`. A call is not safe to repeat.
   */
  changeScore<Payload = unknown, Asked extends Form = 'value'>(
    group: string,
    member: string,
    by: number,
    options?: PayloadOptions<Asked>,
  ): Promise<Item<PayloadAs<Payload, Asked>> | null>
  /** Removes all items; ids continue from where they were. */
  clear(group: string): Promise<{ deleted: number }>
  /** Removes one item; false when the window has none of this id. */
  remove(group: string, id: bigint): Promise<boolean>
  /** The group's settings, in force and its own; null for a group that does not exist. */
  get(group: string): Promise<Group | null>
  /** Creates the group or replaces its own settings, re-slotting what it holds. */
  put(group: string, settings?: OwnSettings, options?: IfTag): Promise<Group & { created: boolean }>
  /** Changes only the settings that are given; null lets one follow the policy again. Throws `group_not_found`. */
  update(group: string, changes: GroupChanges, options?: IfTag): Promise<Group>
  /** Creates the group unless it exists. One that exists stays as it is; a process warns once of settings that differ. */
  ensure(group: string, settings?: OwnSettings): Promise<Group & { created: boolean }>
  /** Counts what `put` would remove with these settings; changes nothing. */
  losses(group: string, settings?: OwnSettings): Promise<Losses>
  /** Forgets the group and its items; false when there was none. */
  drop(group: string): Promise<boolean>
  /** Groups by name (in code point order). */
  list(options?: ListOptions): Promise<GroupPage>
  /** The items of one member in all groups, or in those whose names begin with `prefix`, newest first. */
  memberItems<Payload = unknown, Asked extends PayloadForm = 'value'>(
    member: string,
    options?: MemberOptions<Asked>,
  ): Promise<MemberItems<PayloadAs<Payload, Asked>>>
  /** Erases the member's items that exist when the call arrives, in small transactions; repeatable. */
  eraseMember(member: string, options?: { prefix?: string | undefined }): Promise<{ deleted: number }>
}

/** The operations on policies: `store.policies` and `tx.policies`. */
export interface Policies {
  /** The policy of exactly this prefix; null if there is none. */
  get(prefix: string): Promise<Policy | null>
  /** Creates the policy, or replaces it. */
  put(prefix: string, settings: PolicySettings, options?: IfTag): Promise<Policy & { created: boolean }>
  /** Changes only the settings that are given. Throws `policy_not_found`. */
  update(prefix: string, changes: OwnSettings, options?: IfTag): Promise<Policy>
  /** Creates the policy unless it exists. One that exists stays as it is; a process warns once of settings that differ. */
  ensure(prefix: string, settings: PolicySettings): Promise<Policy & { created: boolean }>
  /** Counts what `put` would remove from all groups or, without settings, `drop`; changes nothing. */
  losses(prefix: string, settings?: PolicySettings): Promise<Losses>
  /** False when there was none. Its groups follow the next shorter prefix, or the defaults. */
  drop(prefix: string): Promise<boolean>
  /** Policies by prefix, or those of them that begin with `prefix`. */
  list(options?: ListOptions): Promise<PolicyPage>
}
