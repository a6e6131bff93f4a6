/**
 * Handlers of many, on top of a worker of one: each message has a handler, which ends with the call that the message is part
 * of. So claims, signals, holds, schemas and settles are those of `work`. Owns which messages wait.
 *
 * Invariant: at most `concurrency` calls run, each with up to `batchSize` messages, and no more is claimed than they take.
 */
import { failedOf } from '../shared/failures'
import { holdAll, isSuspect } from '../shared/leases'
import type { Message } from '../shared/message-types'
import { parsing } from '../shared/schema'
import {
  type BatchHandler,
  type ClientWorkManyOptions,
  checkLoop,
  type Handler,
  type Running,
  SURROUNDINGS,
  type WorkContext,
  whole,
} from './loops'
import { numberFault } from './options'
import type { QueueCalls } from './queues'
import { type Batches, RemoteWorker, WORK_RULES } from './work'

const RULES = { ...WORK_RULES, batchSize: whole(1, 1000), waitSeconds: (value: unknown) => numberFault(value, 3600) }

/**
 * The library's `queues.workMany`, over REST: `client.queues.work` with a handler that gets up to `batchSize` messages at once, those
 * that are there or that come within `waitSeconds` of the first. Resolving acknowledges all, or all but those in
 * `{ failed: [[message, error]] }`; throwing nacks all. After `stop` what waits is handled at once. Throws `invalid_input`.
 * With a schema, `around` gets only the messages that fit. It is a function, because a bundler can't leave out a method that a page
 * does not call.
 */
export function workMany<Body = unknown>(
  { queues }: { readonly queues: QueueCalls },
  queue: string,
  handler: BatchHandler<Message<Body>>,
  options: ClientWorkManyOptions<Body> = {},
): Running {
  checkLoop(handler, options, RULES)
  const given = options as ClientWorkManyOptions
  const batches = batchesOf(handler as BatchHandler<Message>, given)
  return new RemoteWorker(queues, queue, parsing(given.schema, batches.handle), given, batches)
}

interface Waiting {
  message: Message
  context: WorkContext
  resolve: () => unknown
  reject: (error: unknown) => void
}

function batchesOf(handler: BatchHandler<Message>, options: ClientWorkManyOptions): Batches {
  const { concurrency = 1, batchSize = 100, waitSeconds = 0, around } = options
  const waiting: Waiting[] = []
  /** The calls that may begin, and the messages of those that run. */
  let [free, handled] = [concurrency, 0]
  /** How many messages begin: as many as go at once, or what there is once they have waited. */
  let least = batchSize
  let cancel: (() => void) | undefined

  const flush = () => {
    least = 1
    begin()
  }

  const begin = () => {
    while (free && waiting.length >= least) {
      cancel = cancel?.() as undefined
      least = batchSize
      const next = waiting.splice(0, batchSize)
      void run(next.filter(({ context, resolve }) => !context.signal.aborted || resolve()))
    }
    if (waiting[0]) cancel ??= SURROUNDINGS.clock.after(waitSeconds * 1000, flush)
  }

  const run = async (batch: readonly Waiting[]) => {
    free--
    handled += batch.length
    const messages = batch.map(({ message }) => message)
    const context = {
      hold: holdAll(batch.map((one) => [one.message, one.context.hold])),
      get signal() {
        return AbortSignal.any(batch.map((one) => one.context.signal))
      },
    }
    let failed: ReadonlyMap<Message, unknown> = new Map()
    const next = async () => {
      failed = failedOf(await handler([...messages], context), messages)
    }
    try {
      if (messages[0]) await (around ? around([...messages], next) : next())
    } catch (error) {
      failed = new Map(messages.map((message) => [message, error]))
    }
    for (const { message, resolve, reject } of batch) failed.has(message) ? reject(failed.get(message)) : resolve()
    free++
    handled -= batch.length
    begin()
  }

  const handle: Handler = (message, context) =>
    new Promise<void>((resolve, reject) => {
      waiting.push({ message, context, resolve, reject })
      if (isSuspect(message)) flush()
      else begin()
    })

  return { handle, flush, room: (running) => free && batchSize - running + handled }
}
