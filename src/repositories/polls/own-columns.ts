/**
 * Claims noted in columns of the user's own. `nextTime` alone decides: a row may be claimed when it is null or over, so
 * that a retry that is due and a claim that ran out are found along the same index. The claim column is the fence.
 */
import type { Parameter, Reader, Statements, Tx } from '../../database/engine'
import { chunksOf } from '../chunks'
import {
  accepted,
  asGivenUp,
  Careful,
  Conditions,
  checkClaimed,
  chooseRows,
  deleteRow,
  type GivenUp,
  type Held,
  type Limits,
  MAX_ROWS,
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
  if (plan.status) conditions.and(plan.status.isReady.sql, plan.status.isReady.parameters)
  conditions.and(`(${nextTime} IS NULL OR ${nextTime} <= ${engine.rowFacts.time(now, timeType)})`)
  if (plan.where) conditions.and(plan.where.sql, plan.where.parameters)
  return conditions
}

async function take(tx: Tx, plan: Plan, limits: Limits, claimKey: string): Promise<Taken> {
  const { claim, attempts, nextTime, timeType, timeDigits } = own(plan)
  const more = `, ${claim} AS recentn_claim, ${attempts} AS recentn_attempts`
  const rows = await chooseRows(tx, plan, ownConditions(tx, plan), limits.max, more)
  const chosen = rows.map((row) => ({
    ref: plan.identity.refOf(row),
    before: row.recentn_claim as string | null,
    attempts: Number(row.recentn_attempts ?? 0),
  }))
  const isOut = (row: (typeof chosen)[number]) => row.before !== null && row.attempts >= plan.maxAttempts
  const givenUp: GivenUp[] = []
  for (const { ref, before, attempts: tried } of chosen.filter(isOut)) {
    const ownKey = before as string
    const held = { ref: { ...ref, claimedBy: ownKey }, claimKey: ownKey, attempts: tried, ranOut: true }
    givenUp.push(await asGivenUp(tx, plan, held))
    const fails = () => end(tx, plan, held, { is: 'failed', error: unfinished(tried) })
    if (!(await accepted(tx, fails))) await leave(tx, plan, held)
  }
  const careful = new Careful(limits, plan.maxAttempts)
  const fresh = chosen.filter((row) => !isOut(row) && (row.before === null || careful.takes(row.attempts + 1)))
  const until = tx.engine.rowFacts.timeNotBefore(`${tx.now} + ${plan.timeoutMs}`, timeType, timeDigits)
  const sets = `${claim} = ?, ${attempts} = COALESCE(${attempts}, 0) + 1, ${nextTime} = ${until}`
  const refs = fresh.map(({ ref }) => ref)
  // They are locked; a row without a key is the first that is like it and may be claimed.
  const free = plan.identity.isKey
    ? '1 = 1'
    : `(${nextTime} IS NULL OR ${nextTime} <= ${tx.engine.rowFacts.time(tx.now, timeType)})`
  checkClaimed(plan, refs.length, await updateRows(tx, plan, refs, [sets, claimKey], [free]))
  return {
    held: fresh.map((row) => ({
      ref: { ...row.ref, claimedBy: claimKey },
      claimKey,
      attempts: row.attempts + 1,
      ranOut: row.before !== null,
    })),
    givenUp,
  }
}

async function end(tx: Statements, plan: Plan, held: Held, outcome: Outcome): Promise<boolean> {
  const fence = [`${own(plan).claim} = ?`, held.claimKey] as const
  const deletes = outcome.is === 'done' ? plan.onDone === 'delete' : outcome.is === 'failed' && plan.deletesFailed
  if (deletes) return (await deleteRow(tx as Tx, plan, held.ref, fence)) > 0
  return (await updateRows(tx as Tx, plan, [held.ref], setsOf(tx, plan, outcome), fence)) > 0
}

/** A row that can't be marked as failed is not claimed any more either, so that it keeps no other waiting. */
async function leave(tx: Tx, plan: Plan, { ref, claimKey }: Held): Promise<void> {
  const { claim, nextTime, timeType } = own(plan)
  const sets = `${nextTime} = ${tx.engine.rowFacts.never(timeType)}`
  await updateRows(tx, plan, [ref], [sets], [`${claim} = ?`, claimKey])
}

function setsOf({ engine, now }: Reader, plan: Plan, outcome: Outcome): [string, ...Parameter[]] {
  const { claim, attempts, nextTime, timeType, timeDigits, error, errorLength, errorInBytes } = own(plan)
  const { timeNotBefore, never } = engine.rowFacts
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
  if (outcome.is === 'retry') set(`${nextTime} = ${timeNotBefore(`${now} + ${outcome.delayMs}`, timeType, timeDigits)}`)
  else if (outcome.is === 'released' || plan.status) set(`${nextTime} = NULL`)
  else set(`${nextTime} = ${never(timeType)}`)
  if (outcome.is === 'released') set(`${attempts} = ${attempts} - 1`)
  const text = 'error' in outcome ? outcome.error : null
  if (error !== null && text !== null) set(`${error} = ?`, fitting(text, errorLength, errorInBytes))
  else if (error !== null && outcome.is === 'done') set(`${error} = NULL`)
  return [sets.join(', '), ...values]
}

/** As much of a text as its column takes. */
function fitting(text: string, length: number, inBytes: boolean): string {
  if (!inBytes) return text.slice(0, length).toWellFormed()
  const bytes = Buffer.from(text, 'utf8')
  // What the end cuts in two is left out.
  return new TextDecoder('utf-8').decode(bytes.subarray(0, length), { stream: bytes.length > length })
}

async function extend(tx: Tx, plan: Plan, held: readonly Held[]): Promise<Set<Held>> {
  const { claim, nextTime, timeType, timeDigits } = own(plan)
  const until = tx.engine.rowFacts.timeNotBefore(`${tx.now} + ${plan.timeoutMs}`, timeType, timeDigits)
  const free = await stillHeld(tx, plan, held, tx.engine.forUpdateSkipLocked)
  for (const [claimKey, ofKey] of byKey([...free])) {
    const refs = ofKey.map(({ ref }) => ref)
    await updateRows(tx, plan, refs, [`${nextTime} = ${until}`], [`${claim} = ?`, claimKey])
  }
  return free
}

async function stillHeld(reader: Reader, plan: Plan, held: readonly Held[], lock = ''): Promise<Set<Held>> {
  const { table, identity, keyHint } = plan
  const kept = new Set<Held>()
  for (const [claimKey, ofKey] of byKey(held)) {
    for (const chunk of chunksOf(ofKey, identity.isKey ? MAX_ROWS : 1)) {
      const { sql, parameters } = identity.any(chunk.map(({ ref }) => ref))
      const from = `${table.path}${identity.isKey ? keyHint : ''}`
      const rows = await reader.rows(
        `SELECT ${identity.rowKey} AS recentn_row_key FROM ${from} WHERE ${sql} AND ${own(plan).claim} = ?${lock}`,
        [...parameters, claimKey],
      )
      const found = new Set(rows.map((row) => row.recentn_row_key))
      for (const one of chunk) if (found.has(one.ref.rowKey) || (identity.isMarked && found.size > 0)) kept.add(one)
    }
  }
  return kept
}

function byKey(held: readonly Held[]): Map<string, Held[]> {
  const groups = new Map<string, Held[]>()
  for (const one of held) groups.set(one.claimKey, [...(groups.get(one.claimKey) ?? []), one])
  return groups
}

export const ownColumns: Place = { take, end, extend, stillHeld }
