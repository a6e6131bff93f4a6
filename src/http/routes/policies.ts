/** `/v1/policies`: the settings of all groups whose names begin with a prefix. */
import { LOSSES, POLICY, POLICY_PAGE } from '../../fields/answers-groups'
import { PolicyChangesDto, PolicySettingsDto } from '../../fields/groups'
import { bodyOf } from '../input/read'
import { answering, type BodyReader, type Route, tagged } from '../route'
import { listing } from './listing'
import { settingsRoutes } from './settings'

const list = listing('policies', {
  id: 'listPolicies',
  summary: 'List policies by prefix',
  prefix: 'article:',
  after: 'article:',
  shape: POLICY_PAGE,
  page: (store, query) => store.policies.list(query),
})

const settingsBody = bodyOf(PolicySettingsDto, {
  capacity: 50,
  mode: 'distinct',
  ttlSeconds: null,
  forgetEmptySeconds: null,
})

const { get, put, update, drop } = settingsRoutes({
  noun: 'Policy',
  path: '/v1/policies/{prefix}',
  calls: ({ policies }) => policies,
  shape: POLICY,
  status: POLICY,
  get: { summary: 'Read a policy' },
  put: {
    summary: 'Create or replace a policy',
    description:
      'The policy with the longest prefix applies. It applies at once to groups that are created after the answer, and within ' +
      '5 seconds to reads of existing groups.',
    body: settingsBody,
    creates: 'policies',
    refusals: ['too_many'],
  },
  update: {
    summary: 'Change some settings of a policy',
    description: 'A setting that is left out stays as it is.',
    body: bodyOf(PolicyChangesDto, { capacity: 50 }),
  },
  drop: { summary: 'Drop a policy', description: 'Its groups follow the next shorter prefix, or the defaults.' },
})

/** Null for an empty body: the policy is dropped. */
const lossesBody: BodyReader<PolicySettingsDto | null> = {
  ...settingsBody,
  optional: true,
  read: (body, faults) => (isEmpty(body.value) ? null : settingsBody.read(body, faults)),
}
const isEmpty = (value: unknown) => typeof value === 'object' && value !== null && Object.keys(value).length === 0

const losses = answering('POST /v1/policies/{prefix}/losses', {
  scope: 'read',
  body: lossesBody,
  id: 'policyLosses',
  summary: 'Count what a change of a policy would remove',
  description:
    'Counts in all groups that the policy is for what `putPolicy` would remove with these settings or, without a body, what ' +
    '`dropPolicy` would. Nothing changes.',
  gives: [LOSSES, 'The numbers.'],
  call: (store, { path: { prefix }, body }) => store.policies.losses(prefix, body ?? undefined),
})

export const policyRoutes: readonly Route[] = tagged('Policies', [list, get, put, update, losses, drop])
