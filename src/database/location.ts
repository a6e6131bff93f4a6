/** Where the data of a DataSource is, in words that may be shown: without user and password. */
import type { DataSourceOptions } from 'typeorm'
import { DriverUtils } from 'typeorm/driver/DriverUtils'

export type MysqlSourceOptions = Extract<DataSourceOptions, { type: 'mysql' | 'mariadb' }>

interface Server {
  host?: string
  port?: number
  database?: string
  socketPath?: string
}

/** The primary, where a DataSource is replicated: the store uses no other. */
export function locationOf(options: DataSourceOptions): string {
  if (options.type === 'better-sqlite3') {
    return options.database === ':memory:' ? 'memory (SQLite)' : `${options.database} (SQLite)`
  }
  const { type, replication, extra } = options as MysqlSourceOptions
  // As TypeORM puts them together: a URL before single options, and what it passes to the driver as it is before all.
  const credentials = DriverUtils.buildDriverOptions(replication?.master ?? options) as Server
  const { host = 'localhost', port = 3306, database = '', socketPath } = { ...credentials, ...(extra as Server) }
  const of = replication ? ' (the primary of a replication)' : ''
  if (socketPath) return `${type}:${socketPath} (socket), database ${database}${of}`
  return `${type}://${host.includes(':') ? `[${host}]` : host}:${port}/${database}${of}`
}
