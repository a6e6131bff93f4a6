/** The calls of groups, queues and feeds, each with the loop that runs on top of them: what `calls.ts` leaves out. */
import { startConsumer } from './consume'
import { FeedCalls } from './feeds'
import { GroupCalls } from './groups'
import type { ConsumeHandler, ConsumeOptions, Handler, Running, WorkOptions } from './loops'
import { QueueCalls } from './queues'
import type { Transport } from './transport'
import { type GroupWatch, type WatchOptions, watchGroup } from './watch'
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
  watch<Payload extends Base = Base>(group: string, options: WatchOptions = {}): GroupWatch<Payload> {
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
