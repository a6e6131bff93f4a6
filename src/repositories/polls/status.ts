/** The status column of a poll: which values it has, and whether the column can hold what is written there. */
import type { Parameter, Statement } from '../../database/engine'
import type { TableColumn } from '../../database/user-tables/table-parts'
import type { PollShape, PollStatus } from '../../shared/poll-types'
import type { TableReading } from './columns'
import { part } from './rows'

/** A batch key: 128 random bits in base64url. */
const CLAIM_KEY_LENGTH = 22

/** `column` is SQL. */
export interface Status {
  column: string
  /** Null: rows without a status are ready. */
  ready: Parameter
  isReady: Statement
  /** Null: the batch key. */
  claimed: Parameter
  /** Null: done rows are deleted, or their handlers say which of `results`. */
  done: Parameter
  /** The value that is written for each word that a handler may resolve to; null: `done` for all. */
  results: ReadonlyMap<unknown, string | number> | null
  /** Null: failed rows are deleted. */
  error: Parameter
}

const TEXT = /char|text/
const MEASURED = /^(char|varchar)$/
const WORDS = /char|text|enum|set|clob/
const NUMBERS = /int|decimal|numeric|year|float|double|real|^bit$/

export function statusOf(given: PollStatus, options: PollShape, reading: TableReading): Status {
  const { column: name, claimed } = given
  const sql = reading.changed('/status', name)
  const column = reading.find('/status', name)
  if (column && claimed === undefined && options.claim === undefined) {
    const otherwise =
      ", or say in status.claimed which value a claimed row has, or name the table's own columns in claim"
    mustHoldKeys('/status', column, otherwise, reading)
  }
  const word = (what: string, value: string | number) => {
    const typed = column ? typedAs(column, value, !reading.known.engine.rowFacts.typedColumns) : value
    if (column) checkWord(`/status/${what}`, column, typed, reading)
    return typed
  }
  const ready = given.ready === null ? null : word('ready', given.ready ?? 'ready')
  if (ready === null && column?.isNullable === false) {
    reading.fault('/status/ready', `the column ${column.name} takes no NULL`)
  }
  const status = {
    column: sql,
    ready,
    isReady: ready === null ? part(`${sql} IS NULL`) : part(`${sql} = ?`, ready),
    claimed: claimed === undefined ? null : word('claimed', claimed),
    // Words that are never written need not be there.
    done: options.onDone === 'delete' || given.results ? null : word('done', given.done ?? 'done'),
    results: given.results ? new Map(given.results.map((value, at) => [value, word(`results/${at}`, value)])) : null,
    error: options.onFailed === 'delete' ? null : word('error', given.error ?? 'error'),
  }
  if (given.results && (given.done !== undefined || options.onDone === 'delete')) {
    reading.fault('/status/results', 'are written in place of `done`: leave out `done` and `onDone`')
  }
  const words = wordsOf(status)
  if (new Set(words).size < words.length) reading.fault('/status', 'must have values that all differ')
  return status
}

export function wordsOf({ ready, claimed, error, ...status }: Status): (string | number)[] {
  return [ready, claimed, error, ...doneWords(status)].filter((word) => word !== null) as (string | number)[]
}

export function doneWords({ done, results }: Pick<Status, 'done' | 'results'>): Parameter[] {
  return results ? [...results.values()] : [done]
}

/** A column of texts must be compared with texts: the servers would take every text for the number 0. */
function typedAs({ type }: TableColumn, value: string | number, isFree: boolean): string | number {
  if (WORDS.test(type)) return type === 'char' && !isFree ? String(value).trimEnd() : String(value)
  return NUMBERS.test(type) && typeof value === 'string' && /^-?\d{1,15}$/.test(value) ? Number(value) : value
}

function checkWord(pointer: string, column: TableColumn, value: string | number, reading: TableReading): void {
  if (column.values?.includes(String(value).toLowerCase()) === false) {
    reading.fault(pointer, `${value} is not one of the values of the column ${column.name}`)
  }
  if (typeof value !== 'string') return
  if (column.length && value.length > column.length) {
    reading.fault(pointer, `has more than the ${column.length} characters of the column ${column.name}`)
  }
  if (reading.known.engine.rowFacts.typedColumns && NUMBERS.test(column.type)) {
    reading.fault(pointer, `${value} is no number, which the column ${column.name}, ${column.type}, has`)
  }
}

export function mustHoldKeys(
  pointer: string,
  { name, type, length }: TableColumn,
  otherwise: string,
  reading: TableReading,
): void {
  const { known } = reading
  const isListed = known.listed.has(name)
  const isFree = !known.engine.rowFacts.typedColumns
  const fits = isFree || (MEASURED.test(type) ? (length ?? 0) >= CLAIM_KEY_LENGTH : TEXT.test(type))
  if (fits && !isListed) return
  const said = isListed ? 'a list of values' : length === null ? type : `${type}(${length})`
  reading.fault(
    pointer,
    `the column ${name}, ${said}, can't hold a batch key: make it VARCHAR(${CLAIM_KEY_LENGTH}) or longer${otherwise}`,
  )
}
