/** The consumers of a feed: the cursor and the lag of each, and the buttons that move and delete it. */
import * as operations from '../client/operations'
import type { Consumer, FeedStatus } from '../shared/feed-types'
import { Act } from './action'
import { ask } from './api'
import { ReadOnlyNote } from './may'
import { counted, Name, Num, Section } from './parts'
import { type Column, Table } from './table'

interface ConsumersProps {
  feed: FeedStatus
  onDone(): void
}

export function Consumers({ feed, onDone }: ConsumersProps) {
  const { consumers } = feed
  return (
    <Section title="Consumers">
      <Table
        columns={columnsOf(feed, onDone)}
        rows={consumers}
        empty="No consumer has stored a cursor."
        keyOf={({ consumer }) => consumer}
      />
      {consumers.length > 0 && <ReadOnlyNote scope="feed" />}
    </Section>
  )
}

function columnsOf(feed: FeedStatus, onDone: () => void): readonly Column<Consumer>[] {
  const most = Math.max(1, ...feed.consumers.map(({ lag }) => lag))
  return [
    { title: 'Consumer', isName: true, cell: ({ consumer }) => <Name>{consumer}</Name> },
    { title: 'Cursor', kind: 'number', cell: ({ cursor }) => <Num value={cursor} /> },
    { title: 'Lag', kind: 'number', cell: ({ lag }) => lag },
    { title: 'Moved', kind: 'wide', cell: ({ movedAt }) => movedAt },
    {
      ...{ title: 'Share of the greatest lag', isSilent: true, kind: 'bar wide' },
      cell: ({ lag }) => <span class="lag" style={{ width: `${(lag / most) * 100}%` }} />,
    },
    {
      ...{ title: 'Actions', isSilent: true, kind: 'act' },
      cell: (consumer) => <Buttons consumer={consumer} feed={feed} onDone={onDone} />,
    },
  ]
}

function Buttons({ consumer: { consumer: name, cursor, lag }, feed, onDone }: ConsumersProps & { consumer: Consumer }) {
  const path = { feed: feed.feed, consumer: name }
  const moveTo = (to: bigint) => ({
    work: () => ask(operations.moveCursor, { path, body: { cursor: to, force: to < cursor } }),
    said: (moved: Pick<Consumer, 'cursor'>) => `${name} continues after ${moved.cursor}.`,
  })
  const about = { class: 'plain', scope: 'feed', onDone } as const
  return (
    <>
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
    </>
  )
}
