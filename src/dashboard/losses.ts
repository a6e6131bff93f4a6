/** What a change of settings would remove: from one group exactly, by a policy from many at most. */
import { api } from './api'
import type { Group, Item, PolicySettings } from './types'

/** The settings in force; a capacity that is nowhere said is the server's default, which nobody tells. */
type InForce = Omit<PolicySettings, 'capacity'> & { capacity: number | undefined }
const DEFAULTS: InForce = { capacity: undefined, mode: 'history', ttlSeconds: null }

const ALL = 10_000

export interface GroupLoss {
  items: number
  /** Null where the server's default decides it. */
  lost: number | null
}

/** What goes from a group when these are its own settings, counted now. */
export async function lossOf(name: string, own: Group['own'], signal: AbortSignal): Promise<GroupLoss> {
  const group = await api.group(name, signal)
  const items = await itemsOf(name, signal)
  const followed = await followedIn(group, own, signal)
  const { capacity, mode, ttlSeconds } = { ...followed, ...own }
  if (capacity === undefined) return { items: items.length, lost: null }
  const kept = keptOf(items, { capacity, mode, ttlSeconds }, BigInt(group.total))
  return { items: items.length, lost: items.length - kept.length }
}

/** What the policy says of the settings that are left to it: told by the group where it is in force already. */
async function followedIn(group: Group, own: Group['own'], signal: AbortSignal): Promise<InForce> {
  const unknown = (['capacity', 'mode', 'ttlSeconds'] as const).filter((field) => !(field in own) && field in group.own)
  if (unknown.length === 0) return group
  const policy = group.policy === null ? DEFAULTS : await api.policy(group.policy, signal)
  return { ...group, ...Object.fromEntries(unknown.map((field) => [field, policy[field]])) } as InForce
}

async function itemsOf(name: string, signal: AbortSignal): Promise<Item[]> {
  const items: Item[] = []
  for (let before: string | null = null; ; ) {
    const page = await api.bare(name, ALL, before, signal)
    items.push(...page.items)
    before = page.nextBefore
    if (before === null) return items
  }
}

/** As the server keeps them: the last ids, or the newest of each member, unless they have expired. */
function keptOf(newestFirst: readonly Item[], settings: PolicySettings, total: bigint): Item[] {
  const { capacity, mode, ttlSeconds } = settings
  const since = ttlSeconds === null ? Number.NEGATIVE_INFINITY : Date.now() - ttlSeconds * 1000
  const members = new Set<string>()
  return newestFirst.filter(({ id, member, createdAt }) => {
    if (mode === 'history') return BigInt(id) >= total - BigInt(capacity) && Date.parse(createdAt) > since
    if (member === null || members.has(member) || members.size === capacity) return false
    members.add(member)
    return Date.parse(createdAt) > since
  })
}

export interface PolicyLoss {
  /** How many groups follow the prefix. */
  groups: number
  /** How many of them may lose items, and how many items at most. */
  losing: number
  items: number
  /** There are more groups than were looked at. */
  isMore: boolean
}

const LOOKED_AT = 1000

/** What goes when the policy of the prefix is this; null: when it is deleted. */
export async function policyLoss(
  prefix: string,
  policy: PolicySettings | null,
  signal: AbortSignal,
): Promise<PolicyLoss> {
  const { groups, nextAfter } = await api.groups({ prefix, limit: LOOKED_AT, signal })
  const followers = groups.filter((group) => follows(group, prefix))
  const shorter = policy === null ? await policiesBut(prefix, signal) : []
  const losses = followers.map((group) => atMost(group, policy ?? settingsFrom(shorter, group.group)))
  return {
    groups: followers.length,
    losing: losses.filter((lost) => lost > 0).length,
    items: losses.reduce((sum, lost) => sum + lost, 0),
    isMore: nextAfter !== null,
  }
}

/** A longer prefix goes before this one, and who has set everything follows nothing. */
function follows({ policy, own }: Group, prefix: string): boolean {
  return (policy === null || policy.length <= prefix.length) && Object.keys(own).length < 3
}

async function policiesBut(prefix: string, signal: AbortSignal) {
  const { policies } = await api.policies({ limit: LOOKED_AT, signal })
  return policies.filter((each) => each.prefix !== prefix).sort((a, b) => b.prefix.length - a.prefix.length)
}

function settingsFrom(policies: Awaited<ReturnType<typeof policiesBut>>, group: string): InForce {
  return policies.find(({ prefix }) => group.startsWith(prefix)) ?? DEFAULTS
}

/** By its settings and its total alone: some may have been removed already, or stay. */
function atMost(group: Group, policy: InForce): number {
  const { capacity, mode, ttlSeconds } = { ...policy, ...group.own }
  const held = BigInt(group.total) < BigInt(group.capacity) ? Number(group.total) : group.capacity
  const isShorter = ttlSeconds !== null && (group.ttlSeconds === null || ttlSeconds < group.ttlSeconds)
  if (capacity === undefined || isShorter || (mode === 'distinct' && group.mode !== 'distinct')) return held
  return Math.max(0, held - capacity)
}
