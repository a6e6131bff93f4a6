/** `/v1/groups/{group}/scores`: changing the score of a member. */
import { ITEM } from '../../fields/answers-groups'
import { ScoreChangeDto } from '../dto/groups'
import { nameParameter } from '../input/parameters'
import { bodyOf } from '../input/read'
import { found, route } from '../route'
import { named, pathName } from '../subjects'

const change = { member: 'user-7', by: 10 }

export const changeScore = route({
  method: 'post',
  path: '/v1/groups/{group}/scores',
  tag: 'Items',
  about: pathName('groups', 'group'),
  pathParameters: { group: nameParameter('The group.', 'game:7') },
  scope: 'append',
  body: {
    ...bodyOf(ScoreChangeDto, change),
    about: ({ member }) => named('members', [member], { pointer: '/member' }),
  },
  id: 'changeScore',
  summary: "Add a number to the score of a member's item",
  description:
    'Only in a group whose mode is `top`, and only for a member that is in it, which stays in it. The item gets the next id.',
  outcomes: { 200: { description: 'The item as it is now.', shape: ITEM, example: { ...ITEM.example, score: 120 } } },
  refusals: ['item_not_found', 'sequence_exhausted'],
  async handle(store, { path: { group }, body: { member, by } }) {
    return ITEM.json(found(await store.groups.changeScore(group, member, by, { payloads: 'text' }), 'item_not_found'))
  },
})
