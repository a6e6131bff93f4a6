/**
 * The tables that polls have under fire: every shape, as the article on database polling and the promise of `store.poll`
 * name them.
 *
 * | the article's pseudo-code, the promise's row | the shapes (test/support/poll-shapes.ts) |
 * |---|---|
 * | an id and a status: ready, batch key, done or error | an id and a status: soft delete; … of numbers, without an index |
 * | the same with a hard delete, which an error outlives, or not | an id and a status: hard delete; …, failed or not |
 * | an id and columns for claim, attempts, error, next time | an id, a status, and columns for claims, soft and hard; an id and columns for claims, soft, with dates, and hard |
 * | each row may be a batch of rows | an id and a status: soft delete, many at once |
 * | ids but no status | an id and no status: done rows are remembered |
 * | ids and a hard delete | an id and no status: hard delete |
 * | a sequence instead of ids | a unique sequence and a status, soft and hard; a date of which there are several alike, and a status, soft and hard |
 * | a sequence instead of ids, and no status | the same two without a status: remembered behind a cursor, and hard |
 * | a composite key, the status in it or not | a composite key and a status, soft and hard; one that has the status in it; without a status, remembered and hard |
 * | no ids at all and a hard delete | no key at all, hard delete; the same with pairs that are alike, failed or not |
 *
 * An exception is recorded as an error in all of them: some rows fail once, and some always.
 */
import type { DataSource } from 'typeorm'
import type { PollOptions } from '../../src'
import { createSql, insertSql, POLL_TABLES, type PollTable } from '../support/poll-shapes'

export interface FireTable {
  name: string
  title: string
  table: PollTable
  options: PollOptions & { batchSize?: number }
  /** How many rows have each number, alike in every column. */
  copies: number
}

/** How late behind a cursor rows may come: they do, by a bulk, which on a busy machine takes many times as long. */
const LATE_SECONDS = 20

export const NO_KEY = 'no key at all, with rows that are alike: hard delete'
const SOFT = 'an id and a status: soft delete'
const IDEAL = 'an id and a status: hard delete'

export function fireTables(): FireTable[] {
  const of = (title: string) => POLL_TABLES.find((table) => table.title === title) as PollTable
  const all = [
    ...POLL_TABLES.map((table) => ({ title: table.title, table, more: {}, copies: 1 })),
    { title: `${IDEAL}, failed or not`, table: of(IDEAL), more: { onFailed: 'delete' as const }, copies: 1 },
    { title: `${SOFT}, many at once`, table: of(SOFT), more: { batchSize: 5 }, copies: 1 },
    { title: `${NO_KEY}, failed or not`, table: of(NO_KEY), more: { onFailed: 'delete' as const }, copies: 2 },
  ]
  return all.map(({ title, table, more, copies }, number) => {
    const late = table.options.sequence && !table.options.status ? { lateSeconds: LATE_SECONDS } : {}
    return { name: `fire_${number}`, title, table, options: { ...table.options, ...late, ...more }, copies }
  })
}

export async function createTables(dataSource: DataSource, tables: readonly FireTable[]): Promise<void> {
  for (const { name, table } of tables) {
    for (const statement of createSql(table, name)) await dataSource.query(statement)
  }
}

export async function insertRows(
  dataSource: DataSource,
  { name, table, copies }: FireTable,
  numbers: number[],
): Promise<void> {
  const rows = numbers.flatMap((n) => Array.from({ length: copies }, () => n))
  if (rows.length > 0) await dataSource.query(insertSql(table, name, rows))
}

/** How many rows whose result is `done` are left in the table. */
export async function countDone(dataSource: DataSource, { name, table }: FireTable): Promise<number> {
  const [row] = await dataSource.query(
    `SELECT COUNT(*) AS found FROM ${name}${table.done ? ` WHERE ${table.done}` : ''}`,
  )
  return Number(row?.found)
}
