/** `/v1/groups/{group}/items` and `/v1/items`: appending, reading and removing items. */
import { createHash } from 'node:crypto'
import { MAX_EXCLUDED, MAX_GROUPS, RECENT_LIMIT } from '../../fields/groups'
import { bounded } from '../../fields/options'
import { MAX_BATCH } from '../../fields/rules'
import { renderAppended, renderItem, renderRecent, renderRecentMany } from '../../results/groups'
import type { PayloadForm, Recent } from '../../shared/group-types'
import { BatchDto, NewItemDto } from '../dto/groups'
import {
  idParameter,
  limitParameter,
  nameParameter,
  namesParameter,
  optional,
  payloadsParameter,
} from '../input/parameters'
import { bodyOf } from '../input/read'
import * as example from '../openapi/groups'
import { type Answer, found, gone, type Route, route, stored } from '../route'
import { named, pathName } from '../subjects'

/** An answer stops at about this many bytes. */
export const MAX_ANSWER_BYTES = 4 * 1024 * 1024

const limit = limitParameter(RECENT_LIMIT)
const exclude = namesParameter('Leave out the items of these members.', ['user-7'], 0, MAX_EXCLUDED)
const before = optional(
  idParameter('Return only items with a smaller id: the `nextBefore` of the previous page.', '41'),
)

const inGroup = pathName('groups', 'group')
const onItems = {
  path: '/v1/groups/{group}/items',
  tag: 'Items',
  about: inGroup,
  pathParameters: { group: nameParameter('The group.', 'article:42') },
}

const append = route({
  ...onItems,
  method: 'post',
  scope: 'append',
  body: {
    ...bodyOf(NewItemDto, example.newItem),
    about: ({ member }) => named('members', [member], { pointer: '/member' }),
  },
  id: 'appendItem',
  summary: 'Append an item',
  description:
    'A group that does not exist is created. If an item of the window has the `eventId`, nothing is appended, and the ' +
    'answer is that item with 200.',
  outcomes: {
    200: { description: 'An item with this `eventId` existed already.', schema: 'Item', example: example.item },
    201: {
      description: 'The item is appended and committed.',
      schema: 'Item',
      example: example.item,
      located: 'always',
    },
  },
  refusals: ['sequence_exhausted'],
  async handle(store, { path, body }) {
    const item = await store.groups.append(path.group, body, { payloads: 'text' })
    return stored(item.appended, renderItem(item), `/v1/groups/${encodeURIComponent(path.group)}/items/${item.id}`)
  },
})

const appendMany = route({
  method: 'post',
  path: '/v1/items',
  scope: 'append',
  about: () => [],
  body: {
    ...bodyOf(BatchDto, example.batch),
    at: '/items',
    about: ({ items }) =>
      items.flatMap(({ group, member }, i) => [
        ...named('groups', [group], { pointer: `/items/${i}/group` }),
        ...named('members', [member], { pointer: `/items/${i}/member` }),
      ]),
  },
  id: 'appendItems',
  tag: 'Items',
  summary: `Append up to ${MAX_BATCH} items to any groups`,
  description:
    'All items are appended in one commit, in the order given, or none. For an `eventId` that exists, the answer has the ' +
    'place of that item, and `appended` is false.',
  outcomes: {
    200: { description: 'All of them existed already.', schema: 'Appended', example: example.knownAlready },
    201: { description: 'The id and slot of each item.', schema: 'Appended', example: example.appended },
  },
  refusals: ['sequence_exhausted'],
  async handle(store, { body }) {
    const items = await store.groups.appendMany(body.items, { payloads: 'text' })
    return stored(
      items.some(({ appended }) => appended),
      renderAppended(items),
    )
  },
})

const recent = route({
  ...onItems,
  method: 'get',
  scope: 'read',
  about: (input) => [...inGroup(input), ...named('members', input.query.exclude, { parameter: 'exclude' })],
  queryParameters: { limit, before, exclude, payloads: payloadsParameter },
  id: 'recentItems',
  summary: 'Read the newest items of a group, newest first',
  description:
    'A group that does not exist has no items and `totalAppended` "0". A page stops at about 4 MiB. To read on, pass `nextBefore` ' +
    'as `before`; it is null when there are no older items.',
  outcomes: { 200: { description: 'The items.', schema: 'Recent', example: example.recent } },
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
  return { status: 200, body: renderRecent(page), tag: page.tag }
}

const recentMany = route({
  method: 'get',
  path: '/v1/items',
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
  tag: 'Items',
  summary: `Read the newest items of up to ${MAX_GROUPS} groups, in the order given`,
  description:
    'Each group may be given once. The answer stops at about 4 MiB. Where a `nextBefore` is not null, read on with ' +
    '`/v1/groups/{group}/items`.',
  outcomes: { 200: { description: 'One entry for each group.', schema: 'RecentMany', example: example.recentMany } },
  conditional: true,
  async handle(store, { query: { group: groups, ...options } }) {
    const read = bounded({ ...options, payloads: formOf(options) }, MAX_ANSWER_BYTES)
    const pages = await store.groups.recentMany(groups, read)
    return { status: 200, body: renderRecentMany(pages, MAX_ANSWER_BYTES), tag: tagOfAll(pages) }
  },
})

function tagOfAll(pages: readonly Recent[]): string {
  const tags = pages.map((page) => page.tag).join('\n')
  return createHash('sha256').update(tags).digest('base64url').slice(0, 27)
}

const clear = route({
  ...onItems,
  method: 'delete',
  scope: 'append',
  id: 'clearGroup',
  summary: 'Remove all items of a group',
  description: 'New items continue the sequence of ids.',
  outcomes: { 200: { description: 'The number of removed items.', schema: 'Deleted', example: example.deleted } },
  handle: async (store, { path }) => JSON.stringify(await store.groups.clear(path.group)),
})

const onItem = {
  ...onItems,
  path: '/v1/groups/{group}/items/{id}',
  pathParameters: { ...onItems.pathParameters, id: idParameter('The id of the item.', '41') },
}

const get = route({
  ...onItem,
  method: 'get',
  scope: 'read',
  id: 'getItem',
  summary: 'Read one item',
  description: 'An item that has left the window of its group is not there any more.',
  outcomes: { 200: { description: 'The item.', schema: 'Item', example: example.item } },
  refusals: ['item_not_found'],
  handle: async (store, { path: { group, id } }) =>
    renderItem(found(await store.groups.item(group, id, { payloads: 'text' }), 'item_not_found')),
})

const remove = route({
  ...onItem,
  method: 'delete',
  scope: 'append',
  id: 'removeItem',
  summary: 'Remove one item',
  description: 'Its id is never used again.',
  outcomes: { 204: { description: 'The item is removed.' } },
  refusals: ['item_not_found'],
  handle: async (store, { path }) => gone(await store.groups.remove(path.group, path.id), 'item_not_found'),
})

export const itemRoutes: readonly Route[] = [append, recent, clear, get, remove, appendMany, recentMany]
