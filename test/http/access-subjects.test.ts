/** The facts of a request that an `access` function gets: of every route, by every way to say a name. */
import type { Request } from 'express'
import type { RequestSubjects } from '../../src'
import { SCOPES } from '../../src/fields/keys'
import { storeRoutes } from '../../src/http/router'
import { KINDS } from '../../src/http/subjects'
import { type Client, memoryStore, send } from './support/client'
import { mounted } from './support/mounting'

type Told = [scope: string, operation: string, subjects: Record<string, string[]>]

/** The lists that are not empty, the prefixes with a star. */
function shortOf(subjects: RequestSubjects): Record<string, string[]> {
  const short: Record<string, string[]> = {}
  for (const kind of KINDS) {
    const { names, prefixes } = subjects[kind]
    const all = [...names, ...prefixes.map((prefix) => `${prefix}*`)]
    if (all.length > 0) short[kind] = all
  }
  return short
}

describe('an access function gets', () => {
  const told: Told[] = []
  let client: Client
  beforeAll(async () => {
    const access = (_request: Request, scope: string, subjects: RequestSubjects) => {
      told.push([scope, subjects.operation, shortOf(subjects)])
      return false
    }
    client = await mounted(await memoryStore(), { access })
  })
  beforeEach(() => {
    told.length = 0
  })

  const queue = { queues: ['a:q'] }
  const feed = { feeds: ['a:f'] }
  const handles = { receiptHandles: ['x'] }
  const group = { groups: ['a:g'] }
  const CALLS: [method: string, path: string, json: unknown, ...Told][] = [
    ['POST', '/v1/groups/a:g/items', { member: 'm' }, 'append', 'appendItem', { ...group, members: ['m'] }],
    ['POST', '/v1/groups/%61%3Ag/items', {}, 'append', 'appendItem', group],
    ['POST', '/v1/groups/%F0%9F%98%80%2F+%25/items', {}, 'append', 'appendItem', { groups: ['😀/+%'] }],
    ['GET', '/v1/groups/%61:%67/items', null, 'read', 'recentItems', group],
    [
      'GET',
      '/v1/groups/a:g/items?exclude=m&exclude=%6E',
      null,
      'read',
      'recentItems',
      { ...group, members: ['m', 'n'] },
    ],
    ['DELETE', '/v1/groups/a:g/items', null, 'append', 'clearGroup', group],
    ['POST', '/v1/groups/a:g/scores', { member: 'm', by: 1 }, 'append', 'changeScore', { ...group, members: ['m'] }],
    ['GET', '/v1/groups/%61:g/items/1', null, 'read', 'getItem', group],
    ['DELETE', '/v1/groups/a:g/items/1', null, 'append', 'removeItem', group],
    [
      'POST',
      '/v1/items',
      { items: [{ group: 'a:g' }, { group: '\u0062', member: 'm' }, { group: 'a:g', member: 'm' }] },
      'append',
      'appendItems',
      { groups: ['a:g', 'b'], members: ['m'] },
    ],
    [
      'GET',
      '/v1/items?group=a:g&gro%75p=%62+c&exclude=m',
      null,
      'read',
      'recentItemsOfMany',
      { groups: ['a:g', 'b c'], members: ['m'] },
    ],
    ['GET', '/v1/groups', null, 'read', 'listGroups', { groups: ['*'] }],
    ['GET', '/v1/groups?prefix=', null, 'read', 'listGroups', { groups: ['*'] }],
    ['GET', '/v1/groups?%70refix=%61:', null, 'read', 'listGroups', { groups: ['a:*'] }],
    ['GET', '/v1/groups/a:g', null, 'read', 'getGroup', group],
    ['PUT', '/v1/groups/a:g', {}, 'admin', 'putGroup', group],
    ['PATCH', '/v1/groups/a:g', {}, 'admin', 'updateGroup', group],
    ['POST', '/v1/groups/a:g/losses', {}, 'read', 'groupLosses', group],
    ['DELETE', '/v1/groups/a:g', null, 'admin', 'dropGroup', group],
    ['GET', '/v1/groups/%61:g/stream', null, 'read', 'streamGroup', group],
    ['GET', '/v1/members/%6D/items', null, 'read', 'memberItems', { members: ['m'], groups: ['*'] }],
    ['GET', '/v1/members/m/items?prefix=a:', null, 'read', 'memberItems', { members: ['m'], groups: ['a:*'] }],
    ['DELETE', '/v1/members/m/items?prefix=a:', null, 'admin', 'eraseMember', { members: ['m'], groups: ['a:*'] }],
    ['GET', '/v1/policies?prefix=a', null, 'read', 'listPolicies', { policies: ['a*'] }],
    ['GET', '/v1/policies/a:', null, 'read', 'getPolicy', { policies: ['a:'], groups: ['a:*'] }],
    [
      'PUT',
      '/v1/policies/%61:',
      { capacity: 1, mode: 'history' },
      'admin',
      'putPolicy',
      { policies: ['a:'], groups: ['a:*'] },
    ],
    ['PATCH', '/v1/policies/a:', {}, 'admin', 'updatePolicy', { policies: ['a:'], groups: ['a:*'] }],
    ['POST', '/v1/policies/a:/losses', {}, 'read', 'policyLosses', { policies: ['a:'], groups: ['a:*'] }],
    ['DELETE', '/v1/policies/a:', null, 'admin', 'dropPolicy', { policies: ['a:'], groups: ['a:*'] }],
    [
      'GET',
      '/v1/overview?prefix=a:',
      null,
      'read',
      'getOverview',
      { queues: ['a:*'], schedules: ['a:*'], feeds: ['a:*'] },
    ],
    ['GET', '/v1/queues?prefix=a:', null, 'read', 'listQueues', { queues: ['a:*'] }],
    ['GET', '/v1/queues/%61:q', null, 'read', 'getQueue', queue],
    ['PUT', '/v1/queues/a:q', { deadLetterQueue: 'b' }, 'admin', 'putQueue', { queues: ['a:q', 'b'] }],
    ['PUT', '/v1/queues/a:q', undefined, 'admin', 'putQueue', queue],
    ['PATCH', '/v1/queues/a:q', { deadLetterQueue: 'b' }, 'admin', 'updateQueue', { queues: ['a:q', 'b'] }],
    ['POST', '/v1/queues/%61:q/pause', undefined, 'admin', 'pauseQueue', queue],
    ['POST', '/v1/queues/a:q/resume', undefined, 'admin', 'resumeQueue', queue],
    ['POST', '/v1/queues/a:q/hold', { seconds: 0 }, 'queue', 'holdQueue', queue],
    ['DELETE', '/v1/queues/a:q', null, 'admin', 'dropQueue', queue],
    ['GET', '/v1/queues/a:q/errors?from=b', null, 'read', 'queueErrors', { queues: ['a:q', 'b'] }],
    ['GET', '/v1/queues/a:q/history', null, 'read', 'queueHistory', queue],
    ['GET', '/v1/queues/a:q/receivers', null, 'read', 'queueReceivers', queue],
    ['POST', '/v1/queues/a:q/redrive', { from: 'b' }, 'admin', 'redriveQueue', { queues: ['a:q', 'b', '*'] }],
    ['POST', '/v1/queues/a:q/redrive', {}, 'admin', 'redriveQueue', { queues: ['a:q', '*'] }],
    ['POST', '/v1/queues/a:q/promote', { ids: ['1'] }, 'admin', 'promoteMessages', queue],
    ['POST', '/v1/queues/a:q/purge', undefined, 'admin', 'purgeQueue', queue],
    ['POST', '/v1/queues/a:q/messages', { body: 1 }, 'queue', 'sendMessages', queue],
    ['GET', '/v1/queues/a:q/messages', null, 'read', 'peekMessages', queue],
    ['GET', '/v1/queues/a:q/messages/1', null, 'read', 'getMessage', queue],
    ['DELETE', '/v1/queues/a:q/messages/1', null, 'admin', 'removeMessage', queue],
    ['DELETE', '/v1/queues/a:q/keys/k', null, 'queue', 'cancelMessage', queue],
    ['POST', '/v1/queues/a:q/receive', {}, 'queue', 'receiveMessages', queue],
    ['POST', '/v1/queues/a:q/cycle', {}, 'queue', 'cycleMessages', queue],
    ['POST', '/v1/queues/a:q/ack', handles, 'queue', 'ackMessages', queue],
    ['POST', '/v1/queues/a:q/nack', handles, 'queue', 'nackMessages', queue],
    ['POST', '/v1/queues/a:q/extend', { ...handles, visibilityTimeoutSeconds: 1 }, 'queue', 'extendMessages', queue],
    ['GET', '/v1/schedules?prefix=a:', null, 'read', 'listSchedules', { schedules: ['a:*'], queues: ['*'] }],
    ['GET', '/v1/schedules/%61:s', null, 'read', 'getSchedule', { schedules: ['a:s'], queues: ['*'] }],
    [
      'PUT',
      '/v1/schedules/a:s',
      { queue: 'a:q', everySeconds: 1, body: 1 },
      'admin',
      'putSchedule',
      { schedules: ['a:s'], queues: ['a:q'] },
    ],
    ['PATCH', '/v1/schedules/a:s', {}, 'admin', 'updateSchedule', { schedules: ['a:s'], queues: ['*'] }],
    [
      'PATCH',
      '/v1/schedules/a:s',
      { queue: 'a:q' },
      'admin',
      'updateSchedule',
      { schedules: ['a:s'], queues: ['a:q', '*'] },
    ],
    ['DELETE', '/v1/schedules/a:s', null, 'admin', 'dropSchedule', { schedules: ['a:s'], queues: ['*'] }],
    ['GET', '/v1/feeds?prefix=a:', null, 'read', 'listFeeds', { feeds: ['a:*'] }],
    ['GET', '/v1/feeds/%61:f', null, 'read', 'getFeedStatus', feed],
    ['DELETE', '/v1/feeds/a:f', null, 'admin', 'dropFeed', feed],
    [
      'POST',
      '/v1/feeds/a:f/republish',
      { keys: ['k', 'l'] },
      'feed',
      'republishEntries',
      { ...feed, entries: ['k', 'l'] },
    ],
    ['POST', '/v1/feeds/a:f/republish', { prefix: 'k' }, 'feed', 'republishEntries', { ...feed, entries: ['k*'] }],
    ['GET', '/v1/feeds/a:f/entries/%6B', null, 'feed', 'getEntry', { ...feed, entries: ['k'] }],
    ['PUT', '/v1/feeds/a:f/entries/k', { value: 1 }, 'feed', 'putEntry', { ...feed, entries: ['k'] }],
    ['DELETE', '/v1/feeds/a:f/entries/k', null, 'feed', 'deleteEntry', { ...feed, entries: ['k'] }],
    [
      'POST',
      '/v1/feeds/a:f/entries',
      { entries: [{ key: 'k', value: 1 }] },
      'feed',
      'putEntries',
      { ...feed, entries: ['k'] },
    ],
    ['GET', '/v1/feeds/a:f/changes', null, 'feed', 'getChanges', feed],
    ['GET', '/v1/feeds/a:f/changes?consumer=%63', null, 'feed', 'getChanges', { ...feed, consumers: ['c'] }],
    ['GET', '/v1/feeds/a:f/consumers/c', null, 'feed', 'getCursor', { ...feed, consumers: ['c'] }],
    ['PUT', '/v1/feeds/a:f/consumers/c', { cursor: '1' }, 'feed', 'moveCursor', { ...feed, consumers: ['c'] }],
    ['DELETE', '/v1/feeds/a:f/consumers/c', null, 'feed', 'dropCursor', { ...feed, consumers: ['c'] }],
  ]

  test.each(CALLS)('%s %s %j', async (method, path, json, scope, operation, subjects) => {
    const sent = json === null || json === undefined ? {} : { json }
    expect((await client.request(method, path, sent)).status).toBe(403)
    expect(told).toEqual([[scope, operation, subjects]])
  })

  test('of a PUT that only creates a queue: the scope queue', async () => {
    const sent = { json: { deadLetterQueue: 'b' }, headers: { 'If-None-Match': '*' } }
    expect((await client.request('PUT', '/v1/queues/a:q', sent)).status).toBe(403)
    expect(told).toEqual([['queue', 'putQueue', { queues: ['a:q', 'b'] }]])
  })

  test('of every route', () => {
    const tried = new Set(['getAccess', ...CALLS.map(([, , , , operation]) => operation)])
    expect(storeRoutes.map(({ id }) => id).filter((id) => !tried.has(id))).toEqual([])
  })

  test('of a request for its own scopes: once for each scope, and no names', async () => {
    expect((await client.get('/v1/access')).json).toEqual({ scopes: [], prefix: null })
    expect(told).toEqual(SCOPES.map((scope) => [scope, 'getAccess', {}]))
  })

  test('of the document, which is about nothing', async () => {
    expect((await send(client.url, 'GET', '/activity/openapi.json', {})).status).toBe(403)
    expect(told).toEqual([['read', 'openapi', {}]])
  })

  test('once of a request that is not valid, by what its path and query say', async () => {
    const sent = { body: '{', headers: { 'Content-Type': 'text/plain' } }
    expect((await client.request('POST', '/v1/groups/g/items?x=1', sent)).status).toBe(403)
    expect((await client.request('POST', '/v1/groups/g/items', { body: `"${'x'.repeat(2 ** 20)}"` })).status).toBe(403)
    expect((await client.request('POST', '/v1/items', { json: { items: [{ group: 7 }] } })).status).toBe(403)
    expect((await client.get('/v1/items')).status).toBe(403)
    expect(told.map(([, , subjects]) => subjects)).toEqual([{ groups: ['g'] }, { groups: ['g'] }, {}, {}])
  })
})
