/** The public shapes of schedules, which send messages to queues again and again. Times are Dates in UTC. */
import type { JsonText } from './json'
import type { As, Form, IfTag, ListOptions, Tagged } from './types'

/** When a schedule ticks, and what it sends: `cron` or `everySeconds` is given. */
export interface ScheduleDefinition<Body = unknown> {
  /** The queue that gets the messages; it must exist. */
  queue: string
  /** 5 fields (minute, hour, day of the month, month, day of the week), or 6 with seconds first. */
  cron?: string | null | undefined
  /** The time between two ticks: 1 to 315,360,000. The first tick comes after as long. */
  everySeconds?: number | null | undefined
  /** The IANA name of the time zone of `cron`. Default: `UTC`. */
  timeZone?: string | null | undefined
  /**
   * A tick that is at most a minute late is always sent. If all ticks that are due are later, since no store was running or
   * the queue was gone: `send-once` (the default) sends the newest of them, `skip` sends none.
   */
  missed?: 'send-once' | 'skip' | undefined
  /** The body of each message: any JSON value, 256 KiB as text; or `JsonText`. */
  body: Body | JsonText
  /** As in `send`, counted from when the tick is sent. */
  delaySeconds?: number | undefined
  visibilityTimeoutSeconds?: number | null | undefined
  maxReceives?: number | null | undefined
  priority?: number | undefined
  messageGroup?: string | null | undefined
  /**
   * Up to 14. Each message also has `recentn.schedule`, the name of its schedule, and `recentn.tick`, the planned time of its
   * tick in RFC 3339.
   */
  attributes?: Readonly<Record<string, string>> | null | undefined
}

/** The changes of `update` of a schedule. */
export type ScheduleChanges<Body = unknown> = {
  [Name in keyof ScheduleDefinition<Body>]?: ScheduleDefinition<Body>[Name] | undefined
}

/** A schedule as lists show it. */
export interface ListedSchedule extends Tagged {
  schedule: string
  queue: string
  cron: string | null
  everySeconds: number | null
  /** Null where there is no `cron`. */
  timeZone: string | null
  missed: 'send-once' | 'skip'
  delaySeconds: number
  visibilityTimeoutSeconds: number | null
  /** Left out: the queue's. Null is no limit. */
  maxReceives?: number | null
  priority: number
  messageGroup: string | null
  /** Those of the definition. */
  attributes: Readonly<Record<string, string>>
  /** The planned time of the next tick; in the past while a tick cannot be sent. */
  nextTickAt: Date
  /** The planned time of the last tick that was sent, and when it was sent. */
  lastTickAt: Date | null
  lastSentAt: Date | null
  /** Why the next tick could not be sent so far; it is tried again each minute. */
  lastError: string | null
  createdAt: Date
}

export interface Schedule<Body = unknown> extends ListedSchedule {
  body: Body
}

export interface SchedulePage {
  schedules: ListedSchedule[]
  nextAfter: string | null
}

export interface ScheduleOptions<Asked extends Form = Form> {
  /** `'text'` gives the body as `JsonText`, unparsed. */
  bodies?: Asked | undefined
}

export interface ScheduleListOptions extends ListOptions {
  /** Only schedules that send to queues whose names begin with it. */
  queuePrefix?: string | undefined
}

/** The operations on schedules: `store.schedules` and `tx.schedules`. `Body` is as in `Queues`. */
export interface Schedules {
  /** Null if there is no such schedule. */
  get<Body = unknown, Asked extends Form = 'value'>(
    schedule: string,
    options?: ScheduleOptions<Asked>,
  ): Promise<Schedule<As<Body, Asked>> | null>
  /**
   * Creates the schedule, or replaces the one of this name. While `cron`, `everySeconds` and `timeZone` stay the same, its
   * next tick stays too: an app may repeat the call at each start. Throws `queue_not_found`.
   */
  put<Body = unknown, Asked extends Form = 'value'>(
    schedule: string,
    definition: ScheduleDefinition<NoInfer<Body>>,
    options?: IfTag & ScheduleOptions<Asked>,
  ): Promise<Schedule<As<Body, Asked>> & { created: boolean }>
  /**
   * Changes only what is given: from `cron` to `everySeconds` by `{ cron: null, everySeconds: 60 }`. Throws
   * `schedule_not_found` and `queue_not_found`.
   */
  update<Body = unknown, Asked extends Form = 'value'>(
    schedule: string,
    changes: ScheduleChanges<NoInfer<Body>>,
    options?: IfTag & ScheduleOptions<Asked>,
  ): Promise<Schedule<As<Body, Asked>>>
  /** Creates the schedule unless it exists. One that exists stays as it is; a process warns once of what differs. */
  ensure<Body = unknown, Asked extends Form = 'value'>(
    schedule: string,
    definition: ScheduleDefinition<NoInfer<Body>>,
    options?: ScheduleOptions<Asked>,
  ): Promise<Schedule<As<Body, Asked>> & { created: boolean }>
  /** Ends the schedule; false if there was none. Messages that it has sent stay. */
  drop(schedule: string): Promise<boolean>
  /** Schedules by name, without their bodies. */
  list(options?: ScheduleListOptions): Promise<SchedulePage>
}
