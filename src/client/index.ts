/**
 * The client of a recentn server, for browsers, Node and other runtimes that have `fetch`. It has the methods of the library
 * under the same names, and its types. A class has the loop that runs on top of the calls of `calls.ts`.
 */
import type { GroupWatch } from '../shared/group-types'
import type { HandleOptions } from '../shared/handle-types'
import { feedHandle, groupHandle, queueHandle } from '../shared/handles'
import { type CommonClient, commonOf, transportOf } from './common'
import { startConsumer } from './consume'
import { FeedCalls } from './feeds'
import { GroupCalls } from './groups'
import type { ClientFeedHandle, ClientGroupHandle, ClientQueueHandle } from './handles'
import type { ClientConsumeOptions, ClientWorkOptions, ConsumeHandler, Handler, Running } from './loops'
import type { ClientOptions } from './options'
import { QueueCalls } from './queues'
import { type StreamOptions, watchGroup } from './watch'
import { startWorker } from './work'

/** `Payload` is the type that the caller says payloads have: nothing checks it. */
export class GroupsClient extends GroupCalls {
  /**
   * The events of the group from now on, or since the item `after`, until the watch is ended (`break`, `return()`, the
   * signal). A watch whose connection breaks connects again and continues where it was. Throws errors that will not pass:
   * `unauthorized`, `forbidden`, `invalid_input`, an answer that is not recentn's.
   */
  watch<Payload = unknown>(group: string, options: StreamOptions = {}): GroupWatch<Payload> {
    return watchGroup(this.transport, group, options) as GroupWatch<Payload>
  }
}

/** `Body` is the type that the caller says bodies have: nothing checks it, except the `schema` of a worker. */
export class QueuesClient extends QueueCalls {
  /**
   * Receives messages and runs the handler on each until it is stopped: at least once, and not at the same time while this
   * process is alive and the server reachable. A message is this worker's for as long as its handler runs, because its claim
   * is extended. Throws `invalid_input`; later errors go to `onError`, and the work continues when the server answers again.
   */
  work<Body = unknown>(queue: string, handler: Handler<Body>, options: ClientWorkOptions<Body> = {}): Running {
    return startWorker(this, queue, handler as Handler, options as ClientWorkOptions)
  }
}

/** `Value` is the type that the caller says values have: nothing checks it, except the `schema` of a consumer. */
export class FeedsClient extends FeedCalls {
  /**
   * Gives the handler the changes after the consumer's stored cursor, page by page until it is stopped, and stores the
   * cursor when the handler has resolved. Each change is given at least once, in order, with the latest value of each key.
   * Any number of processes may do it for one consumer; the same changes may then be given to several at once. Throws
   * `invalid_input`; later errors go to `onError`, and the work is tried again.
   */
  consume<Value = unknown>(
    feed: string,
    consumer: string,
    handler: ConsumeHandler<Value>,
    options: ClientConsumeOptions<Value> = {},
  ): Running {
    return startConsumer(
      this as FeedCalls,
      [feed, consumer],
      handler as ConsumeHandler,
      options as ClientConsumeOptions,
    )
  }
}

export interface Client extends CommonClient {
  /** Groups of recent items, and members. */
  readonly groups: GroupsClient
  readonly queues: QueuesClient
  readonly feeds: FeedsClient
  /**
   * One queue, whose bodies have this type: `client.queue<Mail>('mail').send(mail)`. With a `schema` they are checked, and its
   * types are theirs. Sends nothing, not even to ask whether there is such a queue.
   */
  queue<In = unknown, Out = In>(queue: string, options?: HandleOptions<Out, In>): ClientQueueHandle<In, Out>
  /** One group, whose payloads have this type; nothing checks it. */
  group<Payload = unknown>(group: string): ClientGroupHandle<Payload>
  /** One feed, whose values have this type, as `queue`. */
  feed<In = unknown, Out = In>(feed: string, options?: HandleOptions<Out, In>): ClientFeedHandle<In, Out>
}

/** Makes a client. It sends nothing before it is used, and needs no closing. Throws `invalid_input` for invalid options. */
export function createClient(options: ClientOptions): Client {
  const transport = transportOf(options)
  const groups = new GroupsClient(transport)
  const queues = new QueuesClient(transport)
  const feeds = new FeedsClient(transport)
  return {
    ...commonOf(transport),
    groups,
    queues,
    feeds,
    group: (name) => groupHandle(groups, name, ' allItems watch'),
    queue: (name, options) => queueHandle(queues, name, options, ' allMessages work'),
    feed: (name, options) => feedHandle(feeds, name, options, ' consume'),
  }
}

export { UnrecoverableError } from '../shared/failures'
export { RecentnError } from '../shared/recentn-error'
export type { StandardSchema } from '../shared/schema'
export type { ClientFeedHandle, ClientGroupHandle, ClientQueueHandle } from './handles'
export type {
  ClientConsumeOptions,
  ClientWorkOptions,
  ConsumeContext,
  ConsumeHandler,
  Handler,
  Running,
  WorkContext,
} from './loops'
export { workMany } from './many'
export type * from './types'
