/** `npm run bench -- --scale`: the same load on small and on large tables, and the price of each index. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openStore } from '../../src'
import type { Options } from '../options'
import { databaseUrl, freshDatabase } from '../peers/recentn'
import { describeMachine } from '../report/machine'
import { FOLDER } from '../report/results'
import type { Servers } from '../servers'
import { indexCosts } from './indexes'
import { latenciesOf, PER_SECOND } from './latency'
import { load, megabytes } from './load'
import { scaleReport } from './report'
import type { ScaleLine, ScaleResults } from './types'

export const BUFFER_POOL = '1G'

export async function runScale(options: Options, servers: Servers): Promise<boolean> {
  const { command, quick, seconds, rounds } = options
  const url = databaseUrl(servers.urls.engine)
  const { version = '', durability = '' } = servers.facts.engine ?? {}
  const results: ScaleResults = {
    ...{ date: new Date().toISOString(), command, machine: describeMachine(), version, durability },
    ...{ perSecond: PER_SECOND, seconds, lines: [], indexes: [], indexItems: quick ? 10_000 : 1_000_000 },
  }
  for (const capacity of options.capacities) {
    for (const items of options.sizes) {
      const line = await lineOf(servers, url, items, capacity, seconds * 1000)
      results.lines.push(line)
      process.stderr.write(`capacity ${capacity}, ${items} items: ${JSON.stringify(line)}\n`)
    }
  }
  await filled(servers, url, results.indexItems, 10)
  const timing = { warmUpMs: Math.min(1000, seconds * 500), ms: seconds * 1000 }
  results.indexes = await indexCosts(url, results.indexItems / 10, timing, rounds)
  process.stdout.write(`${scaleReport(results)}\n`)
  if (!quick) {
    mkdirSync(FOLDER, { recursive: true })
    writeFileSync(join(FOLDER, 'scale.json'), `${JSON.stringify(results, null, 2)}\n`)
  }
  return results.lines.every(({ faults }) => faults.length === 0)
}

/** A fresh database with so many items in full groups; gives the seconds that took. */
async function filled(servers: Servers, url: string, items: number, capacity: number): Promise<number> {
  const start = Date.now()
  await freshDatabase(servers.urls.engine)
  const store = await openStore({ url, sweep: false })
  try {
    await load(store, url, items / capacity, capacity)
  } finally {
    await store.close()
  }
  return Math.round((Date.now() - start) / 1000)
}

async function lineOf(servers: Servers, url: string, items: number, capacity: number, ms: number): Promise<ScaleLine> {
  const loadSeconds = await filled(servers, url, items, capacity)
  const groups = items / capacity
  const { data, indexes } = await megabytes(url)
  const store = await openStore({ url, sweep: false })
  try {
    const latencies = await latenciesOf(store, url, groups, capacity, ms)
    return { capacity, items, groups, dataMegabytes: data, indexMegabytes: indexes, loadSeconds, ...latencies }
  } finally {
    await store.close()
  }
}
