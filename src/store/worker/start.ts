/** Starts the workers of a queue: of a handler of one message, and of a handler of many. */
import { aroundMany, aroundOne, type Handle, ofMany, ofOne, within } from '../../kit/handling'
import type { BatchHandler, Handler, WorkContext } from '../../shared/handling-shapes'
import { outside } from '../../shared/platform'
import type { Message } from '../../shared/queue-types'
import { parsing, type StandardSchema } from '../../shared/schema'
import { checkedWork, type StoreWorkSource } from './options'
import type { WorkManyOptions, WorkOptions } from './types'
import { QueueWorker } from './worker'

/** See `StoreQueues.work`. Throws `invalid_input`. A worker belongs to no caller: one that is started inside a transaction does not run inside it. */
export function startWorker(
  source: StoreWorkSource,
  queue: string,
  handler: Handler,
  options: WorkOptions = {},
): QueueWorker {
  const settings = checkedWork(queue, handler, options as WorkManyOptions, false)
  const handle = within(aroundOne(options.around), ofOne(parsing(options.schema, handler)))
  return outside(() => new QueueWorker(source, queue, handle, settings))
}

/** See `StoreQueues.workMany`. */
export function startWorkerOfMany(
  source: StoreWorkSource,
  queue: string,
  handler: BatchHandler<Message>,
  options: WorkManyOptions = {},
): QueueWorker {
  const settings = checkedWork(queue, handler, options, true)
  const handle = within(aroundMany(options.around), parsingMany(options.schema, ofMany(handler)))
  return outside(() => new QueueWorker(source, queue, handle, settings))
}

/** The handler, with the outputs of the schema in place of the bodies. It gets only messages whose body fits; the others fail. */
function parsingMany(
  schema: StandardSchema | undefined,
  handle: Handle<Message, WorkContext>,
): Handle<Message, WorkContext> {
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
