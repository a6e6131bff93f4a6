/** The operations of all repositories in one transaction: what `store.transaction` and `store.within` give. */
import type { Session } from './database/engine'
import { type FeedOptions, FeedRepository } from './repositories/feeds/repository'
import { QueueRepository } from './repositories/queues/repository'
import type { PolicyCache } from './repositories/recent/policies'
import { RecentRepository } from './repositories/recent/repository'
import { SequenceRepository } from './repositories/sequences'

export function operationsIn(session: Session, policies: PolicyCache, feeds: FeedOptions) {
  return {
    groups: new RecentRepository(session, policies),
    queues: new QueueRepository(session, true),
    feeds: new FeedRepository(session, { ...feeds, isInside: true }),
    sequences: new SequenceRepository(session),
  }
}
