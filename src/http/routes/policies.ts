/** `/v1/policies`: the settings of all groups whose names begin with a prefix. */
import { LOSSES, POLICY, POLICY_PAGE } from '../../fields/answers-groups'
import { PolicyChangesDto, PolicySettingsDto } from '../../fields/groups'
import { nameParameter } from '../input/parameters'
import { bodyOf } from '../input/read'
import { type BodyReader, found, gone, putSettings, type Route, route, settingsAnswer } from '../route'
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
  shape: POLICY_PAGE,
  page: (store, query) => store.policies.list(query),
})

const get = route({
  ...onPolicy,
  method: 'get',
  scope: 'read',
  id: 'getPolicy',
  summary: 'Read a policy',
  outcomes: { 200: { description: 'The policy.', shape: POLICY } },
  refusals: ['policy_not_found'],
  hasSettings: true,
  async handle(store, { path: { prefix } }) {
    const policy = found(await store.policies.get(prefix), 'policy_not_found')
    return settingsAnswer(policy, POLICY.json(policy))
  },
})

const settingsBody = bodyOf(PolicySettingsDto, {
  capacity: 50,
  mode: 'distinct',
  ttlSeconds: null,
  forgetEmptySeconds: null,
})

const put = route({
  ...onPolicy,
  method: 'put',
  scope: 'admin',
  body: settingsBody,
  id: 'putPolicy',
  creates: 'policies',
  summary: 'Create or replace a policy',
  description:
    'The policy with the longest prefix applies. It applies at once to groups that are created after the answer, and within ' +
    '5 seconds to reads of existing groups.',
  outcomes: {
    200: { description: 'The policy was replaced.', shape: POLICY },
    201: { description: 'The policy was created.', shape: POLICY, located: 'always' },
  },
  refusals: ['too_many'],
  hasSettings: true,
  handle: (store, { path: { prefix }, body, ...conditions }) =>
    putSettings(
      conditions,
      (options) => store.policies.put(prefix, body, options),
      () => store.policies.ensure(prefix, body),
      (policy) => POLICY.json(policy),
      `/v1/policies/${encodeURIComponent(prefix)}`,
    ),
})

const update = route({
  ...onPolicy,
  method: 'patch',
  scope: 'admin',
  body: bodyOf(PolicyChangesDto, { capacity: 50 }),
  id: 'updatePolicy',
  summary: 'Change some settings of a policy',
  description: 'A setting that is left out stays as it is.',
  outcomes: { 200: { description: 'The policy as it is now.', shape: POLICY } },
  refusals: ['policy_not_found'],
  hasSettings: true,
  async handle(store, { path: { prefix }, body, ifTag }) {
    const policy = await store.policies.update(prefix, body, { ifTag })
    return settingsAnswer(policy, POLICY.json(policy))
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
  handle: async (store, { path: { prefix } }) => gone(await store.policies.drop(prefix), 'policy_not_found'),
})

/** Null for an empty body: the policy is dropped. */
const lossesBody: BodyReader<PolicySettingsDto | null> = {
  ...settingsBody,
  optional: true,
  read: (body, faults) => (isEmpty(body.value) ? null : settingsBody.read(body, faults)),
}
const isEmpty = (value: unknown) => typeof value === 'object' && value !== null && Object.keys(value).length === 0

const losses = route({
  ...onPolicy,
  method: 'post',
  path: `${onPolicy.path}/losses`,
  scope: 'read',
  body: lossesBody,
  id: 'policyLosses',
  summary: 'Count what a change of a policy would remove',
  description:
    'Counts in all groups that the policy is for what `putPolicy` would remove with these settings or, without a body, what ' +
    '`deletePolicy` would. Nothing changes.',
  outcomes: { 200: { description: 'The numbers.', shape: LOSSES } },
  handle: async (store, { path: { prefix }, body }) =>
    LOSSES.json(await store.policies.losses(prefix, body ?? undefined)),
})

export const policyRoutes: readonly Route[] = [list, get, put, update, losses, remove]
