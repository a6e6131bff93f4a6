/**
 * `/v1/feeds/{feed}/changes` and `/consumers`: reading the changes of a feed, and storing how far a consumer has read.
 */
import { CHANGES, CONSUMER } from '../../fields/answers-feeds'
import { CHANGES_WAIT_SECONDS, NewCursorDto } from '../../fields/feeds'
import { bounded } from '../../fields/options'
import { PAGE_LIMIT } from '../../fields/rules'
import { cursorParameter, limitParameter, nameParameter, optional, wholeParameter } from '../input/parameters'
import { bodyOf } from '../input/read'
import { gone, type Route, route } from '../route'
import { feedInPath, named, type Subject } from '../subjects'
import { onFeed } from './feeds'
import { MAX_ANSWER_BYTES } from './items'

const onConsumer = {
  ...onFeed,
  path: '/v1/feeds/{feed}/consumers/{consumer}',
  scope: 'feed' as const,
  pathParameters: { ...onFeed.pathParameters, consumer: nameParameter('The consumer.', 'search') },
  about: ({ path }: { path: { feed: string; consumer: string } }): Subject[] => [
    ...feedInPath({ path }),
    ...named('consumers', [path.consumer], { parameter: 'consumer' }),
  ],
}

const changes = route({
  ...onFeed,
  method: 'get',
  path: `${onFeed.path}/changes`,
  scope: 'feed',
  about: ({ path, query }) => [
    ...feedInPath({ path }),
    ...named('consumers', [query.consumer], { parameter: 'consumer' }),
  ],
  queryParameters: {
    after: optional(
      cursorParameter('A `cursor`: return only changes after it. Default: the beginning of the feed.', '1041'),
    ),
    consumer: optional(nameParameter('Start at the stored cursor of this consumer, in place of `after`.', 'search')),
    limit: limitParameter(PAGE_LIMIT),
    waitSeconds: wholeParameter(CHANGES_WAIT_SECONDS),
  },
  checkQuery({ after, consumer }, faults) {
    if (after === undefined || consumer === undefined) return
    faults.push({ parameter: 'after', detail: 'must not be given with consumer' })
    faults.push({ parameter: 'consumer', detail: 'must not be given with after' })
  },
  id: 'getChanges',
  summary: 'Read the changes after a cursor, in the order of their sync ids',
  description:
    'Returns the latest value of each changed entry, and a tombstone for each deleted one. Reading does not move the ' +
    'stored cursor. With `waitSeconds`, the server answers within 1 second of the next change, and without changes when the ' +
    'time has passed. A feed that does not exist has no changes. An answer stops at about 4 MiB. If a tombstone after the ' +
    'cursor has been removed, or the cursor is beyond the last sync id, the answer is 410 `cursor_expired`: start over at "0".',
  outcomes: { 200: { description: 'The changes; may be empty.', shape: CHANGES } },
  refusals: ['cursor_expired'],
  waits: true,
  async handle(store, { path: { feed }, query, signal }) {
    const options = bounded({ ...query, values: 'text', signal } as const, MAX_ANSWER_BYTES)
    return CHANGES.json(await store.feeds.changes(feed, options))
  },
})

const get = route({
  ...onConsumer,
  method: 'get',
  id: 'getCursor',
  summary: 'Read the stored cursor of a consumer, and how far behind it is',
  description: 'An unknown consumer has the cursor "0".',
  outcomes: { 200: { description: 'The consumer.', shape: CONSUMER } },
  refusals: ['feed_not_found'],
  handle: async (store, { path: { feed, consumer } }) => CONSUMER.json(await store.feeds.cursor(feed, consumer)),
})

const put = route({
  ...onConsumer,
  method: 'put',
  body: bodyOf(NewCursorDto, { cursor: '1043' }),
  id: 'moveCursor',
  summary: 'Move the stored cursor of a consumer',
  description:
    'A cursor moves forward only: for a smaller one the answer has the cursor as it was, unless `force` is true. A cursor ' +
    'beyond the last sync id is refused. An unknown consumer is created.',
  outcomes: { 200: { description: 'The consumer as it is now.', shape: CONSUMER } },
  handle: async (store, { path: { feed, consumer }, body: { cursor, force, from } }) =>
    CONSUMER.json(await store.feeds.moveCursor(feed, consumer, cursor, { force, from })),
})

const remove = route({
  ...onConsumer,
  method: 'delete',
  id: 'dropCursor',
  summary: 'Forget a consumer',
  outcomes: { 204: { description: 'The consumer is forgotten.' } },
  refusals: ['consumer_not_found'],
  handle: async (store, { path: { feed, consumer } }) =>
    gone(await store.feeds.dropCursor(feed, consumer), 'consumer_not_found'),
})

export const feedChangeRoutes: readonly Route[] = [changes, get, put, remove]
