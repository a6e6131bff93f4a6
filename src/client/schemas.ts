/**
 * The schemas of the OpenAPI document by their names, as the library's types: what `operations.ts` says that operations answer
 * and take. A test compares each with the document.
 */
import type * as feeds from '../shared/feed-types'
import type * as groups from '../shared/group-types'
import type { ApiKey } from '../shared/key-types'
import type { Overview } from '../shared/overview-types'
import type * as queues from '../shared/queue-types'
import type { Schedule, ScheduleChanges, ScheduleDefinition, SchedulePage } from '../shared/schedule-types'

/** The method and the path of an operation. */
export type Operation<Answer = unknown, Parts = unknown> = string & {
  /** Never set: for the compiler. */
  readonly types: [Answer, Parts]
}

/** The parameters of an operation. */
export type Path<Names extends string> = Record<Names, string | bigint>
export type Query<Names extends string> = { [Name in Names]?: unknown }

export type AppendedPlace = Pick<groups.AppendedItem, 'group' | 'id' | 'slot' | 'appended'>

/** A page without its tag, which a header has. */
export type UntaggedRecent<Payload = unknown> = Omit<groups.Recent<Payload>, 'tag'>

export interface Health {
  status: 'ok'
  /** Only in `readyz`, and only if this process's writes fail because the database's disk is full. */
  warning?: string | undefined
}

export interface Answers {
  Item: groups.Item
  Recent: UntaggedRecent
  RecentMany: { groups: UntaggedRecent[] }
  Appended: { items: AppendedPlace[] }
  MemberItems: groups.MemberItems
  Group: groups.Group
  GroupPage: groups.GroupPage
  GroupEvents: string
  Policy: groups.Policy
  PolicyPage: groups.PolicyPage
  Losses: groups.Losses
  Deleted: { deleted: number }
  Queue: queues.Queue
  QueueStatus: queues.QueueStatus
  QueuePage: queues.QueuePage
  SentOneOrMany: queues.Sent | { messages: queues.Sent[] }
  Received: { messages: queues.Message[] }
  AckedReceipts: queues.Acked
  NackedReceipts: queues.Nacked
  ExtendedReceipts: queues.Extended
  WholeMessage: queues.WholeMessage
  MessagePage: queues.MessagePage
  DeadErrors: queues.DeadErrors
  QueueHistory: queues.QueueHistory
  QueueReceivers: queues.QueueReceivers
  Overview: Overview
  Moved: { moved: number }
  Promoted: { promoted: number }
  Held: queues.QueueHold
  Schedule: Schedule
  SchedulePage: SchedulePage
  Entry: feeds.Entry
  PutEntries: { entries: feeds.PutEntry[] }
  Republished: { republished: number }
  Changes: feeds.Changes
  Consumer: feeds.Consumer
  Feed: feeds.FeedStatus
  FeedPage: feeds.FeedPage
  Access: Pick<ApiKey, 'scopes' | 'prefix'>
  Health: Health
  Metrics: string
}

/** One claim, or many: one of the two is given. */
interface Receipts {
  receiptHandle?: string | undefined
  receiptHandles?: readonly string[] | undefined
}

export interface Bodies {
  NewItem: groups.NewItem
  Batch: { items: readonly groups.NewGroupItem[] }
  ScoreChange: { member: string; by: number }
  OwnSettings: groups.OwnSettings
  GroupChanges: groups.GroupChanges
  PolicySettings: groups.PolicySettings
  PolicyChanges: groups.OwnSettings
  QueueSettings: queues.QueueSettings
  QueueChanges: queues.QueueSettings
  Sending: queues.NewMessage | { messages: readonly queues.NewMessage[] }
  Receive: Omit<queues.ReceiveOptions, 'bodies' | 'signal'>
  Cycle: Omit<queues.CycleOptions, 'bodies' | 'signal'>
  Ack: Receipts
  Nack: Receipts & queues.NackOptions
  Extend: Receipts & queues.ExtendOptions
  Redrive: Omit<queues.RedriveOptions, 'prefix'>
  Promote: { ids: readonly bigint[] } & queues.PromoteOptions
  Purge: queues.PurgeOptions
  Hold: queues.HoldOptions
  NoFields: Record<string, never>
  NewSchedule: ScheduleDefinition
  ScheduleChanges: ScheduleChanges
  NewValue: Pick<feeds.NewEntry, 'value'>
  NewEntries: { entries: readonly feeds.NewEntry[] }
  Republish: feeds.RepublishSelection
  NewCursor: { cursor: bigint } & feeds.MoveCursorOptions
}
