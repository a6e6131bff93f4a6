/** SQLite, by better-sqlite3. It has one writer at a time: a transaction that writes holds every lock already. */

import { chosenFree, upsert } from '../dialect/numbering'
import { countPlaceholders, SQLITE_SPELLING } from '../dialect/placeholders'
import { sqliteRows } from '../dialect/row-facts'
import { driverError, type Engine, type FailureKind, placeholders, RowParameters } from '../engine'

/** `(?, ?), (?, ?)` */
function rowPlaceholders(rows: number, columns: number, constants = ''): string {
  return Array(rows)
    .fill(`(${placeholders(columns)}${constants})`)
    .join(', ')
}

/** Placeholders, so that SQLite keeps the statement prepared. */
const values: Engine['values'] = (rows) => ({
  sql: rowPlaceholders(rows.length, rows[0]?.length ?? 0),
  parameters: rows.flat(),
})

/** Another connection or process has the lock. */
const IS_CONFLICT = /^SQLITE_(BUSY|LOCKED|PROTOCOL)/
/** The disk, the file, or the rights to it. After some of these SQLite has rolled back by itself. */
const IS_UNABLE = /^SQLITE_(FULL|IOERR|CANTOPEN|READONLY|PERM|AUTH|CORRUPT|NOTADB|NOMEM|INTERRUPT)/

/** Rows of a block. More cost no less. */
const BLOCK_ROWS = 16
/** Measured: with more rows in one statement a plain INSERT takes half the time for each, one that replaces rows longer. */
const IS_PLAIN = /^INSERT(?!.*\b(?:ON CONFLICT|RETURNING)\b)/s

const insert: Engine['insert'] = (sql, rows, constants) => {
  const width = rows[0]?.length ?? 0
  const one = sql(rowPlaceholders(1, width, constants))
  const hasBlocks = rows.length >= BLOCK_ROWS && IS_PLAIN.test(one)
  const block = hasBlocks ? { sql: sql(rowPlaceholders(BLOCK_ROWS, width, constants)), size: BLOCK_ROWS } : null
  return { sql: one, parameters: new RowParameters(rows, block) }
}

function failure(error: unknown): FailureKind {
  const { code = '', message } = driverError(error)
  if (IS_CONFLICT.test(code)) return 'conflict'
  if (IS_UNABLE.test(code)) return 'unable'
  return code === 'SQLITE_ERROR' && /no such table/.test(message ?? '') ? 'no-table' : 'other'
}

export const sqliteEngine: Engine = {
  family: 'sqlite',
  oneConnection: true,
  nowMs: "CAST(ROUND(unixepoch('subsec') * 1000) AS INTEGER)",
  // Every transaction begins IMMEDIATE: its first statement already has the only write lock.
  forUpdate: '',
  forUpdateSkipLocked: '',
  forNext: '',
  forShare: '',
  forShareSkipLocked: '',
  // better-sqlite3 returns numbers, which are wrong above 2^53, unless the connection is set otherwise: a user's may
  // not be.
  bigint: (column) => `CAST(${column} AS TEXT)`,
  useIndex: (index) => (index === 'PRIMARY' ? '' : ` INDEXED BY ${index}`),
  returning: true,
  updateReturning: true,
  // SQLite is part of this process: a COMMIT that fails has done nothing.
  losesCommits: false,
  commitsAlone: false,
  caughtUp: null,
  members: '',
  randomHex: 'hex(randomblob(16))',
  remembers: false,
  remembered: (expression) => expression,
  lastRemembered: '',
  updateChosen: (table, choose, sets) => ({
    sql: `UPDATE ${table} SET ${sets.sql} WHERE id IN (${choose.sql})`,
    parameters: [...sets.parameters, ...choose.parameters],
  }),
  numberFree: (numbering) => {
    const { table, column, more, last } = numbering
    const { sql, on, parameters } = chosenFree(numbering, ` INDEXED BY ${numbering.index}`, '')
    return {
      sql: `UPDATE ${table} SET ${column} = ? + chosen.recentn_number${more} FROM (${sql}) chosen WHERE ${on}`,
      parameters: [last, ...parameters],
    }
  },
  numberAtOnce: null,
  idStride: '1',
  returnsIds: false,
  // SQLite returns the last id, and no other statement inserts before it is read.
  firstId: (insertId, rows) => insertId - BigInt(rows - 1),
  bound: (sql, parameters) => [sql, parameters],
  list: (some) => ({ sql: placeholders(some.length), parameters: [...some] }),
  values,
  insert,
  onDuplicate: (key) => `ON CONFLICT (${key}) DO UPDATE SET`,
  proposed: (column) => `excluded.${column}`,
  upsert,
  placeholders: (sql) => countPlaceholders(sql, SQLITE_SPELLING),
  joinNext: 'CROSS JOIN',
  unionAll: (selects) => selects.map((select) => `SELECT * FROM (${select})`).join('\nUNION ALL\n'),
  rowFacts: sqliteRows,
  failure,
  leavesDoubt: () => false, // it is part of this process: a COMMIT that fails is not in effect
  isDiskFull: (error) => driverError(error).code === 'SQLITE_FULL',
  refusal: () => undefined,
}
