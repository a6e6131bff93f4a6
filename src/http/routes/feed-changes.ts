/**
 * `/v1/feeds/{feed}/changes` and `/consumers`: reading the changes of a feed, and storing how far a consumer has read.
 */

import { CHANGES, CONSUMER } from '../../fields/answers-feeds'
import { CHANGES_WAIT_SECONDS, NewCursorDto } from '../../fields/feeds'
import { bounded } from '../../fields/options'
import { PAGE_LIMIT } from '../../fields/rules'
import { cursorParameter, limitParameter, nameParameter, optional, wholeParameter } from '../input/parameters'
import { bodyOf } from '../input/read'
import { answering, type Route, removing, tagged } from '../route'
import { named } from '../subjects'
import { MAX_ANSWER_BYTES } from './items'

const changes = answering('GET /v1/feeds/{feed}/changes', {
  scope: 'feed',
  about: ({ query }) => named('consumers', [query.consumer], { parameter: 'consumer' }),
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
  gives: [CHANGES, 'The changes; may be empty.'],
  refusals: ['cursor_expired'],
  waits: true,
  call: (store, { path: { feed }, query, signal }) =>
    store.feeds.changes(feed, bounded({ ...query, values: 'text', signal } as const, MAX_ANSWER_BYTES)),
})

const get = answering('GET /v1/feeds/{feed}/consumers/{consumer}', {
  scope: 'feed',
  id: 'getCursor',
  summary: 'Read the stored cursor of a consumer, and how far behind it is',
  description: 'An unknown consumer has the cursor "0".',
  gives: [CONSUMER, 'The consumer.'],
  refusals: ['feed_not_found'],
  call: (store, { path: { feed, consumer } }) => store.feeds.cursor(feed, consumer),
})

const put = answering('PUT /v1/feeds/{feed}/consumers/{consumer}', {
  scope: 'feed',
  body: bodyOf(NewCursorDto, { cursor: '1043' }),
  id: 'moveCursor',
  summary: 'Move the stored cursor of a consumer',
  description:
    'A cursor moves forward only: for a smaller one the answer has the cursor as it was, unless `force` is true. A cursor ' +
    'beyond the last sync id is refused. An unknown consumer is created.',
  gives: [CONSUMER, 'The consumer as it is now.'],
  call: (store, { path: { feed, consumer }, body: { cursor, force, from } }) =>
    store.feeds.moveCursor(feed, consumer, cursor, { force, from }),
})

const remove = removing('DELETE /v1/feeds/{feed}/consumers/{consumer}', {
  scope: 'feed',
  id: 'dropCursor',
  summary: 'Forget a consumer',
  gives: 'The consumer is forgotten.',
  absent: 'consumer_not_found',
  call: (store, { path: { feed, consumer } }) => store.feeds.dropCursor(feed, consumer),
})

export const feedChangeRoutes: readonly Route[] = tagged('Feeds', [changes, get, put, remove])
