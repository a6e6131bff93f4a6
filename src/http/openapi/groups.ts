/** What the OpenAPI document says of groups, their items and policies: the schemas of the answers, and an example of each body. */
import { orNull, ref, type Schema } from '../../fields/field'
import * as fields from '../../fields/groups'
import { schemaOf } from '../dto/dto'
import * as dto from '../dto/groups'
import {
  answer,
  anyJson,
  componentsOf,
  count,
  list,
  nameOrNull,
  pageOf,
  tag,
  textOrNull,
  timeOrNull,
  truth,
} from './shapes'

const settings = {
  ...schemaOf(dto.OwnSettingsDto).properties,
  capacity: fields.CAPACITY.schema,
  mode: fields.MODE.schema,
}
const { capacity, mode } = settings

export const groupSchemas: Readonly<Record<string, Schema>> = {
  ...componentsOf(dto.NewItemDto, dto.NewGroupItemDto, dto.BatchDto),
  Item: answer({
    group: ref('Name'),
    id: ref('Id'),
    slot: { ...count, description: 'The position in the ring, from 0 to capacity - 1.' },
    member: nameOrNull,
    payload: anyJson,
    occurredAt: timeOrNull,
    eventId: nameOrNull,
    createdAt: ref('Time'),
  }),
  Appended: answer({
    items: list(
      answer({
        group: ref('Name'),
        id: ref('Id'),
        slot: count,
        appended: truth(
          'False: an item with this `eventId` was there already; `id` and `slot` are those of that item.',
        ),
      }),
    ),
  }),
  Recent: answer({
    group: ref('Name'),
    capacity,
    mode,
    totalAppended: ref('TotalAppended'),
    items: list(ref('Item')),
    nextBefore: orNull(ref('Id')),
  }),
  RecentMany: answer({ groups: list(ref('Recent')) }),
  GroupEvents: {
    type: 'string',
    description: 'Events `item` (data `Item`), `removed` (data `GroupRemoved`) and `reset` (data `GroupReset`).',
  },
  GroupRemoved: answer({ id: ref('Id') }),
  GroupReset: answer({ group: ref('Name'), capacity, mode, totalAppended: ref('TotalAppended') }),
  MemberItems: answer({ items: list(ref('Item')), nextBefore: textOrNull }),
  ...componentsOf(dto.OwnSettingsDto, dto.GroupChangesDto, dto.PolicySettingsDto, dto.PolicyChangesDto),
  Group: answer({
    group: ref('Name'),
    ...settings,
    own: {
      type: 'object',
      description: 'Only the settings that the group has itself, in the form that PUT takes.',
      properties: settings,
    },
    policy: {
      ...nameOrNull,
      description: 'The prefix of the policy that gives the other settings; null if they are the defaults.',
    },
    tag,
    totalAppended: ref('TotalAppended'),
    createdAt: ref('Time'),
  }),
  GroupPage: pageOf('groups', 'Group'),
  Policy: answer({ prefix: ref('Name'), ...settings, tag }),
  PolicyPage: pageOf('policies', 'Policy'),
}

export const newItem = {
  member: 'user-7',
  payload: { action: 'view', from: 'newsletter' },
  occurredAt: '2026-11-21T10:00:00Z',
  eventId: 'view-8f14e45f',
}

export const item = {
  group: 'article:42',
  id: '41',
  slot: 1,
  member: 'user-7',
  payload: { action: 'view', from: 'newsletter' },
  occurredAt: '2026-11-21T10:00:00.000Z',
  eventId: 'view-8f14e45f',
  createdAt: '2026-11-21T10:00:00.250Z',
}

export const batch = {
  items: [
    { group: 'article:42', member: 'user-7' },
    { group: 'article:43', member: 'user-7', payload: [1, 2] },
    { group: 'article:42' },
  ],
}

export const appended = {
  items: [
    { group: 'article:42', id: '42', slot: 2, appended: true },
    { group: 'article:43', id: '0', slot: 0, appended: true },
    { group: 'article:42', id: '43', slot: 3, appended: true },
  ],
}

export const knownAlready = { items: [{ group: 'article:42', id: '41', slot: 1, appended: false }] }

const page = { group: 'article:42', capacity: 10, mode: 'history', totalAppended: '42', items: [item] }

export const recent = { ...page, nextBefore: '41' }

export const recentMany = {
  groups: [
    { ...page, nextBefore: null },
    { ...page, group: 'article:43', totalAppended: '0', items: [], nextBefore: null },
  ],
}

export const groupEvents =
  `: connected\nretry: 1000\n\nid: 40\n\nid: 41\nevent: item\ndata: ${JSON.stringify(item)}\n\n` +
  'event: removed\ndata: {"id":"40"}\n\n' +
  'id: 41\nevent: reset\ndata: {"group":"article:42","capacity":50,"mode":"distinct","totalAppended":"42"}\n\n: heartbeat\n\n'

export const deleted = { deleted: 3 }

export const group = {
  group: 'article:42',
  capacity: 10,
  mode: 'history',
  ttlSeconds: null,
  forgetEmptySeconds: null,
  own: {},
  policy: null,
  tag: 'c2oJeOe5zmHNIUFyGWKbxw',
  totalAppended: '42',
  createdAt: '2026-11-20T08:30:00.000Z',
}

export const groupChanges = { capacity: 50 }

export const ownSettings = { capacity: 50, mode: 'distinct', ttlSeconds: 86400 }

/** What a group with them has. */
export const settled = { ...group, ...ownSettings, own: ownSettings }

export const updated = { ...group, ...groupChanges, own: groupChanges }

export const groupPage = { groups: [group], nextAfter: null }

export const memberItems = { items: [item], nextBefore: null }

export const policySettings = { capacity: 50, mode: 'distinct', ttlSeconds: null, forgetEmptySeconds: null }

export const policyChanges = { capacity: 50 }

export const policy = { prefix: 'article:', ...policySettings, tag: 'mUf4e8kBVnVnAIrKzMYSBA' }

export const policyPage = { policies: [policy], nextAfter: null }
