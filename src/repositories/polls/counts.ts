/** The numbers of rows of a poll by state. Each is counted along an index where there is one. */
import type { Parameter, Reader, Statement } from '../../database/engine'
import { STATE } from './claim-parts'
import { freshConditions } from './claims-table'
import { ownConditions } from './own-columns'
import type { PollPlan } from './plan'
import type { Conditions } from './rows'
import type { OwnColumns } from './shape-parts'
import { cursorOf } from './sweep'
import type { PollCounts } from './types'

export function countsOf(reader: Reader, plan: PollPlan): Promise<PollCounts> {
  return plan.own ? ownCounts(reader, plan, plan.own) : notedCounts(reader, plan)
}

async function ownCounts(reader: Reader, plan: PollPlan, own: OwnColumns): Promise<PollCounts> {
  const { status } = plan
  const now = reader.engine.rowFacts.time(reader.now, own.timeType)
  const open = status ? `${status.isReady.sql} AND` : ''
  const values = status?.isReady.parameters ?? []
  const ended = (word: string, value: Parameter | undefined): [string, Parameter] =>
    status ? [`${status.column} = ?`, value as Parameter] : [`${own.claim} = ?`, word]
  const notEnded = `${own.claim} IS NOT NULL AND ${own.claim} NOT IN ('done', 'error')`
  return {
    ready: await countRows(reader, plan, ownConditions(reader, plan)),
    claimed: await count(reader, plan, `${open} ${notEnded} AND ${own.nextTime} > ${now}`, values),
    waiting: await count(reader, plan, `${open} ${own.claim} IS NULL AND ${own.nextTime} > ${now}`, values),
    failed: plan.deletesFailed ? null : await count(reader, plan, ...one(ended('error', status?.error))),
    done: plan.onDone === 'delete' ? null : await count(reader, plan, ...one(ended('done', status?.done))),
  }
}

function one([sql, value]: [string, Parameter]): [string, Parameter[]] {
  return [sql, [value]]
}

async function notedCounts(reader: Reader, plan: PollPlan): Promise<PollCounts> {
  const { status } = plan
  const cursor = plan.sequence ? await cursorOf(reader, plan) : null
  const fresh = await countRows(reader, plan, await freshConditions(reader, plan, cursor))
  const rows = await reader.rows(
    `SELECT state, COUNT(*) AS claims, SUM(CASE WHEN due_at_ms <= ${reader.now} THEN 1 ELSE 0 END) AS due ` +
      `FROM ${reader.tables.pollClaims} WHERE poll_id = ${plan.pollId} GROUP BY state`,
  )
  const noted = new Map(rows.map((row) => [Number(row.state), { claims: Number(row.claims), due: Number(row.due) }]))
  const at = (state: number) => noted.get(state) ?? { claims: 0, due: 0 }
  const [claimed, waiting] = [at(STATE.claimed), at(STATE.waiting)]
  return {
    // With a status, rows that are due again are ready in the table already; rows whose claims ran out are not.
    ready: fresh + claimed.due + (status ? 0 : waiting.due),
    claimed: claimed.claims - claimed.due,
    // Notes stay for a while when their rows are changed or deleted.
    waiting: waiting.claims > waiting.due ? await countWaiting(reader, plan) : 0,
    failed: plan.deletesFailed
      ? null
      : status
        ? await count(reader, plan, `${status.column} = ?`, [status.error])
        : at(STATE.failed).claims,
    done:
      plan.onDone === 'delete'
        ? null
        : status
          ? await count(reader, plan, `${status.column} = ?`, [status.done])
          : at(STATE.done).claims,
  }
}

function countWaiting(reader: Reader, plan: PollPlan): Promise<number> {
  const { table, identity, status, pollId } = plan
  const notes =
    `(SELECT c.state FROM ${reader.tables.pollClaims} c WHERE c.poll_id = ${pollId} AND c.row_key = ${identity.rowKey} ` +
    `AND c.state = ${STATE.waiting} AND c.due_at_ms > ${reader.now} LIMIT 1) IS NOT NULL`
  const ready = status ? `${status.isReady.sql} AND ` : ''
  return countBy(
    reader,
    `SELECT COUNT(*) AS found FROM ${table.path} WHERE ${ready}${notes}`,
    status?.isReady.parameters ?? [],
  )
}

export async function isAnyReady(reader: Reader, plan: PollPlan, except: Statement | null): Promise<boolean> {
  const cursor = plan.sequence ? await cursorOf(reader, plan) : null
  const conditions = plan.own
    ? ownConditions(reader, plan, except)
    : await freshConditions(reader, plan, cursor, except)
  const rows = await reader.rows(`SELECT 1 FROM ${plan.table.path}${conditions.sql} LIMIT 1`, conditions.parameters)
  if (rows.length > 0 || plan.own) return rows.length > 0
  const due = await reader.rows(
    `SELECT 1 FROM ${reader.tables.pollClaims} WHERE poll_id = ${plan.pollId} AND due_at_ms <= ${reader.now} ` +
      `AND state IN (${plan.status ? STATE.claimed : `${STATE.claimed}, ${STATE.waiting}`}) LIMIT 1`,
  )
  return due.length > 0
}

function countRows(reader: Reader, plan: PollPlan, conditions: Conditions): Promise<number> {
  return countBy(reader, `SELECT COUNT(*) AS found FROM ${plan.table.path}${conditions.sql}`, conditions.parameters)
}

function count(
  reader: Reader,
  { table, where }: PollPlan,
  sql: string,
  parameters: readonly Parameter[],
): Promise<number> {
  const also = where ? ` AND ${where.sql}` : ''
  return countBy(reader, `SELECT COUNT(*) AS found FROM ${table.path} WHERE ${sql}${also}`, [
    ...parameters,
    ...(where?.parameters ?? []),
  ])
}

async function countBy(reader: Reader, sql: string, parameters: readonly Parameter[]): Promise<number> {
  const [row] = await reader.rows(sql, parameters)
  return Number(row?.found ?? 0)
}
