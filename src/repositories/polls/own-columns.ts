/**
 * Claims noted in columns of the user's own. `nextTime` alone decides: a row may be claimed when it is null or over, so
 * that a retry that is due and a claim that ran out are found along the same index. The claim column is the fence.
 */
import type { Parameter, Reader, Statements, Tx } from '../../database/engine'
import {
  Careful,
  Conditions,
  chooseRows,
  deleteRow,
  type Held,
  type Limits,
  type Outcome,
  type Place,
  type Taken,
  unfinished,
  updateRows,
} from './claims'
import type { Plan } from './plan'
import type { OwnColumns } from './shape-parts'

function own(plan: Plan): OwnColumns {
  return plan.own as OwnColumns
}

/** Of rows that a claim takes. */
export function ownConditions({ engine, now }: Reader, plan: Plan): Conditions {
  const { nextTime, timeType } = own(plan)
  const conditions = new Conditions()
  if (plan.status) conditions.and(`${plan.status.column} = ?`, [plan.status.ready])
  conditions.and(`(${nextTime} IS NULL OR ${nextTime} <= ${engine.rowFacts.time(now, timeType)})`)
  if (plan.where) conditions.and(plan.where.sql, plan.where.parameters)
  return conditions
}

async function take(tx: Tx, plan: Plan, limits: Limits, claimKey: string): Promise<Taken> {
  const { claim, attempts, nextTime, timeType } = own(plan)
  const more = `, ${claim} AS recentn_claim, ${attempts} AS recentn_attempts`
  const rows = await chooseRows(tx, plan, ownConditions(tx, plan), limits.max, more)
  const chosen = rows.map((row) => ({
    ref: plan.identity.refOf(row),
    before: row.recentn_claim as string | null,
    attempts: Number(row.recentn_attempts ?? 0),
  }))
  const isOut = (row: (typeof chosen)[number]) => row.before !== null && row.attempts >= plan.maxAttempts
  const givenUp: Held[] = []
  for (const { ref, before, attempts: tried } of chosen.filter(isOut)) {
    const held = { ref, claimKey: before as string, attempts: tried, ranOut: true }
    await end(tx, plan, held, { is: 'failed', error: unfinished(tried) })
    givenUp.push(held)
  }
  const careful = new Careful(limits, plan.maxAttempts)
  const fresh = chosen.filter((row) => !isOut(row) && (row.before === null || careful.takes(row.attempts + 1)))
  const until = tx.engine.rowFacts.time(`${tx.now} + ${plan.timeoutMs}`, timeType)
  const sets = `${claim} = ?, ${attempts} = COALESCE(${attempts}, 0) + 1, ${nextTime} = ${until}`
  const refs = fresh.map(({ ref }) => ref)
  // They are locked; a row without a key is the first that is like it and may be claimed.
  const free = plan.identity.isKey
    ? '1 = 1'
    : `(${nextTime} IS NULL OR ${nextTime} <= ${tx.engine.rowFacts.time(tx.now, timeType)})`
  await updateRows(tx, plan, refs, [sets, claimKey], [free])
  return {
    held: fresh.map((row) => ({ ref: row.ref, claimKey, attempts: row.attempts + 1, ranOut: row.before !== null })),
    givenUp,
  }
}

async function end(tx: Statements, plan: Plan, held: Held, outcome: Outcome): Promise<boolean> {
  const fence = [`${own(plan).claim} = ?`, held.claimKey] as const
  const deletes = outcome.is === 'done' ? plan.onDone === 'delete' : outcome.is === 'failed' && plan.deletesFailed
  if (deletes) return (await deleteRow(tx as Tx, plan, held.ref, fence)) > 0
  return (await updateRows(tx as Tx, plan, [held.ref], setsOf(tx, plan, outcome), fence)) > 0
}

function setsOf({ engine, now }: Reader, plan: Plan, outcome: Outcome): [string, ...Parameter[]] {
  const { claim, attempts, nextTime, timeType, error, errorLength } = own(plan)
  const { time, never } = engine.rowFacts
  const sets: string[] = []
  const values: Parameter[] = []
  const set = (sql: string, ...parameters: Parameter[]) => {
    sets.push(sql)
    values.push(...parameters)
  }
  const isOver = outcome.is === 'done' || outcome.is === 'failed'
  if (plan.status && isOver)
    set(`${plan.status.column} = ?`, outcome.is === 'done' ? plan.status.done : plan.status.error)
  // Without a status the claim column says how it ended.
  if (isOver && !plan.status) set(`${claim} = ?`, outcome.is === 'done' ? 'done' : 'error')
  else set(`${claim} = NULL`)
  if (outcome.is === 'retry') set(`${nextTime} = ${time(`${now} + ${outcome.delayMs}`, timeType)}`)
  else if (outcome.is === 'released' || plan.status) set(`${nextTime} = NULL`)
  else set(`${nextTime} = ${never(timeType)}`)
  if (outcome.is === 'released') set(`${attempts} = ${attempts} - 1`)
  if (error !== null && 'error' in outcome) set(`${error} = ?`, outcome.error.slice(0, errorLength))
  else if (error !== null && outcome.is === 'done') set(`${error} = NULL`)
  return [sets.join(', '), ...values]
}

async function extend(tx: Tx, plan: Plan, held: readonly Held[]): Promise<void> {
  const { claim, nextTime, timeType } = own(plan)
  const until = tx.engine.rowFacts.time(`${tx.now} + ${plan.timeoutMs}`, timeType)
  for (const [claimKey, refs] of refsByKey(held)) {
    await updateRows(tx, plan, refs, [`${nextTime} = ${until}`], [`${claim} = ?`, claimKey])
  }
}

async function stillHeld(reader: Reader, plan: Plan, held: readonly Held[], lock = ''): Promise<Set<string>> {
  const { table, identity } = plan
  const kept = new Set<string>()
  for (const [claimKey, refs] of refsByKey(held)) {
    for (const ref of refs) {
      const { sql, parameters } = identity.any([ref])
      const rows = await reader.rows(`SELECT 1 FROM ${table.path} WHERE ${sql} AND ${own(plan).claim} = ?${lock}`, [
        ...parameters,
        claimKey,
      ])
      if (rows.length > 0) kept.add(ref.rowKey)
    }
  }
  return kept
}

function refsByKey(held: readonly Held[]): Map<string, Held['ref'][]> {
  const byKey = new Map<string, Held['ref'][]>()
  for (const { claimKey, ref } of held) byKey.set(claimKey, [...(byKey.get(claimKey) ?? []), ref])
  return byKey
}

export const ownColumns: Place = { take, end, extend, stillHeld }
