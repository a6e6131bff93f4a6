/** `/v1/policies`: the settings of all groups whose names begin with a prefix. */
import { NEW_POLICY } from '../../fields/groups'
import { policyBody } from '../../results/groups'
import { nameParameter, pageParameters, prefixParameter } from '../input/parameters'
import { bodyOf } from '../input/read'
import * as example from '../openapi/groups'
import { found, gone, ok, type Route, route, stored } from '../route'
import { listed, narrowed, type Subject } from '../subjects'

const path = '/v1/policies/{prefix}'
const pathParameters = { prefix: nameParameter("The prefix of the groups' names.", 'article:') }

/** A policy and its groups. */
function policyInPath({ path: { prefix } }: { path: { prefix: string } }): Subject[] {
  return [
    { kind: 'policies', name: prefix, parameter: 'prefix' },
    { kind: 'groups', prefix },
  ]
}

const onPolicy = { about: policyInPath, pathParameters }

const list = route({
  method: 'get',
  path: '/v1/policies',
  scope: 'read',
  about: listed('policies'),
  queryParameters: {
    prefix: prefixParameter('Return only policies whose prefixes begin with this.', 'article:'),
    ...pageParameters('article:'),
  },
  operation: {
    id: 'listPolicies',
    tag: 'Policies',
    summary: 'List policies by prefix',
    outcomes: { 200: { description: 'A page of policies.', schema: 'PolicyPage', example: example.policyPage } },
  },
  async handle(store, { query, within }) {
    const prefix = narrowed(query.prefix, within)
    const { policies, nextAfter } =
      prefix === null ? { policies: [], nextAfter: null } : await store.groups.listPolicies({ ...query, prefix })
    return ok(JSON.stringify({ policies: policies.map(policyBody), nextAfter }))
  },
})

const get = route({
  ...onPolicy,
  method: 'get',
  path,
  scope: 'read',
  operation: {
    id: 'getPolicy',
    tag: 'Policies',
    summary: 'Read a policy',
    outcomes: { 200: { description: 'The policy.', schema: 'Policy', example: example.policy } },
    refusals: ['policy_not_found'],
  },
  async handle(store, { path: { prefix } }) {
    return ok(JSON.stringify(policyBody(found(await store.groups.getPolicy(prefix), 'policy_not_found'))))
  },
})

const put = route({
  ...onPolicy,
  method: 'put',
  path,
  scope: 'admin',
  body: bodyOf(NEW_POLICY, example.policySettings),
  operation: {
    id: 'putPolicy',
    tag: 'Policies',
    summary: 'Create or replace a policy',
    description:
      'The policy with the longest prefix applies. It applies at once to groups that are created after the answer, and within ' +
      '5 seconds to reads of existing groups.',
    outcomes: {
      200: { description: 'The policy was replaced.', schema: 'Policy', example: example.policy },
      201: { description: 'The policy was created.', schema: 'Policy', example: example.policy, located: 'always' },
    },
    refusals: ['settings_changed'],
  },
  async handle(store, { path: { prefix }, body: { replaces, ...settings } }) {
    const policy = await store.groups.putPolicy(prefix, settings, { replaces })
    return stored(policy.created, JSON.stringify(policyBody(policy)), `/v1/policies/${encodeURIComponent(prefix)}`)
  },
})

const remove = route({
  ...onPolicy,
  method: 'delete',
  path,
  scope: 'admin',
  operation: {
    id: 'deletePolicy',
    tag: 'Policies',
    summary: 'Delete a policy',
    description: 'Its groups follow the next shorter prefix, or the defaults.',
    outcomes: { 204: { description: 'The policy is deleted.' } },
    refusals: ['policy_not_found'],
  },
  async handle(store, { path: { prefix } }) {
    return gone(await store.groups.deletePolicy(prefix), 'policy_not_found')
  },
})

export const policyRoutes: readonly Route[] = [list, get, put, remove]
