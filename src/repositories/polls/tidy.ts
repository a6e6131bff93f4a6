/**
 * Notes of rows that had a status and waited to be tried again, and are not ready any more when their time has come: they
 * were deleted, or somebody gave them another status. Nothing else comes to such a note.
 *
 * No lock is held while rows are looked at. A row that is made ready again at this moment begins anew, as it does whenever
 * that is done by hand; a note that is claimed meanwhile, or waits anew, stays.
 */
import { placeholders, type Reader, type Row, type Session } from '../../database/engine'
import { STATE } from './claim-state'
import { MAX_ROWS } from './claims'
import type { Plan } from './plan'

/** A note in the order in which their times come. */
export interface NotePlace {
  dueAtMs: string
  rowKey: string
}

/** Looks through one page of notes behind a place; resolves to the last of them, or null where there are no more. */
export async function tidyNotes(session: Session, plan: Plan, after: NotePlace | null): Promise<NotePlace | null> {
  const { notes, over } = await session.read(async (reader) => {
    const notes = await nextNotes(reader, plan, after)
    return { notes, over: await notReady(reader, plan, notes) }
  })
  if (over.length > 0) {
    const keys = placeholders(over.length)
    const sql = `DELETE FROM ${session.tables.pollClaims} WHERE poll_id = ${plan.pollId} AND row_key IN (${keys}) AND state = ${STATE.waiting}`
    await session.write((tx) => tx.run(`${sql} AND ${longDue(tx, plan)}`, over))
  }
  const last = notes.at(-1)
  if (!last || notes.length < MAX_ROWS) return null
  return { dueAtMs: String(last.due), rowKey: last.row_key as string }
}

/** Who waits anew meanwhile has another time. */
function longDue({ now }: Reader, { timeoutMs }: Plan): string {
  return `due_at_ms <= ${now} - ${timeoutMs}`
}

function nextNotes(reader: Reader, plan: Plan, after: NotePlace | null): Promise<Row[]> {
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

async function notReady(reader: Reader, plan: Plan, notes: readonly Row[]): Promise<string[]> {
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
