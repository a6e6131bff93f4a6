/** What each secondary index costs the appends, and what it saves the query that it is there for. */
import { performance } from 'node:perf_hooks'
import { type Connection, createConnection } from 'mysql2/promise'
import { openStore } from '../../src'
import { groupNames, itemOf } from '../items'
import { CALLERS, perSecond, type Timing } from '../load/callers'
import { even } from '../random'
import { median } from '../run'
import { groupName, type Index, secondaryIndexes } from './load'

/** Without the hint that recentn's own statement has: without the index that would be an error. */
const QUERIES: Record<string, { what: string; sql: string; parameters: unknown[] }> = {
  recentn_items_member: {
    what: "a member's newest 64 items",
    sql: `SELECT i.group_key, i.id, i.payload FROM recentn_items i WHERE i.member = ?
      ORDER BY i.created_at_ms DESC, i.group_key DESC, i.id DESC LIMIT 64`,
    parameters: ['user-77'],
  },
  recentn_groups_sweep: {
    what: 'the groups that have something expired (none has)',
    sql: 'SELECT group_key FROM recentn_groups WHERE sweep_at_ms <= ? ORDER BY sweep_at_ms LIMIT 100',
    parameters: [4e12],
  },
}

export interface IndexCost {
  index: string
  columns: string
  /** Appends per second, with and without. */
  appends: [number, number]
  /** Milliseconds of the query, with and without; null where none is known. */
  query: { what: string; milliseconds: [number, number] } | null
}

/** On tables that are there; with and without in turn, `rounds` times. */
export async function indexCosts(url: string, groups: number, timing: Timing, rounds: number): Promise<IndexCost[]> {
  const connection = await createConnection(url)
  try {
    const costs: IndexCost[] = []
    for (const index of await secondaryIndexes(connection)) {
      costs.push(await costOf(index, connection, url, groups, timing, rounds))
    }
    return costs
  } finally {
    connection.destroy()
  }
}

async function costOf(
  { table, name, columns }: Index,
  connection: Connection,
  url: string,
  groups: number,
  timing: Timing,
  rounds: number,
): Promise<IndexCost> {
  const appends: [number[], number[]] = [[], []]
  const queries: [number[], number[]] = [[], []]
  for (let round = 0; round < rounds; round++) {
    for (const without of [0, 1] as const) {
      if (without) await connection.query(`DROP INDEX ${name} ON ${table}`)
      try {
        appends[without].push(await appendRate(url, groups, timing))
        const query = QUERIES[name]
        if (query) queries[without].push(await milliseconds(connection, query.sql, query.parameters))
      } finally {
        if (without) await connection.query(`CREATE INDEX ${name} ON ${table} (${columns})`)
      }
    }
  }
  const what = QUERIES[name]?.what
  const medians = (both: [number[], number[]]): [number, number] => [median(both[0]), median(both[1])]
  const query = what === undefined ? null : { what, milliseconds: medians(queries) }
  return { index: name, columns, appends: medians(appends), query }
}

async function appendRate(url: string, groups: number, timing: Timing): Promise<number> {
  // The sweeper names an index that may not be there.
  const store = await openStore({ url, sweep: false })
  try {
    const names = groupNames(groups).map((_, index) => groupName(index))
    const pick = even(groups)
    let op = 0
    let count = 0
    const append = async () => {
      await store.groups.append(names[pick()] as string, itemOf(op++))
      count++
    }
    return await perSecond(CALLERS, timing, append, () => count)
  } finally {
    await store.close()
  }
}

async function milliseconds(connection: Connection, sql: string, parameters: unknown[]): Promise<number> {
  const times: number[] = []
  for (let tries = 0; tries < 5; tries++) {
    const start = performance.now()
    await connection.query(sql, parameters)
    times.push(performance.now() - start)
  }
  return median(times)
}
