/**
 * The place of a poll in its table, kept in its row of `recentn_polls`. It is that of a sequence, up to which all rows are finished,
 * or of a cycle, behind which the next rows are.
 *
 * Invariant: claims of a cycle hold the row while they choose, so that each begins where the one before has ended. No row is
 * before or behind the place for good: the round comes to it, whenever it was inserted. Claims of a sequence share the lock.
 */
import type { Reader, Row, Statement, Tx } from '../../database/engine'
import { STATE } from './claims'
import type { PollPlan } from './plan'
import { allOf, checkedLiteral, chooseSql, part } from './rows'

/** The states of notes by which rows are found when their time has come. */
export function dueStates({ status, cycle }: PollPlan): number[] {
  return status || cycle ? [STATE.claimed] : [STATE.claimed, STATE.waiting]
}

/** The cursor, with the lock of a claim; of a cycle, which no two claims move at once, or of a sequence. */
export async function lockCursor(tx: Tx, plan: PollPlan): Promise<string | null> {
  if (plan.cycle) return cursorOf(tx, plan, tx.engine.forUpdate)
  return plan.sequence ? cursorOf(tx, plan, tx.engine.forShare) : null
}

export async function cursorOf(reader: Reader, { pollId }: PollPlan, lock = ''): Promise<string | null> {
  const [row] = await reader.rows(`SELECT cursor_value FROM ${reader.tables.polls} WHERE id = ${pollId}${lock}`)
  return (row?.cursor_value as string | null | undefined) ?? null
}

/** Chooses the next rows of a cycle behind its place and locks them; the place moves on. */
export async function chooseRows(
  tx: Tx,
  plan: PollPlan,
  place: string | null,
  conditions: Statement,
  { max, more }: { max: number; more?: string },
): Promise<Row[]> {
  const rows: Row[] = []
  for (const { sql, parameters } of inTurns(tx, plan, place, conditions)) {
    const left = max - rows.length
    if (left > 0)
      for (const row of await tx.rows(chooseSql(tx.engine, plan, { sql, parameters }, left, more), parameters))
        rows.push(row)
  }
  const last = rows.at(-1)
  if (last) await storePlace(tx, plan, plan.identity.refOf(last).values[0] as string)
  return rows
}

/** The conditions of the rows in the order in which they are chosen: in a cycle those behind its place, and then the others. */
export function inTurns({ engine }: Reader, plan: PollPlan, place: string | null, conditions: Statement): Statement[] {
  if (plan.cycle === null || place === null) return [conditions]
  const column = `${plan.table.path}.${plan.table.escape(plan.cycle.name)}`
  const literal = checkedLiteral(engine.rowFacts, place)
  return [part(`${column} > ${literal}`), part(`${column} <= ${literal}`)].map((turn) => allOf(conditions, turn))
}

export function storePlace(tx: Tx, { pollId }: PollPlan, place: string): Promise<void> {
  return tx.later(`UPDATE ${tx.tables.polls} SET cursor_value = ? WHERE id = ${pollId}`, [place])
}
