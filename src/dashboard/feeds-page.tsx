/** The feeds, by name: the last sync id, the unpublished entries, and the lag of the slowest consumer. */
import * as operations from '../client/operations'
import type { FeedStatus } from '../shared/feed-types'
import { ask } from './api'
import { type Listed, ListPage } from './list-page'
import { Cell, counted, NameLink } from './parts'
import { duration } from './time'

export function FeedsPage(listed: Listed) {
  return (
    <ListPage
      {...listed}
      title="Feeds"
      part="feeds"
      load={(query, signal) => ask(operations.listFeeds, { query }, signal)}
      empty="There are no feeds yet. The first entry makes one."
      unmatched="No feed has this in its name."
      columns={COLUMNS}
      row={(feed) => <Row key={feed.feed} feed={feed} />}
    />
  )
}

const COLUMNS = {
  ...{ Feed: '', 'Last sync id': 'number', Entries: 'number wide', Unpublished: 'number wide' },
  ...{ 'Oldest of them': 'number wide', 'Greatest lag': 'number' },
}

function Row({
  feed: { feed, lastSyncId, entries, unpublished, oldestUnpublishedSeconds, consumers },
}: {
  feed: FeedStatus
}) {
  const lag = Math.max(0, ...consumers.map((consumer) => consumer.lag))
  return (
    <tr>
      <th scope="row">
        <NameLink to={['feeds', feed]}>{feed}</NameLink>
        <div class="muted small">{counted(consumers.length, 'consumer')}</div>
      </th>
      <Cell kind="number">{lastSyncId}</Cell>
      <Cell kind="number wide">{entries}</Cell>
      <Cell kind={`number wide ${unpublished === 0 ? 'muted' : ''}`}>{unpublished}</Cell>
      <td class="number wide muted">{oldestUnpublishedSeconds === null ? '–' : duration(oldestUnpublishedSeconds)}</td>
      <Cell kind={`number ${lag === 0 ? 'muted' : ''}`}>{consumers.length === 0 ? '–' : lag}</Cell>
    </tr>
  )
}
