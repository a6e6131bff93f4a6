/**
 * Claims noted in columns of the user's own. `nextTime` alone decides: a row may be claimed when it is null or has passed,
 * so that due retries and claims that ran out are found along the same index.
 *
 * Invariant: a claim changes its row only while the claim column holds its batch key.
 */
import type { Parameter, Reader, Statement, Tx } from '../../database/engine'
import { chunksOf, groupedBy } from '../chunks'
import {
  accepted,
  asGivenUp,
  Careful,
  type ClaimLimits,
  type ClaimStorage,
  deletesRow,
  type GivenUp,
  markRows,
  type RowClaim,
  type RowOutcome,
  type TakenRows,
  unfinished,
  wordOf,
} from './claims'
import { keepNoted, noteLocked } from './locked-notes'
import { chooseRows, lockCursor } from './place'
import type { PollPlan } from './plan'
import { allOf, chooseSql, deleteRow, MAX_ROWS, part, type RowRef, updateRows } from './rows'
import type { OwnColumns } from './shape'

function own(plan: PollPlan): OwnColumns {
  return plan.own as OwnColumns
}

export function ownConditions({ engine, now }: Reader, plan: PollPlan, except?: Statement | null): Statement {
  const { nextTime, timeType } = own(plan)
  const isDue = `(${nextTime} IS NULL OR ${nextTime} <= ${engine.rowFacts.time(now, timeType)})`
  return allOf(plan.status?.isReady, part(isDue), plan.where, except)
}

interface Chosen {
  ref: RowRef
  /** The batch key in the row. */
  before: string | null
  /** Before this claim. */
  attempts: number
}

async function choose(tx: Tx, plan: PollPlan, limits: ClaimLimits): Promise<Chosen[]> {
  const { claim, attempts } = own(plan)
  const more = `, ${claim} AS recentn_claim, CASE WHEN ${isAnew(plan)} THEN 0 ELSE ${attempts} END AS recentn_attempts`
  const place = await lockCursor(tx, plan)
  const conditions = ownConditions(tx, plan, limits.except)
  const rows = plan.cycle
    ? await chooseRows(tx, plan, place, conditions, { max: limits.max, more })
    : await tx.rows(chooseSql(tx.engine, plan, conditions, limits.max, more), conditions.parameters)
  return rows.map((row) => ({
    ref: plan.identity.refOf(row),
    before: row.recentn_claim as string | null,
    attempts: Number(row.recentn_attempts),
  }))
}

/** SQL: the row is not claimed, and it was never tried, or was made ready again. */
function isAnew(plan: PollPlan): string {
  const { claim, attempts, nextTime } = own(plan)
  return `${attempts} IS NULL OR ${claim} IS NULL AND (${nextTime} IS NULL OR ${attempts} >= ${plan.maxAttempts})`
}

async function take(tx: Tx, plan: PollPlan, limits: ClaimLimits, claimKey: string): Promise<TakenRows> {
  const all = await choose(tx, plan, limits)
  const over = all.flatMap(({ ref, before }) => (before === null ? [] : [{ ref, before }]))
  const kept = over.length === 0 ? new Set<string>() : await keepNoted(tx, plan, over)
  const chosen = all.filter(({ ref }) => !kept.has(ref.rowKey))
  const isOut = (row: Chosen) => row.before !== null && row.attempts >= plan.maxAttempts
  const { claim, nextTime, timeType } = own(plan)
  const givenUp: GivenUp[] = []
  for (const { ref, before, attempts } of chosen.filter(isOut)) {
    const ownKey = before as string
    const held = { ref: { ...ref, claimedBy: ownKey }, claimKey: ownKey, attempts, ranOut: true }
    givenUp.push(await asGivenUp(tx, plan, held))
    const fails = () => end(tx, plan, held, { is: 'failed', error: unfinished(attempts) })
    if (await accepted(tx, fails)) continue
    // A row that can't be marked as failed is never claimed again, so that it does not hold up others.
    const never = part(`${nextTime} = ${tx.engine.rowFacts.never(timeType)}`)
    await updateRows(tx, plan, [held.ref], never, part(`${claim} = ?`, ownKey))
  }
  const careful = new Careful(limits, plan.maxAttempts)
  const fresh = chosen.filter((row) => !isOut(row) && (row.before === null || careful.takes(row.attempts + 1)))
  const refs = fresh.map(({ ref }) => ref)
  await mark(tx, plan, refs, claimKey)
  const held = fresh.map(({ ref, before, attempts }) => ({
    ref: { ...ref, claimedBy: claimKey },
    claimKey,
    attempts: attempts + 1,
    ranOut: before !== null,
  }))
  return { held, givenUp, refused: [], isMore: kept.size > 0 }
}

async function mark(tx: Tx, plan: PollPlan, refs: readonly RowRef[], claimKey: string): Promise<void> {
  const { claim, attempts, nextTime, timeType, timeDigits } = own(plan)
  const until = tx.engine.rowFacts.timeNotBefore(`${tx.now} + ${plan.timeoutMs}`, timeType, timeDigits)
  // MySQL sets one column after the other: the attempts look at the others.
  const tried = `${attempts} = CASE WHEN ${isAnew(plan)} THEN 1 ELSE ${attempts} + 1 END`
  const sets = `${tried}, ${claim} = ?, ${nextTime} = ${until}`
  // The rows are locked; without a key the row is the first one that is alike and may be claimed.
  const free = plan.identity.isKey
    ? '1 = 1'
    : `(${nextTime} IS NULL OR ${nextTime} <= ${tx.engine.rowFacts.time(tx.now, timeType)})`
  await markRows(tx, plan, refs, part(sets, claimKey), part(free))
}

/** A row that has the claim and whose status has not changed since. */
function markOf(plan: PollPlan, claimKey: string): Statement {
  const { claim } = own(plan)
  return allOf(part(`${claim} = ?`, claimKey), plan.status?.isReady)
}

async function end(tx: Tx, plan: PollPlan, held: RowClaim, outcome: RowOutcome): Promise<boolean> {
  const fence = markOf(plan, held.claimKey)
  if (deletesRow(plan, outcome)) return deleteRow(tx, plan, held.ref, fence)
  return (await updateRows(tx, plan, [held.ref], setsOf(tx, plan, held, outcome), fence)) > 0
}

function setsOf({ engine, now }: Reader, plan: PollPlan, held: RowClaim, outcome: RowOutcome): Statement {
  const { claim, attempts, nextTime, timeType, timeDigits, timeIsNullable, error, errorLength, errorInBytes } =
    own(plan)
  const { timeNotBefore, never } = engine.rowFacts
  const sets: string[] = []
  const values: Parameter[] = []
  const set = (sql: string, ...parameters: Parameter[]) => {
    sets.push(sql)
    for (const parameter of parameters) values.push(parameter)
  }
  const isOver = outcome.is === 'done' || outcome.is === 'failed'
  if (plan.status && isOver) set(`${plan.status.column} = ?`, wordOf(plan.status, outcome))
  // Without a status the claim column says how it ended.
  if (isOver && !plan.status) set(`${claim} = ?`, outcome.is === 'done' ? 'done' : 'error')
  else set(`${claim} = NULL`)
  if (outcome.is === 'retry' && outcome.delayMs > 0)
    set(`${nextTime} = ${timeNotBefore(`${now} + ${outcome.delayMs}`, timeType, timeDigits)}`)
  else if (outcome.is === 'retry' || (outcome.is === 'given back' && (held.attempts > 1 || !timeIsNullable)))
    // At once, also where the column rounds to whole seconds.
    set(`${nextTime} = ${engine.rowFacts.time(`${now} - 1000`, timeType)}`)
  else if (outcome.is === 'given back' || plan.status) set(`${nextTime} = NULL`)
  else set(`${nextTime} = ${never(timeType)}`)
  if (outcome.is === 'given back') set(`${attempts} = ${attempts} - 1`)
  const text = 'error' in outcome ? outcome.error : null
  if (error !== null && text !== null) set(`${error} = ?`, fitting(text, errorLength, errorInBytes))
  else if (error !== null && outcome.is === 'done') set(`${error} = NULL`)
  return { sql: sets.join(', '), parameters: values }
}

function fitting(text: string, length: number, inBytes: boolean): string {
  if (!inBytes) return text.slice(0, length).toWellFormed()
  const bytes = Buffer.from(text, 'utf8')
  // A character that the cut would split is left out.
  return new TextDecoder('utf-8').decode(bytes.subarray(0, length), { stream: bytes.length > length })
}

async function extend(tx: Tx, plan: PollPlan, held: readonly RowClaim[]): Promise<Set<RowClaim>> {
  const { claim, nextTime, timeType, timeDigits } = own(plan)
  const until = tx.engine.rowFacts.timeNotBefore(`${tx.now} + ${plan.timeoutMs}`, timeType, timeDigits)
  const free = await stillHeld(tx, plan, held, tx.engine.forUpdateSkipLocked)
  for (const [claimKey, ofKey] of groupedBy(free, ({ claimKey }) => claimKey)) {
    const refs = ofKey.map(({ ref }) => ref)
    await updateRows(tx, plan, refs, part(`${nextTime} = ${until}`), part(`${claim} = ?`, claimKey))
  }
  const locked = held.filter((one) => !free.has(one))
  if (locked.length > 0) await noteLocked(tx, plan, [...(await stillHeld(tx, plan, locked))])
  return free
}

async function stillHeld(reader: Reader, plan: PollPlan, held: readonly RowClaim[], lock = ''): Promise<Set<RowClaim>> {
  const { table, identity, keyHint } = plan
  const kept = new Set<RowClaim>()
  for (const [claimKey, ofKey] of groupedBy(held, ({ claimKey }) => claimKey)) {
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

export const ownColumns: ClaimStorage = {
  ...{ take, mark: markOf, end, extend, stillHeld },
  lockNow: async (tx, plan, held) => (await stillHeld(tx, plan, [held], tx.engine.forUpdateSkipLocked)).has(held),
}
