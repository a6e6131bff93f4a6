/**
 * The sweepers of a store. Each one calls for the deletion of what has expired when the look that all parts share has found
 * some, and again at once while there is more to delete. Those of the doors move what plain SQL has inserted. Any number of
 * processes may sweep. No SQL.
 */
import { Loop } from '../../kit/loop'
import type { SharedPoll } from '../../kit/shared-poll'
import type { DoorMovers } from '../../repositories/door/mover'
import type { DueQuestion, PollAnswer, PollQuestion } from '../../repositories/reminders'
import type { WorkCounts } from '../counts'
import type { OpenFeeds } from '../feeds'
import type { OpenGroups } from '../groups'
import type { BackgroundWork, StoreOptions } from '../option-types'
import { keepsHistory } from '../options'
import type { OpenQueues } from '../queues'

/** For expired items: the least time between two looks, and the time until a round without one. */
const GROUPS_MS = [1000, 60_000] as const
/** For messages whose delay or visibility timeout has ended; a round without a look removes what is kept no longer. */
const QUEUES_MS = [500, 8000] as const
/** For old tombstones. */
const FEEDS_MS = [5000, 60_000] as const
/** For what plain SQL has inserted; a round without a look finds queues that were missing. */
const DOOR_MS = [250, 10_000] as const
const LONGEST_PAUSE_MS = 30_000

interface SweptParts {
  groups: Pick<OpenGroups, 'sweep' | 'due'>
  queues: Pick<OpenQueues, 'sweep' | 'due' | 'record' | 'receiver' | 'report'>
  feeds: Pick<OpenFeeds, 'sweep' | 'due'>
  door: DoorMovers
}

/** The time until the first round, and the longest pause after a fault. */
const HISTORY_MS = 15_000
/** After the end of a step, so that all processes have begun the next one. */
const HISTORY_LATE_MS = 500
/** After the first receive of a queue: a process that ends before leaves no row. */
const FIRST_REPORT_MS = 1000

/** The loops that the options leave on. They run until they are stopped, and keep no process alive. */
export function startLoops(
  options: Pick<StoreOptions, 'sweep' | 'history'>,
  ...[parts, sharedPoll, counts, onError]: Parameters<typeof startSweepers>
): Loop[] {
  const loops = [startReports(parts.queues, onError)]
  if (keepsHistory(options)) loops.push(startHistory(parts.queues, onError))
  return options.sweep === false ? loops : [...loops, ...startSweepers(parts, sharedPoll, counts, onError)]
}

function startSweepers(
  { groups, queues, feeds, door }: SweptParts,
  sharedPoll: SharedPoll<PollQuestion, PollAnswer>,
  counts: WorkCounts,
  onError: (error: unknown, work: BackgroundWork) => void,
): Loop[] {
  const start = (what: BackgroundWork, ...sweeper: Sweeper) =>
    startSweeper(sharedPoll, counts, (error) => onError(error, what), sweeper)
  return [
    start('sweep-groups', GROUPS_MS, groups.due, async () => {
      const swept = await groups.sweep()
      counts.itemsSwept += swept.deleted
      return swept
    }),
    start('sweep-queues', QUEUES_MS, queues.due, async () => {
      const swept = await queues.sweep()
      counts.messagesSwept += swept.removed
      return swept
    }),
    start('sweep-feeds', FEEDS_MS, feeds.due, async () => {
      const swept = await feeds.sweep()
      counts.tombstonesSwept += swept.removed
      return swept
    }),
    start('move-sends', DOOR_MS, door.sends.due, (isCalled) => door.sends.move(isCalled)),
    start('move-appends', DOOR_MS, door.appends.due, (isCalled) => door.appends.move(isCalled)),
  ]
}

/** `isCalled`: the look has found something or has failed, or the round before has left something or has failed. */
type Sweeper = [
  times: readonly [lookMs: number, intervalMs: number],
  due: DueQuestion,
  sweep: (isCalled: boolean) => Promise<{ more: boolean }>,
]

function startSweeper(
  sharedPoll: SharedPoll<PollQuestion, PollAnswer>,
  counts: WorkCounts,
  onError: (error: unknown) => void,
  [[lookMs, intervalMs], due, sweep]: Sweeper,
): Loop {
  let isCalled = false
  const loop = new Loop({
    round: async () => {
      const wasCalled = isCalled
      isCalled = false
      const { more } = await sweep(wasCalled)
      if (more) isCalled = true
      counts.sweeperRounds++
      return more ? 0 : intervalMs
    },
    jitter: 0.25,
    faultPauses: { firstMs: 2 * lookMs, longestMs: LONGEST_PAUSE_MS },
    onFault: (error, isFirst) => {
      isCalled = true
      counts.sweeperFaults++
      if (isFirst) onError(error)
    },
  })
  const call = () => {
    isCalled = true
    loop.wake()
  }
  loop.wake(lookMs)
  sharedPoll.joinDue(due, { isOn: () => !loop.isStopped, call, leastMs: () => lookMs })
  return loop
}

type Reported = (error: unknown, work: BackgroundWork) => void

const firstOf = (onError: Reported, work: BackgroundWork) => (error: unknown, isFirst: boolean) => {
  if (isFirst) onError(error, work)
}

function startHistory({ record }: Pick<OpenQueues, 'record'>, onError: Reported): Loop {
  const loop = new Loop({
    round: async () => (await record()) + HISTORY_LATE_MS * (1 + Math.random()),
    faultPauses: { firstMs: 1000, longestMs: HISTORY_MS },
    onFault: firstOf(onError, 'record-history'),
  })
  loop.wake(HISTORY_MS)
  return loop
}

/** Reports this store as a receiver, from its first receive on. */
function startReports({ receiver, report }: Pick<OpenQueues, 'receiver' | 'report'>, onError: Reported): Loop {
  const loop = new Loop({
    round: report,
    faultPauses: { firstMs: FIRST_REPORT_MS, longestMs: LONGEST_PAUSE_MS },
    onFault: firstOf(onError, 'report-receivers'),
  })
  receiver.onBegin = () => loop.wake(FIRST_REPORT_MS)
  return loop
}
