/** The MySQL-speaking server that recentn runs on, and its durability in its own words. */
import { createConnection, type RowDataPacket } from 'mysql2/promise'
import { dockerServer } from '../../test/support/servers/docker'
import { packagesServer } from '../../test/support/servers/packages'
import { programServer } from '../../test/support/servers/program'
import {
  awaitVersion,
  engineOf,
  messageOf,
  type Server,
  type ServerEngine,
  shortestUrl,
} from '../../test/support/servers/server'
import type { ServerFacts } from '../types'

/** MariaDB out of the packages first, MySQL out of Docker first: the versions that the report is about. */
const SOURCES = {
  mariadb: [programServer, packagesServer, dockerServer],
  mysql: [dockerServer, programServer, packagesServer],
}

/** `settings` are further options of the server, such as `--innodb-buffer-pool-size=1G`. */
export async function startSql(engine: ServerEngine, settings: string[]): Promise<ServerFacts> {
  const reasons: string[] = []
  for (const source of SOURCES[engine]) {
    let server: Server | undefined
    try {
      server = await source(engine, settings)
      const version = await awaitVersion(server.url, 60)
      const url = await shortestUrl(server)
      if (engineOf(version) !== engine) throw new Error(`that server is ${version}`)
      return { ...server, url, version: named(engine, version), durability: await durabilityOf(url) }
    } catch (error) {
      await server?.stop()
      reasons.push(messageOf(error))
    }
  }
  throw new Error(`no ${engine} server: ${reasons.join('; ')}`)
}

function named(engine: ServerEngine, version: string): string {
  return engine === 'mariadb' ? `MariaDB ${version.replace(/-MariaDB.*/, '')}` : `MySQL ${version}`
}

const ASKED = ['innodb_flush_log_at_trx_commit', 'log_bin', 'sync_binlog', 'innodb_doublewrite']

async function durabilityOf(url: string): Promise<string> {
  const connection = await createConnection(url)
  try {
    const [rows] = await connection.query<RowDataPacket[]>('SHOW GLOBAL VARIABLES WHERE Variable_name IN (?)', [
      [...ASKED, 'innodb_buffer_pool_size'],
    ])
    const value = new Map(rows.map((row) => [String(row.Variable_name), String(row.Value)]))
    const flush = value.get('innodb_flush_log_at_trx_commit')
    const how = flush === '1' ? 'fsync each commit' : 'NOT durable'
    const binlog = value.get('log_bin') === 'ON' ? `binlog with sync_binlog=${value.get('sync_binlog')}` : 'no binlog'
    const pool = Number(value.get('innodb_buffer_pool_size')) / 2 ** 20
    return `${how} (innodb_flush_log_at_trx_commit=${flush}, ${binlog}; buffer pool ${pool} MB)`
  } finally {
    connection.destroy()
  }
}
