/** Describes where the data of a DataSource is, without user and password. */
import type { DataSourceOptions } from 'typeorm'
import { DriverUtils } from 'typeorm/driver/DriverUtils'
import type { ServerHost } from '../mysql/server-hosts'
import type { MysqlOptions } from './connect'

interface Server {
  host?: string
  port?: number
  database?: string
  socketPath?: string
}

/** With replication it is the primary, because the store uses only that. */
export function locationOf(options: DataSourceOptions): string {
  if (options.type === 'better-sqlite3') {
    return options.database === ':memory:' ? 'memory (SQLite)' : `${options.database} (SQLite)`
  }
  const { type, replication, extra, hosts } = options as MysqlOptions
  // The precedence is TypeORM's: a URL before single options, and `extra`, which goes to the driver unchanged, before
  // both.
  const credentials = DriverUtils.buildDriverOptions(replication?.master ?? options) as Server
  const { host = 'localhost', port = 3306, database = '', socketPath } = { ...credentials, ...(extra as Server) }
  if (hosts) return `${type}://${hosts.all.map(addressOf).join(',')}/${database}`
  const of = replication ? ' (the primary of a replication)' : ''
  if (socketPath) return `${type}:${socketPath} (socket), database ${database}${of}`
  return `${type}://${addressOf({ host, port })}/${database}${of}`
}

function addressOf({ host, port }: ServerHost): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}
