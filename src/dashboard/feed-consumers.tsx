/** The consumers of a feed: the cursor and the lag of each, and the buttons that move and delete it. */
import * as operations from '../client/operations'
import type { Consumer, FeedStatus } from '../shared/feed-types'
import { Act } from './action'
import { ask } from './api'
import { ReadOnlyNote } from './may'
import { Cell, counted, Name, Table } from './parts'
import { Time } from './time'

const COLUMNS = { Consumer: '', Cursor: 'number', Lag: 'number', Moved: 'wide' }

interface ConsumersProps {
  feed: FeedStatus
  onDone(): void
}

export function Consumers({ feed, onDone }: ConsumersProps) {
  const { consumers } = feed
  const most = Math.max(1, ...consumers.map(({ lag }) => lag))
  return (
    <section aria-labelledby="consumers">
      <h2 id="consumers">Consumers</h2>
      {consumers.length === 0 && <p class="empty panel">No consumer has stored a cursor.</p>}
      {consumers.length > 0 && (
        <Table
          columns={COLUMNS}
          beside={
            <>
              <td class="bar wide" />
              <td />
            </>
          }
        >
          {consumers.map((consumer) => (
            <Row key={consumer.consumer} consumer={consumer} most={most} feed={feed} onDone={onDone} />
          ))}
        </Table>
      )}
      {consumers.length > 0 && <ReadOnlyNote scope="feed" />}
    </section>
  )
}

function Row({ consumer, most, feed, onDone }: ConsumersProps & { consumer: Consumer; most: number }) {
  const { consumer: name, cursor, lag, movedAt } = consumer
  const path = { feed: feed.feed, consumer: name }
  const moveTo = (to: bigint) => ({
    work: () => ask(operations.moveCursor, { path, body: { cursor: to, force: to < cursor } }),
    said: (moved: Pick<Consumer, 'cursor'>) => `${name} continues after ${moved.cursor}.`,
  })
  const about = { class: 'plain', scope: 'feed', onDone } as const
  return (
    <tr>
      <th scope="row">
        <Name>{name}</Name>
      </th>
      <Cell kind="number">{cursor}</Cell>
      <Cell kind={`number ${lag === 0 ? 'muted' : ''}`}>{lag}</Cell>
      <Cell kind="wide">{movedAt && <Time at={movedAt} />}</Cell>
      <td class="bar wide">
        <span class="lag" style={{ width: `${(lag / most) * 100}%` }} />
      </td>
      <td class="act">
        <Act
          {...about}
          label="Skip …"
          name={`Set ${name} to the newest`}
          title="Skip to the newest?"
          action="Skip"
          isDanger={lag > 0}
          {...moveTo(feed.lastSyncId)}
        >
          <p>
            <Name>{name}</Name> skips {lag === 0 ? 'nothing' : `up to ${counted(lag, 'change')}`} that it has not read,
            and continues after {String(feed.lastSyncId)}.
          </p>
        </Act>
        <Act
          {...about}
          label="Start over …"
          name={`Set ${name} to the beginning`}
          title="Start over?"
          action="Start over"
          {...moveTo(0n)}
        >
          <p>
            <Name>{name}</Name> reads all {counted(feed.entries, 'entry', 'entries')} again, from the beginning.
          </p>
        </Act>
        <Act
          {...about}
          label="Delete …"
          name={`Delete ${name}`}
          title="Delete the consumer?"
          action="Delete"
          isDanger
          work={() => ask(operations.dropCursor, { path })}
          said={`${name} is deleted.`}
        >
          <p>
            The cursor of <Name>{name}</Name> is deleted. If it comes back, it starts at the beginning.
          </p>
        </Act>
      </td>
    </tr>
  )
}
