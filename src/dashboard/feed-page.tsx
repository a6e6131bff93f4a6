/** One feed: its last sync id, and the cursor and the lag of each consumer. */
import * as operations from '../client/operations'
import type { Consumer, FeedStatus } from '../shared/feed-types'
import { link } from './address'
import { ask } from './api'
import { Cell, Fact, LoadState, Name, Num, PageHead, Table } from './parts'
import { usePolled } from './polled'
import { duration } from './time'

const EVERY_MS = 3000

export function FeedPage({ feed: name }: { feed: string }) {
  const { data: feed, error } = usePolled(
    (signal) => ask(operations.getFeedStatus, { path: { feed: name } }, signal),
    name,
    EVERY_MS,
  )
  return (
    <>
      <PageHead over={<a href={link(['feeds'])}>Feeds</a>} title={<Name>{name}</Name>} />
      <LoadState data={feed} error={error} />
      {feed !== null && <Facts feed={feed} />}
      {feed !== null && <Consumers consumers={feed.consumers} />}
    </>
  )
}

function Facts({ feed: { lastSyncId, entries, unpublished, oldestUnpublishedSeconds } }: { feed: FeedStatus }) {
  const oldest = oldestUnpublishedSeconds === null ? '' : `, the oldest for ${duration(oldestUnpublishedSeconds)}`
  return (
    <dl class="facts panel">
      <Fact term="Last sync id">{lastSyncId}</Fact>
      <Fact term="Entries">{entries}</Fact>
      <Fact term="Waiting for a publisher">
        <Num value={unpublished} />
        {oldest}
      </Fact>
    </dl>
  )
}

const COLUMNS = { Consumer: '', Cursor: 'number', Lag: 'number' }

function Consumers({ consumers }: { consumers: readonly Consumer[] }) {
  const most = Math.max(1, ...consumers.map(({ lag }) => lag))
  return (
    <section aria-labelledby="consumers">
      <h2 id="consumers">Consumers</h2>
      {consumers.length === 0 && <p class="empty panel">No consumer has stored a cursor.</p>}
      {consumers.length > 0 && (
        <Table columns={COLUMNS} beside={<td class="bar wide" />}>
          {consumers.map(({ consumer, cursor, lag }) => (
            <tr key={consumer}>
              <th scope="row">
                <Name>{consumer}</Name>
              </th>
              <Cell kind="number">{cursor}</Cell>
              <Cell kind={`number ${lag === 0 ? 'muted' : ''}`}>{lag}</Cell>
              <td class="bar wide">
                <span class="lag" style={{ width: `${(lag / most) * 100}%` }} />
              </td>
            </tr>
          ))}
        </Table>
      )}
    </section>
  )
}
