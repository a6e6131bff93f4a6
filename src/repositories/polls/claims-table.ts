/**
 * Claims noted in `recentn_poll_claims`, beside a table that has no place for them, or only a status.
 *
 * Invariant: by the primary key at most one claim of a row is in state `claimed`, and only the poller with its batch key
 * ends it. With a status the row itself says whether it may be claimed, and the table holds attempts, errors and the end of
 * the claim. Without a status a row may be claimed when it has no note here.
 */
import { placeholders, type Reader, type Statement, type Tx } from '../../database/engine'
import { chunksOf } from '../chunks'
import {
  type ClaimLimits,
  ClaimLost,
  type ClaimStorage,
  changeNote,
  deleteNote,
  deletesRow,
  markRows,
  NEVER_MS,
  type RowClaim,
  type RowOutcome,
  STATE,
  type TakenRows,
  wordOf,
} from './claims'
import { takeDue } from './due'
import { chooseRows, lockCursor } from './place'
import type { PollPlan } from './plan'
import { freshConditions } from './ready'
import { chooseSql, deleteRow, MAX_ROWS, part, type RowRef, updateRows } from './rows'

async function take(tx: Tx, plan: PollPlan, asked: ClaimLimits, claimKey: string): Promise<TakenRows> {
  // A row without a key is found by the batch key of its claim, which is one row.
  const limits = plan.identity.isKey ? asked : { ...asked, max: Math.min(asked.max, 1) }
  const cursor = await lockCursor(tx, plan)
  const due = await takeDue(tx, plan, limits, claimKey)
  const left = limits.max - due.held.length
  if (left <= 0) return due
  const conditions = freshConditions(tx, plan, cursor, limits.except)
  const rows = plan.cycle
    ? await chooseRows(tx, plan, cursor, conditions, { max: left })
    : await tx.rows(chooseSql(tx.engine, plan, conditions, left), conditions.parameters)
  const found = rows.map((row) => plan.identity.refOf(row))
  const fresh = await note(tx, plan, found, claimKey)
  const { status } = plan
  if (status) {
    const refs = fresh.map(({ ref }) => ref)
    await markRows(tx, plan, refs, part(`${status.column} = ?`, status.claimed ?? claimKey), status.isReady)
  }
  const marked = fresh.map((held) => ({ ...held, ref: { ...held.ref, claimedBy: claimKey } }))
  return { ...due, held: [...due.held, ...marked] }
}

/** Notes claims of the rows that no other poller has, in the order of the key, as every such transaction does. */
async function note(tx: Tx, plan: PollPlan, refs: readonly RowRef[], claimKey: string): Promise<RowClaim[]> {
  const attempts = new Map<string, number>()
  const sorted = [...refs].sort((a, b) => (a.rowKey < b.rowKey ? -1 : 1))
  for (const chunk of chunksOf(sorted, MAX_ROWS)) {
    await tx.later(noteSql(tx, plan, chunk, claimKey))
    const keys = chunk.map(({ rowKey }) => rowKey)
    const mine = await tx.rows(
      `SELECT row_key, attempts FROM ${tx.tables.pollClaims} WHERE poll_id = ${plan.pollId} AND row_key IN (${placeholders(keys.length)}) AND claim_key = ?`,
      [...keys, claimKey],
    )
    for (const row of mine) attempts.set(row.row_key as string, Number(row.attempts))
  }
  return refs.flatMap((ref) => {
    const tried = attempts.get(ref.rowKey)
    return tried === undefined ? [] : [{ ref, claimKey, attempts: tried, ranOut: false }]
  })
}

function noteSql(tx: Tx, plan: PollPlan, refs: readonly RowRef[], claimKey: string): Statement {
  const { engine, now } = tx
  const rows = refs
    .map(() => `(${plan.pollId}, ?, ${STATE.claimed}, ${now} + ${plan.timeoutMs}, ?, 1, ${now}, ?)`)
    .join(', ')
  const insert =
    `INSERT INTO ${tx.tables.pollClaims} (poll_id, row_key, state, due_at_ms, claim_key, attempts, first_claimed_at_ms, row_values) ` +
    `VALUES ${rows} ${engine.onDuplicate('poll_id, row_key')} `
  const parameters = refs.flatMap(({ rowKey, values }) => [rowKey, claimKey, JSON.stringify(values)])
  return {
    sql: insert + (plan.status || plan.cycle ? anewSql(tx, plan) : `poll_id = ${tx.tables.pollClaims}.poll_id`),
    parameters,
  }
}

/**
 * The update of a note that is there already, of an earlier attempt, when the row's status says that it is ready. A note
 * that waits for its backoff is left alone: the rows were chosen by that as well, but as it was when that statement began.
 * One of the engines sets columns one after the other: each looks at `claim_key`, or at a column that is set after it.
 */
function anewSql({ engine, tables, now }: Tx, { identity, status }: PollPlan): string {
  const { proposed } = engine
  const { pollClaims } = tables
  const state = `${pollClaims}.state`
  const earlier = `${state} IN (${STATE.claimed}, ${STATE.waiting})`
  const waits = `${state} = ${STATE.waiting} AND ${pollClaims}.due_at_ms > ${now}`
  // Without a status a note says all: one that does not wait any more stays.
  const others = status ? `${state} = ${STATE.claimed}` : `${state} <> ${STATE.waiting}`
  const stays = status && identity.isKey ? waits : `(${others} OR ${waits})`
  const anew = (column: string, value: string) =>
    `${column} = CASE WHEN ${pollClaims}.claim_key = ${proposed('claim_key')} OR NOT (${stays}) THEN ${value} ELSE ${pollClaims}.${column} END`
  return [
    anew('attempts', `CASE WHEN ${earlier} THEN ${pollClaims}.attempts + 1 ELSE 1 END`),
    anew('error', `CASE WHEN ${earlier} THEN ${pollClaims}.error ELSE NULL END`),
    anew('claim_key', proposed('claim_key')),
    anew('due_at_ms', proposed('due_at_ms')),
    anew('state', proposed('state')),
  ].join(', ')
}

/** The row is changed before the note: while another transaction has the row locked, its note stays free to be extended. */
async function end(tx: Tx, plan: PollPlan, held: RowClaim, outcome: RowOutcome): Promise<boolean> {
  const comesAgain = outcome.is === 'retry' || outcome.is === 'given back'
  const name = comesAgain ? await nameNow(tx, plan, held) : null
  const changed = await endRow(tx, plan, held, outcome)
  const isNoted = await endNote(tx, plan, held, outcome)
  if (changed && !isNoted) throw new ClaimLost()
  if (name && isNoted) await rename(tx, plan, held, name)
  return changed !== false && isNoted
}

/** The new name of a row without a key that its handler has changed: its attempts are to be found under that name. */
async function nameNow(tx: Tx, plan: PollPlan, { ref }: RowClaim): Promise<RowRef | null> {
  const { identity, table } = plan
  if (!identity.isMarked) return null
  const { sql, parameters } = identity.any([ref])
  const select = `SELECT ${identity.columns} FROM ${table.path} WHERE ${sql} LIMIT 1${tx.engine.forUpdate}`
  const [row] = await tx.rows(select, parameters)
  const now = row ? identity.refOf(row) : ref
  return now.rowKey === ref.rowKey ? null : now
}

/** If a row that is alike has a note already, that note counts. */
async function rename(tx: Tx, plan: PollPlan, { ref }: RowClaim, { rowKey, values }: RowRef): Promise<void> {
  const same = `SELECT 1 FROM ${tx.tables.pollClaims} WHERE poll_id = ${plan.pollId} AND row_key = ?`
  const isTaken = (await tx.rows(same, [rowKey])).length > 0
  if (isTaken) await deleteNote(tx, plan, ref)
  else await changeNote(tx, plan, ref, 'row_key = ?, row_values = ?', rowKey, JSON.stringify(values))
}

/** False: the row is not as the claim left it. Null: nothing had to be changed. */
async function endRow(tx: Tx, plan: PollPlan, held: RowClaim, outcome: RowOutcome): Promise<boolean | null> {
  const { status } = plan
  const deletes = deletesRow(plan, outcome)
  if (!status) return deletes && (await deleteRow(tx, plan, held.ref, part('1 = 1'))) ? true : null
  const fence = part(`${status.column} = ?`, status.claimed ?? held.claimKey)
  if (deletes) return deleteRow(tx, plan, held.ref, fence)
  const value = outcome.is === 'done' || outcome.is === 'failed' ? wordOf(status, outcome) : status.ready
  return (await updateRows(tx, plan, [held.ref], part(`${status.column} = ?`, value), fence)) > 0
}

async function endNote(tx: Tx, plan: PollPlan, { ref, claimKey }: RowClaim, outcome: RowOutcome): Promise<boolean> {
  const mine = `poll_id = ${plan.pollId} AND row_key = ? AND claim_key = ? AND state = ${STATE.claimed}`
  const parameters = [ref.rowKey, claimKey]
  const isMarked = outcome.is === 'done' && plan.onDone === 'mark'
  if (isMarked || deletesRow(plan, outcome))
    return (await tx.run(`DELETE FROM ${tx.tables.pollClaims} WHERE ${mine}`, parameters)) > 0
  const sets = noteSets(tx, outcome)
  const update = `UPDATE ${tx.tables.pollClaims} SET ${sets.sql} WHERE ${mine}`
  return (await tx.run(update, [...sets.parameters, ...parameters])) > 0
}

function noteSets({ now }: Tx, outcome: RowOutcome): Statement {
  switch (outcome.is) {
    case 'done':
      return part(`state = ${STATE.done}, due_at_ms = ${NEVER_MS}, error = NULL`)
    case 'failed':
      return part(`state = ${STATE.failed}, due_at_ms = ${NEVER_MS}, error = ?`, outcome.error)
    case 'retry':
      return part(`state = ${STATE.waiting}, due_at_ms = ${now} + ${outcome.delayMs}, error = ?`, outcome.error)
    case 'given back':
      return part(`state = ${STATE.waiting}, due_at_ms = ${now}, attempts = attempts - 1`)
  }
}

async function extend(tx: Tx, plan: PollPlan, held: readonly RowClaim[]): Promise<Set<RowClaim>> {
  const free = await stillHeld(tx, plan, held, tx.engine.forUpdateSkipLocked)
  for (const chunk of chunksOf([...free], MAX_ROWS)) {
    const { sql, parameters } = mineSql(plan, chunk)
    await tx.later(
      `UPDATE ${tx.tables.pollClaims} SET due_at_ms = ${tx.now} + ${plan.timeoutMs} WHERE ${sql}`,
      parameters,
    )
  }
  return free
}

async function stillHeld(reader: Reader, plan: PollPlan, held: readonly RowClaim[], lock = ''): Promise<Set<RowClaim>> {
  const kept = new Set<RowClaim>()
  for (const chunk of chunksOf(held, MAX_ROWS)) {
    const { sql, parameters } = mineSql(plan, chunk)
    const rows = await reader.rows(
      `SELECT row_key, claim_key FROM ${reader.tables.pollClaims} WHERE ${sql}${lock}`,
      parameters,
    )
    const keys = new Map(rows.map((row) => [row.row_key, row.claim_key]))
    for (const one of chunk) if (keys.get(one.ref.rowKey) === one.claimKey) kept.add(one)
  }
  return kept
}

function mineSql({ pollId }: PollPlan, held: readonly RowClaim[]): Statement {
  const keys = [...new Set(held.map(({ claimKey }) => claimKey))]
  return {
    sql:
      `poll_id = ${pollId} AND row_key IN (${placeholders(held.length)}) ` +
      `AND claim_key IN (${placeholders(keys.length)}) AND state = ${STATE.claimed}`,
    parameters: [...held.map(({ ref }) => ref.rowKey), ...keys],
  }
}

function mark({ status }: PollPlan, claimKey: string): Statement | null {
  return status && part(`${status.column} = ?`, status.claimed ?? claimKey)
}

/** Locks the row, if its status says whose it is, and the note. */
async function lockNow(tx: Tx, plan: PollPlan, held: RowClaim): Promise<boolean> {
  const marked = mark(plan, held.claimKey)
  if (marked) {
    const { sql, parameters } = plan.identity.any([held.ref])
    const find = `SELECT 1 FROM ${plan.table.path} WHERE ${sql} AND ${marked.sql} LIMIT 1`
    const values = [...parameters, ...marked.parameters]
    const free = await tx.rows(`${find}${tx.engine.forUpdateSkipLocked}`, values)
    // If the row is gone or was changed, only the note is left to end.
    if (free.length === 0 && (await tx.rows(find, values)).length > 0) return false
  }
  return (await stillHeld(tx, plan, [held], tx.engine.forUpdateSkipLocked)).has(held)
}

export const claimsTable: ClaimStorage = { take, mark, lockNow, end, extend, stillHeld }
