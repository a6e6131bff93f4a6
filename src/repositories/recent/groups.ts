/**
 * Groups: their settings, their list, removals from them, and new scores of their members.
 *
 * Invariant: the head of a group says how its items are laid out, so both change in one transaction, under the head's lock.
 */
import type { Reader, Tx } from '../../database/engine'
import { GROUP } from '../../fields/answers-groups'
import { MAX_ID } from '../../fields/rules'
import { invalidInput, RecentnError } from '../../shared/errors'
import type {
  Group,
  GroupChanges,
  GroupPage,
  IfTag,
  ListOptions,
  OwnSettings,
  Settings,
} from '../../shared/group-types'
import { nameRange } from '../name-range'
import { checkTag, givenOf, settingsTag } from '../settings'
import { type LockedHead, lockHead, lockOrCreateHeads, saveHeads } from './heads'
import type { PolicyCache, PolicySet } from './policies'
import { applyPolicies, applySettings, deleteSlots, nextSweep, occupantsOf, setForgetting, setSweep } from './reslot'
import { exhausted } from './ring'
import { type Head, headOf, headText, type ItemRow, itemWithId, type Occupant, plain, storedScore } from './rows'
import { visible } from './window'

function groupOf(head: Head, set: PolicySet): Group {
  const { group, lastId, createdAtMs } = head
  return GROUP.of({
    group,
    ...set.settingsOf(group, head.own),
    own: givenOf(head.own),
    policy: set.prefixOf(group),
    tag: tagOf(head),
    totalAppended: lastId + 1n,
    createdAt: new Date(createdAtMs),
  })
}

/** A group that is made again has another tag, whatever its settings are. */
function tagOf({ incarnation, own: { capacity, mode, ttlSeconds, forgetEmptySeconds } }: Head): string {
  const times = [ttlSeconds, forgetEmptySeconds].map((seconds) => (seconds === undefined ? 'policy' : seconds))
  return settingsTag([String(incarnation), capacity, mode, ...times])
}

export async function getGroup(reader: Reader, policies: PolicyCache, group: string): Promise<Group | null> {
  const sql = `SELECT ${headText()} AS line FROM ${reader.tables.groups} g WHERE g.group_key = ?`
  const [row] = await reader.rows(sql, [group])
  if (!row) return null
  const head = headOf(row.line as string)
  const set = await policies.current(reader, [head])
  return groupOf(head, set)
}

/** Creates the group or replaces its own settings, and lays it out by the settings that are then in force. */
export async function putGroup(
  tx: Tx,
  policies: PolicyCache,
  group: string,
  own: OwnSettings,
  options: IfTag,
): Promise<Group & { created: boolean }> {
  const { heads, created, ...moment } = await lockOrCreateHeads(tx, policies, [group])
  const head = heads.get(group) as Head
  const isNew = created.has(group)
  checkTag(options, isNew ? null : tagOf(head))
  return Object.assign(await settle(tx, policies, { head, ...moment }, own, isNew), { created: isNew })
}

export async function ensureGroup(
  tx: Tx,
  policies: PolicyCache,
  group: string,
  own: OwnSettings,
): Promise<Group & { created: boolean }> {
  const locked = await lockHead(tx, group)
  if (!locked) return putGroup(tx, policies, group, own, {})
  const set = await policies.current(tx, [locked.head], locked.epoch)
  return Object.assign(groupOf(locked.head, set), { created: false })
}

/** Changes the given settings of a group's own; null lets one follow the policy. */
export async function updateGroup(
  tx: Tx,
  policies: PolicyCache,
  group: string,
  changes: GroupChanges,
  options: IfTag,
): Promise<Group> {
  const locked = await lockHead(tx, group)
  if (!locked) throw new RecentnError('group_not_found')
  checkTag(options, tagOf(locked.head))
  const own = Object.fromEntries(Object.entries(givenOf(changes)).map(([name, value]) => [name, value ?? undefined]))
  return settle(tx, policies, locked, { ...locked.head.own, ...own }, false)
}

/** Gives a locked group these settings as its own. */
async function settle(
  tx: Tx,
  policies: PolicyCache,
  { head, nowMs, epoch }: LockedHead,
  { capacity, mode, ttlSeconds, forgetEmptySeconds }: OwnSettings,
  isNew: boolean,
): Promise<Group> {
  const { group } = head
  const set = await policies.current(tx, [head], epoch)
  const was = set.settingsOf(group, head.own)
  head.own = { capacity, mode, ttlSeconds, forgetEmptySeconds }
  const settings = set.settingsOf(group, head.own)
  await applySettings(tx, head, settings, nowMs, was)
  if (isNew) await setSweep(tx, head, settings, nowMs)
  head.policyEpoch = set.epoch
  head.version += 1n
  await saveHeads(tx, [head])
  return groupOf(head, set)
}

export async function dropGroup(tx: Tx, group: string): Promise<boolean> {
  if (!(await lockHead(tx, group))) return false
  await forgetGroup(tx, group)
  return true
}

/** Deletes a group whose head is locked. A group that is made by this name has another incarnation. */
export async function forgetGroup(tx: Tx, group: string): Promise<void> {
  await tx.later(`DELETE FROM ${tx.tables.items} WHERE group_key = ?`, [group])
  await tx.later(`DELETE FROM ${tx.tables.groups} WHERE group_key = ?`, [group])
}

/** Removes all items; resolves to how many of them were in the window. */
export async function clearGroup(tx: Tx, policies: PolicyCache, group: string): Promise<number> {
  const locked = await lockHead(tx, group)
  if (!locked) return 0
  const { shown } = await shownIn(tx, policies, locked)
  await tx.later(`DELETE FROM ${tx.tables.items} WHERE group_key = ?`, [group])
  locked.head.sweepAtMs = nextSweep([], locked.head, locked.nowMs)
  locked.head.version += 1n
  await saveHeads(tx, [locked.head])
  return shown.length
}

/** Removes one item of the window; if the window has no item with this id, nothing changes, not even the layout. */
export async function removeItem(tx: Tx, policies: PolicyCache, group: string, id: bigint): Promise<boolean> {
  const locked = await lockHead(tx, group)
  if (!locked) return false
  const { shown } = await shownIn(tx, policies, locked)
  if (!shown.some((item) => item.id === id)) return false
  const { head } = locked
  await applyPolicies(tx, policies, { ...locked, heads: new Map([[group, head]]) })
  const slots = (await occupantsOf(tx, group)).filter((item) => item.id === id).map(({ slot }) => slot)
  await deleteSlots(tx, group, slots)
  await setForgetting(tx, [head], locked.nowMs)
  head.version += 1n
  await saveHeads(tx, [head])
  return true
}

/**
 * Changes the score of a member's item in a `top` group. It stays where it is, with the time of its append, by which it expires and
 * an erasure finds it. It gets the next id, so that listeners hear of it and of equal scores the one that came later is behind.
 * Null where the window has no item of the member; then nothing changes, not even the layout.
 */
export async function changeScore(
  tx: Tx,
  policies: PolicyCache,
  group: string,
  member: string,
  by: number,
): Promise<ItemRow | null> {
  const locked = await lockHead(tx, group)
  if (!locked) return null
  const { head } = locked
  const { settings, shown } = await shownIn(tx, policies, locked)
  if (settings.mode !== 'top') {
    throw invalidInput([{ parameter: 'group', detail: `must have the mode top, and has ${settings.mode}` }])
  }
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
  return itemWithId(tx, group, head.lastId)
}

/** The settings in force of a locked group, and the items that readers see. */
async function shownIn(
  tx: Tx,
  policies: PolicyCache,
  { head, nowMs, epoch }: LockedHead,
): Promise<{ settings: Settings; shown: Occupant[] }> {
  const settings = (await policies.current(tx, [head], epoch)).settingsOf(head.group, head.own)
  return { settings, shown: visible(await occupantsOf(tx, head.group), settings, head.lastId, nowMs) }
}

export async function listGroups(
  reader: Reader,
  policies: PolicyCache,
  { prefix = '', after = '', contains, limit }: ListOptions & { limit: number },
): Promise<GroupPage> {
  const { where, parameters } = nameRange('g.group_key', after, prefix, contains)
  const sql = `SELECT ${headText()} AS line FROM ${reader.tables.groups} g WHERE ${where} ORDER BY g.group_key LIMIT ?`
  const rows = (await reader.rows(sql, [...parameters, limit + 1])).map(({ line }) => headOf(line as string))
  const heads = rows.slice(0, limit)
  const set = await policies.current(reader, heads)
  const groups = heads.map((head) => groupOf(head, set))
  return { groups, nextAfter: rows.length > limit ? (groups.at(-1)?.group ?? null) : null }
}
