/**
 * Makes from the options of a poll and the catalogue what its statements need: which columns, in which order, and what
 * becomes of the rows. Reports every fault of the options at once, each with what would fix it.
 */
import type { Reader, Session, Statement } from '../../database/engine'
import type { Table } from '../../database/user-tables/table'
import type { TableColumn } from '../../database/user-tables/table-parts'
import { invalidInput } from '../../shared/errors'
import { wallClockMs } from '../../shared/platform'
import type { PollColumns, PollShape } from '../../shared/poll-types'
import {
  conditionOf,
  type KnownTable,
  keyOf,
  mustHoldKeys,
  type Status,
  statusOf,
  TableReading,
  wordsOf,
} from './columns'
import { allOf, Identity, type PolledTable } from './rows'

const DAY_SECONDS = 86_400
/** Number of times in the year to come at which the zone's offset is checked. */
const LOOKS = 25

/** Names of columns are SQL. */
export interface OwnColumns {
  claim: string
  attempts: string
  nextTime: string
  timeType: string
  /** Digits of a second; null: as many as there are. */
  timeDigits: number | null
  timeIsNullable: boolean
  error: string | null
  errorLength: number
  /** The length is in bytes of UTF-8, as a TINYTEXT counts. */
  errorInBytes: boolean
}

/** The facts about its table that the statements of a poll need, and the fate of the rows. */
export interface Shape extends Omit<PolledTable, 'hint' | 'keyHint'> {
  status: Status | null
  /** Null: claims are noted in recentn's own table. */
  own: OwnColumns | null
  /** The column that a cursor moves along; null when there is no cursor. */
  sequence: TableColumn | null
  /** The column along which rows go in turns from a stored place; null when the first rows go first. */
  cycle: TableColumn | null
  onDone: 'mark' | 'delete' | 'remember'
  deletesFailed: boolean
  where: Statement | null
  lateMs: number
  maxAttempts: number
  timeoutMs: number
  equal: readonly string[]
}

/** Throws `invalid_input`. */
export function shapeOf(known: KnownTable, options: PollShape): Shape {
  const { onFailed, lateSeconds = 3600, maxAttempts = 5, claimTimeoutSeconds = 60 } = options
  const { table } = known
  const reading = new TableReading(known)
  const given = typeof options.status === 'string' ? { column: options.status } : options.status
  // These say which columns change: a key must not.
  const status = given ? statusOf(given, options, reading) : null
  const own = ownOf(options.claim, status !== null, reading)
  const sequence = options.sequence === undefined ? null : reading.find('/sequence', options.sequence)
  const claims = own?.claim ?? (status?.claimed === null ? status.column : null)
  const identity = identityOf(options, sequence, claims, reading)
  const onDone = onDoneOf(options, status !== null || own !== null, identity.isKey || sequence !== null, reading)
  const cursor = status || own || onDone !== 'remember' ? null : sequence
  if (cursor) checkCursor('/sequence', cursor, reading)
  const cycle = options.order === 'cycle' ? cycleOf(options, identity, reading) : null
  const { where } = options
  const conditions = [...(where === undefined ? [] : [conditionOf(where, reading)]), ...known.always]
  const changes = status ? '/status' : own ? '/claim' : onDone === 'delete' ? '/onDone' : '/onFailed'
  if (changes !== '/onFailed' || onFailed === 'delete') checkChanges(changes, identity.isKey, reading)
  const shape = {
    table,
    identity,
    hidden: hiddenOf(table, [status?.column, own?.claim, own?.attempts, own?.nextTime]),
    status,
    own,
    sequence: cursor,
    cycle,
    onDone,
    deletesFailed: onFailed === 'delete',
    where: conditions.length === 0 ? null : allOf(...conditions),
    lateMs: lateSeconds * 1000,
    maxAttempts,
    timeoutMs: claimTimeoutSeconds * 1000,
    equal: given ? [reading.find('/status', given.column)?.name ?? ''] : [],
    order: cycle ? [cycle.name] : orderOf(options, identity, sequence, reading),
  }
  if (reading.faults.length > 0) throw invalidInput(reading.faults)
  return shape
}

function ownOf(claim: PollColumns | undefined, hasStatus: boolean, reading: TableReading): OwnColumns | null {
  if (!claim) return null
  const sql = (what: keyof PollColumns) => reading.changed(`/claim/${what}`, claim[what] as string)
  const column = reading.find('/claim/claim', claim.claim)
  if (column) mustHoldKeys('/claim/claim', column, '', reading)
  if (column && !column.isNullable) reading.fault('/claim/claim', `the column ${column.name} must take NULL`)
  const time = reading.find('/claim/nextTime', claim.nextTime)
  if (time && !reading.known.engine.rowFacts.holdsTimes(time.type)) {
    reading.fault(
      '/claim/nextTime',
      `the column ${time.name}, ${time.type}, must be a BIGINT (milliseconds) or a date and time`,
    )
  }
  if (time && !time.isNullable && hasStatus) reading.fault('/claim/nextTime', `the column ${time.name} must take NULL`)
  const error = claim.error === undefined ? null : reading.find('/claim/error', claim.error)
  // The poll sets it to NULL once a row is done.
  if (error && !error.isNullable) reading.fault('/claim/error', `the column ${error.name} must take NULL`)
  return {
    claim: sql('claim'),
    attempts: sql('attempts'),
    nextTime: sql('nextTime'),
    timeType: time?.type ?? 'bigint',
    timeDigits: time?.precision ?? null,
    timeIsNullable: time?.isNullable ?? true,
    error: claim.error === undefined ? null : sql('error'),
    errorLength: error?.length ?? 1000,
    errorInBytes: /text/.test(error?.type ?? ''),
  }
}

function identityOf(
  { key }: PollShape,
  sequence: TableColumn | null,
  claims: string | null,
  reading: TableReading,
): Identity {
  const { table, engine } = reading.known
  const found = keyOf(key, reading)
  if (found) return new Identity(table, engine.rowFacts, found, found, true, claims)
  // Columns that the database sets by itself may change with the claim.
  const lasting = table.columns.filter(
    ({ name, isUpdateTime, isGenerated }) => !reading.changing.has(name) && !isUpdateTime && !isGenerated,
  )
  return new Identity(table, engine.rowFacts, lasting, sequence ? [sequence] : [], false, claims)
}

function hiddenOf(table: Table, written: readonly (string | undefined)[]): Set<string> {
  const names = table.columns.map(({ name }) => name)
  // Half a primary key would be another row's.
  return new Set(names.filter((name) => written.includes(table.escape(name)) && !table.primaryKey.includes(name)))
}

function orderOf(
  { claim }: PollShape,
  { key }: Identity,
  sequence: TableColumn | null,
  reading: TableReading,
): string[] {
  const time = claim ? reading.find('/claim/nextTime', claim.nextTime) : null
  return [...new Set([...(time ? [time.name] : []), ...(sequence ? [sequence.name] : []), ...key])]
}

function cycleOf({ sequence }: PollShape, { key }: Identity, reading: TableReading): TableColumn | null {
  const [name] = key
  if (sequence !== undefined) reading.fault('/sequence', 'is another order than the cycle: leave it out')
  const column = key.length === 1 && name !== undefined ? reading.find('/order', name) : null
  if (column) checkCursor('/order', column, reading)
  else reading.fault('/order', 'a cycle needs a key of one column: name it in `key`')
  return column
}

function onDoneOf(options: PollShape, canMark: boolean, canRemember: boolean, reading: TableReading): Shape['onDone'] {
  const onDone = options.onDone ?? (canMark ? 'mark' : 'remember')
  if (onDone === 'mark' && !canMark) reading.fault('/onDone', 'needs a status column, or the columns of a claim')
  if (onDone === 'remember' && canMark)
    reading.fault('/onDone', 'is for tables without a status and columns for claims: use mark')
  if (onDone === 'remember' && !canRemember) {
    reading.fault(
      '/onDone',
      'must be delete: the table has no key, and no sequence is named, by which done rows could be remembered',
    )
  }
  return onDone
}

/** A cursor is compared as a literal: it must pass exactly the rows before it, and none that only compares equal. */
function checkCursor(pointer: string, cursor: TableColumn, reading: TableReading): void {
  const { name, type, collation, isNullable } = cursor
  if (isNullable) reading.fault(pointer, `the column ${name} must not take NULL: a cursor never comes to such rows`)
  if (reading.known.engine.rowFacts.ordersWhole(type, collation)) return
  const said = collation === null ? type : `${type}, ${collation}`
  reading.fault(
    pointer,
    `the column ${name}, ${said}, is no place for a cursor, which would pass rows that only compare alike: it must be a ` +
      'number, a time, binary, or a text of a binary collation',
  )
}

/** `pointer`: of the option by which rows are changed. */
function checkChanges(pointer: string, hasKey: boolean, reading: TableReading): void {
  const { table } = reading.known
  if (!table.isUpdatable) {
    reading.fault(pointer, `rows of ${table.name}, which is a view, can't be changed: poll the table behind it`)
  } else if (!hasKey && !table.hasRowIds) {
    reading.fault('/key', `${table.name} is WITHOUT ROWID: say which other columns tell its rows apart`)
  }
}

/** Throws `invalid_input` for words that are equal by the collation of the column. */
export async function checkWords(session: Session, { status, table }: Shape): Promise<void> {
  if (!status) return
  const words = wordsOf(status)
  const column = `SELECT ${status.column} AS word FROM ${table.path} WHERE 1 = 0`
  const union = [column, ...words.map(() => 'SELECT ?')].join(' UNION ALL ')
  const [row] = await session.read((reader) =>
    reader.rows(`SELECT COUNT(DISTINCT w.word) AS words FROM (${union}) w`, words),
  )
  if (Number(row?.words) === words.length) return
  const detail = `must have values that all differ: the column takes some of ${words.join(', ')} for the same`
  throw invalidInput([{ pointer: '/status', detail }])
}

/**
 * Throws `invalid_input` if the times of claims would be written in a time zone with summer time. The hour that comes
 * twice is ambiguous, and a claim in it could be over when it begins.
 */
export async function checkZone(session: Session, { own }: Shape): Promise<void> {
  if (own === null || !/^(datetime|timestamp)$/.test(own.timeType)) return
  const offsets = await session.read(offsetsOf)
  if (new Set(offsets).size <= 1) return
  const detail =
    `a ${own.timeType.toUpperCase()} can't say when a claim ends, for the time zone of the connection has summer time, and ` +
    "an hour of each autumn twice: use a BIGINT, or SET time_zone = '+00:00' on each connection"
  throw invalidInput([{ pointer: '/claim/nextTime', detail }])
}

async function offsetsOf({ engine, rows }: Reader): Promise<number[]> {
  const { offsetAt } = engine.rowFacts
  if (offsetAt === null) return []
  const now = Math.floor(wallClockMs() / 1000)
  const times = Array.from({ length: LOOKS }, (_, at) => now + at * 15 * DAY_SECONDS)
  const [row] = await rows(`SELECT ${times.map((time, at) => `${offsetAt(time)} AS offset_${at}`).join(', ')}`)
  return Object.values(row ?? {}).flatMap((offset) => (offset === null ? [] : [Number(offset)]))
}
