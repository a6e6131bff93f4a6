/** The handler of a worker and its second argument, and how long a worker asks again to settle what the handler did. */
import { isShared } from '../../kit/admission'
import { type Handle, ofMany, ofOne, signalOf, within } from '../../kit/handler-calls'
import { RecentnError } from '../../shared/errors'
import type { BatchHandler, Handler, WorkContext } from '../../shared/handler-types'
import { holdAll, holdBy, type Lease } from '../../shared/leases'
import { CLOCK } from '../../shared/platform'
import type { Message } from '../../shared/queue-types'
import type { Around } from '../../shared/running'
import { parsing, type StandardSchema } from '../../shared/schema'
import type { SettleBatchesOptions } from '../../shared/settle-batch'
import type { StoreWorkSource } from './options'

const OF = Symbol('leases')

/** Made when the handler asks for it. One getter for all contexts: with a getter each, each would be a slow object. */
function signal(this: { [OF]: readonly Lease<Message>[] }): AbortSignal {
  return signalOf(this[OF])
}
const SIGNAL = { enumerable: true, configurable: true, get: signal }

export function contextOf(
  leases: readonly Lease<Message>[],
  source: StoreWorkSource,
  queue: string,
  letGo: (lease: Lease<Message>, group?: string) => unknown,
): WorkContext {
  const hold: WorkContext['hold'] = (what, seconds) =>
    holdAll(leases.map((lease) => [lease.subject, holdBy(source, queue, lease, letGo)]))(what, seconds)
  return Object.defineProperty({ hold, [OF]: leases }, 'signal', SIGNAL) as unknown as WorkContext
}

/** While the claim holds; while the database is away, also beyond that. */
export const mayPass: SettleBatchesOptions['again'] = (error, { endsAt }, isStopping) =>
  !(error instanceof RecentnError && ['closed', 'queue_not_found'].includes(error.code)) &&
  ((isShared(error) && !isStopping) || CLOCK.now() < endsAt)

type Handling = Handle<Message, WorkContext>

/** The handler, with the hook around it, and the schema before it. */
export function handlingOf(
  handler: unknown,
  { around, schema }: { around?: Around<Message> | Around<Message[]>; schema?: StandardSchema | undefined },
  isMany: boolean,
): Handling {
  const handle = isMany
    ? parsingMany(schema, ofMany(handler as BatchHandler<Message>))
    : ofOne(parsing(schema, handler as Handler))
  return within(around, isMany, handle)
}

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
