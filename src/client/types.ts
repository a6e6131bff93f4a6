/** The library's types that an app writes in its own signatures: what both entries of the client export. */
export type { ClientErrorCode, ErrorCode } from '../shared/error-codes'
export type { Change, Changes, Consumer, Entry, FeedStatus, NewEntry, WrittenEntry } from '../shared/feed-types'
export type {
  AppendedItem,
  Group,
  GroupEvent,
  GroupWatch,
  Item,
  MemberItems,
  NewGroupItem,
  NewItem,
  OwnSettings,
  Policy,
  PolicySettings,
  Recent,
} from '../shared/group-types'
export type { FeedHandle, GroupHandle, QueueHandle } from '../shared/handle-types'
export type {
  Message,
  MessagePage,
  MessageRef,
  NackOptions,
  NewMessage,
  PeekedMessage,
  Queue,
  QueueSettings,
  QueueStatus,
  SendOptions,
  Sent,
} from '../shared/queue-types'
export type { Fault } from '../shared/recentn-error'
export type { Schedule, ScheduleDefinition } from '../shared/schedule-types'
export type { ClientOptions } from './options'
export type { CallOptions } from './transport'
