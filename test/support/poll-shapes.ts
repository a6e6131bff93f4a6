/**
 * Tables of every shape that a poll knows, each with a number `n` by which the tests know their rows, and the options that
 * poll it. All of it is JSON, for child processes.
 */
import type { PollOptions } from '../../src'

export interface PollTable {
  title: string
  /** SQL of the columns and keys; `n integer` comes with every table. */
  columns: string
  /** SQL of indexes, each the columns of one. */
  indexes?: readonly string[]
  /** Row number `n`, but for `n` itself, as SQL values by column. */
  row: Record<string, string>
  options: PollOptions
  /** SQL that is true of a row that is done; null: it is not there any more, undefined: the row does not say. */
  done?: string | null
  /** The same for one that failed for good. */
  failed?: string
  /** Claims take one row at a time. */
  single?: boolean
}

const CLAIM = { claim: 'claimed_by', attempts: 'tries', nextTime: 'next_at', error: 'last_error' }
const OWN = 'claimed_by varchar(22), tries integer, last_error varchar(100)'
const NOTHING_BUT_STATUS = { done: "status = 'done'", failed: "status = 'error'" }

export const POLL_TABLES: readonly PollTable[] = [
  {
    title: 'an id and a status: soft delete',
    columns: "id bigint NOT NULL PRIMARY KEY, status varchar(30) NOT NULL DEFAULT 'ready'",
    indexes: ['status, id'],
    row: { id: '1000 + N' },
    options: { status: 'status' },
    ...NOTHING_BUT_STATUS,
  },
  {
    title: 'an id and a status: hard delete',
    columns: "id bigint NOT NULL PRIMARY KEY, status varchar(30) NOT NULL DEFAULT 'ready'",
    indexes: ['status, id'],
    row: { id: '1000 + N' },
    options: { status: 'status', onDone: 'delete' },
    done: null,
    failed: "status = 'error'",
  },
  {
    title: 'an id and a status of numbers, without an index',
    columns: 'id varchar(20) NOT NULL PRIMARY KEY, state smallint NOT NULL DEFAULT 0',
    row: { id: "'it''s row N'" },
    options: { status: { column: 'state', ready: 0, claimed: 1, done: 2, error: 9 } },
    done: 'state = 2',
    failed: 'state = 9',
  },
  {
    title: 'an id and a status that is null while a row waits',
    columns: 'id bigint NOT NULL PRIMARY KEY, status varchar(30)',
    indexes: ['status, id'],
    row: { id: '1000 + N' },
    options: { status: { column: 'status', ready: null } },
    ...NOTHING_BUT_STATUS,
  },
  {
    title: 'an id, a status that is null while a row waits, and columns for claims',
    columns: `id bigint NOT NULL PRIMARY KEY, status varchar(30), next_at bigint, ${OWN}`,
    indexes: ['status, next_at, id'],
    row: { id: '1000 + N' },
    options: { status: { column: 'status', ready: null }, claim: CLAIM },
    done: "status = 'done' AND claimed_by IS NULL AND last_error IS NULL",
    failed: "status = 'error' AND last_error LIKE 'row%' AND tries = 2",
  },
  {
    title: 'an id, a status, and columns for claims',
    columns: `id bigint NOT NULL PRIMARY KEY, status varchar(30) NOT NULL DEFAULT 'new', next_at bigint, ${OWN}`,
    indexes: ['status, next_at, id'],
    row: { id: '1000 + N' },
    options: { status: { column: 'status', ready: 'new', done: 'sent', error: 'refused' }, claim: CLAIM },
    done: "status = 'sent' AND claimed_by IS NULL AND last_error IS NULL",
    failed: "status = 'refused' AND last_error LIKE 'row%' AND tries = 2",
  },
  {
    title: 'an id, a status, and columns for claims: hard delete',
    columns: `id bigint NOT NULL PRIMARY KEY, status varchar(30) NOT NULL DEFAULT 'ready', next_at bigint, ${OWN}`,
    indexes: ['status, next_at, id'],
    row: { id: '1000 + N' },
    options: { status: 'status', claim: CLAIM, onDone: 'delete' },
    done: null,
    failed: "status = 'error' AND last_error LIKE 'row%' AND tries = 2",
  },
  {
    title: 'an id and columns for claims, with dates',
    columns: `id bigint NOT NULL PRIMARY KEY, next_at datetime(3), ${OWN}`,
    indexes: ['next_at, id'],
    row: { id: '1000 + N' },
    options: { claim: CLAIM },
    done: "claimed_by = 'done' AND tries <= 2",
    failed: "claimed_by = 'error' AND last_error LIKE 'row%'",
  },
  {
    title: 'an id and columns for claims: hard delete',
    columns: `id bigint NOT NULL PRIMARY KEY, next_at bigint, ${OWN}`,
    indexes: ['next_at, id'],
    row: { id: '1000 + N' },
    options: { claim: CLAIM, onDone: 'delete' },
    done: null,
    failed: "claimed_by = 'error'",
  },
  {
    title: 'an id and no status: done rows are remembered',
    columns: 'id bigint NOT NULL PRIMARY KEY',
    row: { id: '1000 + N' },
    options: {},
  },
  {
    title: 'an id and no status: hard delete',
    columns: 'id char(36) NOT NULL PRIMARY KEY',
    row: { id: "'00000000-0000-4000-8000-N'" },
    options: { onDone: 'delete' },
    done: null,
  },
  {
    title: 'an id and a status, in turns',
    columns: "id bigint NOT NULL PRIMARY KEY, status varchar(30) NOT NULL DEFAULT 'ready'",
    indexes: ['status, id'],
    row: { id: '1000 + N' },
    options: { status: 'status', order: 'cycle' },
    ...NOTHING_BUT_STATUS,
  },
  {
    title: 'an id, a status, and columns for claims, in turns',
    columns: `id bigint NOT NULL PRIMARY KEY, status varchar(30) NOT NULL DEFAULT 'ready', next_at datetime, ${OWN}`,
    indexes: ['status, id'],
    row: { id: '1000 + N' },
    options: { status: 'status', claim: CLAIM, order: 'cycle' },
    done: "status = 'done' AND claimed_by IS NULL AND last_error IS NULL",
    failed: "status = 'error' AND last_error LIKE 'row%' AND tries = 2",
  },
  {
    title: 'an id and no status, in turns: done rows are remembered',
    columns: 'id bigint NOT NULL PRIMARY KEY',
    row: { id: '1000 + N' },
    options: { order: 'cycle' },
  },
  {
    title: 'an id and no status, in turns: hard delete',
    columns: 'id bigint NOT NULL PRIMARY KEY',
    row: { id: '1000 + N' },
    options: { order: 'cycle', onDone: 'delete' },
    done: null,
  },
  {
    title: 'a unique sequence and no status',
    columns: 'seq bigint NOT NULL UNIQUE',
    row: { seq: '9007199254740993 + 2 * N' },
    options: { sequence: 'seq', lateSeconds: 0 },
  },
  {
    title: 'a unique sequence and no status: hard delete',
    columns: 'seq bigint NOT NULL UNIQUE',
    row: { seq: '9007199254740993 + 2 * N' },
    options: { sequence: 'seq', lateSeconds: 0, onDone: 'delete' },
    done: null,
  },
  {
    title: 'a unique sequence and a status',
    columns: "seq bigint NOT NULL UNIQUE, status varchar(30) NOT NULL DEFAULT 'ready'",
    indexes: ['status, seq'],
    row: { seq: '9007199254740993 + 2 * N' },
    options: { sequence: 'seq', status: 'status' },
    ...NOTHING_BUT_STATUS,
  },
  {
    title: 'a unique sequence and a status: hard delete',
    columns: "seq bigint NOT NULL UNIQUE, status varchar(30) NOT NULL DEFAULT 'ready'",
    indexes: ['status, seq'],
    row: { seq: '9007199254740993 + 2 * N' },
    options: { sequence: 'seq', status: 'status', onDone: 'delete' },
    done: null,
    failed: "status = 'error'",
  },
  {
    title: 'a date of which there are several alike, and no status',
    columns: 'made_at datetime(3) NOT NULL',
    indexes: ['made_at'],
    row: { made_at: "'2026-01-01 10:00:0D.250'" },
    options: { sequence: 'made_at' },
    single: true,
  },
  {
    title: 'a date of which there are several alike, and no status: hard delete',
    columns: 'made_at datetime(3) NOT NULL',
    indexes: ['made_at'],
    row: { made_at: "'2026-01-01 10:00:0D.250'" },
    options: { sequence: 'made_at', onDone: 'delete' },
    done: null,
    single: true,
  },
  {
    title: 'a date of which there are several alike, and a status',
    columns: "made_at datetime(3) NOT NULL, status varchar(30) NOT NULL DEFAULT 'ready'",
    indexes: ['status, made_at'],
    row: { made_at: "'2026-01-01 10:00:0D.250'" },
    options: { sequence: 'made_at', status: 'status' },
    single: true,
    ...NOTHING_BUT_STATUS,
  },
  {
    title: 'a date of which there are several alike, and a status: hard delete',
    columns: "made_at datetime(3) NOT NULL, status varchar(30) NOT NULL DEFAULT 'ready'",
    indexes: ['status, made_at'],
    row: { made_at: "'2026-01-01 10:00:0D.250'" },
    options: { sequence: 'made_at', status: 'status', onDone: 'delete' },
    done: null,
    failed: "status = 'error'",
    single: true,
  },
  {
    title: 'a composite key and a status',
    columns:
      "shop varchar(20) NOT NULL, no bigint NOT NULL, made_on date NOT NULL, status varchar(30) NOT NULL DEFAULT 'ready', PRIMARY KEY (shop, no, made_on)",
    indexes: ['status, shop, no, made_on'],
    row: { shop: "'shop D'", no: 'N', made_on: "'2026-01-02'" },
    options: { status: 'status' },
    ...NOTHING_BUT_STATUS,
  },
  {
    title: 'a composite key and a status: hard delete',
    columns:
      "shop varchar(20) NOT NULL, no bigint NOT NULL, status varchar(30) NOT NULL DEFAULT 'ready', PRIMARY KEY (shop, no)",
    indexes: ['status, shop, no'],
    row: { shop: "'shop D'", no: 'N' },
    options: { status: 'status', onDone: 'delete' },
    done: null,
    failed: "status = 'error'",
  },
  {
    title: 'a composite key that has the status in it',
    columns:
      "shop varchar(20) NOT NULL, no bigint NOT NULL, status varchar(30) NOT NULL DEFAULT 'ready', PRIMARY KEY (status, shop, no)",
    row: { shop: "'shop D'", no: 'N' },
    options: { status: 'status', key: ['shop', 'no'] },
    ...NOTHING_BUT_STATUS,
  },
  {
    title: 'a composite key, no status: done rows are remembered',
    columns: 'shop varchar(20) NOT NULL, no bigint NOT NULL, PRIMARY KEY (shop, no)',
    row: { shop: "'shop D'", no: 'N' },
    options: {},
  },
  {
    title: 'a composite key, no status: hard delete',
    columns: 'shop varchar(20) NOT NULL, no bigint NOT NULL, PRIMARY KEY (shop, no)',
    row: { shop: "'shop D'", no: 'N' },
    options: { onDone: 'delete' },
    done: null,
  },
  {
    title: 'no key at all, with rows that are alike: hard delete',
    columns: 'word varchar(20), share double',
    row: { word: 'null', share: '0.1' },
    options: { onDone: 'delete' },
    done: null,
    single: true,
  },
]

/** The statements that make the table. */
export function createSql(table: PollTable, name: string): string[] {
  const keys = table.columns.split(', PRIMARY KEY')
  const columns = [keys[0], 'n integer', ...keys.slice(1).map((key) => `PRIMARY KEY${key}`)].join(', ')
  const indexes = (table.indexes ?? []).map((on, at) => `CREATE INDEX ${name}_${at} ON ${name} (${on})`)
  return [`CREATE TABLE ${name} (${columns})`, ...indexes]
}

/** Inserts rows by their numbers. */
export function insertSql(table: PollTable, name: string, numbers: readonly number[]): string {
  const columns = Object.keys(table.row)
  const values = numbers.map((n) => {
    const row = Object.values(table.row).map((sql) => sql.replaceAll('N', String(n)).replaceAll('D', String(n % 10)))
    return `(${[...row, n].join(', ')})`
  })
  return `INSERT INTO ${name} (${[...columns, 'n'].join(', ')}) VALUES ${values.join(', ')}`
}
