/**
 * The items that a change of settings would remove, counted without changing anything: of one group, or of a policy's groups.
 * It locks nothing; a group that changes during the count is counted as it was read.
 */
import { placeholders, type Reader, type Session } from '../../database/engine'
import { LOSSES } from '../../fields/answers-groups'
import type { Losses, OwnSettings, Settings } from '../../shared/group-types'
import { chunksOf } from '../chunks'
import { nameRange } from '../name-range'
import type { PolicyCache, PolicyRow, PolicySet } from './policies'
import { type Head, headOf, headText, type Occupant, occupantColumns, occupantOf, type SeenHead } from './rows'
import { visible } from './window'

const GROUPS_AT_ONCE = 500
const READ_AT_ONCE = 20
/** After as many rows the other groups are counted by their heads alone: a question is answered within seconds. */
const MAX_ROWS = 200_000

/** The losses of the group if these become its own settings. A group that does not exist has nothing to lose. */
export async function groupLosses(
  session: Session,
  policies: PolicyCache,
  group: string,
  own: OwnSettings,
): Promise<Losses> {
  const found = await session.read(async (reader) => {
    const [head] = await selectHeads(reader, 'g.group_key = ?', [group])
    if (!head) return { losses: NONE, rows: 0 }
    const set = await policies.current(reader, [head])
    return count(reader, [{ head, was: inForce(set, head), next: set.settingsOf(group, own) }], 0)
  })
  return LOSSES.of(found.losses)
}

/** The losses of the groups if the prefix gets this policy; null if its policy is dropped. */
export async function policyLosses(
  session: Session,
  policies: PolicyCache,
  prefix: string,
  policy: PolicyRow | null,
): Promise<Losses> {
  let [losses, rows, after]: [Losses, number, string | null] = [NONE, 0, '']
  while (after !== null) {
    const { where, parameters } = nameRange('g.group_key', after, prefix)
    const found = await session.read(async (reader) => {
      const heads = await selectHeads(reader, where, parameters)
      const set = await policies.current(reader, heads)
      const changed = set.with(prefix, policy)
      const followers = heads.filter(({ group, own }) => {
        const follows = (policy === null ? set : changed).prefixOf(group) === prefix
        return follows && FIELDS.some((field) => own[field] === undefined)
      })
      const changes = followers.map((head) => ({ head, was: inForce(set, head), next: inForce(changed, head) }))
      const last = heads.length < GROUPS_AT_ONCE ? null : (heads.at(-1)?.group ?? null)
      return { ...(await count(reader, changes, rows)), last }
    })
    losses = sum(losses, found.losses)
    rows = found.rows
    after = found.last
  }
  return LOSSES.of(losses)
}

const FIELDS = ['capacity', 'mode', 'ttlSeconds', 'forgetEmptySeconds'] as const

const inForce = (set: PolicySet, { group, own }: Head) => set.settingsOf(group, own)

async function selectHeads(reader: Reader, where: string, parameters: readonly string[]): Promise<SeenHead[]> {
  const sql =
    `SELECT ${headText('g.', reader.now)} AS line FROM ${reader.tables.groups} g ` +
    `WHERE ${where} ORDER BY g.group_key LIMIT ${GROUPS_AT_ONCE}`
  return (await reader.rows(sql, [...parameters])).map(({ line }) => headOf(line as string))
}

interface Change {
  head: SeenHead
  was: Settings
  next: Settings
}

const NONE: Losses = { groups: 0, losingGroups: 0, items: 0, isExact: true }

const sum = (one: Losses, other: Losses): Losses => ({
  groups: one.groups + other.groups,
  losingGroups: one.losingGroups + other.losingGroups,
  items: one.items + other.items,
  isExact: one.isExact && other.isExact,
})

const lossOf = (items: number, isExact: boolean): Losses =>
  items === 0 ? NONE : { groups: 0, losingGroups: 1, items, isExact }

/** `rows`: those that were read before; then with those that are read here. */
async function count(reader: Reader, changes: readonly Change[], rows: number) {
  let losses: Losses = { ...NONE, groups: changes.length }
  for (const some of chunksOf(changes.filter(mayLose), READ_AT_ONCE)) {
    const read = rows < MAX_ROWS ? await itemsOf(reader, some) : null
    for (const change of some) {
      const items = read?.get(change.head.group)
      losses = sum(losses, items === undefined ? lossOf(atMost(change), false) : lossOf(lost(items, change), true))
      rows += items?.length ?? 0
    }
  }
  return { losses, rows }
}

async function itemsOf(reader: Reader, changes: readonly Change[]): Promise<Map<string, Occupant[]>> {
  const rows = await reader.rows(
    `SELECT i.group_key AS group_key, ${occupantColumns(reader.engine)} FROM ${reader.tables.items} i` +
      `${reader.engine.useIndex('PRIMARY')} WHERE i.group_key IN (${placeholders(changes.length)})`,
    changes.map(({ head }) => head.group),
  )
  const items = new Map<string, Occupant[]>(changes.map(({ head }) => [head.group, []]))
  for (const row of rows) items.get(row.group_key as string)?.push(occupantOf(row))
  return items
}

/** Of the items that are shown now. */
function lost(items: readonly Occupant[], { head: { lastId, nowMs }, was, next }: Change): number {
  const shown = visible(items, was, lastId, nowMs)
  return shown.length - visible(shown, next, lastId, nowMs).length
}

/** A larger window, or a later expiry, keeps all. */
function mayLose({ was, next }: Change): boolean {
  const expiresSooner = next.ttlSeconds !== null && (was.ttlSeconds === null || next.ttlSeconds < was.ttlSeconds)
  return next.capacity < was.capacity || next.mode !== was.mode || expiresSooner
}

/** By the head alone. */
function atMost({ head, was, next }: Change): number {
  const held = Math.min(Number(head.lastId) + 1, was.capacity)
  const isByCapacity = next.mode === was.mode && next.ttlSeconds === was.ttlSeconds
  return isByCapacity ? Math.max(0, held - next.capacity) : held
}
