/** `/v1/groups/{group}/items` and `/v1/items`: appending, reading and removing items. */
import { createHash } from 'node:crypto'
import { APPENDED, APPENDED_ITEM, DELETED, ITEM, RECENT, RECENT_MANY } from '../../fields/answers-groups'
import { BatchDto, MAX_EXCLUDED, MAX_GROUPS, NewItemDto, RECENT_LIMIT } from '../../fields/groups'
import { bounded } from '../../fields/options'
import { MAX_BATCH } from '../../fields/rules'
import type { Item, PayloadForm, Recent } from '../../shared/group-types'
import { idParameter, limitParameter, namesParameter, optional, payloadsParameter } from '../input/parameters'
import { bodyOf } from '../input/read'
import { type Answer, answering, type Route, removing, route, stored, tagged } from '../route'
import { named } from '../subjects'

/** An answer stops at about this many bytes. */
export const MAX_ANSWER_BYTES = 4 * 1024 * 1024

const limit = limitParameter(RECENT_LIMIT)
const exclude = namesParameter('Leave out the items of these members.', ['user-7'], 0, MAX_EXCLUDED)
const before = optional(
  idParameter(
    'Return only items with a smaller id, or in a `top` group behind as many: the `nextBefore` of the previous page.',
    '41',
  ),
)

const newItem = {
  member: 'user-7',
  payload: { action: 'view', from: 'newsletter' },
  occurredAt: '2026-11-21T10:00:00Z',
  eventId: 'view-8f14e45f',
}

const append = route('POST /v1/groups/{group}/items', {
  scope: 'append',
  body: {
    ...bodyOf(NewItemDto, newItem),
    about: ({ member }) => named('members', [member], { pointer: '/member' }),
  },
  id: 'appendItem',
  summary: 'Append an item',
  description:
    'A group that does not exist is created. If an item of the window has the `eventId`, nothing is appended, and the ' +
    'answer is that item with 200. In a `top` group it is the item whose score is not lower: of the member, or the last one ' +
    'of a full group.',
  outcomes: {
    200: { description: 'The item because of which it was not appended.', shape: ITEM },
    201: {
      description: 'The item is appended and committed.',
      shape: ITEM,
      located: 'always',
    },
  },
  refusals: ['sequence_exhausted'],
  async handle(store, { path, body }) {
    const item = await store.groups.append(path.group, body, { payloads: 'text' })
    return stored(
      item.appended,
      APPENDED_ITEM.json(item),
      `/v1/groups/${encodeURIComponent(path.group)}/items/${item.id}`,
    )
  },
})

const batch = {
  items: [
    { group: 'article:42', member: 'user-7' },
    { group: 'article:43', member: 'user-7', payload: [1, 2] },
    { group: 'article:42' },
  ],
}
const knownAlready = { items: [{ group: 'article:42', id: '41', slot: 1, appended: false }] }

const appendMany = route('POST /v1/items', {
  scope: 'append',
  body: {
    ...bodyOf(BatchDto, batch),
    at: '/items',
    about: ({ items }) =>
      items.flatMap(({ group, member }, i) => [
        ...named('groups', [group], { pointer: `/items/${i}/group` }),
        ...named('members', [member], { pointer: `/items/${i}/member` }),
      ]),
  },
  id: 'appendItems',
  summary: `Append up to ${MAX_BATCH} items to any groups`,
  description:
    'All items are appended in one commit, in the order given, or none. Where one is not appended because of another item, ' +
    'the answer has the place of that item, and `appended` is false.',
  outcomes: {
    200: { description: 'None of them was appended.', shape: APPENDED, example: knownAlready },
    201: { description: 'The id and slot of each item.', shape: APPENDED },
  },
  refusals: ['sequence_exhausted'],
  async handle(store, { body }) {
    const items = await store.groups.appendMany(body.items, { payloads: 'text' })
    return stored(
      items.some(({ appended }) => appended),
      APPENDED.json({ items }),
    )
  },
})

const recent = route('GET /v1/groups/{group}/items', {
  scope: 'read',
  about: ({ query }) => named('members', query.exclude, { parameter: 'exclude' }),
  queryParameters: { limit, before, exclude, payloads: payloadsParameter },
  id: 'recentItems',
  summary: 'Read the newest items of a group, newest first; of a `top` group those with the highest scores',
  description:
    'A group that does not exist has no items and `totalAppended` "0". A page stops at about 4 MiB. To read on, pass `nextBefore` ' +
    'as `before`; it is null when there are no older items.',
  outcomes: { 200: { description: 'The items.', shape: RECENT } },
  conditional: true,
  async handle(store, { path, query, knownTag }) {
    const options = bounded({ ...query, payloads: formOf(query) }, MAX_ANSWER_BYTES)
    if (knownTag === undefined) return recentAnswer(await store.groups.recent(path.group, options))
    const page = await store.groups.recentIfChanged(path.group, knownTag, options)
    return page === null ? { status: 304, tag: knownTag } : recentAnswer(page)
  },
})

/** Payloads are sent as the text that the store keeps. */
export function formOf({ payloads }: { payloads: 'value' | 'none' }): PayloadForm {
  return payloads === 'none' ? 'none' : 'text'
}

function recentAnswer(page: Recent): Answer {
  return { status: 200, body: RECENT.json(page), tag: page.tag }
}

const recentMany = route('GET /v1/items', {
  scope: 'read',
  about: ({ query }) => [
    ...named('groups', query.group, { parameter: 'group' }),
    ...named('members', query.exclude, { parameter: 'exclude' }),
  ],
  queryParameters: {
    group: namesParameter('The groups, each once.', ['article:42', 'article:43'], 1, MAX_GROUPS, { unique: true }),
    limit,
    exclude,
    payloads: payloadsParameter,
  },
  id: 'recentItemsOfMany',
  summary: `Read the newest items of up to ${MAX_GROUPS} groups, in the order given`,
  description:
    'Each group may be given once. The answer stops at about 4 MiB. Where a `nextBefore` is not null, read on with ' +
    '`/v1/groups/{group}/items`.',
  outcomes: { 200: { description: 'One entry for each group.', shape: RECENT_MANY } },
  conditional: true,
  async handle(store, { query: { group: groups, ...options } }) {
    const read = bounded({ ...options, payloads: formOf(options) }, MAX_ANSWER_BYTES)
    const pages = await store.groups.recentMany(groups, read)
    return { status: 200, body: recentManyText(pages, MAX_ANSWER_BYTES), tag: tagOfAll(pages) }
  },
})

/** The pages of several groups, in about `maxBytes` together, but with at least one item of each group that has items. */
function recentManyText(pages: Recent[], maxBytes: number): string {
  const whole = RECENT_MANY.json({ groups: pages })
  if (Buffer.byteLength(whole) <= maxBytes) return whole
  let left = maxBytes
  const groups = pages.map((page) => {
    const items: Item[] = []
    for (const item of page.items) {
      if (items.length > 0 && left <= 0)
        return { ...page, items, nextBefore: page.mode === 'top' ? BigInt(items.length) : (items.at(-1)?.id ?? null) }
      left -= Buffer.byteLength(ITEM.json(item))
      items.push(item)
    }
    return page
  })
  return RECENT_MANY.json({ groups })
}

function tagOfAll(pages: readonly Recent[]): string {
  const tags = pages.map((page) => page.tag).join('\n')
  return createHash('sha256').update(tags).digest('base64url').slice(0, 27)
}

const clear = answering('DELETE /v1/groups/{group}/items', {
  scope: 'append',
  id: 'clearGroup',
  summary: 'Remove all items of a group',
  description: 'New items continue the sequence of ids.',
  gives: [DELETED, 'The number of removed items.'],
  call: (store, { path }) => store.groups.clear(path.group),
})

const get = answering('GET /v1/groups/{group}/items/{id}', {
  scope: 'read',
  id: 'getItem',
  summary: 'Read one item',
  description: 'An item that has left the window of its group is not there any more.',
  gives: [ITEM, 'The item.'],
  absent: 'item_not_found',
  call: (store, { path: { group, id } }) => store.groups.item(group, id, { payloads: 'text' }),
})

const remove = removing('DELETE /v1/groups/{group}/items/{id}', {
  scope: 'append',
  id: 'removeItem',
  summary: 'Remove one item',
  description: 'Its id is never used again.',
  gives: 'The item is removed.',
  absent: 'item_not_found',
  call: (store, { path }) => store.groups.remove(path.group, path.id),
})

export const itemRoutes: readonly Route[] = tagged('Items', [
  append,
  recent,
  clear,
  get,
  remove,
  appendMany,
  recentMany,
])
