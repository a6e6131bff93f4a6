/**
 * Which rows are ready: the rows without a note that keeps them from being claimed, the cursor behind which there are none,
 * and the numbers of rows by state.
 *
 * The stored cursor of a table that has a sequence and no status: all rows up to it are finished, and their claims are
 * forgotten. Each row after it has its own claim, so that a lower number that is committed late is found as long as
 * the cursor has not passed it. The cursor passes a row a while after it was claimed. Lock: the row in `recentn_polls`. A
 * claim holds it shared from before it looks until its own claims are committed, so that no claim is ever made for a row
 * that was just forgotten.
 */
import { placeholders, type Reader, type Row, type Statement, type Tx } from '../../database/engine'
import type { PollCounts } from '../../shared/poll-types'
import { writeAmong } from '../chunks'
import { STATE } from './claims'
import { doneWords, type Status } from './columns'
import { ownConditions } from './own-columns'
import { cursorOf, dueStates, storePlace } from './place'
import type { PollPlan } from './plan'
import { allOf, checkedLiteral, MAX_ROWS, part } from './rows'
import type { OwnColumns } from './shape'

/** Maximum rows that the cursor passes at once. If a page has one value only, the cursor stays, and the claims are kept. */
const PAGE = 5000

/** The condition of rows that a claim takes, beside those that are due again. */
export function freshConditions(
  reader: Reader,
  plan: PollPlan,
  cursor: string | null,
  except?: Statement | null,
): Statement {
  const { identity, status, where } = plan
  const waits = `(c.state = ${STATE.waiting} AND c.due_at_ms > ${reader.now})`
  // In a cycle rows that failed come in their turn; otherwise they are due, and found by their notes.
  const open = plan.cycle ? ` AND (c.state <> ${STATE.waiting} OR c.due_at_ms > ${reader.now})` : ''
  // Rows that are alike share one name: one of them at a time.
  const taken = !status ? open : identity.isKey ? ` AND ${waits}` : ` AND (c.state = ${STATE.claimed} OR ${waits})`
  // In place of NOT EXISTS, which MySQL makes a join of: the claim would lock each remembered row that it passes.
  const isFree = `(SELECT c.state FROM ${reader.tables.pollClaims} c WHERE c.poll_id = ${plan.pollId} AND c.row_key = ${identity.rowKey}${taken} LIMIT 1) IS NULL`
  return allOf(status?.isReady, behind(reader, plan, cursor), where, except, part(isFree))
}

function behind({ engine }: Reader, { table, sequence }: PollPlan, cursor: string | null): Statement | null {
  if (!sequence || cursor === null) return null
  return part(`${table.path}.${table.escape(sequence.name)} > ${checkedLiteral(engine.rowFacts, cursor)}`)
}

/** Moves the cursor past the finished rows of one page; resolves to whether there may be more of them. */
export async function moveCursor(tx: Tx, plan: PollPlan): Promise<boolean> {
  const cursor = await cursorOf(tx, plan, tx.engine.forUpdate)
  const rows = await nextRows(tx, plan, cursor)
  const open = rows.findIndex((row) => Number(row.recentn_is_over) !== 1)
  // Nothing is known of the rows after the page: they may have the value of its last row.
  const first = open >= 0 ? rows[open] : rows.length < PAGE ? undefined : rows.at(-1)
  const end = first ? rows.findIndex((row) => placeOf(row) === placeOf(first)) : rows.length
  const passed = rows.slice(0, end)
  const last = passed.at(-1)
  if (!last) return false
  await storePlace(tx, plan, last.recentn_place as string)
  const keys = passed.map(({ recentn_row_key: rowKey }) => rowKey as string)
  const remove = `DELETE FROM ${tx.tables.pollClaims} WHERE poll_id = ${plan.pollId} AND state = ${STATE.done} AND row_key IN`
  await writeAmong(tx, keys, MAX_ROWS, (some) => `${remove} ${some}`)
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
  const column = `${table.path}.${table.escape(sequence.name)}`
  const { sql, parameters } = allOf(behind(tx, plan, cursor), where)
  const isOver =
    `(SELECT 1 FROM ${tx.tables.pollClaims} c WHERE c.poll_id = ${plan.pollId} AND c.row_key = ${identity.rowKey} ` +
    `AND c.state IN (${STATE.done}, ${STATE.failed}) AND c.first_claimed_at_ms <= ${tx.now} - ${plan.lateMs})`
  return tx.rows(
    `SELECT ${tx.engine.rowFacts.exact(column, sequence.type)} AS recentn_place, ${identity.rowKey} AS recentn_row_key, ` +
      `${isOver} AS recentn_is_over FROM ${table.path}${plan.hint} WHERE ${sql} ORDER BY ${column} LIMIT ${PAGE}`,
    parameters,
  )
}

async function readyConditions(reader: Reader, plan: PollPlan, except?: Statement | null): Promise<Statement> {
  if (plan.own) return ownConditions(reader, plan, except)
  return freshConditions(reader, plan, plan.sequence ? await cursorOf(reader, plan) : null, except)
}

/** Whether there is a row that a claim would take if no other transaction had it locked. */
export async function isAnyReady(reader: Reader, plan: PollPlan, except: Statement | null): Promise<boolean> {
  const { sql, parameters } = await readyConditions(reader, plan, except)
  const ready = `SELECT 1 FROM ${plan.table.path} WHERE ${sql}`
  const due =
    `SELECT 1 FROM ${reader.tables.pollClaims} WHERE poll_id = ${plan.pollId} AND due_at_ms <= ${reader.now} ` +
    `AND state IN (${dueStates(plan).join(', ')})`
  const any = [ready, ...(plan.own ? [] : [due])].map((rows) => `EXISTS (${rows})`).join(' OR ')
  const [row] = await reader.rows(`SELECT CASE WHEN ${any} THEN 1 ELSE 0 END AS ready`, parameters)
  return Number(row?.ready) === 1
}

/** The numbers of rows by state. Each is counted along an index where there is one. */
export async function countsOf(reader: Reader, plan: PollPlan): Promise<PollCounts> {
  const ready = await readyConditions(reader, plan)
  if (plan.own) return ownCounts(reader, plan, plan.own, await count(reader, plan, ready))
  return notedCounts(reader, plan, ready)
}

async function ownCounts(reader: Reader, plan: PollPlan, own: OwnColumns, ready: number): Promise<PollCounts> {
  const { status, where } = plan
  const later = `${own.nextTime} > ${reader.engine.rowFacts.time(reader.now, own.timeType)}`
  const open = (claim: string) => count(reader, plan, allOf(status?.isReady, part(`${claim} AND ${later}`), where))
  const ended = (what: 'done' | 'error') =>
    count(reader, plan, allOf(status ? isOver(status, what) : part(`${own.claim} = ?`, what), where))
  return {
    ready,
    claimed: await open(`${own.claim} IS NOT NULL AND ${own.claim} NOT IN ('done', 'error')`),
    waiting: await open(`${own.claim} IS NULL`),
    failed: plan.deletesFailed ? null : await ended('error'),
    done: plan.onDone === 'delete' ? null : await ended('done'),
  }
}

function isOver(status: Status, what: 'done' | 'error'): Statement {
  const words = what === 'done' ? doneWords(status) : [status.error]
  return part(`${status.column} IN (${placeholders(words.length)})`, ...words)
}

/** In place of a state: rows without a note. */
const FRESH = -1

async function notedCounts(reader: Reader, plan: PollPlan, ready: Statement): Promise<PollCounts> {
  const { status, where } = plan
  // At one moment: between two statements a claim may end whose row has kept one that is alike from being counted.
  const rows = await reader.rows(
    `SELECT ${FRESH} AS state, COUNT(*) AS claims, 0 AS due FROM ${plan.table.path} WHERE ${ready.sql} UNION ALL ` +
      `SELECT state, COUNT(*), SUM(CASE WHEN due_at_ms <= ${reader.now} THEN 1 ELSE 0 END) ` +
      `FROM ${reader.tables.pollClaims} WHERE poll_id = ${plan.pollId} GROUP BY state`,
    ready.parameters,
  )
  const noted = new Map(rows.map((row) => [Number(row.state), { claims: Number(row.claims), due: Number(row.due) }]))
  const at = (state: number) => noted.get(state) ?? { claims: 0, due: 0 }
  const [claimed, waiting] = [at(STATE.claimed), at(STATE.waiting)]
  const ended = async (what: 'done' | 'error', state: number) =>
    status ? count(reader, plan, allOf(isOver(status, what), where)) : at(state).claims
  return {
    // With a status, or in a cycle, rows that are due again are found in the table already; rows whose claims ran out are not.
    ready: at(FRESH).claims + claimed.due + (status || plan.cycle ? 0 : waiting.due),
    claimed: claimed.claims - claimed.due,
    // Notes stay for a while when their rows are changed or deleted.
    waiting: waiting.claims > waiting.due ? await count(reader, plan, waitingConditions(reader, plan)) : 0,
    failed: plan.deletesFailed ? null : await ended('error', STATE.failed),
    done: plan.onDone === 'delete' ? null : await ended('done', STATE.done),
  }
}

function waitingConditions(reader: Reader, { identity, status, pollId }: PollPlan): Statement {
  const isNoted =
    `(SELECT c.state FROM ${reader.tables.pollClaims} c WHERE c.poll_id = ${pollId} AND c.row_key = ${identity.rowKey} ` +
    `AND c.state = ${STATE.waiting} AND c.due_at_ms > ${reader.now} LIMIT 1) IS NOT NULL`
  return allOf(status?.isReady, part(isNoted))
}

async function count(reader: Reader, { table }: PollPlan, { sql, parameters }: Statement): Promise<number> {
  const [row] = await reader.rows(`SELECT COUNT(*) AS found FROM ${table.path} WHERE ${sql}`, parameters)
  return Number(row?.found ?? 0)
}
