/**
 * Changing the score of a member's item in a `top` group. The item stays where it is, and gets the next id, so that listeners hear
 * of it and of equal scores the one that came later is behind.
 *
 * Invariant: it keeps the time of its append, by which it expires and an erasure finds it.
 */
import type { Row, Tx } from '../../database/engine'
import { MAX_ID } from '../../fields/rules'
import { invalidInput } from '../../shared/errors'
import { lockHead, saveHeads } from './heads'
import type { PolicyCache } from './policies'
import { applyPolicies, occupantsOf } from './reslot'
import { exhausted } from './ring'
import { type ItemRow, itemColumns, itemRowOf } from './rows'
import { plain, storedScore } from './score'
import { visible } from './window'

/** Null where the window has no item of the member; then nothing changes, not even the layout. */
export async function changeScore(
  tx: Tx,
  policies: PolicyCache,
  group: string,
  member: string,
  by: number,
): Promise<ItemRow | null> {
  const locked = await lockHead(tx, group)
  if (!locked) return null
  const { head, nowMs, epoch } = locked
  const set = await policies.current(tx, [epoch, head.policyEpoch])
  const settings = set.settingsOf(group, head.own)
  if (settings.mode !== 'top') {
    throw invalidInput([{ parameter: 'group', detail: `must have the mode top, and has ${settings.mode}` }])
  }
  const shown = visible(await occupantsOf(tx, group), settings, head.lastId, nowMs)
  const own = shown.find((item) => item.member === member)
  if (own === undefined) return null
  const score = plain((own.score as number) + by)
  if (!Number.isFinite(score)) throw invalidInput([{ pointer: '/by', detail: 'makes the score infinite' }])
  if (head.lastId >= MAX_ID) throw exhausted(group)
  await applyPolicies(tx, policies, { ...locked, heads: new Map([[group, head]]) })
  const sql = `UPDATE ${tx.tables.items} SET id = ?, score = ? WHERE group_key = ? AND id = ?`
  head.lastId += 1n
  head.version += 1n
  await tx.later(sql, [head.lastId, storedScore(score), group, own.id])
  await saveHeads(tx, [head])
  const columns = `SELECT ${itemColumns(tx.engine)} FROM ${tx.tables.items} i`
  const [row] = await tx.rows(`${columns} WHERE i.group_key = ? AND i.id = ?${tx.engine.forUpdate}`, [
    group,
    head.lastId,
  ])
  return itemRowOf(group, row as Row)
}
