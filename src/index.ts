/** The public surface of recentn: what an app calls, and the types of its signatures. */
export type { Access, AccessFunction } from './http/access'
export { createDashboard } from './http/dashboard'
export { createMetrics, type Metrics } from './http/metrics/metrics'
export { createRouter, type RouterOptions } from './http/router'
export type { RequestSubjects } from './http/subjects'
export type { Followed, FollowOptions } from './repositories/feeds/followed'
export type { Sequences } from './repositories/sequences'
export { type ErrorCode, type ErrorFacts, type Fault, RecentnError, type StoreErrorCode } from './shared/errors'
export { UnrecoverableError } from './shared/failures'
export type {
  Change,
  Changes,
  Entry,
  FeedStatus,
  Feeds,
  NewEntry,
} from './shared/feed-types'
export type {
  AppendedItem,
  Group,
  GroupEvent,
  Groups,
  GroupWatch,
  Item,
  Losses,
  NewItem,
  OwnSettings,
  Policies,
  Policy,
  PolicySettings,
  Recent,
  RecentOptions,
} from './shared/group-types'
export type { FeedHandle, GroupHandle, QueueHandle } from './shared/handle-types'
export type { ConsumeContext, ConsumeHandler, Handler, WorkContext } from './shared/handler-types'
export { JsonText } from './shared/json'
export type { ApiKey, NewKey, Scope } from './shared/key-types'
export type { Overview } from './shared/overview-types'
export type {
  Message,
  MessageRef,
  NackOptions,
  NewMessage,
  PeekedMessage,
  Queue,
  QueueSettings,
  QueueStatus,
  Queues,
  ReceiveOptions,
  SendOptions,
  Sent,
} from './shared/queue-types'
export type { Running } from './shared/running'
export type { Schedule, ScheduleDefinition, Schedules } from './shared/schedule-types'
export type { StandardSchema } from './shared/schema'
export type { ConsumeOptions } from './store/consumer/consuming'
export { attachStore, openStore } from './store/open'
export type { BackgroundWork, OpenOptions, StoreOptions } from './store/option-types'
export type { PollContext, Poller, PollHandler, PollOptions, PollResult } from './store/poller/types'
export type {
  Store,
  StoreFeedHandle,
  StoreFeeds,
  StoreGroupHandle,
  StoreGroups,
  StoreKeys,
  StoreQueueHandle,
  StoreQueues,
  StoreSchedules,
  Transaction,
  TransactionOptions,
} from './store/types'
export type { Worker, WorkOptions } from './store/worker/types'
