/**
 * Claims in the user's columns whose row another transaction has locked can't be extended there: a note says until when
 * they hold. A claim that finds such a claim ended in the row looks for its note, with the row locked; a note that holds is
 * written into the row.
 *
 * Invariant: a claim whose row is locked for longer than it lasts has a note long before that. It is extended each third of
 * that time, and the note with it.
 */
import { placeholders, type Tx } from '../../database/engine'
import { chunksOf } from '../chunks'
import { type RowClaim, STATE } from './claims'
import type { PollPlan } from './plan'
import { MAX_ROWS, part, type RowRef, updateRows } from './rows'
import type { OwnColumns } from './shape'

export interface Over {
  ref: RowRef
  /** Its batch key. */
  before: string
}

/** A row without a key may have another name once it is free; its batch key belongs to this row only. */
function nameOf({ identity }: PollPlan, { rowKey }: RowRef, claimKey: string): string {
  return identity.isKey ? rowKey : claimKey
}

export async function noteLocked(tx: Tx, plan: PollPlan, held: readonly RowClaim[]): Promise<void> {
  const { engine, now } = tx
  const until = `${now} + ${plan.timeoutMs}`
  const isOurs = `${tx.tables.pollClaims}.state = ${STATE.locked}`
  const renewed = (column: string) =>
    `${column} = CASE WHEN ${isOurs} THEN ${engine.proposed(column)} ELSE ${tx.tables.pollClaims}.${column} END`
  const named = held.map((one) => ({ one, name: nameOf(plan, one.ref, one.claimKey) }))
  const sorted = named.sort((a, b) => (a.name < b.name ? -1 : 1))
  for (const chunk of chunksOf(sorted, MAX_ROWS)) {
    const rows = chunk.map(() => `(${plan.pollId}, ?, ${STATE.locked}, ${until}, ?, ?, ${now}, '[]')`).join(', ')
    await tx.later(
      `INSERT INTO ${tx.tables.pollClaims} (poll_id, row_key, state, due_at_ms, claim_key, attempts, first_claimed_at_ms, row_values) ` +
        `VALUES ${rows} ${engine.onDuplicate('poll_id, row_key')} ${renewed('claim_key')}, ${renewed('due_at_ms')}`,
      chunk.flatMap(({ one, name }) => [name, one.claimKey, one.attempts]),
    )
    for (const { one } of chunk) one.isNoted = true
  }
}

/** Looks for notes of claims whose rows this transaction has locked, and writes those that hold into the rows. Resolves to their row keys. */
export async function keepNoted(tx: Tx, plan: PollPlan, over: readonly Over[]): Promise<Set<string>> {
  const { claim, nextTime, timeType, timeDigits } = plan.own as OwnColumns
  const kept = new Set<string>()
  for (const chunk of chunksOf(over, MAX_ROWS)) {
    const rows = await tx.rows(
      `SELECT row_key, claim_key, ${tx.engine.bigint('due_at_ms')} AS until, ` +
        `CASE WHEN due_at_ms > ${tx.now} THEN 1 ELSE 0 END AS holds FROM ${tx.tables.pollClaims} ` +
        `WHERE poll_id = ${plan.pollId} AND row_key IN (${placeholders(chunk.length)}) AND state = ${STATE.locked}`,
      chunk.map(({ ref, before }) => nameOf(plan, ref, before)),
    )
    const notes = new Map(rows.map((row) => [row.row_key as string, row]))
    for (const { ref, before } of chunk) {
      const note = notes.get(nameOf(plan, ref, before))
      if (note === undefined) continue
      if (note.claim_key === before && Number(note.holds) === 1) {
        const until = tx.engine.rowFacts.timeNotBefore(String(BigInt(note.until as string)), timeType, timeDigits)
        const named = { ...ref, claimedBy: before }
        await updateRows(tx, plan, [named], part(`${nextTime} = ${until}`), part(`${claim} = ?`, before))
        kept.add(ref.rowKey)
      } else await forget(tx, plan, note.row_key as string, note.claim_key as string)
    }
  }
  return kept
}

export async function forgetNotes(tx: Tx, plan: PollPlan, held: readonly RowClaim[]): Promise<void> {
  for (const { ref, claimKey } of held) await forget(tx, plan, nameOf(plan, ref, claimKey), claimKey)
}

async function forget(tx: Tx, plan: PollPlan, rowKey: string, claimKey: string): Promise<void> {
  await tx.later(
    `DELETE FROM ${tx.tables.pollClaims} WHERE poll_id = ${plan.pollId} AND row_key = ? AND claim_key = ? AND state = ${STATE.locked}`,
    [rowKey, claimKey],
  )
}
