/** `/v1/overview`: what is wrong now, in all queues, feeds and schedules whose names the caller may know. */
import { OVERVIEW } from '../../fields/answers-overview'
import { prefixParameter } from '../input/parameters'
import { answering, type Route } from '../route'
import { narrowed } from '../subjects'

const overview = answering({
  method: 'get',
  path: '/v1/overview',
  scope: 'read',
  about: ({ query: { prefix = '' } }) => (['queues', 'feeds', 'schedules'] as const).map((kind) => ({ kind, prefix })),
  queryParameters: {
    prefix: prefixParameter('Return only troubles of queues, feeds and schedules whose names begin with this.', 'mail'),
  },
  id: 'getOverview',
  tag: 'Overview',
  summary: 'Read what is wrong now, the worst first',
  description: 'The answer is a few seconds old at most, unless counting takes long.',
  gives: [OVERVIEW, 'The troubles.'],
  async call(store, { query, within }) {
    const prefix = narrowed(query.prefix, within)
    const overview = await store.overview({ prefix: prefix ?? undefined })
    // No name begins with both prefixes.
    return prefix === null ? { ...overview, troubles: [], total: 0 } : overview
  },
})

export const overviewRoutes: readonly Route[] = [overview]
