/** The databases that the tests run on: a new, empty one of an engine's wherever one is asked for. */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Connection, createConnection } from 'mysql2/promise'
import type { DataSource } from 'typeorm'
import { mysqlUri } from './servers/server'

export const ENGINES = ['sqlite', 'mariadb', 'mysql'] as const
export type EngineName = (typeof ENGINES)[number]

export interface Database {
  url: string
  /** Removes the database; its users must have closed it. */
  drop(): Promise<void>
}

/** The variable in which the workers find the root URL of an engine's server. */
export function urlVariable(name: EngineName): string {
  return `RECENTN_TEST_SERVER_${name.toUpperCase()}`
}

/** The variable in which the workers find why an engine has no server. */
export function reasonVariable(name: EngineName): string {
  return `RECENTN_TEST_NO_${name.toUpperCase()}`
}

/** The variable in which the workers find the version of an engine's server. */
export function versionVariable(name: EngineName): string {
  return `RECENTN_TEST_VERSION_${name.toUpperCase()}`
}

/** The answer of the engine's server to `SELECT VERSION()`; throws where there is no server. */
export function engineVersion(name: EngineName): string {
  const version = process.env[versionVariable(name)]
  if (!version) throw new Error(`no server of ${name} was found`)
  return version
}

/** The URL, without a database, of an account of the engine's server that may do everything; null for none. */
export function engineUrl(name: EngineName): string | null {
  return process.env[urlVariable(name)] || null
}

/**
 * A new empty database, not shared. `memory` is for SQLite: `sqlite::memory:` in place of a file.
 * Throws where the engine has no server.
 */
export async function freshDatabase(name: EngineName, options: { memory?: boolean } = {}): Promise<Database> {
  if (name === 'sqlite') return options.memory ? { url: 'sqlite::memory:', drop: async () => {} } : freshFile()
  const root = engineUrl(name)
  if (root === null) throw new Error(`there is no ${name} server: ${process.env[reasonVariable(name)]}`)
  const database = `recentn_${randomBytes(8).toString('hex')}`
  await execute(root, `CREATE DATABASE ${database} CHARACTER SET utf8mb4`)
  const url = new URL(root)
  url.pathname = `/${database}`
  return { url: url.toString(), drop: () => execute(root, `DROP DATABASE IF EXISTS ${database}`) }
}

function freshFile(): Database {
  const folder = mkdtempSync(join(tmpdir(), 'recentn-sqlite-'))
  return {
    url: `sqlite:${join(folder, 'recentn.db')}`,
    drop: async () => rmSync(folder, { recursive: true, force: true }),
  }
}

async function execute(root: string, statement: string): Promise<void> {
  const connection = await createConnection({ uri: mysqlUri(root) })
  try {
    // A test that left a transaction open fails here, soon, where it would wait for a day and longer.
    await connection.query('SET SESSION lock_wait_timeout = 10')
    await connection.query(statement)
  } finally {
    destroyNow(connection)
  }
}

/** Closes the connection without waiting for the server's end of it, which nothing bounds. */
export function destroyNow(connection: Connection): void {
  connection.destroy()
  const { stream } = (connection as unknown as { connection: { stream: Socket } }).connection
  stream.destroySoon()
}

/** The same of a DataSource. */
export async function destroySource(source: DataSource): Promise<void> {
  const { pool } = source.driver as { pool?: { _allConnections: { toArray(): { stream: Socket }[] } } }
  const sockets = pool?._allConnections.toArray().map(({ stream }) => stream) ?? []
  await source.destroy()
  for (const socket of sockets) socket.destroySoon()
}

/** `describe` on an engine. Without a server it is one skipped test that says why, and `body` is not run. */
export function describeEngine(name: EngineName, title: string, body: () => void): void {
  if (name === 'sqlite' || engineUrl(name) !== null) {
    describe(`${title} on ${name}`, body)
    return
  }
  const reason = process.env[reasonVariable(name)] ?? 'the global setup did not run'
  describe.skip(`${title} on ${name}: NOT TESTED`, () => {
    it(reason, () => {
      throw new Error(reason)
    })
  })
}
