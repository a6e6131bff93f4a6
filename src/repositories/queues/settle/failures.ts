/**
 * The last failures of a message, one by one: lines of text in their own column, the newest first. A failure writes its line
 * in an UPDATE that it needs anyway, so that it costs no statement, and a message that does not fail has null there.
 */
import type { Statement } from '../../../database/engine'
import type { MessageFailure } from '../../../shared/queue-types'
import { NO_RECEIPT } from './receipts'

const MAX_FAILURES = 10
/** Ten lines fit, whatever they say. Characters on SQLite, bytes on the servers. */
const MAX_LENGTH = 4000
const MAX_CHARACTERS = 300
const MAX_ERROR_BYTES = 340

const added = (line: string) => `SUBSTR(CONCAT(receive_count, ${line}, COALESCE(failures, '')), 1, ${MAX_LENGTH})`

/** SQL that adds an error, in an UPDATE that leaves the receive count. */
export function addFailure(nowMs: number, error: string): Statement {
  return { sql: `failures = ${added('?')}`, parameters: [` ${nowMs} ${JSON.stringify(cutShort(error))}\n`] }
}

/** SQL, with its comma, that adds the end of a claim, if the message had one: a message that was delayed has no receipt. */
export function addRunOut(nowMs: number): string {
  const line = `' ${nowMs} "The visibility timeout ran out."\n'`
  return `, failures = CASE receipt WHEN '${NO_RECEIPT}' THEN failures ELSE ${added(line)} END`
}

function cutShort(error: string): string {
  let text = error.slice(0, MAX_CHARACTERS)
  while (Buffer.byteLength(JSON.stringify(text)) > MAX_ERROR_BYTES) text = text.slice(0, text.length * 0.9)
  return text === error ? text : `${text.replace(/[\ud800-\udbff]$/, '')}…`
}

const LINE = /^(\d+) (\d+) (".*")$/

/** The failures in the column. The last line may be cut. */
export function failuresOf(column: unknown): MessageFailure[] {
  if (column === null || column === undefined) return []
  const lines = (Buffer.isBuffer(column) ? column.toString() : String(column)).split('\n', MAX_FAILURES)
  return lines.flatMap((line) => {
    const [, receives, ms, error] = LINE.exec(line) ?? []
    if (error === undefined) return []
    return [{ receiveCount: Number(receives), failedAt: new Date(Number(ms)), error: JSON.parse(error) }]
  })
}
