/**
 * The client of a recentn server, for browsers, Node and other runtimes that have `fetch`. It has the methods of the library
 * under the same names, and its types. A class has the loop that runs on top of the calls of `calls.ts`.
 */
import type { GroupWatch, NewItem } from '../shared/group-types'
import {
  FEED_CALLS,
  type FeedCall,
  FILLED,
  fillingHandle,
  GROUP_CALLS,
  type GroupCall,
  type Handle,
  handleOf,
  QUEUE_CALLS,
  type QueueCall,
} from '../shared/handles'
import { type CommonClient, commonOf, transportOf } from './calls'
import { startConsumer } from './consume'
import { FeedCalls } from './feeds'
import { GroupCalls } from './groups'
import type { ConsumeHandler, ConsumeOptions, Handler, Running, WorkOptions } from './loops'
import type { ClientOptions } from './options'
import { QueueCalls } from './queues'
import type { AppendedPlace } from './schemas'
import type { CallOptions, Transport } from './transport'
import { type StreamOptions, watchGroup } from './watch'
import { startWorker } from './work'

/** `Payload` is the type that the caller says payloads have: nothing checks it. */
export class GroupsClient<Base = unknown> extends GroupCalls<Base> {
  readonly #transport: Transport

  constructor(transport: Transport) {
    super(transport)
    this.#transport = transport
  }

  /**
   * The events of the group from now on, or since the item `after`, until the watch is ended (`break`, `return()`, the
   * signal). A watch whose connection breaks connects again and goes on where it was. Throws errors that will not pass:
   * `unauthorized`, `forbidden`, `invalid_input`, an answer that is not recentn's.
   */
  watch<Payload extends Base = Base>(group: string, options: StreamOptions = {}): GroupWatch<Payload> {
    return watchGroup(this.#transport, group, options) as GroupWatch<Payload>
  }
}

/** `Body` is the type that the caller says bodies have: nothing checks it, except the `schema` of a worker. */
export class QueuesClient<Base = unknown> extends QueueCalls<Base> {
  /**
   * Receives messages and runs the handler on each until it is stopped: at least once, and not at the same time while this
   * process is alive and the server reachable. A message is this worker's for as long as its handler runs, because its claim
   * is extended. Throws `invalid_input`; later errors go to `onError`, and the work goes on when the server answers again.
   */
  work<Body extends Base = Base>(queue: string, handler: Handler<Body>, options: WorkOptions<Body> = {}): Running {
    return startWorker(this, queue, handler as Handler, options as WorkOptions)
  }
}

/** `Value` is the type that the caller says values have: nothing checks it, except the `schema` of a consumer. */
export class FeedsClient<Base = unknown> extends FeedCalls<Base> {
  /**
   * Gives the handler what comes after the consumer's stored cursor, page by page and until it is stopped, and stores the
   * cursor when the handler has resolved: each change at least once, in order, the latest value of each key. Any number of
   * processes may do it for one consumer; the same changes may then be given to several at once. Throws `invalid_input`;
   * later errors go to `onError`, and the work is tried again.
   */
  consume<Value extends Base = Base>(
    feed: string,
    consumer: string,
    handler: ConsumeHandler<Value>,
    options: ConsumeOptions<Value> = {},
  ): Running {
    return startConsumer(this as FeedCalls, [feed, consumer], handler as ConsumeHandler, options as ConsumeOptions)
  }
}

/** What a handle of a group has besides. */
interface BoundGroup<Payload = unknown> {
  /** `groups.appendMany`, with this group as the `group` of each item. */
  appendMany(items: readonly NewItem<Payload>[], options?: CallOptions): Promise<AppendedPlace[]>
}

/** The calls of `client.queues` on one queue, whose bodies are of one type: what `client.queue` gives. */
export type QueueHandle<Body = unknown> = Handle<QueuesClient<Body>, QueueCall | 'allMessages' | 'work'>
/** The calls of `client.groups` on one group, whose payloads are of one type: what `client.group` gives. */
export type GroupHandle<Payload = unknown> = Handle<GroupsClient<Payload>, GroupCall | 'allItems' | 'watch'> &
  BoundGroup<Payload>
/** The calls of `client.feeds` on one feed, whose values are of one type: what `client.feed` gives. */
export type FeedHandle<Value = unknown> = Handle<FeedsClient<Value>, FeedCall | 'consume'>

export interface Client extends CommonClient {
  /** Groups of recent items, and members. */
  readonly groups: GroupsClient
  readonly queues: QueuesClient
  readonly feeds: FeedsClient
  /**
   * One queue, whose bodies have this type: `client.queue<Mail>('mail').send(mail)` does what `client.queues.send('mail', mail)`
   * does. Asks nobody, and checks nothing: neither that there is such a queue nor, without a `schema`, what bodies are.
   */
  queue<Body = unknown>(queue: string): QueueHandle<Body>
  /** One group, whose payloads have this type, as `queue`. */
  group<Payload = unknown>(group: string): GroupHandle<Payload>
  /** One feed, whose values have this type, as `queue`. */
  feed<Value = unknown>(feed: string): FeedHandle<Value>
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
    group: (name) => fillingHandle(groups, name, [...GROUP_CALLS, 'allItems', 'watch'], FILLED.group),
    queue: (name) => handleOf(queues, name, [...QUEUE_CALLS, 'allMessages', 'work']),
    feed: (name) => handleOf(feeds, name, [...FEED_CALLS, 'consume']),
  }
}

export { UnrecoverableError } from '../shared/failures'
export { RecentnError } from '../shared/recentn-error'
export type { StandardSchema } from '../shared/schema'
export type {
  ConsumeContext,
  ConsumeHandler,
  ConsumeOptions,
  Handler,
  Running,
  StopOptions,
  WorkContext,
  WorkOptions,
} from './loops'
export type * from './types'
