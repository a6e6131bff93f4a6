/** `/v1/groups` and `/v1/groups/{group}`: listing groups, and their settings. */
import { GROUP, GROUP_PAGE, LOSSES } from '../../fields/answers-groups'
import { GroupChangesDto, OwnSettingsDto } from '../../fields/groups'
import { bodyOf } from '../input/read'
import { answering, type Route, tagged } from '../route'
import { listing } from './listing'
import { settingsRoutes } from './settings'

const list = listing('groups', {
  id: 'listGroups',
  summary: 'List groups by name',
  prefix: 'article:',
  after: 'article:42',
  shape: GROUP_PAGE,
  page: (store, query) => store.groups.list(query),
})

const ownSettings = { capacity: 50, mode: 'distinct', ttlSeconds: 86400 }
/** A group with them. */
const settled = { ...GROUP.example, ...ownSettings, own: ownSettings }
const groupChanges = { capacity: 50 }

const { get, put, update, drop } = settingsRoutes({
  noun: 'Group',
  path: '/v1/groups/{group}',
  calls: ({ groups }) => groups,
  shape: GROUP,
  status: GROUP,
  get: { summary: 'Read a group: its settings in force, its own settings, and how often it was appended to' },
  put: {
    summary: "Create a group, or replace a group's own settings",
    description:
      'A setting that is left out follows the policy. Items inside the new window stay. With `ttlSeconds` null, items never expire; with `forgetEmptySeconds` null, an empty group stays.',
    body: { ...bodyOf(OwnSettingsDto, ownSettings), optional: true },
    examples: [settled, { ...settled, totalAppended: '0' }],
  },
  update: {
    summary: "Change some of a group's own settings",
    description: 'A setting that is left out stays as it is; with null it follows the policy again.',
    body: bodyOf(GroupChangesDto, groupChanges),
    example: { ...GROUP.example, ...groupChanges, own: groupChanges },
  },
  drop: {
    summary: 'Drop a group with its items',
    description: 'A later group of the same name is a new group, whose ids begin at "0".',
  },
})

const losses = answering('POST /v1/groups/{group}/losses', {
  scope: 'read',
  body: { ...bodyOf(OwnSettingsDto, ownSettings), optional: true },
  id: 'groupLosses',
  summary: "Count what a change of a group's own settings would remove",
  description: 'The number of items that `putGroup` would remove with these settings. Nothing changes.',
  gives: [LOSSES, 'The numbers.', { ...LOSSES.example, groups: 1, losingGroups: 1 }],
  call: (store, { path: { group }, body }) => store.groups.losses(group, body),
})

export const groupRoutes: readonly Route[] = tagged('Groups', [list, get, put, update, losses, drop])
