/**
 * Moving the items of a group to other slots, for another capacity or mode, without sending a payload to the process.
 *
 * Invariant: the head's capacity and mode say how the slots are laid out. The caller holds the head's lock, and saves it.
 */
import { placeholders, type Tx } from '../../database/engine'
import type { Settings } from '../../shared/group-types'
import { chunksOf, MAX_KEYS } from '../chunks'
import type { LockedHeads } from './heads'
import type { PolicyCache } from './policies'
import { type Head, type Occupant, occupantColumns, occupantOf } from './rows'
import { expired, keepers } from './window'

const selectOccupantsSql = (tx: Pick<Tx, 'engine' | 'tables'>, groups: number) =>
  `SELECT i.group_key AS group_key, ${occupantColumns(tx.engine)} FROM ${tx.tables.items} i${tx.engine.useIndex('PRIMARY')} ` +
  `WHERE i.group_key IN (${placeholders(groups)})${tx.engine.forUpdate}`

/** The items of a group. It reads with a lock: at REPEATABLE READ a plain read would show an older state. */
export async function occupantsOf(tx: Tx, group: string): Promise<Occupant[]> {
  return (await tx.rows(selectOccupantsSql(tx, 1), [group])).map(occupantOf)
}

/** Lays the groups out by the settings that are in force once they are locked. Appends and removals begin with it. */
export async function applyPolicies(
  tx: Tx,
  policies: PolicyCache,
  { heads, nowMs, epoch }: LockedHeads,
): Promise<void> {
  const set = await policies.current(tx, heads.values(), epoch)
  for (const head of heads.values()) {
    const settings = set.settingsOf(head.group, head.own)
    await applySettings(tx, head, settings, nowMs, settings)
    head.policyEpoch = set.epoch
  }
}

/**
 * Lays the group out by `settings`: deletes the items that they do not keep, moves the others, sets the head's fields. It
 * also deletes what has expired under `was`, the settings that readers have gone by until now.
 */
export async function applySettings(
  tx: Tx,
  head: Head,
  settings: Settings,
  nowMs: number,
  was: Settings,
): Promise<void> {
  const layoutChanges = head.capacity !== settings.capacity || head.mode !== settings.mode
  const { ttlSeconds, forgetEmptySeconds } = settings
  const timesChange = head.ttlSeconds !== ttlSeconds || head.forgetEmptySeconds !== forgetEmptySeconds
  if (!layoutChanges && !timesChange) return
  const occupants = await occupantsOf(tx, head.group)
  const isAlive = (occupant: Occupant) =>
    !expired(occupant, was, nowMs) && !(settings.mode === 'top' && expired(occupant, settings, nowMs))
  const alive = keepers(occupants.filter(isAlive), settings, head.lastId)
  const kept = new Set(alive.map(({ slot }) => slot))
  const dropped = occupants.filter(({ slot }) => !kept.has(slot)).map(({ slot }) => slot)
  await deleteSlots(tx, head.group, dropped)
  if (layoutChanges) await move(tx, head, settings, alive)
  head.capacity = settings.capacity
  head.mode = settings.mode
  head.ttlSeconds = ttlSeconds
  head.forgetEmptySeconds = forgetEmptySeconds
  head.sweepAtMs = nextSweep(alive, settings, nowMs)
  head.version += 1n
}

async function move(tx: Tx, head: Head, settings: Settings, alive: readonly Occupant[]): Promise<void> {
  if (settings.mode === 'history') {
    // Through negative slots, because the new slot of one row can be the old slot of another.
    await tx.later(`UPDATE ${tx.tables.items} SET slot = -1 - slot WHERE group_key = ?`, [head.group])
    await tx.later(`UPDATE ${tx.tables.items} SET slot = id % ? WHERE group_key = ? AND slot < 0`, [
      settings.capacity,
      head.group,
    ])
    return
  }
  const taken = new Set(alive.map(({ slot }) => slot))
  let free = 0
  const moves = alive
    .filter(({ slot }) => slot >= settings.capacity)
    .map(({ slot }) => {
      while (taken.has(free)) free++
      return [slot, free++] as const
    })
  for (const chunk of chunksOf(moves, MAX_KEYS)) {
    await tx.later(
      `UPDATE ${tx.tables.items} SET slot = CASE slot ${chunk.map(() => 'WHEN ? THEN ?').join(' ')} END WHERE group_key = ? AND slot IN (${placeholders(chunk.length)})`,
      [...chunk.flat(), head.group, ...chunk.map(([from]) => from)],
    )
  }
}

/** Deletes the rows in these slots of a group; resolves to how many there were. */
export async function deleteSlots(tx: Tx, group: string, slots: readonly number[]): Promise<number> {
  let deleted = 0
  for (const chunk of chunksOf(slots, MAX_KEYS)) {
    deleted += await tx.run(
      `DELETE FROM ${tx.tables.items} WHERE group_key = ? AND slot IN (${placeholders(chunk.length)})`,
      [group, ...chunk],
    )
  }
  return deleted
}

/** When the sweeper should look: at the first expiry, or once the group has been empty for as long as its settings say. */
export function nextSweep(
  occupants: readonly { createdAtMs: number }[],
  { ttlSeconds, forgetEmptySeconds }: Settings,
  nowMs: number,
): number | null {
  if (occupants.length === 0) return forgetEmptySeconds === null ? null : nowMs + forgetEmptySeconds * 1000
  if (ttlSeconds === null) return null
  let first = Number.POSITIVE_INFINITY
  for (const { createdAtMs } of occupants) first = Math.min(first, createdAtMs)
  return first + ttlSeconds * 1000
}

/** Capacity and mode wait for the next write, so that a slip of a policy loses little. */
export async function setSweep(
  tx: Tx,
  head: Head,
  { ttlSeconds, forgetEmptySeconds }: Settings,
  nowMs: number,
): Promise<void> {
  head.ttlSeconds = ttlSeconds
  head.forgetEmptySeconds = forgetEmptySeconds
  await setSweeps(tx, [head], nowMs)
}

/** Items have left the groups, and some may be empty now: every removal that can empty a group ends with it. */
export async function setForgetting(tx: Tx, heads: readonly Head[], nowMs: number): Promise<void> {
  const forgetful = heads.filter(({ forgetEmptySeconds }) => forgetEmptySeconds !== null)
  for (const chunk of chunksOf(forgetful, MAX_KEYS)) await setSweeps(tx, chunk, nowMs)
}

const selectOldestSql = (tx: Pick<Tx, 'engine' | 'tables'>, groups: number) =>
  `SELECT i.group_key AS group_key, MIN(i.created_at_ms) AS oldest_ms FROM ${tx.tables.items} i${tx.engine.useIndex('PRIMARY')} ` +
  `WHERE i.group_key IN (${placeholders(groups)}) GROUP BY i.group_key${tx.engine.forUpdate}`

async function setSweeps(tx: Tx, heads: readonly Head[], nowMs: number): Promise<void> {
  const groups = heads.map(({ group }) => group)
  const rows = await tx.rows(selectOldestSql(tx, heads.length), groups)
  const oldest = new Map(rows.map((row) => [row.group_key as string, { createdAtMs: Number(row.oldest_ms) }]))
  for (const head of heads) {
    const item = oldest.get(head.group)
    head.sweepAtMs = nextSweep(item ? [item] : [], head, nowMs)
  }
}
