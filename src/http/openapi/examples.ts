/** One example of each body, for the OpenAPI document. */

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
    { group: 'article:42', id: '42', slot: 2 },
    { group: 'article:43', id: '0', slot: 0 },
    { group: 'article:42', id: '43', slot: 3 },
  ],
}

const page = { group: 'article:42', capacity: 10, mode: 'history', total: '42', items: [item] }

export const recent = { ...page, nextBefore: '41' }

export const recentMany = {
  groups: [page, { group: 'article:43', capacity: 10, mode: 'history', total: '0', items: [] }],
}

export const groupEvents =
  `: connected\nretry: 1000\n\nid: 40\n\nid: 41\nevent: item\ndata: ${JSON.stringify(item)}\n\n` +
  'event: removed\ndata: {"id":"40"}\n\n' +
  'id: 41\nevent: reset\ndata: {"group":"article:42","capacity":50,"mode":"distinct","total":"42"}\n\n: heartbeat\n\n'

export const deleted = { deleted: 3 }

export const access = { scopes: ['append', 'read'], prefix: null }

export const group = {
  group: 'article:42',
  capacity: 10,
  mode: 'history',
  ttlSeconds: null,
  own: {},
  policy: null,
  total: '42',
  createdAt: '2026-11-20T08:30:00.000Z',
}

export const ownSettings = { capacity: 50, mode: 'distinct', ttlSeconds: 86400 }

/** What a group with them has. */
export const settled = { ...group, ...ownSettings, own: ownSettings }

export const groupPage = { groups: [group], nextAfter: null }

export const memberItems = { items: [item], nextAfter: null }

export const policySettings = { capacity: 50, mode: 'distinct', ttlSeconds: null }

export const policy = { prefix: 'article:', ...policySettings }

export const policyPage = { policies: [policy], nextAfter: null }

export const problem = {
  type: '/docs/errors#invalid_input',
  title: 'The input is not valid',
  status: 400,
  detail: 'limit: must be a whole number from 1 to 10000',
  code: 'invalid_input',
  errors: [{ parameter: 'limit', detail: 'must be a whole number from 1 to 10000' }],
}
