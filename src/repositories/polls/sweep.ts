/**
 * What becomes of old claims and notes: the cursor passes them, or they are deleted.
 *
 * The stored cursor of a table that has a sequence and no status: all rows up to it are finished, and their claims are
 * forgotten. Each row after it has a claim of its own, so that a lower number that is committed late is found as long as
 * the cursor has not passed it. The cursor passes a row a while after it was claimed. Lock: the row in `recentn_polls`. A
 * claim holds it shared from before it looks until its own claims are committed, so that no claim is ever made for a row
 * that was just forgotten.
 *
 * Notes of rows that had a status and waited to be tried again, and are not ready when their time has come: the rows were
 * deleted, or somebody gave them another status. Nothing else deletes such a note. No lock is held while rows are looked
 * at. A row that is made ready again at this moment begins again, as it does whenever that is done by hand; a note that is
 * claimed meanwhile, or waits again, stays.
 */
import { placeholders, type Reader, type Row, type Session, type Tx } from '../../database/engine'
import { chunksOf } from '../chunks'
import { MAX_ROWS, STATE } from './claim-parts'
import { checkedLiteral } from './identity'
import type { PollPlan } from './plan'
import { Conditions } from './rows'

/** Maximum rows that the cursor passes at once. If a page has one value only, the cursor stays, and the claims are kept. */
const PAGE = 5000

export async function cursorOf(reader: Reader, { pollId }: PollPlan, lock = ''): Promise<string | null> {
  const [row] = await reader.rows(`SELECT cursor_value FROM ${reader.tables.polls} WHERE id = ${pollId}${lock}`)
  return (row?.cursor_value as string | null | undefined) ?? null
}

/** Moves the cursor past the finished rows of one page; resolves to whether there may be more of them. */
export async function moveCursor(tx: Tx, plan: PollPlan): Promise<boolean> {
  const cursor = await cursorOf(tx, plan, tx.engine.forUpdate)
  const rows = await nextRows(tx, plan, cursor)
  const open = rows.findIndex((row) => Number(row.recentn_is_over) !== 1)
  // Nothing is known of the rows after the page: they may have the value of its last row.
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

/** Texts that differ only in spaces at their end are equal in most of the binary collations. */
function placeOf({ recentn_place: place }: Row): string {
  return String(place).replace(/^(_utf8mb4 x'(?:[0-9A-F]{2})*?)(?:20)+'$/, "$1'")
}

/** In the order of the sequence, with whether the cursor may pass each. */
async function nextRows(tx: Tx, plan: PollPlan, cursor: string | null): Promise<Row[]> {
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
    // A row that was claimed and waits again meanwhile is due later than all that were read.
    const sql = `DELETE FROM ${session.tables.pollClaims} WHERE poll_id = ${plan.pollId} AND row_key IN (${keys}) AND state = ${STATE.waiting} AND due_at_ms <= ${BigInt(last.due as string)}`
    await session.write((tx) => tx.run(sql, over))
  }
  if (!last || notes.length < MAX_ROWS) return null
  return { dueAtMs: String(last.due), rowKey: last.row_key as string }
}

/** A note that has been due for longer than a claim lasts belongs to a row that nothing claims. */
function longDue({ now }: Reader, { timeoutMs }: PollPlan): string {
  return `due_at_ms <= ${now} - ${timeoutMs}`
}

function nextNotes(reader: Reader, plan: PollPlan, after: NotePlace | null): Promise<Row[]> {
  const behind = after
    ? ` AND due_at_ms >= ${BigInt(after.dueAtMs)} AND (due_at_ms > ${BigInt(after.dueAtMs)} OR row_key > ?)`
    : ''
  const { engine } = reader
  return reader.rows(
    `SELECT row_key, row_values, ${engine.bigint('due_at_ms')} AS due FROM ${reader.tables.pollClaims}${engine.useIndex(reader.tables.index.claimsDue)} ` +
      `WHERE poll_id = ${plan.pollId} AND state = ${STATE.waiting} AND ${longDue(reader, plan)}${behind} ` +
      `ORDER BY due_at_ms, row_key LIMIT ${MAX_ROWS}`,
    after ? [after.rowKey] : [],
  )
}

async function notReady(reader: Reader, plan: PollPlan, notes: readonly Row[]): Promise<string[]> {
  const { table, identity, status } = plan
  if (notes.length === 0 || !status) return []
  const refs = notes.map((note) => ({
    rowKey: note.row_key as string,
    values: JSON.parse(note.row_values as string) as string[],
  }))
  const { sql, parameters } = identity.any(refs)
  const found = await reader.rows(
    `SELECT ${identity.rowKey} AS recentn_row_key FROM ${table.path} WHERE ${sql} AND ${status.isReady.sql}`,
    [...parameters, ...status.isReady.parameters],
  )
  const ready = new Set(found.map((row) => row.recentn_row_key))
  return refs.flatMap(({ rowKey }) => (ready.has(rowKey) ? [] : [rowKey]))
}
