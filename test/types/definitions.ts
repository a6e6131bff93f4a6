/**
 * Nothing here runs: the public types, which say to a user what each member is, and the definitions in `src/fields`, by which
 * members are checked, must have the same members with the same types. Where one of them lacks a member, this file does not
 * compile.
 */
import type * as feeds from '../../src/fields/feeds'
import type { InputOf, Members } from '../../src/fields/field'
import type * as groups from '../../src/fields/groups'
import type { newKey } from '../../src/fields/keys'
import type { openOptions, storeOptions } from '../../src/fields/options'
import type * as queues from '../../src/fields/queues'
import type { page } from '../../src/fields/rules'
import type * as Feeds from '../../src/repositories/feeds/types'
import type { NewKey } from '../../src/repositories/keys/types'
import type * as Queues from '../../src/repositories/queues/types'
import type * as Groups from '../../src/repositories/recent/types'
import type { Page } from '../../src/repositories/types'
import type { OpenOptions, StoreOptions } from '../../src/store/types'

type Flat<T> = { [Name in keyof T]: T[Name] }
type Same<A, B> =
  (<X>() => X extends Flat<A> ? 1 : 2) extends <X>() => X extends Flat<B> ? 1 : 2 ? true : ['they differ', A, B]

/** A definition by its members, and the public type that must be the same. */
type Agrees<M extends { members: Members } | Members, T> = Same<
  M extends { members: infer Inner extends Members } ? InputOf<Inner> : M extends Members ? InputOf<M> : never,
  T
>

/** Compiles only where every one of them is true. */
export type Agreed<_All extends true[]> = never

export type InGroups = Agreed<
  [
    Agrees<typeof groups.NEW_ITEM, Groups.NewItem>,
    Agrees<typeof groups.NEW_GROUP_ITEM, Groups.NewGroupItem>,
    Agrees<typeof groups.OWN_SETTINGS, Groups.OwnSettings>,
    Agrees<typeof groups.POLICY_SETTINGS, Groups.PolicySettings>,
    Agrees<typeof groups.recentOptions, Groups.RecentOptions>,
    Agrees<typeof groups.memberOptions, Groups.MemberOptions>,
    Agrees<typeof groups.watchOptions, Groups.WatchOptions>,
    Agrees<typeof page, Page>,
  ]
>

export type InQueues = Agreed<
  [
    Agrees<typeof queues.QUEUE_SETTINGS, Queues.QueueSettings>,
    Agrees<typeof queues.QUEUE_CHANGES, Queues.QueueSettings>,
    Agrees<typeof queues.sendOptions, Queues.SendOptions>,
    Agrees<typeof queues.NEW_MESSAGE, Queues.NewMessage>,
    Agrees<typeof queues.receiveOptions, Queues.ReceiveOptions>,
    Agrees<typeof queues.nackOptions, Queues.NackOptions>,
    Agrees<typeof queues.peekOptions, Queues.PeekOptions>,
    Agrees<typeof queues.redriveOptions, Queues.RedriveOptions>,
    Agrees<typeof queues.PURGE, Queues.DryRun>,
  ]
>

export type InFeeds = Agreed<
  [
    Agrees<typeof feeds.NEW_ENTRY, Feeds.NewEntry>,
    Agrees<typeof feeds.REPUBLISH, Feeds.RepublishSelection>,
    Agrees<typeof feeds.changesOptions, Feeds.ChangesOptions>,
    Agrees<typeof feeds.moveCursorOptions, Feeds.MoveCursorOptions>,
    Agrees<typeof newKey, NewKey>,
  ]
>

export type InStores = Agreed<
  [
    Same<Record<keyof typeof storeOptions, 1>, Record<keyof StoreOptions, 1>>,
    Same<Record<keyof typeof openOptions, 1>, Record<keyof OpenOptions, 1>>,
  ]
>
