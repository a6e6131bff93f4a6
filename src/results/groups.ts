/**
 * The results of groups, items and policies, and their JSON text for REST. In JSON, ids are strings, and times are RFC
 * 3339 in UTC with milliseconds. Payloads are the text that the store keeps, which REST never parses.
 */
import { shownName } from '../fields/keys'
import type {
  AppendedItem,
  Group,
  GroupEvent,
  GroupPage,
  Item,
  MemberItems,
  Policy,
  Recent,
} from '../shared/group-types'
import { jsonTextOf } from '../shared/json'
import { timeOrNull } from '../shared/time-text'
import { giveJson, jsonBy, parsedBy } from './json'

const text = JSON.stringify

/** An item that was read or appended. */
export class ItemResult implements Item {
  constructor(
    readonly group: string,
    readonly id: bigint,
    readonly slot: number,
    readonly member: string | null,
    readonly payload: unknown,
    readonly occurredAt: Date | null,
    readonly eventId: string | null,
    readonly createdAt: Date,
  ) {}
}
giveJson(ItemResult, parsedBy(renderItem))

/** An appended item, with its fields in one constructor: it is made for every append. */
export class AppendedResult implements AppendedItem {
  constructor(
    readonly group: string,
    readonly id: bigint,
    readonly slot: number,
    readonly member: string | null,
    readonly payload: unknown,
    readonly occurredAt: Date | null,
    readonly eventId: string | null,
    readonly createdAt: Date,
    readonly appended: boolean,
  ) {}
}
giveJson(AppendedResult, parsedBy(renderItem))

export const asRecent = jsonBy<Recent>(parsedBy(renderRecent))
export const asGroup = jsonBy<Group>((group) => groupBody(group, null))
export const asPolicy = jsonBy<Policy>(policyBody)

type Removed = Extract<GroupEvent, { type: 'removed' }>
type Reset = Extract<GroupEvent, { type: 'reset' }>

/** Events of a group: the type, and the data that a stream sends. */
export const asRemoved = jsonBy<Removed>((event) => ({ type: event.type, ...removedBody(event) }))
export const asReset = jsonBy<Reset>((event) => ({ type: event.type, ...resetBody(event) }))

export function renderItem(item: Item): string {
  return renderItemOf(text(item.group), item)
}

/** An item of a group whose name is JSON text already. */
function renderItemOf(group: string, item: Item): string {
  return (
    `{"group":${group},"id":"${item.id}","slot":${item.slot},"member":${text(item.member)},` +
    `"payload":${item.payload === null ? 'null' : jsonTextOf(item.payload)},` +
    `"occurredAt":${timeOrNull(item.occurredAt)},"eventId":${item.eventId === null ? 'null' : text(item.eventId)},` +
    `"createdAt":${timeOrNull(item.createdAt)}}`
  )
}

/** The place of each item of a batch, and whether it was appended now. */
export function renderAppended(items: readonly AppendedItem[]): string {
  const places = items.map(
    ({ group, id, slot, appended }) => `{"group":${text(group)},"id":"${id}","slot":${slot},"appended":${appended}}`,
  )
  return `{"items":[${places.join(',')}]}`
}

export function renderRecent(recent: Recent): string {
  return `{${recentMembers(recent)},${nextMember(recent.nextBefore)}}`
}

const nextMember = (nextBefore: bigint | null) => `"nextBefore":${nextBefore === null ? 'null' : `"${nextBefore}"`}`

/** The pages of several groups, in about `maxBytes` together, but with at least one item of each group that has items. */
export function renderRecentMany(pages: readonly Recent[], maxBytes: number): string {
  let left = maxBytes
  const groups = pages.map((page) => {
    const name = text(page.group)
    const items: string[] = []
    for (const item of page.items) {
      if (items.length > 0 && left <= 0) break
      const rendered = renderItemOf(name, item)
      left -= Buffer.byteLength(rendered)
      items.push(rendered)
    }
    const isCut = items.length < page.items.length
    const nextBefore = isCut ? (page.items[items.length - 1]?.id ?? null) : page.nextBefore
    return `{${membersOf(page, name, items.join(','))},${nextMember(nextBefore)}}`
  })
  return `{"groups":[${groups.join(',')}]}`
}

function recentMembers(page: Recent): string {
  const name = text(page.group)
  let list = ''
  for (const item of page.items) list += (list === '' ? '' : ',') + renderItemOf(name, item)
  return membersOf(page, name, list)
}

/** `name` and `list`: the group's name and its items as JSON text. */
function membersOf({ capacity, mode, totalAppended }: Recent, name: string, list: string): string {
  return `"group":${name},"capacity":${capacity},"mode":"${mode}","totalAppended":"${totalAppended}","items":[${list}]`
}

export function renderMemberItems({ items, nextBefore }: MemberItems): string {
  return `{"items":[${items.map(renderItem).join(',')}],"nextBefore":${text(nextBefore)}}`
}

/** `within`: the prefix of the group's policy is shown only if it begins with this. */
export function renderGroup(group: Group, within: string | null): string {
  return text(groupBody(group, within))
}

export function renderGroupPage({ groups, nextAfter }: GroupPage, within: string | null): string {
  return text({ groups: groups.map((group) => groupBody(group, within)), nextAfter })
}

function groupBody(
  { group, capacity, mode, ttlSeconds, forgetEmptySeconds, own, policy, tag, totalAppended, createdAt }: Group,
  within: string | null,
) {
  const rest = { tag, totalAppended: String(totalAppended), createdAt: createdAt.toISOString() }
  return { group, capacity, mode, ttlSeconds, forgetEmptySeconds, own, policy: shownName(policy, within), ...rest }
}

export function removedBody({ id }: Removed) {
  return { id: String(id) }
}

export function resetBody({ group, capacity, mode, totalAppended }: Reset) {
  return { group, capacity, mode, totalAppended: String(totalAppended) }
}

export function policyBody({ prefix, capacity, mode, ttlSeconds, forgetEmptySeconds, tag }: Policy) {
  return { prefix, capacity, mode, ttlSeconds, forgetEmptySeconds, tag }
}
