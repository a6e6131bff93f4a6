/**
 * Claims of `recentn_poll_claims` that are due: those that ran out, because a process was killed or lost its database, and
 * those that failed and are to be tried again. The next claim takes them first and passes over what others have locked.
 * With a status the rows to be tried again are ready in the user's table, and are found there.
 *
 * Notes of such rows that are not ready when their time has come are deleted here, and nowhere else: the rows were
 * deleted, or got another status. No lock is held while rows are looked at. A row that is made ready again
 * at this moment begins again, as it does whenever that is done by hand. A note that is claimed then, or waits again,
 * stays.
 */
import { placeholders, type Reader, type Row, type Session, type Tx } from '../../database/engine'
import {
  accepted,
  asGivenUp,
  Careful,
  type ClaimLimits,
  changeNote,
  deleteNote,
  markRows,
  NEVER_MS,
  RefusedClaim,
  type RowClaim,
  STATE,
  type TakenRows,
  unfinished,
} from './claims'
import { dueStates } from './place'
import type { PollPlan } from './plan'
import { allOf, deleteRow, MAX_ROWS, part, type RowRef, updateRows } from './rows'

interface DueClaim extends RowClaim {
  /** Of the claim that ran out. */
  before: string
  dueAt: bigint
}

/** Maximum rows that one claim looks at; the next claim looks at more. */
const MOST = 500
/** Rows of a page behind rows that were passed over. */
const PAGE = 50

export async function takeDue(tx: Tx, plan: PollPlan, limits: ClaimLimits, claimKey: string): Promise<TakenRows> {
  const taken: TakenRows = { held: [], givenUp: [], refused: [], isMore: false }
  const careful = new Careful(limits, plan.maxAttempts)
  let looked = 0
  for (const state of dueStates(plan)) {
    let last: DueClaim | undefined
    for (let isEnd = false; !isEnd && taken.held.length < limits.max; ) {
      if (looked >= MOST) return taken
      const left = limits.max - taken.held.length
      // Rows that are locked or can't be taken now must not hold up the rows behind them.
      const page = last ? Math.max(left, PAGE) : left
      const found = await chooseDue(tx, plan, state, page, claimKey, last)
      for (const due of found) if (taken.held.length < limits.max) await takeOne(tx, plan, due, careful, taken)
      looked += found.length
      last = found.at(-1)
      isEnd = found.length < page
    }
  }
  taken.isMore = false
  return taken
}

async function takeOne(tx: Tx, plan: PollPlan, due: DueClaim, careful: Careful, taken: TakenRows): Promise<void> {
  const found = await lookAt(tx, plan, due)
  if (found === 'put off') taken.isMore = true
  if (found !== 'there') return
  if (due.ranOut && due.attempts > plan.maxAttempts) {
    taken.givenUp.push(await asGivenUp(tx, plan, { ...due, attempts: due.attempts - 1 }))
    await giveUp(tx, plan, due)
  } else if (!due.ranOut || careful.takes(due.attempts)) {
    try {
      taken.held.push(await takeAgain(tx, plan, due))
    } catch (error) {
      // The statement has changed nothing; the rest of the transaction stands.
      if (!(error instanceof RefusedClaim)) throw error
      taken.refused.push(error)
      await putOff(tx, plan, due)
    }
  }
}

async function chooseDue(
  tx: Tx,
  plan: PollPlan,
  state: number,
  max: number,
  claimKey: string,
  behind?: DueClaim,
): Promise<DueClaim[]> {
  const { engine, now } = tx
  const after = behind ? ` AND (due_at_ms > ${behind.dueAt} OR due_at_ms = ${behind.dueAt} AND row_key > ?)` : ''
  const rows = await tx.rows(
    `SELECT row_key, row_values, claim_key, attempts, ${engine.bigint('due_at_ms')} AS due_at ` +
      `FROM ${tx.tables.pollClaims}${engine.useIndex(tx.tables.index.claimsDue)} ` +
      `WHERE poll_id = ${plan.pollId} AND state = ${state} AND due_at_ms <= ${now}${after} ` +
      `ORDER BY due_at_ms, row_key LIMIT ${max}${engine.forUpdateSkipLocked}`,
    behind ? [behind.ref.rowKey] : [],
  )
  return rows.map((row) => ({
    ref: { ...refIn(row), claimedBy: row.claim_key as string },
    before: row.claim_key as string,
    claimKey,
    attempts: Number(row.attempts) + 1,
    ranOut: state === STATE.claimed,
    dueAt: BigInt(row.due_at as string),
  }))
}

function refIn({ row_key: rowKey, row_values: values }: Row): RowRef {
  return { rowKey: rowKey as string, values: JSON.parse(values as string) }
}

/**
 * Whether the row is still as the claim left it, and matches `where`. A row that was changed is the user's again. While
 * a transaction has it locked, or `where` leaves it out, its note stays with its attempts and is looked at later.
 */
async function lookAt(tx: Tx, plan: PollPlan, due: DueClaim): Promise<'there' | 'put off' | 'passed over'> {
  const { table, identity, status, where } = plan
  const { sql, parameters } = identity.any([due.ref])
  const asClaimed = status ? ` AND ${status.column} = ?` : ''
  const values = status ? [...parameters, status.claimed ?? due.before] : parameters
  const from = `FROM ${table.path} WHERE ${sql}${asClaimed} LIMIT 1`
  const matches = where ? `CASE WHEN ${where.sql} THEN 1 ELSE 0 END` : '1'
  const locked = `SELECT ${matches} AS recentn_matches ${from}${tx.engine.forUpdateSkipLocked}`
  const [row] = await tx.rows(locked, [...(where?.parameters ?? []), ...values])
  if (row && Number(row.recentn_matches) === 1) return 'there'
  if (row) {
    await putOff(tx, plan, due)
    return 'put off'
  }
  if ((await tx.rows(`SELECT 1 ${from}`, values)).length === 0) {
    await deleteNote(tx, plan, due.ref)
    return 'put off'
  }
  return 'passed over'
}

/** Makes it due later, so that the rows behind it have their turn. */
async function putOff(tx: Tx, plan: PollPlan, { ref }: DueClaim): Promise<void> {
  await changeNote(tx, plan, ref, `due_at_ms = ${tx.now} + ${plan.timeoutMs}`)
}

/** Throws a `RefusedClaim` before the note is changed. */
async function takeAgain(tx: Tx, plan: PollPlan, due: DueClaim): Promise<RowClaim> {
  const { ref, before, claimKey } = due
  const { status } = plan
  if (status?.claimed === null) {
    await markRows(tx, plan, [ref], part(`${status.column} = ?`, claimKey), part(`${status.column} = ?`, before))
  }
  const until = `${tx.now} + ${plan.timeoutMs}`
  const sets = `state = ${STATE.claimed}, due_at_ms = ${until}, claim_key = ?, attempts = attempts + 1`
  await changeNote(tx, plan, ref, sets, claimKey)
  return { ...due, ref: { ...ref, claimedBy: claimKey } }
}

async function giveUp(tx: Tx, plan: PollPlan, { ref, before, attempts }: DueClaim): Promise<void> {
  const { status } = plan
  const fence = status ? part(`${status.column} = ?`, status.claimed ?? before) : part('1 = 1')
  // If the table refuses that, the row stays as it is, and its note says that it is not claimed again.
  if (plan.deletesFailed) {
    if (await accepted(tx, () => deleteRow(tx, plan, ref, fence))) {
      await deleteNote(tx, plan, ref)
      return
    }
  } else if (status) {
    await accepted(tx, () => updateRows(tx, plan, [ref], part(`${status.column} = ?`, status.error), fence))
  }
  const sets = `state = ${STATE.failed}, due_at_ms = ${NEVER_MS}, error = ?`
  await changeNote(tx, plan, ref, sets, unfinished(attempts - 1))
}

/** A note, in the order in which notes become due. */
export interface NotePlace {
  dueAtMs: string
  rowKey: string
}

/** Deletes old notes of one page behind a place; resolves to the page's last note, or null when there are no more. */
export async function tidyNotes(session: Session, plan: PollPlan, after: NotePlace | null): Promise<NotePlace | null> {
  const { notes, over } = await session.read(async (reader) => {
    const notes = await nextNotes(reader, plan, after)
    return { notes, over: await notReady(reader, plan, notes) }
  })
  const last = notes.at(-1)
  if (last && over.length > 0) {
    const keys = placeholders(over.length)
    // A row that was claimed and waits again is due later than all that were read.
    const sql = `DELETE FROM ${session.tables.pollClaims} WHERE poll_id = ${plan.pollId} AND row_key IN (${keys}) AND state = ${STATE.waiting} AND due_at_ms <= ${BigInt(last.due as string)}`
    await session.write((tx) => tx.later(sql, over))
  }
  if (!last || notes.length < MAX_ROWS) return null
  return { dueAtMs: String(last.due), rowKey: last.row_key as string }
}

/** A note that has been due for longer than a claim lasts belongs to a row that nothing claims. */
function nextNotes(reader: Reader, plan: PollPlan, after: NotePlace | null): Promise<Row[]> {
  const behind = after
    ? ` AND due_at_ms >= ${BigInt(after.dueAtMs)} AND (due_at_ms > ${BigInt(after.dueAtMs)} OR row_key > ?)`
    : ''
  const { engine } = reader
  return reader.rows(
    `SELECT row_key, row_values, ${engine.bigint('due_at_ms')} AS due FROM ${reader.tables.pollClaims}${engine.useIndex(reader.tables.index.claimsDue)} ` +
      `WHERE poll_id = ${plan.pollId} AND state = ${STATE.waiting} AND due_at_ms <= ${reader.now} - ${plan.timeoutMs}${behind} ` +
      `ORDER BY due_at_ms, row_key LIMIT ${MAX_ROWS}`,
    after ? [after.rowKey] : [],
  )
}

async function notReady(reader: Reader, plan: PollPlan, notes: readonly Row[]): Promise<string[]> {
  const { table, identity, status } = plan
  if (notes.length === 0) return []
  const refs = notes.map(refIn)
  const { sql, parameters } = allOf(identity.any(refs), status?.isReady)
  const found = await reader.rows(
    `SELECT ${identity.rowKey} AS recentn_row_key FROM ${table.path} WHERE ${sql}`,
    parameters,
  )
  const ready = new Set(found.map((row) => row.recentn_row_key))
  return refs.flatMap(({ rowKey }) => (ready.has(rowKey) ? [] : [rowKey]))
}
