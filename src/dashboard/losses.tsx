/**
 * What a change of settings would remove, for the dialog that asks for confirmation: an exact count for one group, an upper
 * bound for the groups of a policy.
 */
import * as operations from '../client/operations'
import type { UntaggedRecent } from '../client/schemas'
import type { Group, Item, Policy } from '../shared/group-types'
import { ask } from './api'
import { counted, Loaded } from './parts'
import { usePolled } from './polled'
import type { WholeSettings } from './settings'

/** The settings that items leave a group by. */
type Window = Omit<WholeSettings, 'forgetEmptySeconds'>
/** Those in force. A capacity that no policy sets is the server's default, which the dashboard does not know. */
type InForce = Omit<Window, 'capacity'> & { capacity: number | undefined }
const DEFAULTS: InForce = { capacity: undefined, mode: 'history', ttlSeconds: null }

const ALL = 10_000

export interface GroupLoss {
  items: number
  /** Null if it depends on the server's default. */
  lost: number | null
}

/** What a group loses if these become its own settings, counted now. */
export async function lossOf(name: string, own: Group['own'], signal: AbortSignal): Promise<GroupLoss> {
  const group = await ask(operations.getGroup, { path: { group: name } }, signal)
  const items = await itemsOf(name, signal)
  const followed = await followedIn(group, own, signal)
  const { capacity, mode, ttlSeconds } = { ...followed, ...own }
  if (capacity === undefined) return { items: items.length, lost: null }
  const kept = keptOf(items, { capacity, mode, ttlSeconds }, group.totalAppended)
  return { items: items.length, lost: items.length - kept.length }
}

/** The settings that the policy gives. The group has those that it left to the policy already. */
async function followedIn(group: Group, own: Group['own'], signal: AbortSignal): Promise<InForce> {
  const unknown = (['capacity', 'mode', 'ttlSeconds'] as const).filter((field) => !(field in own) && field in group.own)
  if (unknown.length === 0) return group
  const policy =
    group.policy === null ? DEFAULTS : await ask(operations.getPolicy, { path: { prefix: group.policy } }, signal)
  return { ...group, ...Object.fromEntries(unknown.map((field) => [field, policy[field]])) } as InForce
}

async function itemsOf(name: string, signal: AbortSignal): Promise<Item[]> {
  const items: Item[] = []
  for (let before: bigint | undefined; ; ) {
    const query = { limit: ALL, before, payloads: 'none' } as const
    const page: UntaggedRecent = await ask(operations.recentItems, { path: { group: name }, query }, signal)
    items.push(...page.items)
    if (page.nextBefore === null) return items
    before = page.nextBefore
  }
}

/** The items that the server would keep: the last ids, or the newest of each member, unless they have expired. */
function keptOf(newestFirst: readonly Item[], settings: Window, totalAppended: bigint): Item[] {
  const { capacity, mode, ttlSeconds } = settings
  const since = ttlSeconds === null ? Number.NEGATIVE_INFINITY : Date.now() - ttlSeconds * 1000
  const members = new Set<string>()
  return newestFirst.filter(({ id, member, createdAt }) => {
    if (mode === 'history') return id >= totalAppended - BigInt(capacity) && createdAt.getTime() > since
    if (member === null || members.has(member) || members.size === capacity) return false
    members.add(member)
    return createdAt.getTime() > since
  })
}

export interface PolicyLoss {
  groups: number
  /** How many of them may lose items, and how many items at most. */
  losing: number
  items: number
  /** There are more groups than were counted. */
  isMore: boolean
}

const MAX_LISTED = 1000

/** What the groups lose if the prefix gets this policy; null if its policy is deleted. */
export async function policyLoss(
  prefix: string,
  policy: WholeSettings | null,
  signal: AbortSignal,
): Promise<PolicyLoss> {
  const { groups, nextAfter } = await ask(
    operations.listGroups,
    { query: { prefix: prefix || undefined, limit: MAX_LISTED } },
    signal,
  )
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

/** Not a group of a longer prefix, and not one whose settings are all its own. */
function follows({ policy, own }: Group, prefix: string): boolean {
  return (policy === null || policy.length <= prefix.length) && Object.keys(own).length < 3
}

async function policiesBut(prefix: string, signal: AbortSignal): Promise<Policy[]> {
  const { policies } = await ask(operations.listPolicies, { query: { limit: MAX_LISTED } }, signal)
  return policies.filter((each) => each.prefix !== prefix).sort((a, b) => b.prefix.length - a.prefix.length)
}

function settingsFrom(policies: readonly Policy[], group: string): InForce {
  return policies.find(({ prefix }) => group.startsWith(prefix)) ?? DEFAULTS
}

/** An upper bound by the settings and `totalAppended` alone: some items may have been removed already. */
function atMost(group: Group, policy: InForce): number {
  const { capacity, mode, ttlSeconds } = { ...policy, ...group.own }
  const held = group.totalAppended < group.capacity ? Number(group.totalAppended) : group.capacity
  const isShorter = ttlSeconds !== null && (group.ttlSeconds === null || ttlSeconds < group.ttlSeconds)
  if (capacity === undefined || isShorter || (mode === 'distinct' && group.mode !== 'distinct')) return held
  return Math.max(0, held - capacity)
}

export function GroupLossText({ group, own }: { group: string; own: Group['own'] }) {
  const counting = usePolled((signal) => lossOf(group, own, signal), '', null)
  const { items, lost } = counting.data ?? { items: 0, lost: 0 }
  return (
    <Loaded of={counting}>
      {lost === 0 && <p>No item is removed.</p>}
      {lost === null && (
        <p>Of {counted(items, 'item')}, those beyond the server's default capacity are removed for good.</p>
      )}
      {lost !== null && lost > 0 && (
        <p>
          {lost} of {counted(items, 'item')} {lost === 1 ? 'is' : 'are'} removed for good.
        </p>
      )}
    </Loaded>
  )
}

export function PolicyLossText({ prefix, policy }: { prefix: string; policy: WholeSettings | null }) {
  const counting = usePolled((signal) => policyLoss(prefix, policy, signal), '', null)
  const { groups, losing, items, isMore } = counting.data ?? { groups: 0, losing: 0, items: 0, isMore: false }
  const among = isMore ? 'Among the first 1000 groups that begin with it, ' : ''
  return (
    <Loaded of={counting}>
      <p>
        {among}
        {groups === 0
          ? `${among ? 'no' : 'No'} group follows it.`
          : `${counted(groups, 'group')} ${groups === 1 ? 'follows' : 'follow'} it.`}{' '}
        {groups > 0 && (losing === 0 ? 'No item is removed.' : lossText(groups, losing, items))}
      </p>
    </Loaded>
  )
}

function lossText(groups: number, losing: number, items: number): string {
  const where = groups === 1 ? 'in it' : `in ${losing} of them`
  return `At most ${counted(items, 'item')} ${where} ${items === 1 ? 'is' : 'are'} removed for good.`
}
