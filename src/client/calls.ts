/**
 * The client without its loops (`watch`, `work`, `consume`), for pages that count bytes: a bundler can't drop a method that
 * nobody calls, so the loops are in another class. Apart from them it is the client of `index.ts`.
 */
import {
  FEED_CALLS,
  type FeedCall,
  GROUP_CALLS,
  type GroupCall,
  type Handle,
  handleOf,
  QUEUE_CALLS,
  type QueueCall,
} from '../shared/handles'
import { FeedCalls } from './feeds'
import { GroupCalls } from './groups'
import * as operations from './operations'
import { type ClientOptions, checkOptions } from './options'
import { POLICIES, type PolicyCalls } from './policies'
import { ProcessClient } from './process'
import { QueueCalls } from './queues'
import { SCHEDULES, type ScheduleCalls } from './schedules'
import { SettingsCalls } from './settings'
import { type CallOptions, Transport } from './transport'
import type { Access } from './wire'

export interface CallsClient {
  /** Groups of recent items, and members. */
  readonly groups: GroupCalls
  readonly policies: PolicyCalls
  readonly queues: QueueCalls
  readonly schedules: ScheduleCalls
  readonly feeds: FeedCalls
  /**
   * One queue, whose bodies have this type: `client.queue<Mail>('mail').send(mail)` does what `client.queues.send('mail', mail)`
   * does. Asks nobody, and checks nothing: neither that there is such a queue nor what bodies are.
   */
  queue<Body = unknown>(queue: string): Handle<QueueCalls<Body>, QueueCall | 'allMessages'>
  /** One group, whose payloads have this type, as `queue`. */
  group<Payload = unknown>(group: string): Handle<GroupCalls<Payload>, GroupCall | 'allItems'>
  /** One feed, whose values have this type, as `queue`. */
  feed<Value = unknown>(feed: string): Handle<FeedCalls<Value>, FeedCall>
  /** The health and the metrics of a server of its own. */
  readonly process: ProcessClient
  /** What the caller's key may do: its scopes, and the prefix that it is confined to. Throws `unauthorized`. */
  access(options?: CallOptions): Promise<Access>
}

/** Makes a client. It sends nothing before it is used, and needs no closing. Throws `invalid_input` for invalid options. */
export function createClient(options: ClientOptions): CallsClient {
  checkOptions(options)
  const transport = new Transport(options)
  const groups = new GroupCalls(transport)
  const policies: PolicyCalls = new SettingsCalls(transport, POLICIES)
  const schedules = new SettingsCalls(transport, SCHEDULES) as unknown as ScheduleCalls
  const queues = new QueueCalls(transport)
  const feeds = new FeedCalls(transport)
  return {
    groups,
    policies,
    queues,
    schedules,
    feeds,
    group: (name) => handleOf(groups, name, [...GROUP_CALLS, 'allItems']),
    queue: (name) => handleOf(queues, name, [...QUEUE_CALLS, 'allMessages']),
    feed: (name) => handleOf(feeds, name, FEED_CALLS),
    process: new ProcessClient(transport),
    access: (options) => transport.value(operations.getAccess, {}, options),
  }
}

export type { ClientErrorCode, ErrorCode } from '../shared/error-codes'
export { type ErrorFacts, type Fault, RecentnError } from '../shared/recentn-error'
export type * from './feeds'
export type * from './groups'
export type { ClientOptions } from './options'
export type * from './policies'
export type { ProcessClient } from './process'
export type * from './queues'
export type * from './schedules'
export type { CallOptions } from './transport'
export type * from './wire'
