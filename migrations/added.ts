/** The columns that later migrations add to the tables of the first one. Frozen once released. */
import type { QueryRunner } from 'typeorm'
import type { Types } from './dialect'
import { standing } from './standing'

/** The definition of each added column, by the table's name without the prefix. */
export type AddedColumns = Readonly<Record<string, Readonly<Record<string, string>>>>

/** The attributes of messages. */
export function attributeColumns({ text }: Types): AddedColumns {
  const attributes = `${text} NULL`
  return { queue_messages: { attributes }, queue_archive: { attributes } }
}

/** What `groupConcurrency` needs. A column of messages is null unless their queue has one, so that the others stay as they are. */
export const GROUP_COLUMNS: AddedColumns = {
  queues: {
    group_concurrency: 'integer NOT NULL DEFAULT 0',
    group_limit_id: 'bigint NOT NULL DEFAULT 0',
    group_phase: 'integer NOT NULL DEFAULT 0',
  },
  queue_messages: { group_place: 'bigint NULL' },
}

/**
 * Bounds on what grows: of a queue (0 means none), and of groups that are empty (null means never forgotten). And what a dead
 * letter keeps: when it was first received (0 means never), when it died, and after how many receives (null unless it is dead).
 */
export const BOUND_COLUMNS: AddedColumns = {
  queues: { max_messages: 'bigint NOT NULL DEFAULT 0' },
  policies: { forget_empty_seconds: 'bigint NULL' },
  groups: { forget_empty_seconds: 'bigint NULL', own_forget_empty_seconds: 'bigint NULL' },
  queue_messages: {
    first_received_at_ms: 'bigint NOT NULL DEFAULT 0',
    dead_receive_count: 'integer NULL',
    dead_at_ms: 'bigint NULL',
  },
  queue_archive: { first_received_at_ms: 'bigint NOT NULL DEFAULT 0' },
}

/** What limits, keys, scores and rates need. And the last failures of a message: bytes, so that no character set applies. */
export const LIMIT_COLUMNS: AddedColumns = {
  queues: {
    keyed: 'integer NOT NULL DEFAULT 0',
    rates: 'varchar(100) NULL',
    held_until_ms: 'bigint NOT NULL DEFAULT 0',
    groups_held_until_ms: 'bigint NOT NULL DEFAULT 0',
  },
  queue_messages: { message_key: 'varchar(191) NULL', failures: 'blob NULL' },
  queue_archive: { message_key: 'varchar(191) NULL', failures: 'blob NULL' },
  // A stored score of an item is sorted as its double is (`score.ts`); plain SQL writes the double.
  items: { score: 'bigint NULL' },
  appends: { score: 'double NULL' },
}

/** All of them. */
export function addedColumns(types: Types): AddedColumns {
  const all: Record<string, Record<string, string>> = {}
  for (const added of [attributeColumns(types), GROUP_COLUMNS, BOUND_COLUMNS, LIMIT_COLUMNS]) {
    for (const [table, columns] of Object.entries(added)) all[table] = { ...all[table], ...columns }
  }
  return all
}

/** Adds those that are not there: so it can be run again. */
export async function addColumns(runner: QueryRunner, prefix: string, added: AddedColumns): Promise<void> {
  for (const { table, column, definition, isThere } of await columnsOf(runner, prefix, added)) {
    if (!isThere) await runner.query(`ALTER TABLE ${table} ADD COLUMN ${column} ${definition}`)
  }
}

/** Drops those that are there. */
export async function dropColumns(runner: QueryRunner, prefix: string, added: AddedColumns): Promise<void> {
  for (const { table, column, isThere } of await columnsOf(runner, prefix, added)) {
    if (isThere) await runner.query(`ALTER TABLE ${table} DROP COLUMN ${column}`)
  }
}

/** A process that is late does not lower what a faster one has written. */
export async function raiseVersion(runner: QueryRunner, prefix: string, version: number): Promise<void> {
  await runner.query(`UPDATE ${prefix}schema SET version = ${version} WHERE id = 1 AND version < ${version}`)
}

/** For an undo, where the table of the version is still there. */
export async function lowerVersion(runner: QueryRunner, prefix: string, version: number): Promise<void> {
  const schema = await found(runner, [`${prefix}schema`])
  if (schema.size > 0) await runner.query(`UPDATE ${prefix}schema SET version = ${version} WHERE id = 1`)
}

function found(runner: QueryRunner, names: readonly string[]) {
  const isSqlite = runner.connection.options.type === 'better-sqlite3'
  return standing((sql) => runner.query(sql), isSqlite, names)
}

async function columnsOf(runner: QueryRunner, prefix: string, added: AddedColumns) {
  const tables = await found(
    runner,
    Object.keys(added).map((table) => prefix + table),
  )
  return Object.entries(added).flatMap(([plain, columns]) => {
    const table = prefix + plain
    return Object.entries(columns).map(([column, definition]) => {
      return { table, column, definition, isThere: tables.get(table)?.columns.has(column) === true }
    })
  })
}
