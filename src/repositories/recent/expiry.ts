/**
 * Deleting expired items, and forgetting groups that have been empty for as long as their settings say, one group in each
 * transaction, under its head's lock. Reads leave expired items out at once; this frees their room. Several processes may
 * sweep at once: a sweep skips heads that another transaction has locked.
 *
 * Invariant: `sweep_at_ms` of a head is not later than the first expiry of its items. Whatever empties a group sets it to
 * the time at which the group is to be forgotten, so a group that is empty at that time has been empty since.
 */
import type { Reader, Session, Tx } from '../../database/engine'
import { whether } from '../poll-query'
import { forgetGroup } from './groups'
import { lockHead, saveHeads } from './heads'
import type { GroupMemory } from './memory'
import { occupantsOf, setSweep } from './reslot'
import { rollOut } from './rollout'

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
