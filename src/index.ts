/** The public surface of recentn. */
export { migrations } from '../migrations'
export { type StoreSchema, schemaOf } from './database/schema/schema'
export * from './entities'
export type { Access, AccessAnswer, AccessFunction } from './http/access'
export { createDashboard } from './http/dashboard'
export { createMetrics, type MetricRegistry, type Metrics, type MetricsOptions } from './http/metrics/metrics'
export { createRouter, type MountedRouter, type RouterOptions } from './http/router'
export type { NamedSubjects, RequestSubjects, SubjectKind } from './http/subjects'
export type * from './repositories/feeds/follow-types'
export { FeedRepository } from './repositories/feeds/repository'
export { QueueRepository } from './repositories/queues/repository'
export { RecentRepository } from './repositories/recent/repository'
export { SequenceRepository, type Sequences } from './repositories/sequences'
export {
  ERRORS,
  type ErrorCode,
  type ErrorFacts,
  type ErrorKind,
  type Fault,
  RecentnError,
  type StoreErrorCode,
} from './shared/errors'
export { UnrecoverableError } from './shared/failures'
export type * from './shared/feed-types'
export type * from './shared/group-types'
export { JsonText } from './shared/json'
export type * from './shared/key-types'
export type * from './shared/poll-types'
export type * from './shared/queue-types'
export type * from './shared/schedule-types'
export type { SchemaIssue, SchemaResult, StandardSchema } from './shared/schema'
export type * from './store/bound'
export type * from './store/consumer/types'
export { attachStore, openStore } from './store/open'
export type * from './store/poller/types'
export type {
  BackgroundWork,
  BatchingOptions,
  FeedHandle,
  GroupHandle,
  OpenOptions,
  QueueHandle,
  Store,
  StoreFeeds,
  StoreGroups,
  StoreKeys,
  StoreOptions,
  StoreQueues,
  StoreSchedules,
  Transaction,
  TransactionOptions,
} from './store/types'
export type * from './store/worker/types'
