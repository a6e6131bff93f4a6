/** `/v1/policies`: the settings of all groups whose names begin with a prefix. */
import { policyBody } from '../../results/groups'
import { NewPolicyDto } from '../dto/groups'
import { nameParameter } from '../input/parameters'
import { bodyOf } from '../input/read'
import * as example from '../openapi/groups'
import { found, gone, type Route, route, stored } from '../route'
import type { Subject } from '../subjects'
import { listing } from './listing'

function policyInPath({ path: { prefix } }: { path: { prefix: string } }): Subject[] {
  return [
    { kind: 'policies', name: prefix, parameter: 'prefix' },
    { kind: 'groups', prefix },
  ]
}

const onPolicy = {
  path: '/v1/policies/{prefix}',
  tag: 'Policies',
  about: policyInPath,
  pathParameters: { prefix: nameParameter("The prefix of the groups' names.", 'article:') },
}

const list = listing('policies', {
  id: 'listPolicies',
  tag: 'Policies',
  summary: 'List policies by prefix',
  prefix: 'article:',
  after: 'article:',
  schema: 'PolicyPage',
  example: example.policyPage,
  async page(store, query) {
    const { policies, nextAfter } = await store.groups.listPolicies(query)
    return JSON.stringify({ policies: policies.map(policyBody), nextAfter })
  },
})

const get = route({
  ...onPolicy,
  method: 'get',
  scope: 'read',
  id: 'getPolicy',
  summary: 'Read a policy',
  outcomes: { 200: { description: 'The policy.', schema: 'Policy', example: example.policy } },
  refusals: ['policy_not_found'],
  handle: async (store, { path: { prefix } }) =>
    JSON.stringify(policyBody(found(await store.groups.getPolicy(prefix), 'policy_not_found'))),
})

const put = route({
  ...onPolicy,
  method: 'put',
  scope: 'admin',
  body: bodyOf(NewPolicyDto, example.policySettings),
  id: 'putPolicy',
  creates: 'policies',
  summary: 'Create or replace a policy',
  description:
    'The policy with the longest prefix applies. It applies at once to groups that are created after the answer, and within ' +
    '5 seconds to reads of existing groups.',
  outcomes: {
    200: { description: 'The policy was replaced.', schema: 'Policy', example: example.policy },
    201: { description: 'The policy was created.', schema: 'Policy', example: example.policy, located: 'always' },
  },
  refusals: ['settings_changed', 'too_many'],
  async handle(store, { path: { prefix }, body: { replaces, ...settings } }) {
    const policy = await store.groups.putPolicy(prefix, settings, { replaces })
    return stored(policy.created, JSON.stringify(policyBody(policy)), `/v1/policies/${encodeURIComponent(prefix)}`)
  },
})

const remove = route({
  ...onPolicy,
  method: 'delete',
  scope: 'admin',
  id: 'deletePolicy',
  summary: 'Delete a policy',
  description: 'Its groups follow the next shorter prefix, or the defaults.',
  outcomes: { 204: { description: 'The policy is deleted.' } },
  refusals: ['policy_not_found'],
  handle: async (store, { path: { prefix } }) => gone(await store.groups.deletePolicy(prefix), 'policy_not_found'),
})

export const policyRoutes: readonly Route[] = [list, get, put, remove]
