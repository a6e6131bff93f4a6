/**
 * The client of a recentn server, for browsers, Node and other runtimes that have `fetch`. It has the methods of the library
 * under the same names, with ids as bigint and times as Date. What it takes and gives is generated from the OpenAPI document.
 */
import { FeedsClient } from './feeds'
import { GroupsClient } from './groups'
import { type ClientOptions, checkOptions } from './options'
import { QueuesClient } from './queues'
import { type CallOptions, Transport } from './transport'
import type { Access, Health } from './wire'

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

/** A router that is mounted in another app serves none of this. */
class ProcessClient {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** Resolves if the process answers. */
  livez(options?: CallOptions): Promise<Health> {
    return this.#transport.value('livez', {}, options)
  }

  /** Resolves if the database answers too; throws `database_unavailable`, and `draining` if the server is stopping. */
  readyz(options?: CallOptions): Promise<Health> {
    return this.#transport.value('readyz', {}, options)
  }

  /** The metrics of the process, in the format of Prometheus. */
  metrics(options?: CallOptions): Promise<string> {
    return this.#transport.value('metrics', {}, options)
  }
}

/** Makes a client. It sends nothing before it is used, and needs no closing. Throws `invalid_input` for invalid options. */
export function createClient(options: ClientOptions): Client {
  checkOptions(options)
  const transport = new Transport(options)
  return {
    groups: new GroupsClient(transport),
    queues: new QueuesClient(transport),
    feeds: new FeedsClient(transport),
    process: new ProcessClient(transport),
    access: (options) => transport.value('getAccess', {}, options),
  }
}

export { type ClientErrorCode, type ErrorCode, type ErrorFacts, type Fault, RecentnError } from '../errors'
export type * from './feeds'
export type * from './groups'
export type { ClientOptions } from './options'
export type * from './queues'
export type { GroupEvent } from './stream'
export type { CallOptions } from './transport'
export type { GroupWatch, WatchOptions } from './watch'
export type * from './wire'
export type { ProcessClient }
