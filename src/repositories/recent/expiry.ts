/**
 * Deleting expired items, and forgetting groups that have been empty for as long as their settings say, one group in each
 * transaction, under its head's lock. Reads leave expired items out at once; this frees their room. Several processes may
 * sweep at once: a sweep skips heads that another transaction has locked.
 *
 * Invariant: `sweep_at_ms` of a head is not later than the first expiry of its items. Whatever empties a group sets it to
 * the time at which the group is to be forgotten, so a group that is empty at that time has been empty since.
 *
 * A rollout writes to the heads of a changed policy's groups when their items expire, some hundred at a time. Invariant: it remains
 * until it has come to each group whose name begins with its prefix. Each is then updated, by its policies or newer ones, or has a
 * rollout whose prefix is the whole name. A group that another transaction has locked gets such a one, so that a rollout waits for
 * no lock. A transaction locks heads first, the rollout's row last. Several processes may do it at once: updating a head twice
 * changes nothing.
 */
import type { Reader, Row, Session, Tx } from '../../database/engine'
import { nameRange } from '../name-range'
import { whether } from '../reminders'
import { forgetGroup } from './groups'
import { lockHead, lockHeads, saveHeads, selectHeads } from './heads'
import type { GroupMemory } from './memory'
import type { PolicyCache } from './policies'
import { occupantsOf, setSweep } from './reslot'
import type { Head } from './rows'

const GROUPS_A_SWEEP = 100

/** Along the index recentn_groups_sweep (sweep_at_ms), where only groups with something to expire have an entry. */
export const selectDueSql = ({ engine, tables, now }: Pick<Reader, 'engine' | 'tables' | 'now'>) =>
  `SELECT group_key FROM ${tables.groups}${engine.useIndex(tables.index.groupsSweep)} WHERE sweep_at_ms <= ${now} ORDER BY sweep_at_ms LIMIT ?`

export const anyExpired = whether((words) => [
  `SELECT 1 FROM ${words.tables.groups}${words.engine.useIndex(words.tables.index.groupsSweep)} WHERE sweep_at_ms <= ${words.now}`,
  `SELECT 1 FROM ${words.tables.policyRollouts}`,
])

/** One round: resolves to how many items it deleted and whether there was more than it took. */
export function sweepGroups(session: Session, memory: GroupMemory): Promise<{ deleted: number; more: boolean }> {
  return session.whole((whole) => sweepDue(whole, memory))
}

async function sweepDue(session: Session, memory: GroupMemory): Promise<{ deleted: number; more: boolean }> {
  const due = await session.read((reader) => reader.rows(selectDueSql(reader), [GROUPS_A_SWEEP]))
  let deleted = 0
  let skipped = 0
  for (const row of due) {
    const swept = await session.write((tx) => sweepGroup(tx, memory, row.group_key as string))
    if (swept === null) skipped++
    else deleted += swept
  }
  // Last: whatever becomes of it, what is due has been deleted.
  const rolling = await rollOut(session, memory.policies)
  // Where all are locked by others, another round at once would find the same.
  const isMoving = skipped < due.length
  return { deleted, more: rolling || (due.length === GROUPS_A_SWEEP && isMoving) }
}

/** Resolves to how many items it deleted; null when the group is locked, or gone. */
async function sweepGroup(tx: Tx, memory: GroupMemory, group: string): Promise<number | null> {
  const locked = await lockHead(tx, group, tx.engine.forNext)
  if (!locked) return null
  const { head, nowMs, epoch } = locked
  const settings = (await memory.policies.current(tx, [head], epoch)).settingsOf(group, head.own)
  const { ttlSeconds, forgetEmptySeconds } = settings
  let deleted = 0
  if (ttlSeconds !== null) {
    const until = nowMs - ttlSeconds * 1000
    deleted = await tx.run(`DELETE FROM ${tx.tables.items} WHERE group_key = ? AND created_at_ms <= ?`, [group, until])
  }
  const isDue = head.sweepAtMs !== null && head.sweepAtMs <= nowMs
  const isForgetful = forgetEmptySeconds !== null && forgetEmptySeconds === head.forgetEmptySeconds
  if (isDue && isForgetful && deleted === 0 && (await occupantsOf(tx, group)).length === 0) {
    await forgetGroup(tx, group)
    memory.changes(tx, [group])
    return 0
  }
  await setSweep(tx, head, settings, nowMs)
  if (deleted > 0) {
    head.version += 1n
    memory.changes(tx, [group])
  }
  await saveHeads(tx, [head])
  return deleted
}

const GROUPS_AT_ONCE = 200
const ROLLOUTS_A_ROUND = 20
const MAX_ROLLOUTS = 1000

interface Rollout {
  prefix: string
  epoch: bigint
  /** The last name that is done; '' before the first. */
  after: string
}

/** Takes some rollouts a step further; true when another round at once would get further. */
async function rollOut(session: Session, policies: PolicyCache): Promise<boolean> {
  const rows = await session.read((reader) =>
    reader.rows(
      `SELECT prefix, ${reader.engine.bigint('epoch')} AS epoch, after_key FROM ${reader.tables.policyRollouts} LIMIT ${MAX_ROLLOUTS}`,
    ),
  )
  // From a random place: a rollout that waits for a lock, or fails, must not keep the others waiting for ever.
  const from = Math.floor(Math.random() * rows.length)
  const turn = [...rows.slice(from), ...rows.slice(0, from)].slice(0, ROLLOUTS_A_ROUND)
  let isMoving = false
  for (const row of turn) {
    const rollout = {
      prefix: row.prefix as string,
      epoch: BigInt(row.epoch as string),
      after: row.after_key as string,
    }
    if (await step(session, policies, rollout)) isMoving = true
  }
  return isMoving
}

/** Updates the next groups of a rollout; false if it gets no further. */
async function step(session: Session, policies: PolicyCache, rollout: Rollout): Promise<boolean> {
  const { where, parameters } = nameRange('group_key', rollout.after, rollout.prefix)
  const rows = await session.read((reader) =>
    reader.rows(selectNextSql(reader, where), [...parameters, GROUPS_AT_ONCE]),
  )
  // A group that is laid out by these policies needs no lock: whoever locks its head goes by these or newer ones.
  const groups = rows.filter(({ epoch }) => BigInt(epoch as string) < rollout.epoch).map(nameOf)
  return session.write(async (tx) => {
    const locked = await updateExpiry(tx, policies, groups, rollout.epoch)
    // The group whose name is the prefix cannot have another rollout beside this one.
    const isOwn = (group: string) => group === rollout.prefix
    const others = locked.filter((group) => !isOwn(group))
    await beginAgain(tx, others, rollout.epoch)
    if (locked.some(isOwn)) return false
    await advance(tx, rollout, rows.length < GROUPS_AT_ONCE ? null : nameOf(rows.at(-1) as Row))
    return true
  })
}

const selectNextSql = ({ engine, tables }: Reader, where: string) =>
  `SELECT group_key, ${engine.bigint('policy_epoch')} AS epoch FROM ${tables.groups} WHERE ${where} ORDER BY group_key LIMIT ?`
const nameOf = ({ group_key }: Row) => group_key as string

/** Resolves to those of the groups that it did not update, because another transaction has locked them. */
async function updateExpiry(
  tx: Tx,
  policies: PolicyCache,
  groups: readonly string[],
  epoch: bigint,
): Promise<string[]> {
  if (groups.length === 0) return []
  const { heads, nowMs } = await lockHeads(tx, groups, tx.engine.forNext)
  const set = await policies.current(tx, heads.values(), epoch)
  const changed: Head[] = []
  for (const head of heads.values()) {
    const settings = set.settingsOf(head.group, head.own)
    const { ttlSeconds, forgetEmptySeconds } = settings
    if (ttlSeconds === head.ttlSeconds && forgetEmptySeconds === head.forgetEmptySeconds) continue
    await setSweep(tx, head, settings, nowMs)
    head.version += 1n
    changed.push(head)
  }
  await saveHeads(tx, changed)
  const missing = groups.filter((group) => !heads.has(group))
  return missing.length === 0 ? [] : [...(await selectHeads(tx, missing, '')).keys()]
}

/** Begins a rollout for each name, or begins it again; one of newer policies keeps its epoch. */
async function beginAgain(tx: Tx, names: readonly string[], epoch: bigint): Promise<void> {
  if (names.length === 0) return
  const proposed = tx.engine.proposed('epoch')
  const { sql, parameters } = tx.engine.insert(
    (values) =>
      `INSERT INTO ${tx.tables.policyRollouts} (prefix, epoch, after_key) VALUES ${values} ${tx.engine.onDuplicate('prefix')} ` +
      `epoch = CASE WHEN epoch < ${proposed} THEN ${proposed} ELSE epoch END, after_key = ''`,
    names.map((name) => [name, epoch, '']),
  )
  await tx.later(sql, parameters)
}

/** Does nothing if the policy has changed again, because then the rollout has begun again. */
async function advance(tx: Tx, { prefix, epoch }: Rollout, after: string | null): Promise<void> {
  const which = 'WHERE prefix = ? AND epoch = ?'
  if (after === null) await tx.run(`DELETE FROM ${tx.tables.policyRollouts} ${which}`, [prefix, epoch])
  else await tx.run(`UPDATE ${tx.tables.policyRollouts} SET after_key = ? ${which}`, [after, prefix, epoch])
}
