/**
 * The leanest statements that leave the same rows in recentn's tables: what an append costs the database itself. Each
 * batch takes the ids of its groups from their heads, and replaces at most as many rows of a group as it keeps. On a
 * server that is two round trips, one that locks and counts, one that writes and commits. There are no checks of
 * arguments, no modes, no policies, no marks against lost commits. What it leaves is read and checked by recentn.
 */
import Database from 'better-sqlite3'
import type { Connection, RowDataPacket } from 'mysql2/promise'
import { WINDOW } from '../../items'
import type { Contender, NewItem, OpenRing, Ring } from '../../types'
import { recentn } from '../recentn'
import { hasReturning, openConnection, quoted, retried } from './connection'
import { Lane } from './lane'

interface Append extends NewItem {
  group: string
}

/** Writes batches in one place; each append gets its id. */
interface Writer {
  write(batch: readonly Append[]): Promise<number[]>
  close(): unknown
}

/** Two: while the server works on one batch, the client makes the other one. Groups are divided among them. */
const LANES = 2

const HEAD = 'group_key, incarnation, version, last_id, capacity, mode, policy_epoch, created_at_ms'
const ITEM = 'group_key, slot, id, created_at_ms, member, payload'

async function open({ urls, fresh }: OpenRing): Promise<Ring> {
  const reopen = async (isFresh: boolean) => recentn.open({ urls, purpose: 'history', fresh: isFresh })
  // Its migrations make the tables; while appends are measured no store is open.
  await (await reopen(fresh)).close()
  const isSqlite = urls.engine.startsWith('sqlite:')
  const writers = isSqlite
    ? [sqliteWriter(urls.engine)]
    : await Promise.all(Array.from({ length: LANES }, () => serverWriter(urls.engine)))
  const lanes = writers.map((writer) => new Lane<Append, number>((batch) => writer.write(batch)))
  let reader: Ring | null = null
  const read = async (): Promise<Ring> => {
    reader ??= await reopen(false)
    return reader
  }
  return {
    append: (group, item) => (lanes[numberOf(group) % lanes.length] as Lane<Append, number>).call({ group, ...item }),
    appendMany: null,
    recent: async (group) => (await read()).recent(group),
    recentMany: async (groups) => (await read()).recentMany(groups),
    taken: async () => (await (await read()).taken?.()) ?? 0,
    close: async () => {
      for (const writer of writers) await writer.close()
      await reader?.close()
    },
  }
}

/** Of `article:42`. */
function numberOf(group: string): number {
  return Number(group.slice(group.indexOf(':') + 1))
}

/** The groups of a batch in their order, and how many items each gets. */
function countsOf(batch: readonly Append[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { group } of batch) counts.set(group, (counts.get(group) ?? 0) + 1)
  return new Map([...counts].sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** Gives each append its id, and calls `keep` for those that stay. `last` has the last id of each group. */
function numbered(
  batch: readonly Append[],
  counts: ReadonlyMap<string, number>,
  last: ReadonlyMap<string, number>,
  keep: (append: Append, id: number) => void,
): number[] {
  const next = new Map<string, number>()
  for (const [group, count] of counts) next.set(group, (last.get(group) as number) - count + 1)
  return batch.map((append) => {
    const id = next.get(append.group) as number
    next.set(append.group, id + 1)
    if (id > (last.get(append.group) as number) - WINDOW) keep(append, id)
    return id
  })
}

async function serverWriter(engine: string): Promise<Writer> {
  const connection = await openConnection(engine)
  const returning = await hasReturning(connection)
  const [[epoch]] = await connection.query<RowDataPacket[]>('SELECT epoch FROM recentn_policy_epoch WHERE id = 1')
  const settings = `${WINDOW}, 'history', ${(epoch as unknown as number[])[0]}`
  const write = async (batch: readonly Append[]): Promise<number[]> => {
    const now = Date.now()
    const counts = countsOf(batch)
    const last = await takeIds(connection, counts, `${settings}, ${now}`, returning)
    const rows: string[] = []
    const ids = numbered(batch, counts, last, ({ group, member, payload }, id) => {
      const texts = `${quoted(member)}, ${quoted(JSON.stringify(payload))}`
      rows.push(`(${quoted(group)}, ${id % WINDOW}, ${id}, ${now}, ${texts})`)
    })
    await connection.query(`REPLACE INTO recentn_items (${ITEM}) VALUES ${rows.join(', ')}; COMMIT`)
    return ids
  }
  return { write: (batch) => retried(connection, () => write(batch)), close: () => connection.destroy() }
}

/** Begins, locks the heads, and takes the ids: the last id of each group. */
async function takeIds(
  connection: Connection,
  counts: ReadonlyMap<string, number>,
  settings: string,
  returning: boolean,
): Promise<Map<string, number>> {
  const names = [...counts.keys()]
  const rows = names.map((group) => `(${quoted(group)}, 1, 1, ${(counts.get(group) as number) - 1}, ${settings})`)
  const insert =
    `BEGIN; INSERT INTO recentn_groups (${HEAD}) VALUES ${rows.join(', ')} ` +
    'ON DUPLICATE KEY UPDATE version = version + 1, last_id = last_id + VALUES(last_id) + 1'
  const select = `SELECT last_id FROM recentn_groups WHERE group_key IN (${names.map(quoted).join(', ')}) ORDER BY group_key`
  const [answers] = await connection.query<RowDataPacket[][]>(
    returning ? `${insert} RETURNING last_id` : `${insert}; ${select}`,
  )
  const found = (answers.at(-1) ?? []) as unknown as [number | string][]
  return new Map(names.map((group, at) => [group, Number(found[at]?.[0])]))
}

/** Prepared statements, each run once a row: in the process that costs less than a text of hundreds of rows. */
function sqliteWriter(engine: string): Writer {
  const database = new Database(engine.slice('sqlite:'.length))
  database.pragma('synchronous = FULL')
  const epoch = database.prepare('SELECT epoch FROM recentn_policy_epoch WHERE id = 1').pluck().get() as number
  const head = database
    .prepare<[string, number, number]>(
      `INSERT INTO recentn_groups (${HEAD}) VALUES (?, 1, 1, ?, ${WINDOW}, 'history', ${epoch}, ?) ` +
        'ON CONFLICT (group_key) DO UPDATE SET version = version + 1, last_id = last_id + excluded.last_id + 1 ' +
        'RETURNING last_id',
    )
    .pluck()
  const item = database.prepare(`REPLACE INTO recentn_items (${ITEM}) VALUES (?, ?, ?, ?, ?, ?)`)
  const write = database.transaction((batch: readonly Append[]): number[] => {
    const now = Date.now()
    const counts = countsOf(batch)
    const last = new Map<string, number>()
    for (const [group, count] of counts) last.set(group, head.get(group, count - 1, now) as number)
    return numbered(batch, counts, last, ({ group, member, payload }, id) => {
      item.run(group, id % WINDOW, id, now, member, JSON.stringify(payload))
    })
  })
  return { write: async (batch) => write.immediate(batch), close: () => database.close() }
}

export const limit: Contender = {
  name: 'limit',
  title: "the database's limit",
  server: 'engine',
  how: `recentn's rows by the leanest statements, batches of up to 256; ${LANES} connections, two round trips a batch`,
  gapless: true,
  unsound: false,
  open,
}
