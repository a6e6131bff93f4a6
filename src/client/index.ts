/**
 * The client of a recentn server, for browsers, Node and other runtimes that have `fetch`. It has the methods of the library
 * under the same names, with ids as bigint and times as Date. What it takes and gives is generated from the OpenAPI document.
 */

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
import type { CallsClient } from './calls'
import { FeedsClient, GroupsClient, QueuesClient } from './clients'
import * as operations from './operations'
import { type ClientOptions, checkOptions } from './options'
import { POLICIES, type PolicyCalls } from './policies'
import { ProcessClient } from './process'
import { SCHEDULES, type ScheduleCalls } from './schedules'
import { SettingsCalls } from './settings'
import { type CallOptions, Transport } from './transport'
import type { Appended, NewItem } from './wire'

/** What a handle of a group has besides. */
export interface BoundGroup<Payload = unknown> {
  /** `groups.appendMany`, with this group as the `group` of each item. */
  appendMany(items: readonly NewItem<Payload>[], options?: CallOptions): Promise<Appended['items']>
}

/** The calls of `client.queues` on one queue, whose bodies are of one type: what `client.queue` gives. */
export type QueueHandle<Body = unknown> = Handle<QueuesClient<Body>, QueueCall | 'allMessages' | 'work'>
/** The calls of `client.groups` on one group, whose payloads are of one type: what `client.group` gives. */
export type GroupHandle<Payload = unknown> = Handle<GroupsClient<Payload>, GroupCall | 'allItems' | 'watch'> &
  BoundGroup<Payload>
/** The calls of `client.feeds` on one feed, whose values are of one type: what `client.feed` gives. */
export type FeedHandle<Value = unknown> = Handle<FeedsClient<Value>, FeedCall | 'consume'>

export interface Client extends Pick<CallsClient, 'policies' | 'schedules' | 'process' | 'access'> {
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
  checkOptions(options)
  const transport = new Transport(options)
  const groups = new GroupsClient(transport)
  const policies: PolicyCalls = new SettingsCalls(transport, POLICIES)
  const schedules = new SettingsCalls(transport, SCHEDULES) as unknown as ScheduleCalls
  const queues = new QueuesClient(transport)
  const feeds = new FeedsClient(transport)
  return {
    groups,
    policies,
    queues,
    schedules,
    feeds,
    group: (name) => fillingHandle(groups, name, [...GROUP_CALLS, 'allItems', 'watch'], FILLED.group),
    queue: (name) => handleOf(queues, name, [...QUEUE_CALLS, 'allMessages', 'work']),
    feed: (name) => handleOf(feeds, name, [...FEED_CALLS, 'consume']),
    process: new ProcessClient(transport),
    access: (options) => transport.value(operations.getAccess, {}, options),
  }
}

export type { ClientErrorCode, ErrorCode } from '../shared/error-codes'
export { UnrecoverableError } from '../shared/failures'
export { type ErrorFacts, type Fault, RecentnError } from '../shared/recentn-error'
export type { SchemaIssue, SchemaResult, StandardSchema } from '../shared/schema'
export type * from './clients'
export type * from './feeds'
export type * from './groups'
export type {
  Change,
  Changes,
  ConsumeContext,
  ConsumeHandler,
  ConsumeOptions,
  Handler,
  Running,
  StopOptions,
  WorkContext,
  WorkOptions,
} from './loops'
export type { ClientOptions } from './options'
export type * from './policies'
export type { ProcessClient } from './process'
export type * from './queues'
export type * from './schedules'
export type { GroupEvent } from './stream'
export type { CallOptions } from './transport'
export type { GroupWatch, WatchOptions } from './watch'
export type * from './wire'
