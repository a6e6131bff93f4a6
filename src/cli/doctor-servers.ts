/** The checks of `recentn doctor` around a server: its connections, and the cluster that it is part of. */
import { innerOf } from '../store/inner'
import type { Store } from '../store/types'
import { type CheckResult, type ServerVariables, variablesOf } from './doctor-work'

/** Each process takes as many connections as its pool has. */
export async function connections(store: Store): Promise<CheckResult> {
  const variables = await variablesOf(store.dataSource, 'GLOBAL VARIABLES', ['max_connections'])
  const status = await variablesOf(store.dataSource, 'GLOBAL STATUS', ['Threads_connected', 'Max_used_connections'])
  return connectionsAnswer({
    pool: innerOf(store).counts().connections.max,
    max: Number(variables.get('max_connections')),
    now: Number(status.get('Threads_connected')),
    most: Number(status.get('Max_used_connections')),
  })
}

export function connectionsAnswer({
  pool,
  max,
  now,
  most,
}: Record<'pool' | 'max' | 'now' | 'most', number>): CheckResult {
  const found = `${now} of ${max} (max_connections) are open, at most ${most} were; a process of recentn takes up to ${pool}`
  if (now + pool <= max && most < max) return { state: 'ok', found }
  const fix = 'raise max_connections, or lower RECENTN_POOL_SIZE, so that every process can have its pool'
  return { state: 'warning', found, fix }
}

const TELLING = [
  'wsrep_on',
  'wsrep_cluster_size',
  'aurora_version',
  'group_replication_group_name',
  'group_replication_single_primary_mode',
]

export async function cluster({ dataSource }: Store): Promise<CheckResult> {
  return clusterAnswer(await variablesOf(dataSource, 'GLOBAL VARIABLES', TELLING))
}

/** The cluster, by the variables of the server. A server lacks the variables that it does not know. */
export function clusterAnswer(settings: ServerVariables): CheckResult {
  const isOn = (name: string) => /^(on|1)$/i.test(settings.get(name) ?? '')
  if (isOn('wsrep_on')) {
    const found = 'Galera: row locks are not seen by other nodes, a conflict with one comes at the commit (1213)'
    return { state: 'warning', found, fix: 'have all processes of recentn write to the same node' }
  }
  const isGroup = (settings.get('group_replication_group_name') ?? '') !== ''
  if (isGroup && !isOn('group_replication_single_primary_mode')) {
    const found = 'group replication with several primaries: row locks are not seen by the others'
    return { state: 'warning', found, fix: 'use the single-primary mode, or have all processes write to one member' }
  }
  if (isGroup) return { state: 'ok', found: 'group replication with a single primary' }
  const aurora = settings.get('aurora_version')
  if (aurora !== undefined) return { state: 'ok', found: `Aurora ${aurora}` }
  return { state: 'ok', found: 'none, as far as its variables say' }
}
