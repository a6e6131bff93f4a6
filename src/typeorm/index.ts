/** `recentn/typeorm`: what a DataSource of the user's own lists, and the repositories on one. */
export { migrations } from '../../migrations'
export { type StoreSchema, schemaOf } from '../database/schema/schema'
// The classes of the tables that an app reads, or writes by plain SQL. All others are in `entities` alone.
export {
  AppendRow,
  entities,
  Feed,
  FeedConsumer,
  FeedEntry,
  QueueArchive,
  QueueMessage,
  QueueSchedule,
  RecentGroup,
  RecentItem,
  RecentPolicy,
  SendRow,
  WorkQueue,
} from '../entities'
export { FeedRepository } from '../repositories/feeds/repository'
export { QueueRepository } from '../repositories/queues/repository'
export { RecentRepository } from '../repositories/recent/repository'
export { SequenceRepository } from '../repositories/sequences'
