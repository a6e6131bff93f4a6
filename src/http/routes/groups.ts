/** `/v1/groups` and `/v1/groups/{group}`: listing groups, and their settings. */
import { NEW_SETTINGS } from '../../fields/groups'
import { renderGroup, renderGroupPage } from '../../results/groups'
import { nameParameter, pageParameters, prefixParameter } from '../input/parameters'
import { bodyOf } from '../input/read'
import * as example from '../openapi/groups'
import { found, gone, ok, type Route, route, stored } from '../route'
import { listed, narrowed, pathName } from '../subjects'

const path = '/v1/groups/{group}'
const onGroup = {
  about: pathName('groups', 'group'),
  pathParameters: { group: nameParameter('The group.', 'article:42') },
}

const list = route({
  method: 'get',
  path: '/v1/groups',
  scope: 'read',
  about: listed('groups'),
  queryParameters: {
    prefix: prefixParameter('Return only groups whose names begin with this.', 'article:'),
    ...pageParameters('article:42'),
  },
  operation: {
    id: 'listGroups',
    tag: 'Groups',
    summary: 'List groups by name',
    outcomes: { 200: { description: 'A page of groups.', schema: 'GroupPage', example: example.groupPage } },
  },
  async handle(store, { query, within }) {
    const prefix = narrowed(query.prefix, within)
    if (prefix === null) return ok(renderGroupPage({ groups: [], nextAfter: null }, within))
    return ok(renderGroupPage(await store.groups.list({ ...query, prefix }), within))
  },
})

const get = route({
  ...onGroup,
  method: 'get',
  path,
  scope: 'read',
  operation: {
    id: 'getGroup',
    tag: 'Groups',
    summary: 'Read a group: its settings in force, its own settings, and how often it was appended to',
    outcomes: { 200: { description: 'The group.', schema: 'Group', example: example.group } },
    refusals: ['group_not_found'],
  },
  async handle(store, { path: { group }, within }) {
    return ok(renderGroup(found(await store.groups.get(group), 'group_not_found'), within))
  },
})

const put = route({
  ...onGroup,
  method: 'put',
  path,
  scope: 'admin',
  body: { ...bodyOf(NEW_SETTINGS, example.ownSettings), optional: true },
  operation: {
    id: 'putGroup',
    tag: 'Groups',
    summary: "Create a group, or replace a group's own settings",
    description:
      'A setting that is left out follows the policy. Items inside the new window stay. With `ttlSeconds` null, items never expire.',
    outcomes: {
      200: { description: 'The settings were replaced.', schema: 'Group', example: example.settled },
      201: {
        description: 'The group was created.',
        schema: 'Group',
        example: { ...example.settled, totalAppended: '0' },
        located: 'always',
      },
    },
    refusals: ['settings_changed'],
  },
  async handle(store, { path: { group }, body: { replaces, ...settings }, within }) {
    const settled = await store.groups.put(group, settings, { replaces })
    return stored(settled.created, renderGroup(settled, within), `/v1/groups/${encodeURIComponent(group)}`)
  },
})

const forget = route({
  ...onGroup,
  method: 'delete',
  path,
  scope: 'admin',
  operation: {
    id: 'deleteGroup',
    tag: 'Groups',
    summary: 'Delete a group with its items',
    description: 'A later group of the same name is a new group, whose ids begin at "0".',
    outcomes: { 204: { description: 'The group is deleted.' } },
    refusals: ['group_not_found'],
  },
  async handle(store, { path: { group } }) {
    return gone(await store.groups.delete(group), 'group_not_found')
  },
})

export const groupRoutes: readonly Route[] = [list, get, put, forget]
