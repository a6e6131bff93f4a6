/** The answers about groups, their items and policies. */
import type * as Group from '../shared/group-types'
import {
  type AnswerOf,
  answer,
  anyJson,
  constant,
  count,
  groupName,
  id,
  list,
  type NamedComponent,
  name,
  of,
  orNull,
  shown,
  some,
  text,
  time,
  total,
  truth,
  unsent,
} from './answers'
import { CAPACITY, FORGET_EMPTY_SECONDS, MODE, SCORE, TTL_SECONDS } from './groups'

const item = {
  group: groupName('article:42'),
  id: id('41'),
  slot: count(1, 'The position in the ring, from 0 to capacity - 1.'),
  member: orNull(name('user-7')),
  score: orNull(of(SCORE, null)),
  payload: anyJson({ action: 'view', from: 'newsletter' }),
  occurredAt: orNull(time('2026-11-21T10:00:00.000Z')),
  eventId: orNull(name('view-8f14e45f')),
  createdAt: time('2026-11-21T10:00:00.250Z'),
}
export const ITEM: AnswerOf<Group.Item> = answer('Item', item)
/** An item that was appended: its answer is the item. */
export const APPENDED_ITEM: AnswerOf<Group.AppendedItem> = answer('', { ...item, appended: unsent<boolean>() })

const place: AnswerOf<Pick<Group.AppendedItem, 'group' | 'id' | 'slot' | 'appended'>> = answer('', {
  group: groupName('article:42'),
  id: id('42'),
  slot: count(2),
  appended: truth(true, 'False: it was not appended, because of the item that has this `id` and `slot`.'),
})
/** The place of each item of a batch, and whether it was appended now. */
export const APPENDED: AnswerOf<{ items: AppendedPlace[] }> = answer('Appended', {
  items: list(place, [
    place.example,
    { ...place.example, group: 'article:43', id: '0', slot: 0 },
    { ...place.example, id: '43', slot: 3 },
  ]),
})
type AppendedPlace = Pick<Group.AppendedItem, 'group' | 'id' | 'slot' | 'appended'>

const ring = { capacity: of(CAPACITY, 10), mode: of(MODE, 'history') }
const ofGroup = { group: groupName('article:42'), ...ring, totalAppended: total('42') }

/** Its tag is the `ETag` of the answer. */
export const RECENT: AnswerOf<Group.Recent> = answer('Recent', {
  ...ofGroup,
  items: list(ITEM),
  nextBefore: orNull(id('41')),
  tag: unsent<string>(),
})
const last = { ...RECENT.example, nextBefore: null }
export const RECENT_MANY: AnswerOf<{ groups: Group.Recent[] }> = answer('RecentMany', {
  groups: list(RECENT, [last, { ...last, group: 'article:43', totalAppended: '0', items: [] }]),
})

type Removed = Extract<Group.GroupEvent, { type: 'removed' }>
type Reset = Extract<Group.GroupEvent, { type: 'reset' }>

const removed = { id: id('40') }
/** The data of the events of a stream. */
export const GROUP_REMOVED: AnswerOf<Omit<Removed, 'type'>> = answer('GroupRemoved', removed)
export const GROUP_RESET: AnswerOf<Omit<Reset, 'type'>> = answer('GroupReset', ofGroup)
/** The events of a watch. */
export const REMOVED: AnswerOf<Removed> = answer('', { type: constant('removed'), ...removed })
export const RESET: AnswerOf<Reset> = answer('', { type: constant('reset'), ...ofGroup })

const shownReset = JSON.stringify({ ...GROUP_RESET.example, capacity: 50, mode: 'distinct' })
export const GROUP_EVENTS: NamedComponent = {
  name: 'GroupEvents',
  component: {
    type: 'string',
    description: 'Events `item` (data `Item`), `removed` (data `GroupRemoved`) and `reset` (data `GroupReset`).',
  },
  example:
    `: connected\nretry: 1000\n\nid: 40\n\nid: 41\nevent: item\ndata: ${JSON.stringify(ITEM.example)}\n\n` +
    `event: removed\ndata: ${JSON.stringify(GROUP_REMOVED.example)}\n\n` +
    `id: 41\nevent: reset\ndata: ${shownReset}\n\n: heartbeat\n\n`,
}

export const MEMBER_ITEMS: AnswerOf<Group.MemberItems> = answer('MemberItems', {
  items: list(ITEM),
  nextBefore: orNull(text()),
})
export const DELETED: AnswerOf<{ deleted: number }> = answer('Deleted', { deleted: count(3) })

/** Settings have a tag, which is the `ETag` of the answer too. */
export const tag = (example: string) =>
  text(example, 'For `If-Match`: changes with the settings, and with nothing but them.')

const times = { ttlSeconds: orNull(of(TTL_SECONDS)), forgetEmptySeconds: orNull(of(FORGET_EMPTY_SECONDS)) }
const settings = { ...ring, ...times }

export const GROUP: AnswerOf<Group.Group> = answer('Group', {
  group: name('article:42'),
  ...settings,
  own: some(settings, 'Only the settings that the group has itself, in the form that PUT takes.'),
  policy: shown(null, 'The prefix of the policy that gives the other settings; null if they are the defaults.'),
  tag: tag('c2oJeOe5zmHNIUFyGWKbxw'),
  totalAppended: total('42'),
  createdAt: time('2026-11-20T08:30:00.000Z'),
})
export const GROUP_PAGE: AnswerOf<Group.GroupPage> = answer('GroupPage', {
  groups: list(GROUP),
  nextAfter: orNull(text()),
})

export const POLICY: AnswerOf<Group.Policy> = answer('Policy', {
  prefix: name('article:'),
  ...{ capacity: of(CAPACITY, 50), mode: of(MODE, 'distinct'), ...times },
  tag: tag('mUf4e8kBVnVnAIrKzMYSBA'),
})
export const LOSSES: AnswerOf<Group.Losses> = answer('Losses', {
  groups: count(7500, 'The number of groups that the settings are for.'),
  losingGroups: count(2),
  items: count(12),
  isExact: truth(true, 'False where there is too much to count: then `losingGroups` and `items` are upper bounds.'),
})
export const POLICY_PAGE: AnswerOf<Group.PolicyPage> = answer('PolicyPage', {
  policies: list(POLICY),
  nextAfter: orNull(text()),
})
