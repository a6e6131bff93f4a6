/**
 * The client without its loops (`watch`, `work`, `consume`), for pages that count bytes: a bundler can't drop a method that
 * no page calls, so the loops are in another class. Apart from them it is the client of `index.ts`.
 */
import { FEED_CALLS, GROUP_CALLS, handleOf, QUEUE_CALLS } from '../shared/handles'
import type { ApiKey } from '../shared/key-types'
import type { Overview, OverviewOptions } from '../shared/overview-types'
import { FeedCalls } from './feeds'
import { GroupCalls } from './groups'
import type { CallsFeedHandle, CallsGroupHandle, CallsQueueHandle } from './handles'
import { getAccess, getOverview, livez, metrics, readyz } from './operations'
import { type ClientOptions, checkOptions } from './options'
import { QueueCalls } from './queues'
import type { Health, Operation } from './schemas'
import { PolicyCalls, SCHEDULES, type ScheduleCalls, SettingsCalls } from './settings'
import { type CallOptions, Transport } from './transport'

/** The parts of every client besides groups, queues and feeds. */
export interface CommonClient {
  readonly policies: PolicyCalls
  readonly schedules: ScheduleCalls
  /** The health and the metrics of a server process: a router that is mounted in another app serves none of this. */
  readonly process: {
    /** Resolves if the process answers. */
    livez(options?: CallOptions): Promise<Health>
    /** Resolves if the database answers too; throws `database_unavailable`, and `draining` if the server is stopping. */
    readyz(options?: CallOptions): Promise<Health>
    /** The metrics of the process, in the format of Prometheus. */
    metrics(options?: CallOptions): Promise<string>
  }
  /** The rights of the caller's key: its scopes, and the prefix that it is confined to. Throws `unauthorized`. */
  access(options?: CallOptions): Promise<Pick<ApiKey, 'scopes' | 'prefix'>>
  /** Everything wrong now that the key may see, the worst first. */
  overview(options?: OverviewOptions & CallOptions): Promise<Overview>
}

export interface CallsClient extends CommonClient {
  /** Groups of recent items, and members. */
  readonly groups: GroupCalls
  readonly queues: QueueCalls
  readonly feeds: FeedCalls
  /**
   * One queue, whose bodies have this type: `client.queue<Mail>('mail').send(mail)` does what `client.queues.send('mail', mail)`
   * does. Sends nothing, and checks nothing: neither that there is such a queue nor what bodies are.
   */
  queue<Body = unknown>(queue: string): CallsQueueHandle<Body>
  /** One group, whose payloads have this type, as `queue`. */
  group<Payload = unknown>(group: string): CallsGroupHandle<Payload>
  /** One feed, whose values have this type, as `queue`. */
  feed<Value = unknown>(feed: string): CallsFeedHandle<Value>
}

/** Makes a client. It sends nothing before it is used, and needs no closing. Throws `invalid_input` for invalid options. */
export function createClient(options: ClientOptions): CallsClient {
  const transport = transportOf(options)
  const groups = new GroupCalls(transport)
  const queues = new QueueCalls(transport)
  const feeds = new FeedCalls(transport)
  return {
    ...commonOf(transport),
    groups,
    queues,
    feeds,
    group: (name) => handleOf(groups, name, `${GROUP_CALLS} allItems`),
    queue: (name) => handleOf(queues, name, `${QUEUE_CALLS} allMessages`),
    feed: (name) => handleOf(feeds, name, FEED_CALLS),
  }
}

export function transportOf(options: ClientOptions): Transport {
  checkOptions(options)
  return new Transport(options)
}

export function commonOf(transport: Transport): CommonClient {
  const asking =
    <Answer>(operation: Operation<Answer>) =>
    (options?: CallOptions) =>
      transport.asked(operation, null, options)
  return {
    policies: new PolicyCalls(transport),
    schedules: new SettingsCalls(transport, SCHEDULES) as ScheduleCalls,
    process: {
      livez: asking(livez),
      readyz: asking(readyz),
      metrics: asking(metrics),
    },
    access: asking(getAccess),
    overview: asking(getOverview),
  }
}

export { RecentnError } from '../shared/recentn-error'
export type { CallsFeedHandle, CallsGroupHandle, CallsQueueHandle } from './handles'
export type * from './types'
