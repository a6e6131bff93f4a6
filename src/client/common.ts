/** The parts of every client besides groups, queues and feeds, and how they are made. */
import type { ApiKey } from '../shared/key-types'
import type { Overview, OverviewOptions } from '../shared/overview-types'
import { getAccess, getOverview, livez, metrics, readyz } from './operations'
import { type ClientOptions, checkOptions } from './options'
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
