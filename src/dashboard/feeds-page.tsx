/** The feeds, by name: the last sync id, the unpublished entries, and the lag of the slowest consumer. */
import * as operations from '../client/operations'
import type { FeedStatus } from '../shared/feed-types'
import { ask } from './api'
import { NewEntry } from './feed-page'
import { type Listed, ListPage } from './list-page'
import { counted, NameLink } from './parts'
import type { Column } from './table'
import { duration } from './time'

export function FeedsPage({ listed }: { listed: Listed }) {
  return (
    <ListPage
      listed={listed}
      title="Feeds"
      part="feeds"
      name="feed"
      make={<NewEntry />}
      scope="feed"
      load={(query, signal) => ask(operations.listFeeds, { query }, signal)}
      empty="There are no feeds yet. The first entry makes one."
      unmatched="No feed has this in its name."
      columns={COLUMNS}
    />
  )
}

const COLUMNS: readonly Column<FeedStatus>[] = [
  {
    title: 'Feed',
    isName: true,
    cell: ({ feed, consumers }) => (
      <>
        <NameLink to={['feeds', feed]}>{feed}</NameLink>
        <div class="muted small">{counted(consumers.length, 'consumer')}</div>
      </>
    ),
  },
  { title: 'Last sync id', kind: 'number', cell: ({ lastSyncId }) => lastSyncId },
  { title: 'Entries', kind: 'number wide', cell: ({ entries }) => entries },
  { title: 'Unpublished', kind: 'number wide', cell: ({ unpublished }) => unpublished },
  {
    ...{ title: 'Oldest of them', kind: 'number wide' },
    cell: ({ oldestUnpublishedSeconds: oldest }) => (oldest === null ? null : duration(oldest)),
  },
  {
    ...{ title: 'Greatest lag', kind: 'number' },
    cell: ({ consumers }) => (consumers.length === 0 ? null : Math.max(0, ...consumers.map(({ lag }) => lag))),
  },
]
