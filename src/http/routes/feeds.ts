/** `/v1/feeds` and `/v1/feeds/{feed}`: listing feeds, reading their state, dropping and republishing them. */
import { FEED, FEED_PAGE, REPUBLISHED } from '../../fields/answers-feeds'
import { RepublishDto } from '../../fields/feeds'
import { nameParameter } from '../input/parameters'
import { bodyOf } from '../input/read'
import { type BodyReader, found, gone, type Route, route } from '../route'
import { feedInPath, named } from '../subjects'
import { listing } from './listing'

export const onFeed = {
  path: '/v1/feeds/{feed}',
  tag: 'Feeds',
  about: feedInPath,
  pathParameters: { feed: nameParameter('The feed.', 'users') },
}

const list = listing('feeds', {
  id: 'listFeeds',
  tag: 'Feeds',
  summary: 'List feeds by name',
  description: 'A page ends early when its feeds have 2,500 consumers together.',
  prefix: 'users',
  after: 'users',
  shape: FEED_PAGE,
  page: (store, query) => store.feeds.list(query),
})

const get = route({
  ...onFeed,
  method: 'get',
  scope: 'read',
  id: 'getFeedStatus',
  summary: 'Read the state of a feed: its last sync id, its entries, those not published yet, and its consumers',
  outcomes: { 200: { description: 'The feed.', shape: FEED } },
  refusals: ['feed_not_found'],
  handle: async (store, { path: { feed } }) => FEED.json(found(await store.feeds.status(feed), 'feed_not_found')),
})

const drop = route({
  ...onFeed,
  method: 'delete',
  scope: 'admin',
  id: 'dropFeed',
  summary: 'Drop a feed with its entries and consumers',
  description:
    'The feed is empty at once. A later feed of the same name continues with greater sync ids, and cursors from before ' +
    'have expired.',
  outcomes: { 204: { description: 'The feed is dropped.' } },
  refusals: ['feed_not_found'],
  handle: async (store, { path: { feed } }) => gone(await store.feeds.drop(feed), 'feed_not_found'),
})

/** Selects entries either by keys or by a prefix. */
const selectionBody: BodyReader<RepublishDto> = {
  ...bodyOf(RepublishDto, { keys: ['fred', 'jim'] }),
  about: ({ keys, prefix }) =>
    prefix === undefined ? named('entries', keys, { pointer: '/keys' }) : [{ kind: 'entries', prefix }],
}

const republish = route({
  ...onFeed,
  method: 'post',
  path: `${onFeed.path}/republish`,
  scope: 'feed',
  body: selectionBody,
  id: 'republishEntries',
  summary: 'Publish entries again, unchanged',
  description:
    'Selects entries by their keys, ignoring unknown ones, or by a prefix of their keys. Tombstones are published again ' +
    'too. With a prefix the work is done in batches, each with its own commit.',
  outcomes: {
    200: { description: 'The number of entries that will be published again.', shape: REPUBLISHED },
  },
  refusals: ['feed_not_found'],
  handle: async (store, { path: { feed }, body }) => REPUBLISHED.json(await store.feeds.republish(feed, body)),
})

export const feedRoutes: readonly Route[] = [list, get, drop, republish]
