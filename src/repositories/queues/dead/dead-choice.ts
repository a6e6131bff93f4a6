/** Which of the dead messages that a queue holds a call chooses: by their error, and by the queue that they died in. */
import type { Reader, Row } from '../../../database/engine'
import type { QueueHead } from '../heads'
import { STATE } from '../rows'

/** Delayed ones come first: time makes them ready, and a walk that began with the ready ones would miss those. */
const LETTER_STATES = [STATE.delayed, STATE.blocked, STATE.ready, STATE.dead]
const IS_LETTER = ' AND source_queue_id IS NOT NULL'
/** SQL: a dead message, or a dead letter that no process has received. */
export const IS_DEAD = `(state = ${STATE.dead} OR (source_queue_id IS NOT NULL AND state IN (${LETTER_STATES.join(', ')})))`

/** The ranges of the claims index that dead letters are in, and that of the queue's own dead. */
export interface DeadRange {
  state: number
  where: string
}
export const LETTERS: readonly DeadRange[] = LETTER_STATES.map((state) => ({ state, where: IS_LETTER }))
export const OWN: DeadRange = { state: STATE.dead, where: '' }
/** Each dead message once. */
const ALL: readonly DeadRange[] = [...LETTERS.filter(({ state }) => state !== STATE.dead), OWN]

/** The ranges that may have some. */
export const deadRanges = ({ holdsDeadLetters }: QueueHead, ranges = ALL) => (holdsDeadLetters ? ranges : [OWN])

/** Which dead messages are meant; null is any. */
export interface DeadChoice {
  ids: readonly bigint[] | null
  /** The kind of their error. */
  error: string | null
  /** The queue in which they died. */
  from: string | null
  /** The beginning of its name. */
  prefix: string
  limit: number
  /** They are only counted. */
  dryRun: boolean
}

/** SQL: what the choice is made by. `died_in` is null for the queue's own, and if the queue is gone. */
export const chosenColumns = ({ engine, tables }: Reader) =>
  `${engine.bigint('id')} AS id, ${OWN_COLUMN}, last_error, ` +
  `(SELECT source.queue FROM ${tables.queues} source WHERE source.id = ${tables.queueMessages}.source_queue_id) AS died_in`

export function isChosen(
  { is_own: isOwn, died_in: diedIn, last_error: error }: Row,
  queue: string,
  choice: DeadChoice,
) {
  const name = Number(isOwn) === 1 ? queue : (diedIn as string | null)
  if (choice.from !== null && name !== choice.from) return false
  // A dead letter of a queue that is gone becomes the own one of the queue that holds it.
  if (Number(isOwn) !== 1 && name !== null && !name.startsWith(choice.prefix)) return false
  return choice.error === null || errorKind(error as string | null) === choice.error
}

/** SQL: a column by which `choosing` knows a queue's own message. */
export const OWN_COLUMN = 'source_queue_id IS NULL AS is_own'

/** Which rows of a page of messages are chosen; null if all are. In the state `dead` a queue's own messages have died there. */
export function choosing(
  { error, from }: { error?: string | undefined; from?: string | undefined },
  queue: string,
  isDead: boolean,
): ((row: Row) => boolean) | null {
  if (error === undefined && from === undefined) return null
  const choice = {
    error: error === undefined ? null : errorKind(error),
    from: from ?? null,
    prefix: '',
    ids: null,
    limit: 0,
    dryRun: true,
  }
  return (row) =>
    isChosen({ ...row, is_own: isDead ? row.is_own : 0, died_in: row.dead_letter_from ?? null }, queue, choice)
}

/** Characters of a kind: what follows rarely tells errors apart. */
const MAX_KIND_CHARACTERS = 200

/** A word with a digit in it: a number, an id, a time, an address. */
const NUMBERED = /[\p{L}\p{N}_.:@/-]*\p{N}[\p{L}\p{N}_.:@/-]*/gu
/** Statuses of HTTP and SMTP tell errors apart. */
const STATUS = /^[1-5]\d\d[.:]?$/
/** A number before one of these is an amount. */
const UNIT = /^ ?(?:ms|s|sec|seconds|min|minutes|h|hours|bytes|[kMG]i?B|%|times|rows|messages|items)(?!\w)/i

/** The kind of an error, by which those that differ only in numbers and ids are alike: `#` in place of each number and id. That of a kind is itself; that of no error is ''. */
export function errorKind(error: string | null): string {
  if (error === null) return ''
  const plain = error.replace(/\s+/g, ' ').trim()
  const kind = plain.replace(NUMBERED, (word, at: number) =>
    STATUS.test(word) && !UNIT.test(plain.slice(at + word.length)) ? word : '#',
  )
  return Array.from(kind).slice(0, MAX_KIND_CHARACTERS).join('').trimEnd()
}
