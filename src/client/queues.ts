/** Work queues: the methods of the library's `store.queues`, without `work`. */

import { MessageCalls } from './messages'
import * as operations from './operations'
import { type CallOptions, everyOf, parted, type Transport } from './transport'
import type Wire from './wire'
import type {
  ListedSchedule,
  NewSchedule,
  Queue,
  QueueChanges,
  QueuePage,
  QueueSettings,
  QueueStatus,
  Schedule,
  SchedulePage,
} from './wire'

export type * from './messages'
export type ScheduleListOptions = Wire['listSchedules']['query'] & CallOptions
export type QueueListOptions = Wire['listQueues']['query'] & CallOptions

/** The calls of messages, and these. */
export class QueueCalls<Base = unknown> extends MessageCalls<Base> {
  readonly #transport: Transport

  constructor(transport: Transport) {
    super(transport)
    this.#transport = transport
  }

  /** The settings and counts; null if the queue does not exist. */
  get(queue: string, options?: CallOptions): Promise<QueueStatus | null> {
    return this.#transport.valueOrNull(operations.getQueue, { path: { queue } }, 'queue_not_found', options)
  }

  /** Creates the queue, or replaces all of its settings: one that is left out gets its default. A pause stays. */
  async put(queue: string, settings: QueueSettings = {}, options?: CallOptions): Promise<Queue & { created: boolean }> {
    const parts = { path: { queue }, body: settings }
    return this.#transport.made(operations.putQueue, parts, options)
  }

  /** Creates the queue with these settings, and leaves a queue that exists unchanged. */
  async ensure(
    queue: string,
    settings: QueueSettings = {},
    options?: CallOptions,
  ): Promise<Queue & { created: boolean }> {
    const parts = { path: { queue }, body: settings }
    return this.#transport.made(operations.ensureQueue, parts, { repeat: 'safe', ...options })
  }

  /** Changes the given settings and no others. Throws `queue_not_found`. */
  update(queue: string, settings: QueueChanges, options?: CallOptions): Promise<Queue> {
    return this.#transport.value(operations.updateQueue, { path: { queue }, body: settings }, options)
  }

  /** Until `resume`, messages can be sent but receives get none. Repeatable. Throws `queue_not_found`. */
  pause(queue: string, options?: CallOptions): Promise<Queue> {
    return this.#transport.value(operations.pauseQueue, { path: { queue }, body: {} }, { repeat: 'safe', ...options })
  }

  /** Ends a pause; waiting receives get messages at once. Repeatable. Throws `queue_not_found`. */
  resume(queue: string, options?: CallOptions): Promise<Queue> {
    return this.#transport.value(operations.resumeQueue, { path: { queue }, body: {} }, { repeat: 'safe', ...options })
  }

  /** Deletes the queue and its messages; false if there was none. Throws `queue_in_use`. */
  drop(queue: string, options?: CallOptions): Promise<boolean> {
    return this.#transport.wasThere(operations.deleteQueue, { path: { queue } }, 'queue_not_found', options)
  }

  /** A page of queues, by name. */
  list(options: QueueListOptions = {}): Promise<QueuePage> {
    const [query, call] = parted(options)
    return this.#transport.value(operations.listQueues, { query }, call)
  }

  /** All queues by name, in pages of `limit`. */
  all(options: QueueListOptions = {}): AsyncGenerator<QueueStatus, void, undefined> {
    return everyOf((page) => this.list(page), 'queues', options)
  }

  /**
   * Creates the schedule, or replaces the one of this name. While `cron`, `everySeconds` and `timeZone` stay the same, its
   * next tick stays too. Throws `queue_not_found`.
   */
  async schedule<Body extends Base = Base>(
    schedule: string,
    definition: NewSchedule<NoInfer<Body>>,
    options?: CallOptions,
  ): Promise<Schedule<Body> & { created: boolean }> {
    const parts = { path: { schedule }, body: definition }
    return this.#transport.made(operations.putSchedule, parts, options) as Promise<
      Schedule<Body> & { created: boolean }
    >
  }

  /** Null if there is no such schedule. */
  getSchedule<Body extends Base = Base>(schedule: string, options?: CallOptions): Promise<Schedule<Body> | null> {
    const found = this.#transport.valueOrNull(
      operations.getSchedule,
      { path: { schedule } },
      'schedule_not_found',
      options,
    )
    return found as Promise<Schedule<Body> | null>
  }

  /** A page of schedules by name, without their bodies. */
  schedules(options: ScheduleListOptions = {}): Promise<SchedulePage> {
    const [query, call] = parted(options)
    return this.#transport.value(operations.listSchedules, { query }, call)
  }

  /** All schedules by name, in pages of `limit`. */
  allSchedules(options: ScheduleListOptions = {}): AsyncGenerator<ListedSchedule, void, undefined> {
    return everyOf((page) => this.schedules(page), 'schedules', options)
  }

  /** Ends the schedule; false if there was none. Messages that it has sent stay. */
  unschedule(schedule: string, options?: CallOptions): Promise<boolean> {
    return this.#transport.wasThere(operations.deleteSchedule, { path: { schedule } }, 'schedule_not_found', options)
  }
}
