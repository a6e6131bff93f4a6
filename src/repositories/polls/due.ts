/**
 * Claims of `poll_claims` whose time has come: those that ran out, because a process was killed or lost its database, and
 * those that failed and are to be tried again. Whoever claims next takes them first, passing over what another has
 * locked. With a status the latter stand in the table as ready, and are found there.
 */
import type { Tx } from '../../database/engine'
import { STATE } from './claim-state'
import {
  accepted,
  asGivenUp,
  Careful,
  checkClaimed,
  deleteRow,
  type Held,
  type Limits,
  NEVER_MS,
  type Taken,
  unfinished,
  updateRows,
} from './claims'
import type { Plan } from './plan'

interface Due extends Held {
  /** Of the claim that ran out. */
  before: string
}

export async function takeDue(tx: Tx, plan: Plan, limits: Limits, claimKey: string): Promise<Taken> {
  const taken: Taken = { held: [], givenUp: [] }
  const careful = new Careful(limits, plan.maxAttempts)
  const states = plan.status ? [STATE.claimed] : [STATE.claimed, STATE.waiting]
  for (const state of states) {
    if (taken.held.length >= limits.max) break
    for (const due of await chooseDue(tx, plan, state, limits.max - taken.held.length, claimKey)) {
      if (!(await isThere(tx, plan, due))) continue
      if (due.ranOut && due.attempts > plan.maxAttempts) {
        taken.givenUp.push(await asGivenUp(tx, plan, { ...due, attempts: due.attempts - 1 }))
        await giveUp(tx, plan, due)
      } else if (!due.ranOut || careful.takes(due.attempts)) {
        taken.held.push(await takeAgain(tx, plan, due))
      }
    }
  }
  return taken
}

async function chooseDue(tx: Tx, plan: Plan, state: number, max: number, claimKey: string): Promise<Due[]> {
  const { engine, now } = tx
  const rows = await tx.rows(
    `SELECT row_key, row_values, claim_key, attempts FROM poll_claims${engine.useIndex('poll_claims_due')} ` +
      `WHERE poll_id = ${plan.pollId} AND state = ${state} AND due_at_ms <= ${now} ` +
      `ORDER BY due_at_ms, row_key LIMIT ${max}${engine.forUpdateSkipLocked}`,
  )
  return rows.map((row) => ({
    ref: {
      rowKey: row.row_key as string,
      values: JSON.parse(row.row_values as string) as string[],
      claimedBy: row.claim_key as string,
    },
    before: row.claim_key as string,
    claimKey,
    attempts: Number(row.attempts) + 1,
    ranOut: state === STATE.claimed,
  }))
}

/**
 * Whether the row is still as the claim left it, and one of those that are polled. If it was changed it is the user's
 * again. While somebody has it locked, or `where` leaves it out, it stays with its attempts, to be looked at later.
 */
async function isThere(tx: Tx, plan: Plan, due: Due): Promise<boolean> {
  const { table, identity, status, where } = plan
  const { sql, parameters } = identity.any([due.ref])
  const asClaimed = status ? ` AND ${status.column} = ?` : ''
  const values = status ? [...parameters, status.claimed ?? due.before] : parameters
  const from = `FROM ${table.path} WHERE ${sql}${asClaimed} LIMIT 1`
  const matches = where ? `CASE WHEN ${where.sql} THEN 1 ELSE 0 END` : '1'
  const locked = `SELECT ${matches} AS recentn_matches ${from}${tx.engine.forUpdateSkipLocked}`
  const [row] = await tx.rows(locked, [...(where?.parameters ?? []), ...values])
  if (row && Number(row.recentn_matches) === 1) return true
  const here = `poll_id = ${plan.pollId} AND row_key = ?`
  if (row) {
    // So that those behind it have their turn.
    const later = `due_at_ms = ${tx.now} + ${plan.timeoutMs}`
    await tx.run(`UPDATE poll_claims SET ${later} WHERE ${here}`, [due.ref.rowKey])
  } else if ((await tx.rows(`SELECT 1 ${from}`, values)).length === 0) {
    await tx.run(`DELETE FROM poll_claims WHERE ${here}`, [due.ref.rowKey])
  }
  return false
}

async function takeAgain(tx: Tx, plan: Plan, due: Due): Promise<Held> {
  const { ref, before, claimKey } = due
  const { status } = plan
  await tx.run(
    `UPDATE poll_claims SET state = ${STATE.claimed}, due_at_ms = ${tx.now} + ${plan.timeoutMs}, claim_key = ?, ` +
      `attempts = attempts + 1 WHERE poll_id = ${plan.pollId} AND row_key = ?`,
    [claimKey, ref.rowKey],
  )
  if (status?.claimed === null) {
    const [sets, fence] = [`${status.column} = ?`, `${status.column} = ?`]
    checkClaimed(plan, 1, await updateRows(tx, plan, [ref], [sets, claimKey], [fence, before]))
  }
  return { ...due, ref: { ...ref, claimedBy: claimKey } }
}

async function giveUp(tx: Tx, plan: Plan, { ref, before, attempts }: Due): Promise<void> {
  const { status } = plan
  const here = `poll_id = ${plan.pollId} AND row_key = ?`
  const fence = status ? ([`${status.column} = ?`, status.claimed ?? before] as const) : (['1 = 1'] as const)
  // A row whose table refuses it stays as it is, and its note says that nobody claims it any more.
  if (plan.deletesFailed) {
    if (await accepted(tx, () => deleteRow(tx, plan, ref, fence))) {
      await tx.run(`DELETE FROM poll_claims WHERE ${here}`, [ref.rowKey])
      return
    }
  } else if (status) {
    await accepted(tx, () => updateRows(tx, plan, [ref], [`${status.column} = ?`, status.error], fence))
  }
  await tx.run(`UPDATE poll_claims SET state = ${STATE.failed}, due_at_ms = ${NEVER_MS}, error = ? WHERE ${here}`, [
    unfinished(attempts - 1),
    ref.rowKey,
  ])
}
