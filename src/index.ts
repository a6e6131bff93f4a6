/** The public surface of recentn. */
export { migrations } from '../migrations'
export { type StoreSchema, schemaOf } from './database/schema'
export * from './entities'
export {
  ERRORS,
  type ErrorCode,
  type ErrorFacts,
  type ErrorKind,
  type Fault,
  RecentnError,
  type StoreErrorCode,
} from './errors'
export { UnrecoverableError } from './failures'
export type { Access, AccessAnswer, AccessFunction } from './http/access'
export { createDashboard } from './http/dashboard'
export { createMetrics, type MetricRegistry, type Metrics, type MetricsOptions } from './http/metrics/metrics'
export { createRouter, type MountedRouter, type RouterOptions } from './http/router'
export type { NamedSubjects, RequestSubjects, SubjectKind } from './http/subjects'
export { JsonText } from './json'
export { FeedRepository } from './repositories/feeds/repository'
export type * from './repositories/feeds/types'
export type * from './repositories/keys/types'
export type * from './repositories/polls/types'
export { QueueRepository } from './repositories/queues/repository'
export type * from './repositories/queues/types'
export { RecentRepository } from './repositories/recent/repository'
export type * from './repositories/recent/types'
export type * from './repositories/schedules/types'
export { SequenceRepository, type Sequences } from './repositories/sequences'
export type { SchemaIssue, SchemaResult, StandardSchema } from './schema'
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
