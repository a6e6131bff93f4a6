/**
 * Deleting what has expired. Reads leave it out at once; this gives the room back, a group a transaction, and tells
 * the groups of a changed policy of their new expiry. Any number of processes may sweep at once: a head that another
 * transaction has locked is passed over until the next time.
 */
import { compareNames, type Session, type Tx } from '../../database/engine'
import { nameRange } from '../name-range'
import { lockHead, lockHeads, saveHeads } from './heads'
import type { PolicyCache } from './policies'
import { firstExpiry, occupantsOf } from './reslot'
import type { Head } from './rows'

const GROUPS_A_SWEEP = 100
const GROUPS_A_ROLLOUT = 200

/** Along the index recent_groups_sweep (sweep_at_ms), where only groups with something to expire have an entry. */
export const selectDueSql = (now: string, useIndex: (index: string) => string) =>
  `SELECT group_key FROM recent_groups${useIndex('recent_groups_sweep')} WHERE sweep_at_ms <= ${now} ORDER BY sweep_at_ms LIMIT ?`

/** One round: resolves to how many items it deleted and whether there was more than it took. */
export async function sweep(session: Session, policies: PolicyCache): Promise<{ deleted: number; more: boolean }> {
  const rolling = await rollOut(session, policies)
  const due = await session.read((reader) =>
    reader.rows(selectDueSql(reader.now, reader.engine.useIndex), [GROUPS_A_SWEEP]),
  )
  let deleted = 0
  let passedOver = 0
  for (const row of due) {
    const swept = await session.write((tx) => sweepGroup(tx, policies, row.group_key as string))
    if (swept === null) passedOver++
    else deleted += swept
  }
  // Where all are locked by others, another round at once would find the same.
  const isMoving = passedOver < due.length
  return { deleted, more: rolling || (due.length === GROUPS_A_SWEEP && isMoving) }
}

/** Resolves to how many items it deleted; null when the group is locked, or gone. */
async function sweepGroup(tx: Tx, policies: PolicyCache, group: string): Promise<number | null> {
  const locked = await lockHead(tx, group, tx.engine.forUpdateSkipLocked)
  if (!locked) return null
  const { head, nowMs, epoch } = locked
  const { ttlSeconds } = (await policies.current(tx, [epoch, head.policyEpoch])).settingsOf(group, head.own)
  let deleted = 0
  if (ttlSeconds !== null) {
    const until = nowMs - ttlSeconds * 1000
    deleted = await tx.run('DELETE FROM recent_items WHERE group_key = ? AND created_at_ms <= ?', [group, until])
  }
  await setExpiry(tx, head, ttlSeconds)
  if (deleted > 0) head.version += 1n
  await saveHeads(tx, [head])
  return deleted
}

/** Expiry is told to the head at once; capacity and mode wait for the next write, so that little is lost by a slip. */
async function setExpiry(tx: Tx, head: Head, ttlSeconds: number | null): Promise<void> {
  head.ttlSeconds = ttlSeconds
  head.sweepAtMs = firstExpiry(await occupantsOf(tx, head.group), head)
}

/** Tells a few groups of a changed policy when their items expire; true while there are more to tell. */
async function rollOut(session: Session, policies: PolicyCache): Promise<boolean> {
  const [rollout] = await session.read((reader) =>
    reader.rows('SELECT prefix, epoch, after_key FROM recent_policy_rollouts ORDER BY prefix LIMIT 1'),
  )
  if (!rollout) return false
  const { prefix, epoch } = rollout as { prefix: string; epoch: string }
  const { where, parameters } = nameRange('group_key', rollout.after_key as string, prefix)
  const rows = await session.read((reader) =>
    reader.rows(`SELECT group_key FROM recent_groups WHERE ${where} ORDER BY group_key LIMIT ?`, [
      ...parameters,
      GROUPS_A_ROLLOUT,
    ]),
  )
  const groups = rows.map(({ group_key }) => group_key as string)
  await session.write((tx) => tell(tx, policies, groups, BigInt(epoch)))
  const done = groups.length < GROUPS_A_ROLLOUT
  const sql = done
    ? 'DELETE FROM recent_policy_rollouts WHERE prefix = ? AND epoch = ?'
    : 'UPDATE recent_policy_rollouts SET after_key = ? WHERE prefix = ? AND epoch = ?'
  const last = groups.sort(compareNames).at(-1) ?? ''
  await session.write((tx) => tx.run(sql, done ? [prefix, epoch] : [last, prefix, epoch]))
  return true
}

async function tell(tx: Tx, policies: PolicyCache, groups: readonly string[], epoch: bigint): Promise<void> {
  const { heads } = await lockHeads(tx, groups)
  const set = await policies.current(tx, [epoch, ...[...heads.values()].map(({ policyEpoch }) => policyEpoch)])
  const changed: Head[] = []
  for (const head of heads.values()) {
    const { ttlSeconds } = set.settingsOf(head.group, head.own)
    if (ttlSeconds === head.ttlSeconds) continue
    await setExpiry(tx, head, ttlSeconds)
    head.version += 1n
    changed.push(head)
  }
  await saveHeads(tx, changed)
}
