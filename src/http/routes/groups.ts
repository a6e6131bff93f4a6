/** `/v1/groups` and `/v1/groups/{group}`: listing groups, and their settings. */
import { GROUP, GROUP_PAGE, LOSSES } from '../../fields/answers-groups'
import { GroupChangesDto, OwnSettingsDto } from '../../fields/groups'
import { nameParameter } from '../input/parameters'
import { bodyOf } from '../input/read'
import { found, gone, putSettings, type Route, route, settingsAnswer } from '../route'
import { pathName } from '../subjects'
import { listing } from './listing'

const onGroup = {
  path: '/v1/groups/{group}',
  tag: 'Groups',
  about: pathName('groups', 'group'),
  pathParameters: { group: nameParameter('The group.', 'article:42') },
}

const list = listing('groups', {
  id: 'listGroups',
  tag: 'Groups',
  summary: 'List groups by name',
  prefix: 'article:',
  after: 'article:42',
  shape: GROUP_PAGE,
  page: (store, query) => store.groups.list(query),
})

const get = route({
  ...onGroup,
  method: 'get',
  scope: 'read',
  id: 'getGroup',
  summary: 'Read a group: its settings in force, its own settings, and how often it was appended to',
  outcomes: { 200: { description: 'The group.', shape: GROUP } },
  refusals: ['group_not_found'],
  hasSettings: true,
  async handle(store, { path: { group }, within }) {
    const there = found(await store.groups.get(group), 'group_not_found')
    return settingsAnswer(there, GROUP.json(there, within))
  },
})

const ownSettings = { capacity: 50, mode: 'distinct', ttlSeconds: 86400 }
/** A group with them. */
const settled = { ...GROUP.example, ...ownSettings, own: ownSettings }
const groupChanges = { capacity: 50 }

const put = route({
  ...onGroup,
  method: 'put',
  scope: 'admin',
  body: { ...bodyOf(OwnSettingsDto, ownSettings), optional: true },
  id: 'putGroup',
  summary: "Create a group, or replace a group's own settings",
  description:
    'A setting that is left out follows the policy. Items inside the new window stay. With `ttlSeconds` null, items never expire; with `forgetEmptySeconds` null, an empty group stays.',
  outcomes: {
    200: { description: 'The settings were replaced.', shape: GROUP, example: settled },
    201: {
      description: 'The group was created.',
      shape: GROUP,
      example: { ...settled, totalAppended: '0' },
      located: 'always',
    },
  },
  hasSettings: true,
  handle: (store, { path: { group }, body, within, ...conditions }) =>
    putSettings(
      conditions,
      (options) => store.groups.put(group, body, options),
      () => store.groups.ensure(group, body),
      (settled) => GROUP.json(settled, within),
      `/v1/groups/${encodeURIComponent(group)}`,
    ),
})

const update = route({
  ...onGroup,
  method: 'patch',
  scope: 'admin',
  body: bodyOf(GroupChangesDto, groupChanges),
  id: 'updateGroup',
  summary: "Change some of a group's own settings",
  description: 'A setting that is left out stays as it is; with null it follows the policy again.',
  outcomes: {
    200: {
      description: 'The group as it is now.',
      shape: GROUP,
      example: { ...GROUP.example, ...groupChanges, own: groupChanges },
    },
  },
  refusals: ['group_not_found'],
  hasSettings: true,
  async handle(store, { path: { group }, body, within, ifTag }) {
    const settled = await store.groups.update(group, body, { ifTag })
    return settingsAnswer(settled, GROUP.json(settled, within))
  },
})

const forget = route({
  ...onGroup,
  method: 'delete',
  scope: 'admin',
  id: 'deleteGroup',
  summary: 'Delete a group with its items',
  description: 'A later group of the same name is a new group, whose ids begin at "0".',
  outcomes: { 204: { description: 'The group is deleted.' } },
  refusals: ['group_not_found'],
  handle: async (store, { path: { group } }) => gone(await store.groups.drop(group), 'group_not_found'),
})

const losses = route({
  ...onGroup,
  method: 'post',
  path: `${onGroup.path}/losses`,
  scope: 'read',
  body: { ...bodyOf(OwnSettingsDto, ownSettings), optional: true },
  id: 'groupLosses',
  summary: "Count what a change of a group's own settings would remove",
  description: 'The number of items that `putGroup` would remove with these settings. Nothing changes.',
  outcomes: {
    200: { description: 'The numbers.', shape: LOSSES, example: { ...LOSSES.example, groups: 1, losingGroups: 1 } },
  },
  handle: async (store, { path: { group }, body }) => LOSSES.json(await store.groups.losses(group, body)),
})

export const groupRoutes: readonly Route[] = [list, get, put, update, losses, forget]
