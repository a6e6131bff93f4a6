/** The errors of dead messages, by place: counted along the claims index, up to a bound. No decision depends on these counts. */
import type { Reader, Row } from '../../../database/engine'
import { DEAD_ERRORS } from '../../../fields/answers-queues'
import type { DeadError, DeadErrors } from '../../../shared/queue-types'
import { chunksOf, rowsAmong } from '../../chunks'
import { column, shaped } from '../../row-shape'
import { requireHead } from '../heads'
import { MAX_IDS, STATE } from '../rows'
import { choosing, deadRanges, errorKind, OWN_COLUMN } from './dead-choice'

/** Messages that are counted of one queue, or of one state of it. */
const MAX_COUNTED = 10_000
const MAX_KINDS = 100
/** Queues of one statement. */
const AT_ONCE = 50

/** Messages that were dead before deaths had a time have that of their last change. */
const DIED_AT = 'COALESCE(dead_at_ms, visible_at_ms) AS died_at_ms'

export async function readErrors(reader: Reader, queue: string, from: string | undefined): Promise<DeadErrors> {
  const head = await requireHead(reader, queue)
  const { engine, tables } = reader
  const kinds = new Map<string, DeadError>()
  let [counted, isExact] = [0, true]
  for (const { state, where } of deadRanges(head)) {
    const rows = await reader.rows(
      `SELECT last_error, source_queue_id, MAX(is_own) AS is_own, COUNT(*) AS messages, MIN(died_at_ms) AS first_ms, ` +
        'MAX(died_at_ms) AS last_ms, ' +
        `(SELECT source.queue FROM ${tables.queues} source WHERE source.id = counted.source_queue_id) AS dead_letter_from FROM (` +
        `SELECT last_error, source_queue_id, ${OWN_COLUMN}, ${DIED_AT} FROM ${tables.queueMessages}` +
        `${engine.useIndex(tables.index.messagesClaim)} WHERE queue_id = ? AND state = ?${where} ` +
        `ORDER BY sort_major DESC, sort_minor DESC, ${tables.queueMessages}.id DESC LIMIT ${MAX_COUNTED}) counted ` +
        'GROUP BY last_error, source_queue_id',
      [head.id, state],
    )
    const all = rows.reduce((sum, { messages }) => sum + Number(messages), 0)
    if (all === MAX_COUNTED) isExact = false
    const isChosen = choosing({ from }, queue, state === STATE.dead) ?? (() => true)
    for (const row of rows.filter(isChosen)) {
      counted += Number(row.messages)
      addTo(kinds, row)
    }
  }
  const byCount = (a: DeadError, b: DeadError) => b.count - a.count || Number(b.lastDeadAt) - Number(a.lastDeadAt)
  const errors = [...kinds.values()].sort(byCount).slice(0, MAX_KINDS)
  return DEAD_ERRORS.of({ errors, counted, isExact })
}

function addTo(kinds: Map<string, DeadError>, row: Row): void {
  const error = errorKind(row.last_error as string | null)
  const [first, last] = [new Date(Number(row.first_ms)), new Date(Number(row.last_ms))]
  const known = kinds.get(error)
  if (known === undefined) {
    kinds.set(error, { error, count: Number(row.messages), firstDeadAt: first, lastDeadAt: last })
    return
  }
  known.count += Number(row.messages)
  if (first < known.firstDeadAt) known.firstDeadAt = first
  if (last > known.lastDeadAt) known.lastDeadAt = last
}

const LETTERS_ROW = shaped({
  holderId: column.big.of('holder_id'),
  /** The queue that they died in, which may be gone. */
  sourceId: column.big.of('source_queue_id'),
  messages: column.number.of('messages'),
  /** Those of them that have died once more, in the queue that holds them. */
  deadAgain: column.number.of('dead_again'),
  sinceMs: column.number.of('since_ms'),
})

/** The dead letters of one queue in another. */
export type Letters = ReturnType<typeof LETTERS_ROW.of>

/** Those in all queues, or in these: in each, of the first 10,000 messages. */
export async function readLetters(reader: Reader, within?: readonly bigint[]): Promise<Letters[]> {
  const { engine, tables } = reader
  const select = `SELECT ${engine.bigint('id')} AS id FROM ${tables.queues} WHERE has_letters = 1`
  const holders = await (within === undefined
    ? reader.rows(select)
    : rowsAmong(reader, within, MAX_IDS, (some) => `${select} AND id IN ${some}`))
  const letters: Letters[] = []
  for (const chunk of chunksOf(holders, AT_ONCE)) {
    const counted = chunk.map(
      ({ id }) =>
        `SELECT ${id} AS holder_id, source_queue_id, COUNT(*) AS messages, MIN(died_at_ms) AS since_ms, ` +
        `SUM(CASE WHEN state = ${STATE.dead} THEN 1 ELSE 0 END) AS dead_again FROM (` +
        `SELECT state, source_queue_id, ${DIED_AT} FROM ${tables.queueMessages}${engine.useIndex(tables.index.messagesClaim)} ` +
        `WHERE queue_id = ${id} ORDER BY state, sort_major, sort_minor, ${tables.queueMessages}.id LIMIT ${MAX_COUNTED}) first ` +
        'WHERE source_queue_id IS NOT NULL GROUP BY source_queue_id',
    )
    const rows = await reader.rows(`SELECT ${LETTERS_ROW.columns(reader)} FROM (${engine.unionAll(counted)}) letters`)
    for (const row of rows) letters.push(LETTERS_ROW.of(row))
  }
  return letters
}

/** How many messages that died in the queue are dead; `dead` is how many are dead in it. */
export function diedIn(id: bigint, dead: number, letters: readonly Letters[]): number {
  let died = dead
  for (const { holderId, sourceId, messages, deadAgain } of letters) {
    if (sourceId === id) died += messages
    if (holderId === id) died -= deadAgain
  }
  return Math.max(0, died)
}
