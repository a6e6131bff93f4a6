/**
 * The right end of a fire, computed from what was acknowledged alone.
 *
 * An append and a change of settings both lock the group's head, so the total that a change answers says between which
 * two ids it happened. Replaying both in that order over a plain map gives the group's window exactly.
 */
import { type Acknowledged, FIRST_SETTINGS, familyOf, type Report, type SettingsChange } from './fire'

type Kept = Map<bigint, Acknowledged>

/** One group's acknowledged appends by id, or what is wrong with them. */
export function byId(records: readonly Acknowledged[], faults: string[]): Map<string, Acknowledged[]> {
  const groups = new Map<string, Acknowledged[]>()
  for (const record of records) {
    if (!record.appended) continue
    const list = groups.get(record.group)
    if (list) list.push(record)
    else groups.set(record.group, [record])
  }
  for (const [group, list] of groups) {
    list.sort((a, b) => Number(BigInt(a.id) - BigInt(b.id)))
    const wrong = list.findIndex((record, at) => record.id !== String(at))
    if (wrong >= 0) faults.push(`${group}: id ${list[wrong]?.id} where ${wrong} was due (a gap or a duplicate)`)
  }
  return groups
}

/** Within one loop a later append has the higher id; within one appendMany, a group's ids follow each other. */
export function orderFaults(records: readonly Acknowledged[]): string[] {
  const faults: string[] = []
  const last = new Map<string, Acknowledged>()
  for (const record of records) {
    if (!record.appended) continue
    const key = `${record.label} ${record.group}`
    const before = last.get(key)
    last.set(key, record)
    if (!before) continue
    const step = BigInt(record.id) - BigInt(before.id)
    if (step <= 0n || (before.op === record.op && step !== 1n)) {
      faults.push(`${key}: id ${record.id} (op ${record.op}) after ${before.id} (op ${before.op})`)
    }
  }
  return faults
}

/** Appends that were answered with an earlier item: it must be there, with the same event id. */
export function repeatFaults(records: readonly Acknowledged[]): string[] {
  const first = new Map(records.filter((each) => each.appended).map((each) => [`${each.group} ${each.id}`, each]))
  return records
    .filter((each) => !each.appended && first.get(`${each.group} ${each.id}`)?.eventId !== each.eventId)
    .map((each) => `${each.group}: event ${each.eventId} was answered with item ${each.id}, which is not its own`)
}

/** In an `event:` group everything stays in the window, so each event id got in once. */
export function eventFaults(groups: ReadonlyMap<string, readonly Acknowledged[]>): string[] {
  const faults: string[] = []
  for (const [group, list] of groups) {
    if (familyOf(group) !== 'event') continue
    const ids = list.map((each) => each.eventId)
    if (new Set(ids).size !== ids.length) faults.push(`${group}: an event id got in more than once`)
  }
  return faults
}

/** The items that a group must hold, oldest first, erased members and removed items included. */
export function replay(
  group: string,
  appends: readonly Acknowledged[],
  changes: readonly SettingsChange[],
  gone: (record: Acknowledged) => boolean,
  faults: string[],
): Acknowledged[] {
  let settings: { capacity: number; mode: string } = FIRST_SETTINGS[familyOf(group)]
  let kept: Kept = new Map()
  let nextChange = 0
  for (let id = 0; id <= appends.length; id++) {
    for (
      let change = changes[nextChange];
      change && Number(change.totalAppended) <= id;
      change = changes[++nextChange]
    ) {
      if (Number(change.totalAppended) !== id)
        faults.push(`${group}: a change of settings went back to total ${change.totalAppended}`)
      settings = change
      kept = trimmed(kept, id, settings)
    }
    const record = appends[id]
    if (!record) break
    const twin = record.eventId !== null && [...kept.values()].find((each) => each.eventId === record.eventId)
    if (twin && !gone(twin)) faults.push(`${group}: event ${record.eventId} is item ${twin.id} and again ${record.id}`)
    const policyDecides = familyOf(group) === 'policy'
    if (settings.mode === 'history' && !policyDecides && record.slot !== id % settings.capacity) {
      faults.push(`${group}: item ${id} in slot ${record.slot} at capacity ${settings.capacity}`)
    }
    kept = trimmed(kept.set(BigInt(id), record), id + 1, settings)
  }
  if (nextChange < changes.length) faults.push(`${group}: a change saw total ${changes[nextChange]?.totalAppended}`)
  return [...kept.values()]
}

function trimmed(kept: Kept, total: number, { capacity, mode }: { capacity: number; mode: string }): Kept {
  if (mode === 'history') {
    for (const id of kept.keys()) if (id < total - capacity) kept.delete(id)
    return kept
  }
  const newest = new Map<string, bigint>()
  for (const [id, { member }] of kept) newest.set(member, id)
  const window = new Set([...newest.values()].sort((a, b) => Number(a - b)).slice(-capacity))
  for (const id of kept.keys()) if (!window.has(id)) kept.delete(id)
  return kept
}

/** Every group with what must be in it once all ghosts are erased, and all that the report itself shows to be wrong. */
export function judge(report: Report): {
  faults: string[]
  windows: Map<string, Acknowledged[]>
  totals: Map<string, number>
} {
  const faults = [...report.failures]
  const groups = byId(report.records, faults)
  faults.push(...orderFaults(report.records), ...repeatFaults(report.records), ...eventFaults(groups))
  const removed = new Set(report.removals.filter((each) => each.removed).map((each) => `${each.group} ${each.id}`))
  const gone = (record: Acknowledged) =>
    record.member.startsWith('ghost-') || removed.has(`${record.group} ${record.id}`)
  const changes = new Map<string, SettingsChange[]>()
  for (const change of report.settings) {
    const list = changes.get(change.group)
    if (list) list.push(change)
    else changes.set(change.group, [change])
  }
  const windows = new Map<string, Acknowledged[]>()
  const totals = new Map<string, number>()
  for (const [group, list] of groups) {
    const window = replay(group, list, changes.get(group) ?? [], gone, faults)
    windows.set(
      group,
      window.filter((record) => !gone(record)),
    )
    totals.set(group, list.length)
  }
  return { faults, windows, totals }
}
