/**
 * The queues of a store: the repository, with the mechanisms that let many callers share statements and commits and let
 * receives wait, and the workers. Inside a transaction there is a repository without them.
 */

import type { Session, Tx } from '../database/engine'
import type { Admission } from '../kit/admission'
import { LongPoll } from '../kit/long-poll'
import { SharedRunner } from '../kit/runner'
import type { SharedPoll } from '../kit/shared-poll'
import { checkedHandles } from '../repositories/queues/check'
import { RECEIVES, type ReceiveRequest, receiveIn } from '../repositories/queues/claim/claim'
import type { Taker } from '../repositories/queues/claim/takers'
import { QueueTraffic } from '../repositories/queues/history/read'
import { recordHistory, recordRest } from '../repositories/queues/history/record'
import type { QueueMemory } from '../repositories/queues/memory'
import { leaveReceiver, reportReceives } from '../repositories/queues/receivers/own'
import { QueueRepository } from '../repositories/queues/repository'
import type { ClaimedMessages } from '../repositories/queues/rows'
import { SENDS } from '../repositories/queues/send/send'
import { ACKS } from '../repositories/queues/settle/ack'
import { receivable } from '../repositories/queues/settle/looks'
import * as settle from '../repositories/queues/settle/settle'
import { giveBack as giveAllBack } from '../repositories/queues/settle/settle'
import { sweepQueues } from '../repositories/queues/sweep'
import { isYes, type PollAnswer, type PollQuestion } from '../repositories/reminders'
import type { Runner } from '../repositories/runners'
import { schedulesOn } from '../repositories/schedules/repository'
import { tickSchedules } from '../repositories/schedules/tick'
import { outside } from '../shared/platform'
import { WorkCounts } from './counts'
import type { BackgroundWork } from './option-types'
import { StartedWork } from './running'
import { Scheduler } from './scheduler/scheduler'
import type { StoreQueues, StoreSchedules } from './types'
import { handlingOf } from './worker/context'
import { checkedWork, type StoreWorkSource } from './worker/options'
import type { WorkManyOptions } from './worker/types'
import { QueueWorker } from './worker/worker'

interface QueuesOptions {
  /** Transactions, and statements of one kind, at the same time: one where there is one connection. */
  atOnce: number
  /** Throws inside a transaction of the store's database. */
  guard?: () => void
  counts?: WorkCounts
  tick: boolean
  history: boolean
  onError: (error: unknown, work: BackgroundWork) => void
  sharedPoll: SharedPoll<PollQuestion, PollAnswer>
}

export type OpenQueues = ReturnType<typeof openQueues>

const MAX_PENDING_RECEIPTS = 100_000
/** The least time between two looks for messages that other processes have made ready. */
const LOOK_MS = 250

export function openQueues(session: Session, memory: QueueMemory, options: QueuesOptions) {
  const { atOnce, counts = new WorkCounts(), guard } = options
  if (options.history) memory.traffic = new QueueTraffic()
  const shared = { guard, onOverload: () => counts.overloaded++ }
  const settles = { atOnce, maxPendingSize: MAX_PENDING_RECEIPTS }
  const runner = new SharedRunner({ ...shared, session, memory })
    .commits(SENDS, { lanes: atOnce, batches: counts.sendBatches })
    .merges(RECEIVES, { atOnce, maxPendingSize: Number.POSITIVE_INFINITY })
    .merges(ACKS, settles)
    .merges(settle.NACKS, settles)
    .merges(settle.EXTENDS, settles)
  const waits = waitsOf(memory, options.sharedPoll, shared)
  const repository = new QueueRepository(session, memory, runner, waits)
  const { work, workMany, workers } = workersOn(repository, claimsOn(session, memory, runner, waits), guard)
  const scheduler = new Scheduler({
    tick: () => tickSchedules(session, memory),
    isOn: options.tick,
    onError: options.onError,
    counts,
  })
  memory.onSchedule = () => scheduler.wake()
  const tick: StoreSchedules['tick'] = async () => {
    guard?.()
    return scheduler.tick()
  }
  return {
    queues: Object.assign(repository, { work, workMany }) as StoreQueues,
    schedules: { ...schedulesOn(session, memory), tick } as StoreSchedules,
    /** One round of the sweeper; `all`: removals, too, which not every round makes. */
    sweep: (how?: { all?: boolean }) => sweepQueues(session, memory, how),
    tick: async () => {
      if (options.tick) await scheduler.tick()
    },
    record: () => recordHistory(session, memory),
    receiver: memory.receiver,
    report: () => reportReceives(session, memory.receiver),
    due: memory.reminders,
    waits,
    activity: () => ({ receivesWaiting: waits.size, workers: workers.size }),
    workers,
    /** Stops the workers, answers the receives that wait, and refuses later calls; resolves when all others are answered. */
    close: async () => {
      await Promise.all([workers.stop(), scheduler.stop()])
      await Promise.all([waits.close(), runner.close()])
    },
    /** When nothing runs any more. */
    leave: () => leave(session, memory),
  }
}

async function leave(session: Session, memory: QueueMemory): Promise<void> {
  const { traffic, receiver } = memory
  if (traffic?.isEmpty !== false && receiver.reported.length === 0) return
  const last = (tx: Tx) => recordRest(tx, memory).then(() => leaveReceiver(tx, receiver))
  await session.write(last, { closing: true }).catch(() => {})
}

/** Receives that wait: woken by messages that become ready here, or by the shared poll. */
function waitsOf(
  memory: QueueMemory,
  sharedPoll: SharedPoll<PollQuestion, PollAnswer>,
  admission: Omit<Admission, 'what'>,
): LongPoll<Taker> {
  const waits: LongPoll<Taker> = new LongPoll({ ...admission, what: 'receives', onWait: () => looks.begin() })
  const looks = sharedPoll.join({
    topics: () => waits.awaited,
    question: receivable,
    answered: (queue, answer) => {
      // Where the queue is gone its receivers shall know.
      const isEvent = answer === null || isYes(answer)
      if (isEvent) waits.wake(queue)
      return isEvent
    },
    failed: () => {
      for (const queue of waits.awaited) waits.wake(queue)
    },
    leastMs: () => LOOK_MS,
  })
  memory.onReady = (queue, taker) => waits.wake(queue, taker && ((mark) => mark === taker))
  return waits
}

/** The calls of a worker that no app makes. */
function claimsOn(
  session: Session,
  memory: QueueMemory,
  runner: Runner<QueueMemory>,
  waits: LongPoll<Taker>,
): Pick<StoreWorkSource, 'receive' | 'giveBack'> {
  const giveBack = async (queue: string, handles: readonly string[]) => {
    const named = await settle.readHandles(session, memory, queue, checkedHandles(queue, handles))
    await giveAllBack(session, memory, queue, settle.validOf(named))
  }
  const claim = (request: ReceiveRequest) =>
    new Promise<ClaimedMessages | null>((resolve, reject) => runner.hand(RECEIVES, request, { resolve, reject }))
  return {
    giveBack,
    receive: (queue, options, onClaim) => receiveIn(session, memory, waits, claim, queue, options, null, onClaim),
  }
}

function workersOn(
  repository: QueueRepository,
  claims: Pick<StoreWorkSource, 'receive' | 'giveBack'>,
  guard: QueuesOptions['guard'],
) {
  const workers = new StartedWork<string, QueueWorker>()
  const source: StoreWorkSource = {
    ...claims,
    ackMany: repository.ackMany.bind(repository),
    nackMany: repository.nackMany.bind(repository),
    extendMany: repository.extendMany.bind(repository),
    hold: repository.hold.bind(repository),
    guard,
  }
  // A worker belongs to no caller: one that is started inside a transaction does not run inside it.
  const start =
    (isMany: boolean) =>
    (queue: string, handler: unknown, given: unknown = {}) => {
      const options = given as WorkManyOptions
      return workers.add(options?.auto === false ? null : queue, () => {
        const settings = checkedWork(queue, handler, options, isMany)
        return outside(() => new QueueWorker(source, queue, handlingOf(handler, options, isMany), settings))
      })
    }
  const work: StoreQueues['work'] = start(false)
  const workMany: StoreQueues['workMany'] = start(true)
  return { work, workMany, workers }
}
