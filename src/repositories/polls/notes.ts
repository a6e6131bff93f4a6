/**
 * The statements that note claims in `recentn_poll_claims`. New claims: one note for each row, in one statement, which counts
 * the attempt where there was one before, and leaves alone what may not be claimed by now. The rows are locked.
 *
 * Claims in columns of the user's own whose row somebody else has locked can't be extended there: a note says until when
 * they hold. A claim that finds such a claim ended in the row looks for its note, with the row locked; a note that holds is
 * written into the row.
 *
 * Invariant: a claim whose row is locked for longer than it lasts has a note long before that, since it is extended each
 * third of that time, and the note with it.
 */
import { type Parameter, placeholders, type Tx } from '../../database/engine'
import { chunksOf } from '../chunks'
import { MAX_ROWS, type RowClaim, STATE } from './claim-parts'
import type { RowRef } from './identity'
import type { PollPlan } from './plan'
import { updateRows } from './rows'
import type { OwnColumns } from './shape-parts'

/** Notes claims of the rows that nobody else has by now, in the order of the key, as every such transaction does. */
export async function note(tx: Tx, plan: PollPlan, refs: readonly RowRef[], claimKey: string): Promise<RowClaim[]> {
  const held: RowClaim[] = []
  const sorted = [...refs].sort((a, b) => (a.rowKey < b.rowKey ? -1 : 1))
  for (const chunk of chunksOf(sorted, MAX_ROWS)) {
    const { sql, parameters } = noteSql(tx, plan, chunk, claimKey)
    await tx.run(sql, parameters)
    const keys = chunk.map(({ rowKey }) => rowKey)
    const mine = await tx.rows(
      `SELECT row_key, attempts FROM ${tx.tables.pollClaims} WHERE poll_id = ${plan.pollId} AND row_key IN (${placeholders(keys.length)}) AND claim_key = ?`,
      [...keys, claimKey],
    )
    const attempts = new Map(mine.map((row) => [row.row_key as string, Number(row.attempts)]))
    for (const ref of chunk) {
      const tried = attempts.get(ref.rowKey)
      if (tried !== undefined) held.push({ ref, claimKey, attempts: tried, ranOut: false })
    }
  }
  const byRef = new Map(held.map((one) => [one.ref, one]))
  return refs.flatMap((ref) => byRef.get(ref) ?? [])
}

function noteSql(
  tx: Tx,
  plan: PollPlan,
  refs: readonly RowRef[],
  claimKey: string,
): { sql: string; parameters: Parameter[] } {
  const { engine, now } = tx
  const rows = refs
    .map(() => `(${plan.pollId}, ?, ${STATE.claimed}, ${now} + ${plan.timeoutMs}, ?, 1, ${now}, ?)`)
    .join(', ')
  const insert =
    `INSERT INTO ${tx.tables.pollClaims} (poll_id, row_key, state, due_at_ms, claim_key, attempts, first_claimed_at_ms, row_values) ` +
    `VALUES ${rows} ${engine.onDuplicate('poll_id, row_key')} `
  const parameters = refs.flatMap(({ rowKey, values }) => [rowKey, claimKey, JSON.stringify(values)])
  return { sql: insert + (plan.status ? anewSql(tx, plan) : `poll_id = ${tx.tables.pollClaims}.poll_id`), parameters }
}

/**
 * The update of a note that is there already, of an earlier attempt, when the row's status says that it is ready. A note
 * that waits for its backoff is left alone: the rows were chosen by that as well, but as it was when that statement began.
 * One of the engines sets columns one after the other: each looks at `claim_key`, or at a column that is set after it.
 */
function anewSql({ engine, tables, now }: Tx, { identity }: PollPlan): string {
  const { proposed } = engine
  const { pollClaims } = tables
  const state = `${pollClaims}.state`
  const earlier = `${state} IN (${STATE.claimed}, ${STATE.waiting})`
  const waits = `${state} = ${STATE.waiting} AND ${pollClaims}.due_at_ms > ${now}`
  const stays = identity.isKey ? waits : `(${state} = ${STATE.claimed} OR ${waits})`
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

/** A claim that has ended according to its row. */
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
    await tx.run(
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
        await updateRows(tx, plan, [named], [`${nextTime} = ${until}`], [`${claim} = ?`, before])
        kept.add(ref.rowKey)
      } else await forget(tx, plan, note.row_key as string, note.claim_key as string)
    }
  }
  return kept
}

/** Deletes the notes of claims that are over. */
export async function forgetNotes(tx: Tx, plan: PollPlan, held: readonly RowClaim[]): Promise<void> {
  for (const { ref, claimKey } of held) await forget(tx, plan, nameOf(plan, ref, claimKey), claimKey)
}

async function forget(tx: Tx, plan: PollPlan, rowKey: string, claimKey: string): Promise<void> {
  await tx.run(
    `DELETE FROM ${tx.tables.pollClaims} WHERE poll_id = ${plan.pollId} AND row_key = ? AND claim_key = ? AND state = ${STATE.locked}`,
    [rowKey, claimKey],
  )
}
