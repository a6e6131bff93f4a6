/** What `recentn doctor` looks at around a server: who else uses it, and what it is a part of. */
import type { DataSource } from 'typeorm'
import type { Store } from '../store/types'
import type { Finding } from './finding'

type Answer = Omit<Finding, 'check'>
type Settings = ReadonlyMap<string, string>

async function settings(database: DataSource, what: string, names: readonly string[]): Promise<Settings> {
  const rows: { Variable_name: string; Value: string }[] = await database.query(
    `SHOW GLOBAL ${what} WHERE Variable_name IN (${names.map((name) => `'${name}'`).join(', ')})`,
  )
  return new Map(rows.map((row) => [row.Variable_name, row.Value]))
}

/** A process takes as many connections as its pool has, and each process as many again. */
export async function connections(store: Store): Promise<Answer> {
  const variables = await settings(store.dataSource, 'VARIABLES', ['max_connections'])
  const status = await settings(store.dataSource, 'STATUS', ['Threads_connected', 'Max_used_connections'])
  return connectionsAnswer({
    pool: store.counts().connections.max,
    max: Number(variables.get('max_connections')),
    now: Number(status.get('Threads_connected')),
    most: Number(status.get('Max_used_connections')),
  })
}

export function connectionsAnswer({ pool, max, now, most }: Record<'pool' | 'max' | 'now' | 'most', number>): Answer {
  const found = `${now} of ${max} (max_connections) are open, at most ${most} were; a process of recentn takes up to ${pool}`
  if (now + pool <= max && most < max) return { state: 'ok', found }
  const mend = 'raise max_connections, or lower RECENTN_POOL_SIZE, so that every process can have its pool'
  return { state: 'warning', found, mend }
}

const TELLING = [
  'wsrep_on',
  'wsrep_cluster_size',
  'aurora_version',
  'group_replication_group_name',
  'group_replication_single_primary_mode',
]

export async function cluster({ dataSource }: Store): Promise<Answer> {
  return clusterAnswer(await settings(dataSource, 'VARIABLES', TELLING))
}

/** What the server is a part of, by its settings; those that a server does not know are not there. */
export function clusterAnswer(settings: Settings): Answer {
  const isOn = (name: string) => /^(on|1)$/i.test(settings.get(name) ?? '')
  if (isOn('wsrep_on')) {
    const found = 'Galera: row locks are not seen by other nodes, a conflict with one comes at the commit (1213)'
    return { state: 'warning', found, mend: 'have all processes of recentn write to the same node' }
  }
  const isGroup = (settings.get('group_replication_group_name') ?? '') !== ''
  if (isGroup && !isOn('group_replication_single_primary_mode')) {
    const found = 'group replication with several primaries: row locks are not seen by the others'
    return { state: 'warning', found, mend: 'use the single-primary mode, or have all processes write to one member' }
  }
  if (isGroup) return { state: 'ok', found: 'group replication with a single primary' }
  const aurora = settings.get('aurora_version')
  if (aurora !== undefined) return { state: 'ok', found: `Aurora ${aurora}` }
  return { state: 'ok', found: 'none that it tells of' }
}
