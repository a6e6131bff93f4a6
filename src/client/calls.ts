/**
 * The client without its loops (`watch`, `work`, `consume`), for pages that count bytes: a bundler can't drop a method that
 * no page calls, so the loops are in another class. Apart from them it is the client of `index.ts`.
 */
import { FEED_CALLS, groupHandle, handleOf, QUEUE_CALLS } from '../shared/handles'
import { type CommonClient, commonOf, transportOf } from './common'
import { FeedCalls } from './feeds'
import { GroupCalls } from './groups'
import type { CallsFeedHandle, CallsGroupHandle, CallsQueueHandle } from './handles'
import type { ClientOptions } from './options'
import { QueueCalls } from './queues'

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
    group: (name) => groupHandle(groups, name, ' allItems'),
    queue: (name) => handleOf(queues, name, `${QUEUE_CALLS} allMessages`),
    feed: (name) => handleOf(feeds, name, FEED_CALLS),
  }
}

export { RecentnError } from '../shared/recentn-error'
export type { CallsFeedHandle, CallsGroupHandle, CallsQueueHandle } from './handles'
export type * from './types'
