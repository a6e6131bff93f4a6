/**
 * The queues of a store: the repository, with the mechanisms that let many callers share statements and commits and let
 * receives wait, and the workers. Inside a transaction there is a repository without them.
 */
import type { Session } from '../database/engine'
import type { Admission } from '../kit/admission'
import { aroundMany, aroundOne, type Handle, ofMany, ofOne, within } from '../kit/handling'
import { LongPoll } from '../kit/long-poll'
import { SharedRunner } from '../kit/runner'
import type { SharedPoll } from '../kit/shared-poll'
import { isYes, type PollAnswer, type PollQuestion } from '../repositories/poll-query'
import { checkedHandles } from '../repositories/queues/check'
import { RECEIVES } from '../repositories/queues/claim/claim'
import { recordHistory, recordRest } from '../repositories/queues/history/record'
import { QueueTraffic } from '../repositories/queues/history/traffic'
import type { QueueMemory } from '../repositories/queues/memory'
import { reportReceives } from '../repositories/queues/receivers/own'
import { QueueRepository } from '../repositories/queues/repository'
import { SENDS } from '../repositories/queues/send/send'
import { ACKS } from '../repositories/queues/settle/ack'
import { giveBack as giveAllBack } from '../repositories/queues/settle/give-back'
import { receivable } from '../repositories/queues/settle/looks'
import * as settle from '../repositories/queues/settle/settle'
import { sweepQueues } from '../repositories/queues/sweep'
import { schedulesOn } from '../repositories/schedules/repository'
import { tickSchedules } from '../repositories/schedules/tick'
import { marks } from '../repositories/writers'
import type { HandleOptions } from '../shared/handle-types'
import { queueHandle } from '../shared/handles'
import type { BatchHandler, Handler, WorkContext } from '../shared/handling-shapes'
import { outside } from '../shared/platform'
import type { Message } from '../shared/queue-types'
import { parsing, type StandardSchema } from '../shared/schema'
import { WorkCounts } from './counts'
import type { BackgroundWork } from './option-types'
import { StartedWork } from './running'
import { Scheduler } from './scheduler/scheduler'
import type { StoreQueueHandle, StoreQueues, StoreSchedules } from './types'
import { checkedWork, type StoreWorkSource } from './worker/options'
import type { WorkManyOptions, WorkOptions } from './worker/types'
import { QueueWorker } from './worker/worker'

export interface QueuesOptions {
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
  const runner = new SharedRunner({ ...shared, session, memory, marks })
    .commits(SENDS, { lanes: atOnce, batches: counts.sendBatches })
    .merges(RECEIVES, { atOnce, maxPendingSize: Number.POSITIVE_INFINITY })
    .merges(ACKS, settles)
    .merges(settle.NACKS, settles)
    .merges(settle.EXTENDS, settles)
  const waits = waitsOf(memory, options.sharedPoll, shared)
  const repository = new QueueRepository(session, memory, runner, waits)
  const giveBack = async (queue: string, handles: readonly string[]) => {
    const named = await settle.readHandles(session, memory, queue, checkedHandles(queue, handles))
    await giveAllBack(session, memory, queue, settle.validOf(named))
  }
  const { work, workMany, workers } = workersOn(repository, giveBack, guard)
  const scheduler = new Scheduler({
    tick: () => tickSchedules(session, memory),
    isOn: options.tick,
    onError: options.onError,
    counts,
  })
  memory.listenToSchedules(() => scheduler.wake())
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
      await recordRest(session, memory).catch(() => {})
    },
  }
}

export function queueHandleOn<In, Out>(
  queues: StoreQueues,
  name: string,
  options?: HandleOptions<Out, In>,
): StoreQueueHandle<In, Out> {
  const workMany: StoreQueueHandle<In, Out>['workMany'] = (handler, how) =>
    queues.workMany(name, handler, { ...how, schema: how?.schema ?? options?.schema })
  return { ...queueHandle<StoreQueueHandle<In, Out>>(queues, name, options, ' work'), workMany }
}

/** Receives that wait: woken by what this process makes ready, and by the look at what others do. */
function waitsOf(
  memory: QueueMemory,
  sharedPoll: SharedPoll<PollQuestion, PollAnswer>,
  admission: Omit<Admission, 'what'>,
): LongPoll {
  const waits: LongPoll = new LongPoll({ ...admission, what: 'receives', onWait: () => looks.begin() })
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
  memory.listen((queue) => waits.wake(queue))
  return waits
}

function workersOn(
  repository: QueueRepository,
  giveBack: (queue: string, handles: readonly string[]) => Promise<unknown>,
  guard: QueuesOptions['guard'],
) {
  const workers = new StartedWork<string, QueueWorker>()
  const source: StoreWorkSource = {
    receive: repository.receive.bind(repository),
    ackMany: repository.ackMany.bind(repository),
    nackMany: repository.nackMany.bind(repository),
    extendMany: repository.extendMany.bind(repository),
    hold: repository.hold.bind(repository),
    giveBack,
    guard,
  }
  // A worker belongs to no caller: one that is started inside a transaction does not run inside it.
  const start = (queue: string, isMany: boolean, handler: unknown, options: WorkManyOptions, handle: () => Handling) =>
    workers.add(options?.auto === false ? null : queue, () => {
      const settings = checkedWork(queue, handler, options, isMany)
      return outside(() => new QueueWorker(source, queue, handle(), settings))
    })
  const work: StoreQueues['work'] = (queue, handler, given = {}) => {
    const options = given as WorkOptions
    const handle = () => within(aroundOne(options.around), ofOne(parsing(options.schema, handler as Handler)))
    return start(queue, false, handler, options as WorkManyOptions, handle)
  }
  const workMany: StoreQueues['workMany'] = (queue, handler, given = {}) => {
    const options = given as WorkManyOptions
    const all = handler as BatchHandler<Message>
    const handle = () => within(aroundMany(options.around), parsingMany(options.schema, ofMany(all)))
    return start(queue, true, handler, options, handle)
  }
  return { work, workMany, workers }
}

type Handling = Handle<Message, WorkContext>

/** The handler, with the outputs of the schema in place of the bodies. It gets only messages whose body fits; the others fail. */
function parsingMany(schema: StandardSchema | undefined, handle: Handling): Handling {
  if (!schema) return handle
  return async (messages, context) => {
    const failed = new Map<Message, unknown>()
    const parse = parsing(schema, (_message: Message, _context: null) => {})
    for (const message of messages) {
      try {
        await parse(message, null)
      } catch (error) {
        failed.set(message, error)
      }
    }
    const fitting = messages.filter((message) => !failed.has(message))
    if (fitting.length === 0) return { failed }
    try {
      for (const [message, error] of (await handle(fitting, context)).failed) failed.set(message, error)
    } catch (error) {
      for (const message of fitting) failed.set(message, error)
    }
    return { failed }
  }
}
