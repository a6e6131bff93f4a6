/** How many rows are in the tables of the door, counted along their indexes. */
import type { Reader } from '../../database/engine'
import type { Door } from './doors'
import { STUCK } from './move'

export interface DoorCounts {
  waiting: number
  /** Rows that stay until they are changed, or their queue is made. */
  stuck: number
}

export interface DoorTotals {
  sends: DoorCounts
  appends: DoorCounts
}

export async function doorTotals(reader: Reader): Promise<DoorTotals> {
  return {
    sends: await count(reader, 'sends', 'sendsWaiting'),
    appends: await count(reader, 'appends', 'appendsWaiting'),
  }
}

async function count(
  { engine, tables, rows }: Reader,
  table: Door['table'],
  index: Door['index'],
): Promise<DoorCounts> {
  const [row] = await rows(
    `SELECT COUNT(*) AS counted, COALESCE(SUM(CASE WHEN stuck = ${STUCK.not} THEN 1 ELSE 0 END), 0) AS waiting ` +
      `FROM ${tables[table]}${engine.useIndex(tables.index[index])}`,
  )
  const waiting = Number(row?.waiting)
  return { waiting, stuck: Number(row?.counted) - waiting }
}
