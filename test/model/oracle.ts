/**
 * The right answers of a set of groups, computed with plain arrays from the words of the contract alone. A group keeps
 * the items it was given, oldest first; what is shown is a filter over them. Slow and obvious on purpose.
 */
import type { Mode, OwnSettings, Settings } from '../../src/shared/group-types'

export interface OracleItem {
  id: bigint
  member: string | null
  eventId: string | null
  score: number | null
  payload: number
  createdAtSeconds: number
}

export interface OracleGroup {
  own: OwnSettings
  lastId: bigint
  /** Oldest first: what has not been pushed out by a write. */
  items: OracleItem[]
  /** When it had an item last, or was made. */
  filledSeconds: number
}

export interface NewOracleItem {
  group: string
  member: string | null
  eventId: string | null
  score: number | null
  keep: 'highest' | 'latest' | null
  payload: number
}

export interface Answer {
  capacity: number
  mode: Mode
  totalAppended: bigint
  items: Omit<OracleItem, 'createdAtSeconds'>[]
  nextBefore: bigint | null
}

/** A batch that the contract refuses. */
export const REFUSED = 'refused' as const

const DEFAULTS: Settings = { capacity: 10, mode: 'history', ttlSeconds: null, forgetEmptySeconds: null }

export class Oracle {
  nowSeconds = 0
  readonly groups = new Map<string, OracleGroup>()
  readonly policies = new Map<string, Settings>()

  /** The groups as they are. */
  copy(): Map<string, OracleGroup> {
    return new Map([...this.groups].map(([name, group]) => [name, { ...group, items: [...group.items] }]))
  }

  backTo(groups: ReadonlyMap<string, OracleGroup>): void {
    this.groups.clear()
    for (const [name, group] of groups) this.groups.set(name, group)
  }

  settingsOf(name: string): Settings {
    const own = this.groups.get(name)?.own ?? {}
    const policy = this.policies.get(this.policyOf(name) ?? '') ?? DEFAULTS
    return {
      capacity: own.capacity ?? policy.capacity,
      mode: own.mode ?? policy.mode,
      ttlSeconds: own.ttlSeconds === undefined ? policy.ttlSeconds : own.ttlSeconds,
      forgetEmptySeconds: own.forgetEmptySeconds === undefined ? policy.forgetEmptySeconds : own.forgetEmptySeconds,
    }
  }

  /** The groups that have items have them now. */
  look(): void {
    for (const [name, group] of this.groups) if (this.window(name).length > 0) group.filledSeconds = this.nowSeconds
  }

  /** Whether the sweeper may have forgotten it: it may begin to count later than this. */
  mayBeForgotten(name: string): boolean {
    const { forgetEmptySeconds } = this.settingsOf(name)
    const { filledSeconds } = this.groups.get(name) as OracleGroup
    return forgetEmptySeconds !== null && filledSeconds + forgetEmptySeconds <= this.nowSeconds
  }

  policyOf(name: string): string | null {
    const prefixes = [...this.policies.keys()].filter((prefix) => name.startsWith(prefix))
    return prefixes.sort((a, b) => b.length - a.length)[0] ?? null
  }

  /** The items shown, oldest first; in `top` the last first. */
  window(name: string): OracleItem[] {
    const group = this.groups.get(name)
    if (!group) return []
    const { capacity, mode, ttlSeconds } = this.settingsOf(name)
    const alive = group.items.filter((item) => this.#lives(item, ttlSeconds))
    if (mode === 'history') return alive.filter((item) => item.id > group.lastId - BigInt(capacity))
    if (mode === 'top') return topOf(alive, capacity).reverse()
    const newest = new Map<string, OracleItem>()
    for (const item of alive) if (item.member !== null) newest.set(item.member, item)
    return alive.filter((item) => item.member !== null && newest.get(item.member) === item).slice(-capacity)
  }

  #lives(item: OracleItem, ttlSeconds: number | null): boolean {
    return ttlSeconds === null || item.createdAtSeconds + ttlSeconds > this.nowSeconds
  }

  /** Every write of a group begins with this: remove all that is not shown. */
  settle(name: string): void {
    const group = this.groups.get(name)
    if (group) group.items = this.window(name).sort((a, b) => (a.id < b.id ? -1 : 1))
  }

  /** The ids that the items get, or `REFUSED` with nothing changed. */
  appendMany(items: readonly NewOracleItem[]): { id: bigint; appended: boolean }[] | typeof REFUSED {
    if (items.some((item) => isRefused(item, this.settingsOf(item.group).mode))) return REFUSED
    return items.map(({ group: name, keep, ...item }) => {
      const group = this.groups.get(name) ?? { own: {}, lastId: -1n, items: [], filledSeconds: this.nowSeconds }
      this.groups.set(name, group)
      this.settle(name)
      const there = item.eventId === null ? undefined : group.items.find(({ eventId }) => eventId === item.eventId)
      if (there) return { id: there.id, appended: false }
      const { mode, capacity } = this.settingsOf(name)
      const own = group.items.find(({ member }) => mode === 'top' && member === item.member)
      const last = topOf(group.items, capacity)[capacity - 1]
      const rival = own ? (keep === 'latest' ? undefined : own) : mode === 'top' ? last : undefined
      if (rival && (rival.score as number) >= (item.score as number)) return { id: rival.id, appended: false }
      // It takes the place of the member's own, whatever the scores are.
      group.items = group.items.filter((other) => other !== own)
      group.lastId += 1n
      group.items.push({ ...item, id: group.lastId, createdAtSeconds: this.nowSeconds })
      this.settle(name)
      return { id: group.lastId, appended: true }
    })
  }

  recent(name: string, limit = 10, before: bigint | null = null, exclude: readonly string[] = []): Answer {
    const { capacity, mode } = this.settingsOf(name)
    const isTop = mode === 'top'
    const all = this.window(name)
      .filter((item) => before === null || isTop || item.id < before)
      .filter((item) => item.member === null || !exclude.includes(item.member))
      .reverse()
      .slice(isTop ? Number(before ?? 0n) : 0)
    const items = all.slice(0, limit).map(({ createdAtSeconds: _, ...item }) => item)
    const last = isTop ? (before ?? 0n) + BigInt(items.length) : (items.at(-1)?.id ?? null)
    return {
      capacity,
      mode,
      totalAppended: (this.groups.get(name)?.lastId ?? -1n) + 1n,
      items,
      nextBefore: all.length > limit ? last : null,
    }
  }

  remove(name: string, id: bigint): boolean {
    if (!this.window(name).some((item) => item.id === id)) return false
    this.settle(name)
    const group = this.groups.get(name) as OracleGroup
    group.items = group.items.filter((item) => item.id !== id)
    return true
  }

  changeScore(name: string, member: string, by: number): { id: bigint; score: number } | null | typeof REFUSED {
    const group = this.groups.get(name)
    if (!group) return null
    if (this.settingsOf(name).mode !== 'top') return REFUSED
    const item = this.window(name).find((one) => one.member === member)
    if (!item) return null
    this.settle(name)
    group.lastId += 1n
    const changed = { ...item, id: group.lastId, score: (item.score as number) + by }
    group.items = [...group.items.filter((one) => one.id !== item.id), changed]
    return { id: changed.id, score: changed.score }
  }

  clear(name: string): void {
    const group = this.groups.get(name)
    if (group) group.items = []
  }

  put(name: string, own: OwnSettings): boolean {
    const group = this.groups.get(name)
    const { ttlSeconds } = this.settingsOf(name)
    // Expired items stay gone, also when the new settings would let it live.
    const items = (group?.items ?? []).filter((item) => this.#lives(item, ttlSeconds))
    const filledSeconds = group?.filledSeconds ?? this.nowSeconds
    this.groups.set(name, { lastId: group?.lastId ?? -1n, items, own, filledSeconds })
    this.settle(name)
    return group === undefined
  }

  erase(member: string): void {
    for (const [name, group] of this.groups) {
      if (!group.items.some((item) => item.member === member)) continue
      this.settle(name)
      group.items = group.items.filter((item) => item.member !== member)
    }
  }

  memberItems(member: string): { group: string; id: bigint }[] {
    return [...this.groups.keys()].flatMap((group) =>
      this.window(group)
        .filter((item) => item.member === member)
        .map(({ id }) => ({ group, id })),
    )
  }
}

/** The best of each member, and of those the best `capacity`; of equal scores the older one is better. */
function topOf(items: readonly OracleItem[], capacity: number): OracleItem[] {
  const ranked = items.filter(({ member, score }) => member !== null && score !== null)
  ranked.sort((a, b) => (b.score as number) - (a.score as number) || Number(a.id - b.id))
  const members = new Set<string>()
  const best = ranked.filter(({ member }) => !members.has(member as string) && members.add(member as string))
  return best.slice(0, capacity)
}

function isRefused({ member, score, keep }: NewOracleItem, mode: Mode): boolean {
  if (mode === 'top') return member === null || score === null
  return keep !== null || (mode === 'distinct' && member === null)
}
