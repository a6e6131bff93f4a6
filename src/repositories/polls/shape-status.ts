/** The status column of a poll: whether it can hold batch keys and words, and whether it tells the words apart. */
import type { Session } from '../../database/engine'
import type { TableColumn } from '../../database/table-parts'
import { invalidInput } from '../../errors'
import { CLAIM_KEY_LENGTH, type Shape, type Status, type TableReading } from './shape-parts'
import type { PollShape, PollStatus } from './types'

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
  const word = (what: 'ready' | 'claimed' | 'done' | 'error', value: string | number) => {
    const typed = column ? typedAs(column, value, reading.known.engine.family === 'sqlite') : value
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
    isReady: ready === null ? { sql: `${sql} IS NULL`, parameters: [] } : { sql: `${sql} = ?`, parameters: [ready] },
    claimed: claimed === undefined ? null : word('claimed', claimed),
    // Words that are never written need not be there.
    done: options.onDone === 'delete' ? null : word('done', given.done ?? 'done'),
    error: options.onFailed === 'delete' ? null : word('error', given.error ?? 'error'),
  }
  const words = wordsOf(status)
  if (new Set(words).size < words.length) reading.fault('/status', 'must have values that all differ')
  return status
}

function wordsOf({ ready, claimed, done, error }: Status): (string | number)[] {
  return [ready, claimed, done, error].filter((word) => word !== null) as (string | number)[]
}

/** A number is no text to compare a column of texts with: the servers would take every text for 0. */
function typedAs({ type }: TableColumn, value: string | number, isFree: boolean): string | number {
  if (WORDS.test(type)) return type === 'char' && !isFree ? String(value).trimEnd() : String(value)
  return NUMBERS.test(type) && typeof value === 'string' && /^-?\d{1,15}$/.test(value) ? Number(value) : value
}

function checkWord(pointer: string, column: TableColumn, value: string | number, { known, fault }: TableReading): void {
  if (column.values?.includes(String(value).toLowerCase()) === false) {
    fault(pointer, `${value} is not one of the values of the column ${column.name}`)
  }
  if (typeof value !== 'string') return
  if (column.length && value.length > column.length) {
    fault(pointer, `has more than the ${column.length} characters of the column ${column.name}`)
  }
  if (known.engine.family !== 'sqlite' && NUMBERS.test(column.type)) {
    fault(pointer, `${value} is no number, which the column ${column.name}, ${column.type}, has`)
  }
}

export function mustHoldKeys(
  pointer: string,
  { name, type, length }: TableColumn,
  otherwise: string,
  { known, fault }: TableReading,
): void {
  const isListed = known.listed.has(name)
  const isFree = known.engine.family === 'sqlite'
  const fits = isFree || (MEASURED.test(type) ? (length ?? 0) >= CLAIM_KEY_LENGTH : TEXT.test(type))
  if (fits && !isListed) return
  const said = isListed ? 'a list of values' : length === null ? type : `${type}(${length})`
  fault(
    pointer,
    `the column ${name}, ${said}, can't hold a batch key: make it VARCHAR(${CLAIM_KEY_LENGTH}) or longer${otherwise}`,
  )
}

/** Throws `invalid_input` for words that the column, by its collation, takes for the same. */
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
