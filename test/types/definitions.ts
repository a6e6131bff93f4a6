/**
 * Nothing here runs: the public types, which say to a user what each member is, the definitions in `src/fields`, by which the
 * library checks members, and the DTOs, as which the server reads them, must have the same members with the same types. Where
 * one of them lacks a member, this file does not compile.
 */
import type { AnswerOf } from '../../src/fields/answers'
import type * as feeds from '../../src/fields/feeds'
import type { Member, Members } from '../../src/fields/field'
import type * as groups from '../../src/fields/groups'
import type { newKey } from '../../src/fields/keys'
import type * as messages from '../../src/fields/messages'
import type { openOptions, storeOptions } from '../../src/fields/options'
import type * as queues from '../../src/fields/queues'
import type { page } from '../../src/fields/rules'
import type { NewScheduleDto, ScheduleChangesDto } from '../../src/fields/schedules'
import type * as Feeds from '../../src/shared/feed-types'
import type * as Groups from '../../src/shared/group-types'
import type { JsonText } from '../../src/shared/json'
import type { NewKey } from '../../src/shared/key-types'
import type * as Queues from '../../src/shared/queue-types'
import type { ScheduleChanges, ScheduleDefinition } from '../../src/shared/schedule-types'
import type { Page } from '../../src/shared/types'
import type { OpenOptions, StoreOptions } from '../../src/store/option-types'

type Flat<T> = { [Name in keyof T]: T[Name] }
type Same<A, B> =
  (<X>() => X extends Flat<A> ? 1 : 2) extends <X>() => X extends Flat<B> ? 1 : 2 ? true : ['they differ', A, B]

type ValueOf<M> = M extends Member<infer T> ? T : never
type IsTaken<M> = [ValueOf<M>] extends [never] ? false : true

/** The types that the library takes for these members. */
type InputOf<M extends Members> = {
  [Name in keyof M as M[Name] extends Member<unknown, true> ? Name : never]: ValueOf<M[Name]>
} & {
  [Name in keyof M as M[Name] extends Member<unknown, true> ? never : IsTaken<M[Name]> extends true ? Name : never]?:
    | ValueOf<M[Name]>
    | undefined
}
type Agrees<M extends Members, T> = Same<InputOf<M>, T>

/** A DTO without what it only refuses. JSON, which the library takes in any form, is its text. */
type Taken<D> = {
  [Name in keyof D as [D[Name]] extends [undefined] ? never : Name]: [JsonText] extends [D[Name]] ? unknown : D[Name]
}
type Reads<D, T> = Same<Taken<D>, T>

/** Compiles only where every one of them is true. */
export type Agreed<_All extends true[]> = never

export type InGroups = Agreed<
  [
    Agrees<typeof groups.recentOptions, Groups.RecentOptions>,
    Agrees<typeof groups.memberOptions, Groups.MemberOptions>,
    Agrees<typeof groups.watchOptions, Groups.WatchOptions>,
    Agrees<typeof page, Page>,
    Reads<groups.NewItemDto, Groups.NewItem>,
    Reads<groups.NewGroupItemDto, Groups.NewGroupItem>,
    Reads<groups.OwnSettingsDto, Groups.OwnSettings>,
    Reads<groups.GroupChangesDto, Groups.GroupChanges>,
    Reads<groups.PolicySettingsDto, Groups.PolicySettings>,
    Reads<groups.PolicyChangesDto, Partial<Groups.PolicySettings>>,
  ]
>

export type InQueues = Agreed<
  [
    Agrees<typeof messages.peekOptions, Queues.PeekOptions>,
    Reads<queues.QueueSettingsDto, Queues.QueueSettings>,
    Reads<queues.QueueChangesDto, Queues.QueueSettings>,
    Reads<messages.NewMessageDto, Queues.NewMessage>,
    Reads<messages.ReceiveDto, Omit<Queues.ReceiveOptions, 'signal' | 'bodies'>>,
    Reads<messages.CycleDto, Omit<Queues.CycleOptions, 'signal' | 'bodies'>>,
    Reads<Omit<messages.NackDto, keyof messages.AckDto>, Queues.NackOptions>,
    Reads<Omit<messages.ExtendDto, keyof messages.AckDto>, Queues.ExtendOptions>,
    Reads<messages.RedriveDto, Omit<Queues.RedriveOptions, 'prefix'>>,
    Reads<messages.PurgeDto, Queues.PurgeOptions>,
    Reads<NewScheduleDto, ScheduleDefinition>,
    Reads<ScheduleChangesDto, ScheduleChanges>,
  ]
>

export type InFeeds = Agreed<
  [
    Agrees<typeof feeds.changesOptions, Feeds.ChangesOptions>,
    Agrees<typeof newKey, NewKey>,
    Reads<feeds.NewEntryDto, Feeds.NewEntry>,
    Reads<feeds.RepublishDto, Feeds.RepublishSelection>,
    Reads<Omit<feeds.NewCursorDto, 'cursor'>, Feeds.MoveCursorOptions>,
  ]
>

export type InStores = Agreed<
  [
    Same<Record<keyof typeof storeOptions, 1>, Record<keyof StoreOptions, 1>>,
    Same<Record<keyof typeof openOptions, 1>, Record<keyof OpenOptions, 1>>,
  ]
>

/** The definition of one answer cannot be the constant of another: each constant of `answers*.ts` is checked by its type. */
type Differ<A, B> = [AnswerOf<A>] extends [AnswerOf<B>] ? ['they agree', A, B] : true
export type InAnswers = Agreed<
  [
    Differ<Omit<Groups.Item, 'slot'>, Groups.Item>,
    Differ<Groups.AppendedItem, Groups.Item>,
    Differ<Groups.Item & { member: string }, Groups.Item>,
    Differ<Omit<Groups.Item, 'slot'> & { slot?: number }, Groups.Item>,
  ]
>
