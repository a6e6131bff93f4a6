/**
 * The stored cursor of a table that has a sequence and no status. All rows up to it are finished, and the claims of what
 * lies behind it are forgotten; between it and the highest row each has a claim of its own, so that a lower number that
 * is committed late is found as long as the cursor has not passed it. It passes a row a while after that was claimed.
 *
 * Lock: the row in `recentn_polls`. A claim holds it shared from before it looks until its own claims are committed, so that none
 * is ever made for a row that was just forgotten.
 */
import { placeholders, type Reader, type Row, type Tx } from '../../database/engine'
import { chunksOf } from '../chunks'
import { STATE } from './claim-state'
import { Conditions, MAX_ROWS } from './claims'
import { checkedLiteral } from './identity'
import type { Plan } from './plan'

/** Rows that the cursor passes at once. As many of one value are passed never: their claims are kept. */
const PAGE = 5000

export async function cursorOf(reader: Reader, { pollId }: Plan, lock = ''): Promise<string | null> {
  const [row] = await reader.rows(`SELECT cursor_value FROM ${reader.tables.polls} WHERE id = ${pollId}${lock}`)
  return (row?.cursor_value as string | null | undefined) ?? null
}

/** Moves the cursor past the finished rows of one page; resolves to whether there may be more of them. */
export async function moveCursor(tx: Tx, plan: Plan): Promise<boolean> {
  const cursor = await cursorOf(tx, plan, tx.engine.forUpdate)
  const rows = await nextRows(tx, plan, cursor)
  const open = rows.findIndex((row) => Number(row.recentn_is_over) !== 1)
  // Of what follows the last row of the page nothing is known: its value may go on there.
  const first = open >= 0 ? rows[open] : rows.length < PAGE ? undefined : rows.at(-1)
  const passed = first
    ? rows.slice(
        0,
        rows.findIndex((row) => placeOf(row) === placeOf(first)),
      )
    : rows
  const last = passed.at(-1)
  if (!last) return false
  await tx.run(`UPDATE ${tx.tables.polls} SET cursor_value = ? WHERE id = ${plan.pollId}`, [
    last.recentn_place as string,
  ])
  for (const chunk of chunksOf(passed, MAX_ROWS)) {
    await tx.run(
      `DELETE FROM ${tx.tables.pollClaims} WHERE poll_id = ${plan.pollId} AND row_key IN (${placeholders(chunk.length)}) AND state = ${STATE.done}`,
      chunk.map(({ recentn_row_key: rowKey }) => rowKey as string),
    )
  }
  return open < 0 && rows.length === PAGE
}

/** Texts that differ in spaces at their end are one place to most of the binary collations. */
function placeOf({ recentn_place: place }: Row): string {
  return String(place).replace(/^(_utf8mb4 x'(?:[0-9A-F]{2})*?)(?:20)+'$/, "$1'")
}

/** In the order of the sequence, with whether the cursor may pass each. */
async function nextRows(tx: Tx, plan: Plan, cursor: string | null): Promise<Row[]> {
  const { table, identity, sequence, where } = plan
  if (!sequence) return []
  const { rowFacts } = tx.engine
  const column = `${table.path}.${table.escape(sequence.name)}`
  const conditions = new Conditions()
  if (cursor !== null) conditions.and(`${column} > ${checkedLiteral(rowFacts, cursor)}`)
  if (where) conditions.and(where.sql, where.parameters)
  const isOver =
    `(SELECT 1 FROM ${tx.tables.pollClaims} c WHERE c.poll_id = ${plan.pollId} AND c.row_key = ${identity.rowKey} ` +
    `AND c.state IN (${STATE.done}, ${STATE.failed}) AND c.first_claimed_at_ms <= ${tx.now} - ${plan.lateMs})`
  return tx.rows(
    `SELECT ${rowFacts.exact(column, sequence.type)} AS recentn_place, ${identity.rowKey} AS recentn_row_key, ` +
      `${isOver} AS recentn_is_over FROM ${table.path}${plan.hint}${conditions.sql} ORDER BY ${column} LIMIT ${PAGE}`,
    conditions.parameters,
  )
}
