/**
 * The feeds of a store: the repository, with puts that share commits and readers that wait for changes, and what runs for them:
 * publishers and consumers. Inside a transaction there is a repository without them.
 */
import type { Session } from '../database/engine'
import type { Table } from '../database/user-tables/table'
import type { Admission } from '../kit/admission'
import { LongPoll } from '../kit/long-poll'
import { SharedRunner } from '../kit/runner'
import type { SharedPoll } from '../kit/shared-poll'
import { checkFeed } from '../repositories/feeds/check'
import {
  type FollowedRow,
  type FollowOptions,
  type FollowTarget,
  followedTable,
  followTrigger,
} from '../repositories/feeds/followed'
import { lastSyncId } from '../repositories/feeds/heads'
import type { FeedMemory } from '../repositories/feeds/memory'
import { PUTS } from '../repositories/feeds/put'
import { FeedRepository, type FeedWaits } from '../repositories/feeds/repository'
import { anyOld, sweepFeeds } from '../repositories/feeds/sweep'
import { asked, type PollAnswer, type PollQuestion } from '../repositories/reminders'
import type { ConsumeHandler } from '../shared/handler-types'
import { feedHandle, filled } from '../shared/handles'
import { delay } from '../shared/platform'
import { type ConsumeOptions, type StoreConsumer, startConsumer } from './consumer/consuming'
import type { WorkCounts } from './counts'
import { Publishing } from './publisher/publishing'
import { StartedWork } from './running'
import type { Store, StoreFeedHandle, StoreFeeds } from './types'

interface FeedsOptions {
  describe: (target: FollowTarget<FollowedRow>) => Promise<Table>
  /** Transactions of puts in flight: one where there is one connection. */
  atOnce: number
  publish: boolean
  tombstoneSeconds: number
  /** Throws inside a transaction of the store's database. */
  guard: () => void
  /** Called with the faults of publishers, once each until publishing succeeds again. */
  onError: (error: unknown) => void
  counts: WorkCounts
  sharedPoll: SharedPoll<PollQuestion, PollAnswer>
}

export type OpenFeeds = ReturnType<typeof openFeeds>

export function openFeeds(session: Session, memory: FeedMemory, options: FeedsOptions) {
  const { guard, counts, onError } = options
  const shared = { guard, onOverload: () => counts.overloaded++ }
  const { readers, published } = readersOf(options.sharedPoll, shared)
  const publishing = new Publishing({
    session,
    memory,
    inBackground: options.publish,
    sharedPoll: options.sharedPoll,
    isAwaited: () => readers.size > 0,
    onPublished: published,
    onError,
    counts,
  })
  if (options.publish) memory.onWritten = (feeds) => publishing.wake(feeds)
  const runner = new SharedRunner({ ...shared, session, memory }).commits(PUTS, {
    lanes: options.atOnce,
    batches: counts.entryBatches,
  })
  const waits: FeedWaits = {
    enter: (feed, how) => {
      const reader = readers.enter(feed, how)
      if (readers.size === 1) publishing.hurry()
      return reader
    },
    untilFree,
  }
  const repository = new FeedRepository(session, memory, runner, waits)
  const { consume, consumers } = consumersOn(repository)
  return {
    feeds: Object.assign(repository, {
      publish: async (feed?: string) => {
        if (feed !== undefined) checkFeed(feed)
        return publishing.publish(feed)
      },
      ...followingBy(publishing, options),
      consume,
    }) as StoreFeeds,
    /** Removes some of what was kept long enough: the sweeper calls it again and again. */
    sweep: () => sweepFeeds(session, options.tombstoneSeconds * 1000),
    due: asked(anyOld(options.tombstoneSeconds * 1000)),
    activity: () => ({ changesWaiting: readers.size, consumers: consumers.size }),
    consumers,
    /** Stops the consumers, answers readers that wait, and publishes what this process has written. */
    close: async () => {
      await consumers.stop()
      await publishing.close(Promise.all([readers.close(), runner.close()]))
    },
  }
}

export function feedHandleOn(feeds: StoreFeeds, ...[name, options]: Parameters<Store['feed']>): StoreFeedHandle<never> {
  const follow = async (target: FollowTarget<FollowedRow>, how: unknown) =>
    feeds.follow(target, filled(how, 'feed', name) as FollowOptions)
  return Object.assign(feedHandle<StoreFeedHandle<never>>(feeds, name, options, ' publish consume'), { follow })
}

/** The least time between two looks at the last sync ids. */
const LOOK_MS = 20

/** Readers that wait for changes: woken by publishing here, or by the shared poll. */
function readersOf(sharedPoll: SharedPoll<PollQuestion, PollAnswer>, admission: Omit<Admission, 'what'>) {
  const readers: LongPoll<bigint> = new LongPoll({
    ...admission,
    what: 'reads of changes',
    onWait: () => looks.begin(),
  })
  const looks = sharedPoll.join({
    topics: () => readers.awaited,
    question: lastSyncId,
    answered: (feed, answer) => {
      const value = answer === null ? 0n : BigInt(answer)
      return readers.wake(feed, (seen) => seen !== undefined && value > seen)
    },
    failed: () => {},
    leastMs: () => LOOK_MS,
  })
  const published = (feed: string) => {
    looks.hadEvents()
    readers.wake(feed)
  }
  return { readers, published }
}

function followingBy(publishing: Publishing, { describe }: FeedsOptions): Pick<StoreFeeds, 'follow' | 'followTrigger'> {
  return {
    follow: async (target, how) =>
      publishing.follow(followedTable(await describe(target), how as FollowOptions), how?.signal),
    followTrigger: async (target, how) => followTrigger(await describe(target), how),
  }
}

const DROP_TRIES = 40
const DROP_PAUSE_MS = 50

/** Resolves to `in_use` when every attempt did. */
async function untilFree(attempt: () => Promise<boolean | 'in_use'>): Promise<boolean | 'in_use'> {
  for (let tries = 0; tries < DROP_TRIES; tries++) {
    const dropped = await attempt()
    if (dropped !== 'in_use') return dropped
    await delay(DROP_PAUSE_MS)
  }
  return 'in_use'
}

function consumersOn(repository: FeedRepository) {
  const consumers = new StartedWork<string, StoreConsumer>()
  const consume: StoreFeeds['consume'] = (feed, consumer, handler, options = {}) =>
    consumers.add(feed, () =>
      startConsumer(repository, [feed, consumer], handler as ConsumeHandler, options as ConsumeOptions),
    )
  return { consume, consumers }
}
