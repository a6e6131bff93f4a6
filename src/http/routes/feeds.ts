/** `/v1/feeds` and `/v1/feeds/{feed}`: listing feeds, reading their state, dropping and republishing them. */
import { FEED, FEED_PAGE, REPUBLISHED } from '../../fields/answers-feeds'
import { RepublishDto } from '../../fields/feeds'
import { bodyOf } from '../input/read'
import { answering, type BodyReader, type Route, removing, tagged } from '../route'
import { named } from '../subjects'
import { listing } from './listing'

const list = listing('feeds', {
  id: 'listFeeds',
  summary: 'List feeds by name',
  description: 'A page ends early when its feeds have 2,500 consumers together.',
  prefix: 'users',
  after: 'users',
  shape: FEED_PAGE,
  page: (store, query) => store.feeds.list(query),
})

const get = answering('GET /v1/feeds/{feed}', {
  scope: 'read',
  id: 'getFeedStatus',
  summary: 'Read the state of a feed: its last sync id, its entries, those not published yet, and its consumers',
  gives: [FEED, 'The feed.'],
  absent: 'feed_not_found',
  call: (store, { path: { feed } }) => store.feeds.status(feed),
})

const drop = removing('DELETE /v1/feeds/{feed}', {
  scope: 'admin',
  id: 'dropFeed',
  summary: 'Drop a feed with its entries and consumers',
  description:
    'The feed is empty at once. A later feed of the same name continues with greater sync ids, and cursors from before ' +
    'have expired.',
  gives: 'The feed is dropped.',
  absent: 'feed_not_found',
  call: (store, { path: { feed } }) => store.feeds.drop(feed),
})

/** Selects entries either by keys or by a prefix. */
const selectionBody: BodyReader<RepublishDto> = {
  ...bodyOf(RepublishDto, { keys: ['fred', 'jim'] }),
  about: ({ keys, prefix }) =>
    prefix === undefined ? named('entries', keys, { pointer: '/keys' }) : [{ kind: 'entries', prefix }],
}

const republish = answering('POST /v1/feeds/{feed}/republish', {
  scope: 'feed',
  body: selectionBody,
  id: 'republishEntries',
  summary: 'Publish entries again, unchanged',
  description:
    'Selects entries by their keys, ignoring unknown ones, or by a prefix of their keys. Tombstones are published again ' +
    'too. With a prefix the work is done in batches, each with its own commit.',
  gives: [REPUBLISHED, 'The number of entries that will be published again.'],
  refusals: ['feed_not_found'],
  call: (store, { path: { feed }, body }) => store.feeds.republish(feed, body),
})

export const feedRoutes: readonly Route[] = tagged('Feeds', [list, get, drop, republish])
