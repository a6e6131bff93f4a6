/**
 * Claims in columns of the user's own whose row somebody else has locked: they can't be renewed there, so a note in
 * `recentn_poll_claims` says until when they hold. Who claims next and finds such a claim over in the row looks here, with the
 * row locked; a note that holds is written into the row in its owner's place.
 *
 * Invariant: a claim whose row is locked for longer than it lasts has a note long before that, since renewals come each
 * third of it, and the note is renewed as often.
 */
import { placeholders, type Tx } from '../../database/engine'
import { chunksOf } from '../chunks'
import { STATE } from './claim-state'
import { type Held, MAX_ROWS, updateRows } from './claims'
import type { RowRef } from './identity'
import type { Plan } from './plan'
import type { OwnColumns } from './shape-parts'

/** A claim that is over by what stands in its row. */
export interface Over {
  ref: RowRef
  /** Its batch key. */
  before: string
}

/** A row without a key may be another by name once it is free; its batch key is of this row only. */
function nameOf({ identity }: Plan, { rowKey }: RowRef, claimKey: string): string {
  return identity.isKey ? rowKey : claimKey
}

export async function noteLocked(tx: Tx, plan: Plan, held: readonly Held[]): Promise<void> {
  const { engine, now } = tx
  const until = `${now} + ${plan.timeoutMs}`
  const isOurs = `${tx.tables.pollClaims}.state = ${STATE.locked}`
  const renewed = (column: string) =>
    `${column} = CASE WHEN ${isOurs} THEN ${engine.proposed(column)} ELSE ${tx.tables.pollClaims}.${column} END`
  const named = held.map((one) => ({ one, name: nameOf(plan, one.ref, one.claimKey) }))
  const sorted = named.sort((a, b) => (a.name < b.name ? -1 : 1))
  for (const chunk of chunksOf(sorted, MAX_ROWS)) {
    const rows = chunk.map(() => `(${plan.pollId}, ?, ${STATE.locked}, ${until}, ?, ?, ${now}, '[]')`).join(', ')
    await tx.run(
      `INSERT INTO ${tx.tables.pollClaims} (poll_id, row_key, state, due_at_ms, claim_key, attempts, first_claimed_at_ms, row_values) ` +
        `VALUES ${rows} ${engine.onDuplicate('poll_id, row_key')} ${renewed('claim_key')}, ${renewed('due_at_ms')}`,
      chunk.flatMap(({ one, name }) => [name, one.claimKey, one.attempts]),
    )
    for (const { one } of chunk) one.isNoted = true
  }
}

/** Of claims whose rows this transaction has locked: row keys of those that hold, written into their rows. */
export async function keepNoted(tx: Tx, plan: Plan, over: readonly Over[]): Promise<Set<string>> {
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
        await updateRows(tx, plan, [named], [`${nextTime} = ${until}`], [`${claim} = ?`, before])
        kept.add(ref.rowKey)
      } else await forget(tx, plan, note.row_key as string, note.claim_key as string)
    }
  }
  return kept
}

/** Of claims that are over. */
export async function forgetNotes(tx: Tx, plan: Plan, held: readonly Held[]): Promise<void> {
  for (const { ref, claimKey } of held) await forget(tx, plan, nameOf(plan, ref, claimKey), claimKey)
}

async function forget(tx: Tx, plan: Plan, rowKey: string, claimKey: string): Promise<void> {
  await tx.run(
    `DELETE FROM ${tx.tables.pollClaims} WHERE poll_id = ${plan.pollId} AND row_key = ? AND claim_key = ? AND state = ${STATE.locked}`,
    [rowKey, claimKey],
  )
}
