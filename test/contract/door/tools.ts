/** Shared by the suites of the door: rows as a writer inserts them, moving them, and reading the rest. */
import type { Store } from '../../../src/index'
import { openedOf } from '../../support/opened'
import type { Context } from '../context'

export type DoorTable = 'sends' | 'appends'

/** A row that is still there. */
export interface LeftRow {
  id: number
  stuck: number
  error: string | null
}

/** As another program's SQL does it, with a value for each column. */
export async function insert(store: Store, table: DoorTable, ...rows: Record<string, unknown>[]): Promise<void> {
  for (const row of rows) {
    const columns = Object.keys(row)
    const sql = `INSERT INTO recentn_${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`
    await store.dataSource.query(sql, Object.values(row))
  }
}

/** Inserts a message for each of the bodies. */
export const insertSends = (store: Store, queue: string, ...bodies: unknown[]) =>
  insert(store, 'sends', ...bodies.map((body) => ({ queue, body: JSON.stringify(body) })))

/** Moves all that can be moved now; answers how much that was. */
export async function move(store: Store): Promise<number> {
  let all = 0
  for (const mover of Object.values(openedOf(store).door)) {
    for (let isMore = true; isMore; ) {
      const { moved, more } = await mover.move()
      all += moved
      isMore = more
    }
  }
  return all
}

export async function leftIn(store: Store, table: DoorTable): Promise<LeftRow[]> {
  const rows = await store.dataSource.query(`SELECT id, stuck, error FROM recentn_${table} ORDER BY id`)
  return rows.map((row: LeftRow) => ({ id: Number(row.id), stuck: Number(row.stuck), error: row.error }))
}

/** The bodies of the messages that are ready, in the order in which they are received. */
export async function bodiesIn(store: Store, queue: string): Promise<unknown[]> {
  const { messages } = await store.queues.peek(queue, { limit: 1000 })
  return messages.map(({ body }) => body)
}

export function doorTools(context: Context) {
  return {
    async madeQueue(settings = {}) {
      const queue = context.unique('q')
      await context.store.queues.put(queue, settings)
      return queue
    },
    /** Removes what a test leaves, which other tests would find. */
    emptied() {
      context.afterwards(async () => {
        for (const table of ['sends', 'appends']) await context.store.dataSource.query(`DELETE FROM recentn_${table}`)
      })
    },
  }
}
