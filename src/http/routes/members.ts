/** `/v1/members/{member}/items`: the items of one member in all groups, and their erasure; `/v1/groups/{group}/scores`: its score. */
import { DELETED, ITEM, MEMBER_ITEMS } from '../../fields/answers-groups'
import { ScoreChangeDto } from '../../fields/groups'
import { bounded } from '../../fields/options'
import { historyParameters, payloadsParameter, prefixParameter } from '../input/parameters'
import { bodyOf } from '../input/read'
import { answering, type Route, tagged } from '../route'
import { listed, named, narrowed } from '../subjects'
import { formOf, MAX_ANSWER_BYTES } from './items'

const prefix = prefixParameter('Only in groups whose names begin with this.', 'article:')

const list = answering('GET /v1/members/{member}/items', {
  scope: 'read',
  about: listed('groups'),
  queryParameters: {
    prefix,
    payloads: payloadsParameter,
    ...historyParameters('WzE3OTUyNzQwNjI4NDcsImFydGljbGU6NDIiLCI0MSJd'),
  },
  id: 'memberItems',
  summary: 'Read the items of a member in all groups, newest first',
  description: 'Ordered by `createdAt`. A page stops at about 4 MiB.',
  gives: [MEMBER_ITEMS, 'A page of items.'],
  async call(store, { path: { member }, query, within }) {
    const prefix = narrowed(query.prefix, within)
    if (prefix === null) return { items: [], nextBefore: null }
    return store.groups.memberItems(member, bounded({ ...query, prefix, payloads: formOf(query) }, MAX_ANSWER_BYTES))
  },
})

const erase = answering('DELETE /v1/members/{member}/items', {
  scope: 'admin',
  about: listed('groups'),
  queryParameters: { prefix },
  id: 'eraseMember',
  summary: 'Erase the items that a member has in all groups when the request arrives',
  description: 'The work is done in small transactions, and can be repeated.',
  gives: [DELETED, 'The number of erased items.'],
  async call(store, { path: { member }, query, within }) {
    const prefix = narrowed(query.prefix, within)
    return prefix === null ? { deleted: 0 } : store.groups.eraseMember(member, { prefix })
  },
})

const change = { member: 'user-7', by: 10 }

const changeScore = answering('POST /v1/groups/{group}/scores', {
  scope: 'append',
  body: {
    ...bodyOf(ScoreChangeDto, change),
    about: ({ member }) => named('members', [member], { pointer: '/member' }),
  },
  id: 'changeScore',
  summary: "Add a number to the score of a member's item",
  description:
    'Only in a group whose mode is `top`, and only for a member that is in it, which stays in it. The item gets the next id.',
  gives: [ITEM, 'The item as it is now.', { ...ITEM.example, score: 120 }],
  absent: 'item_not_found',
  refusals: ['sequence_exhausted'],
  call: (store, { path: { group }, body: { member, by } }) =>
    store.groups.changeScore(group, member, by, { payloads: 'text' }),
})

export const memberRoutes: readonly Route[] = [...tagged('Items', [changeScore]), ...tagged('Members', [list, erase])]
