/** All servers of a run: started together, stopped together; what can't be had is said and not needed. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { whenKilled } from '../../test/support/servers/guard'
import { messageOf } from '../../test/support/servers/server'
import type { EngineName, ServerFacts, ServerName, Urls } from '../types'
import { startPostgres } from './postgres'
import { getProgram, type Program, temporaryFolder } from './program'
import { startRedis } from './redis'
import { startSql } from './sql'

export interface Servers {
  urls: Urls
  facts: Partial<Record<ServerName, ServerFacts>>
  /** Why a peer, or the load generator, is not there. */
  missing: Map<ServerName | 'wrk', string>
  wrk: Program | null
  stop(): Promise<void>
}

interface Wishes {
  engine: EngineName
  postgres: boolean
  redis: boolean
  wrk: boolean
  /** Further options of the SQL server. */
  settings: string[]
}

export async function startServers(wishes: Wishes): Promise<Servers> {
  const facts: Partial<Record<ServerName, ServerFacts>> = {}
  const missing = new Map<ServerName | 'wrk', string>()
  const stop = async () => {
    await Promise.all(Object.values(facts).map((server) => server.stop()))
  }
  const starting: [ServerName, () => Promise<ServerFacts>][] = [['engine', () => startEngine(wishes)]]
  if (wishes.redis) starting.push(['redis', () => startRedis('none')], ['redisAlways', () => startRedis('always')])
  if (wishes.postgres) starting.push(['postgres', startPostgres])
  // One after the other: two would fetch the same package at the same time.
  for (const [name, start] of starting) {
    try {
      facts[name] = await start()
    } catch (error) {
      missing.set(name, messageOf(error))
    }
  }
  const { engine } = facts
  if (engine === undefined) {
    await stop()
    throw new Error(missing.get('engine'))
  }
  const wrk = wishes.wrk ? await getWrk(missing) : null
  const urls: Urls = { engine: engine.url }
  for (const name of ['redis', 'redisAlways', 'postgres'] as const) {
    const url = facts[name]?.url
    if (url !== undefined) urls[name] = url
  }
  return { urls, facts, missing, wrk, stop }
}

function startEngine({ engine, settings }: Wishes): Promise<ServerFacts> {
  return engine === 'sqlite' ? sqliteFolder() : startSql(engine, settings)
}

async function sqliteFolder(): Promise<ServerFacts> {
  const folder = temporaryFolder('sqlite')
  const release = whenKilled('rm -rf "$1"', [folder])
  const { default: Database } = await import('better-sqlite3')
  const database = new Database(':memory:')
  const version = String(database.prepare('SELECT sqlite_version()').pluck().get())
  database.close()
  return {
    url: `sqlite:${join(folder, 'bench.db')}`,
    version: `SQLite ${version}`,
    origin: 'better-sqlite3',
    durability: 'fsync each commit (WAL, synchronous=FULL)',
    stop: async () => {
      rmSync(folder, { recursive: true, force: true })
      release()
    },
  }
}

async function getWrk(missing: Servers['missing']): Promise<Program | null> {
  try {
    return await getProgram('wrk', { label: 'wrk', main: 'wrk', others: [] }, (root) => join(root, 'usr/bin/wrk'))
  } catch (error) {
    missing.set('wrk', messageOf(error))
    return null
  }
}
