/**
 * The groups of a store: the repository, with the mechanisms that let many callers share statements and commits, and the
 * streams of what happens to groups. Inside a transaction there is a repository without them.
 */

import type { Session } from '../database/engine'
import { SharedRunner } from '../kit/runner'
import { APPENDS } from '../repositories/recent/append'
import { checkWatch } from '../repositories/recent/check'
import { anyExpired, sweepGroups } from '../repositories/recent/expiry'
import { MEMBER_ITEMS } from '../repositories/recent/members'
import type { GroupMemory } from '../repositories/recent/memory'
import { QUICK_READS } from '../repositories/recent/quick-read'
import { LONG_READS } from '../repositories/recent/read'
import { RecentRepository } from '../repositories/recent/repository'
import { WatchReads } from '../repositories/recent/watch'
import { asked } from '../repositories/reminders'
import { sweepWriters } from '../repositories/writers'
import type { GroupWatch, WatchOptions } from '../shared/group-types'
import { performance } from '../shared/platform'
import { WorkCounts } from './counts'
import type { BatchingOptions } from './option-types'
import { GroupStreams } from './streams/group-streams'
import type { StoreGroups } from './types'

interface GroupsOptions {
  /** Merged reads in flight: one where there is one connection. */
  readsAtOnce: number
  /** Long reads in flight, each on a connection: large pages, and those of members. They must leave some for others. */
  longReadsAtOnce: number
  /** Throws inside a transaction of the store's database. */
  guard?: () => void
  batching?: BatchingOptions | undefined
  counts?: WorkCounts
  /** Groups that may wait to be read before a read is refused with `overloaded`. Default: 100,000. */
  maxPendingReads?: number
  /** Called when streams cannot be fed for another reason than that the database is away. */
  onStreamError?: (error: unknown) => void
}

export type OpenGroups = ReturnType<typeof openGroups>

/** Long reads that may be unanswered before one is refused with `overloaded`. */
const MAX_LONG_READS = 1000
const WRITERS_SWEEP_MS = 3600 * 1000

export function openGroups(session: Session, memory: GroupMemory, options: GroupsOptions) {
  const { counts = new WorkCounts(), guard, batching: { lanes = 2, ...limits } = {} } = options
  const { readsAtOnce, longReadsAtOnce, maxPendingReads = 100_000 } = options
  const runner = new SharedRunner({ session, memory, guard, onOverload: () => counts.overloaded++ })
    .commits(APPENDS, { ...limits, lanes, batches: counts.appendBatches })
    .merges(QUICK_READS, { atOnce: readsAtOnce, maxPendingSize: maxPendingReads, batches: counts.readBatches })
    .takesTurns([LONG_READS, MEMBER_ITEMS], {
      what: 'long reads',
      atOnce: longReadsAtOnce,
      maxPendingSize: MAX_LONG_READS,
    })
  const streams = new GroupStreams({ reads: new WatchReads(session, memory.policies), onError: options.onStreamError })
  memory.listeners = streams
  const watch = <Payload>(group: string, how: WatchOptions = {}) => {
    checkWatch(group, how)
    guard?.()
    return streams.watch(group, how) as GroupWatch<Payload>
  }
  const repository = new RecentRepository(session, memory, runner)
  return {
    groups: Object.assign(repository, { watch }) as StoreGroups,
    policies: repository.policies,
    streams,
    sweep: sweepOf(session, memory),
    due: asked(anyExpired),
    /** Refuses later calls; resolves when all that were accepted are answered. */
    close: async () => {
      await Promise.all([streams.close(), runner.close()])
    },
  }
}

/** Deletes some of what has expired: the sweeper calls it again and again. */
function sweepOf(session: Session, memory: GroupMemory) {
  let writersSweptAt = Number.NEGATIVE_INFINITY
  return async () => {
    if (performance.now() - writersSweptAt > WRITERS_SWEEP_MS) {
      await sweepWriters(session)
      writersSweptAt = performance.now()
    }
    return sweepGroups(session, memory)
  }
}
