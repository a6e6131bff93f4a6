/**
 * The notes of new claims in `recentn_poll_claims`: one for each row, in one statement, which counts the attempt where there was
 * one before and leaves alone what is not to be claimed by now. The rows are locked.
 */
import { type Parameter, placeholders, type Tx } from '../../database/engine'
import { chunksOf } from '../chunks'
import { STATE } from './claim-state'
import { type Held, MAX_ROWS } from './claims'
import type { RowRef } from './identity'
import type { Plan } from './plan'

/** Notes claims, of those rows that nobody else has by now. In the order of the key, as every such transaction does. */
export async function note(tx: Tx, plan: Plan, refs: readonly RowRef[], claimKey: string): Promise<Held[]> {
  const held: Held[] = []
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
  plan: Plan,
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
 * What stands there of a row that its status says is ready: an earlier attempt. One that waits for its backoff is left
 * alone, which the rows were chosen by as well, but as it was when that statement began. The columns are set one after
 * the other, on one of the engines: each looks at `claim_key`, or at what is set after it.
 */
function anewSql({ engine, tables, now }: Tx, { identity }: Plan): string {
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
