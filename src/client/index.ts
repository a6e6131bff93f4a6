/**
 * The client of a recentn server, for browsers, Node and whatever else has `fetch`. It has the methods of the library, with
 * the same names, ids as bigint and times as Date. What it takes and gives is made from the OpenAPI document (`wire/`).
 */
import { FeedsClient } from './feeds'
import { GroupsClient } from './groups'
import type { ClientOptions } from './options'
import { ProcessClient } from './process'
import { QueuesClient } from './queues'
import { type CallOptions, Transport } from './transport'
import type { Access } from './wire/answers'

export interface Client {
  /** Groups of recent items, policies, and members. */
  readonly groups: GroupsClient
  readonly queues: QueuesClient
  readonly feeds: FeedsClient
  /** The health and the metrics of a server of its own. */
  readonly process: ProcessClient
  /** What the caller's key may do: its scopes, and the prefix that it is confined to. Throws `unauthorized`. */
  access(options?: CallOptions): Promise<Access>
}

/** Asks nothing before it is used, and needs no closing. Throws `invalid_input` for options that are not valid. */
export function createClient(options: ClientOptions): Client {
  const transport = new Transport(options)
  return {
    groups: new GroupsClient(transport),
    queues: new QueuesClient(transport),
    feeds: new FeedsClient(transport),
    process: new ProcessClient(transport),
    access: async (options) => (await transport.call('getAccess', {}, options)).value,
  }
}

export { type ClientErrorCode, type ErrorCode, type ErrorFacts, type Fault, RecentnError } from '../errors'
export type * from './feeds'
export type * from './groups'
export type { ClientOptions } from './options'
export type * from './process'
export type * from './queues'
export type { CallOptions } from './transport'
export type { GroupEvent, GroupWatch, WatchOptions } from './watch'
export type * from './wire/answers'
export type * from './wire/requests'
