/**
 * Claims noted in `recentn_poll_claims`, beside a table that has no place for them, or only a status.
 *
 * Invariant: by the primary key at most one claim of a row is in state `claimed`, and only the poller with its batch key
 * ends it. With a status the row itself says whether it may be claimed, and the table holds attempts, errors and the end of
 * the claim. Without a status a row may be claimed when it has no note here.
 */
import { type Parameter, placeholders, type Reader, type Statement, type Tx } from '../../database/engine'
import { chunksOf } from '../chunks'
import {
  type ClaimLimits,
  ClaimLost,
  type ClaimStorage,
  MAX_ROWS,
  NEVER_MS,
  type RowClaim,
  type RowOutcome,
  STATE,
  type TakenRows,
} from './claim-parts'
import { takeDue } from './due'
import { checkedLiteral, type RowRef } from './identity'
import { note } from './notes'
import type { PollPlan } from './plan'
import { Conditions, chooseSql, deleteRow, markRows, updateRows } from './rows'
import { cursorOf } from './sweep'

/** The condition of rows that a claim takes, beside those that are due again. */
export async function freshConditions(
  reader: Reader,
  plan: PollPlan,
  cursor: string | null,
  except?: Statement | null,
): Promise<Conditions> {
  const { table, identity, status, sequence, where } = plan
  const conditions = new Conditions()
  if (status) conditions.and(status.isReady.sql, status.isReady.parameters)
  if (sequence && cursor !== null) {
    conditions.and(`${table.escape(sequence.name)} > ${checkedLiteral(reader.engine.rowFacts, cursor)}`)
  }
  conditions.andAll(where).andAll(except)
  const waits = `(c.state = ${STATE.waiting} AND c.due_at_ms > ${reader.now})`
  // Rows that are alike share one name: one of them at a time.
  const taken = !status ? '' : identity.isKey ? ` AND ${waits}` : ` AND (c.state = ${STATE.claimed} OR ${waits})`
  // In place of NOT EXISTS, which MySQL makes a join of: the claim would lock each remembered row that it passes.
  return conditions.and(
    `(SELECT c.state FROM ${reader.tables.pollClaims} c WHERE c.poll_id = ${plan.pollId} AND c.row_key = ${identity.rowKey}${taken} LIMIT 1) IS NULL`,
  )
}

async function take(tx: Tx, plan: PollPlan, asked: ClaimLimits, claimKey: string): Promise<TakenRows> {
  // A row without a key is found by the batch key of its claim, which is one row.
  const limits = plan.identity.isKey ? asked : { ...asked, max: Math.min(asked.max, 1) }
  const cursor = plan.sequence ? await cursorOf(tx, plan, tx.engine.forShare) : null
  const due = await takeDue(tx, plan, limits, claimKey)
  const left = limits.max - due.held.length
  if (left <= 0) return due
  const conditions = await freshConditions(tx, plan, cursor, limits.except)
  const rows = await tx.rows(chooseSql(tx.engine, plan, conditions, left), conditions.parameters)
  const fresh = await note(
    tx,
    plan,
    rows.map((row) => plan.identity.refOf(row)),
    claimKey,
  )
  const { status } = plan
  if (status) {
    const refs = fresh.map(({ ref }) => ref)
    const sets = [`${status.column} = ?`, status.claimed ?? claimKey] as const
    const fence = [status.isReady.sql, ...status.isReady.parameters] as const
    await markRows(tx, plan, refs, sets, fence)
  }
  const marked = fresh.map((held) => ({ ...held, ref: { ...held.ref, claimedBy: claimKey } }))
  return { ...due, held: [...due.held, ...marked] }
}

/** The row is changed before the note: while somebody else has the row locked, its note stays free to be extended. */
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
async function rename(tx: Tx, { pollId }: PollPlan, { ref }: RowClaim, { rowKey, values }: RowRef): Promise<void> {
  const here = `poll_id = ${pollId} AND row_key = ?`
  const taken = await tx.rows(`SELECT 1 FROM ${tx.tables.pollClaims} WHERE ${here}`, [rowKey])
  if (taken.length > 0) await tx.run(`DELETE FROM ${tx.tables.pollClaims} WHERE ${here}`, [ref.rowKey])
  else {
    const sets = 'row_key = ?, row_values = ?'
    await tx.run(`UPDATE ${tx.tables.pollClaims} SET ${sets} WHERE ${here}`, [
      rowKey,
      JSON.stringify(values),
      ref.rowKey,
    ])
  }
}

/** False: the row is not as the claim left it. Null: nothing had to be changed. */
async function endRow(tx: Tx, plan: PollPlan, held: RowClaim, outcome: RowOutcome): Promise<boolean | null> {
  const { status } = plan
  const deletes = outcome.is === 'done' ? plan.onDone === 'delete' : outcome.is === 'failed' && plan.deletesFailed
  if (!status) {
    return deletes && (await deleteRow(tx, plan, held.ref, ['1 = 1'])) > 0 ? true : null
  }
  const fence = [`${status.column} = ?`, status.claimed ?? held.claimKey] as const
  if (deletes) return (await deleteRow(tx, plan, held.ref, fence)) > 0
  const value = outcome.is === 'done' ? status.done : outcome.is === 'failed' ? status.error : status.ready
  return (await updateRows(tx, plan, [held.ref], [`${status.column} = ?`, value], fence)) > 0
}

async function endNote(tx: Tx, plan: PollPlan, { ref, claimKey }: RowClaim, outcome: RowOutcome): Promise<boolean> {
  const mine = `poll_id = ${plan.pollId} AND row_key = ? AND claim_key = ? AND state = ${STATE.claimed}`
  const parameters = [ref.rowKey, claimKey]
  const forgets = outcome.is === 'done' ? plan.onDone !== 'remember' : outcome.is === 'failed' && plan.deletesFailed
  if (forgets) return (await tx.run(`DELETE FROM ${tx.tables.pollClaims} WHERE ${mine}`, parameters)) > 0
  const update = (sets: string, ...values: Parameter[]) =>
    tx.run(`UPDATE ${tx.tables.pollClaims} SET ${sets} WHERE ${mine}`, [...values, ...parameters])
  switch (outcome.is) {
    case 'done':
      return (await update(`state = ${STATE.done}, due_at_ms = ${NEVER_MS}, error = NULL`)) > 0
    case 'failed':
      return (await update(`state = ${STATE.failed}, due_at_ms = ${NEVER_MS}, error = ?`, outcome.error)) > 0
    case 'retry':
      return (
        (await update(
          `state = ${STATE.waiting}, due_at_ms = ${tx.now} + ${outcome.delayMs}, error = ?`,
          outcome.error,
        )) > 0
      )
    case 'given back':
      return (await update(`state = ${STATE.waiting}, due_at_ms = ${tx.now}, attempts = attempts - 1`)) > 0
  }
}

async function extend(tx: Tx, plan: PollPlan, held: readonly RowClaim[]): Promise<Set<RowClaim>> {
  const free = await stillHeld(tx, plan, held, tx.engine.forUpdateSkipLocked)
  for (const chunk of chunksOf([...free], MAX_ROWS)) {
    const { sql, parameters } = mineSql(plan, chunk)
    await tx.run(
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

function mineSql({ pollId }: PollPlan, held: readonly RowClaim[]): { sql: string; parameters: Parameter[] } {
  const keys = [...new Set(held.map(({ claimKey }) => claimKey))]
  return {
    sql:
      `poll_id = ${pollId} AND row_key IN (${placeholders(held.length)}) ` +
      `AND claim_key IN (${placeholders(keys.length)}) AND state = ${STATE.claimed}`,
    parameters: [...held.map(({ ref }) => ref.rowKey), ...keys],
  }
}

function mark({ status }: PollPlan, claimKey: string): Statement | null {
  return status && { sql: `${status.column} = ?`, parameters: [status.claimed ?? claimKey] }
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
