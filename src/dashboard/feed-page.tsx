/** The feeds, by name, and the page of one: its last sync id, its consumers, and its changes. */
import * as operations from '../client/operations'
import type { Consumer, FeedStatus } from '../shared/feed-types'
import { Act } from './action'
import type { PageQuery } from './address'
import { ask } from './api'
import { FeedChanges } from './feed-changes'
import { FormButton } from './form-dialog'
import type { FormField } from './form-fields'
import { ListPage } from './list-page'
import { Actions, ReadOnlyNote } from './may'
import { counted, Facts, Name, NameLink, Num, Section, sentence } from './parts'
import { type Column, Table } from './table'
import { DeleteButton, NewButton, ThingPage } from './thing'
import { duration } from './time'

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
  { title: 'Oldest of them', kind: 'number wide', cell: (feed) => oldestOf(feed) },
  {
    ...{ title: 'Greatest lag', kind: 'number' },
    cell: ({ consumers }) => (consumers.length === 0 ? null : Math.max(...consumers.map(({ lag }) => lag))),
  },
]

const oldestOf = ({ oldestUnpublishedSeconds: oldest }: FeedStatus) => (oldest === null ? null : duration(oldest))

const ENTRY: readonly FormField[] = [
  { name: 'key', label: 'Key', isRequired: true },
  { name: 'value', label: 'Value', hint: 'JSON', kind: 'json', isRequired: true, initial: '{}' },
]

export function FeedsPage({ listed }: { listed: PageQuery }) {
  const make = (
    <NewButton
      part="feeds"
      word="entry"
      action="Put"
      scope="feed"
      name={{ label: 'Feed' }}
      fields={ENTRY}
      save={(feed, { key, value }, headers) =>
        ask(operations.putEntry, { path: { feed, key: key as string }, body: { value }, headers })
      }
      said="The entry is there."
    />
  )
  return (
    <ListPage
      listed={listed}
      part="feeds"
      make={make}
      scope="feed"
      load={(query, signal) => ask(operations.listFeeds, { query }, signal)}
      empty="There are no feeds yet. The first entry makes one."
      columns={COLUMNS}
    />
  )
}

export function FeedPage({ feed: name, after }: { feed: string; after: string | null }) {
  const path = { feed: name }
  return (
    <ThingPage
      up={['feeds']}
      name={name}
      load={(signal) => ask(operations.getFeedStatus, { path }, signal)}
      beside={(feed, refresh) =>
        feed && (
          <Actions>
            <Republish feed={name} onDone={refresh} />
            <DeleteButton part="feeds" mustType={name} work={() => ask(operations.dropFeed, { path })}>
              <p>
                <Name>{name}</Name> is deleted with {counted(feed.entries, 'entry', 'entries')} and{' '}
                {counted(feed.consumers.length, 'consumer')}. Consumers that come back start over.
              </p>
            </DeleteButton>
          </Actions>
        )
      }
    >
      {(feed, refresh) => (
        <>
          <Facts
            of={{
              ...{ 'Last sync id': feed.lastSyncId, Entries: feed.entries },
              ...{ 'Waiting for a publisher': feed.unpublished, 'The oldest waits for': oldestOf(feed) },
            }}
          />
          <Consumers feed={feed} onDone={refresh} />
          <FeedChanges feed={name} last={feed.lastSyncId} after={after} />
        </>
      )}
    </ThingPage>
  )
}

const SELECTION: readonly FormField[] = [
  { name: 'keys', label: 'Keys', hint: 'one a line', kind: 'lines', isOmitted: true },
  { name: 'prefix', label: 'Or all keys that begin with', hint: 'both empty: all entries', isOmitted: true },
]

function Republish({ feed, onDone }: { feed: string; onDone(): void }) {
  return (
    <FormButton
      label="Publish again …"
      scope="feed"
      title="Publish entries again?"
      action="Publish again"
      fields={SELECTION}
      settings={null}
      save={(values) => {
        const body = Object.keys(values).length === 0 ? { prefix: '' } : values
        return ask(operations.republishEntries, { path: { feed }, body })
      }}
      said={({ republished }) => sentence`${counted(republished, 'entry', 'entries')} will be published again.`}
      onSaved={onDone}
    >
      <p class="muted">Every consumer reads these entries once more, unchanged.</p>
    </FormButton>
  )
}

interface ConsumersProps {
  feed: FeedStatus
  onDone(): void
}

function Consumers({ feed, onDone }: ConsumersProps) {
  const { consumers } = feed
  const acts: Column<Consumer> = {
    ...{ title: 'Actions', isSilent: true, kind: 'act' },
    cell: (consumer) => <Buttons consumer={consumer} feed={feed} onDone={onDone} />,
  }
  return (
    <Section title="Consumers">
      <Table
        columns={[...CONSUMER_COLUMNS, acts]}
        rows={consumers}
        empty="No consumer has stored a cursor."
        keyOf={({ consumer }) => consumer}
      />
      {consumers.length > 0 && <ReadOnlyNote scope="feed" />}
    </Section>
  )
}

const CONSUMER_COLUMNS: readonly Column<Consumer>[] = [
  { title: 'Consumer', isName: true, cell: ({ consumer }) => <Name>{consumer}</Name> },
  { title: 'Cursor', kind: 'number', cell: ({ cursor }) => <Num value={cursor} /> },
  { title: 'Lag', kind: 'number', cell: ({ lag }) => lag },
  { title: 'Moved', kind: 'wide', cell: ({ movedAt }) => movedAt },
]

function Buttons({ consumer: { consumer: name, cursor, lag }, feed, onDone }: ConsumersProps & { consumer: Consumer }) {
  const path = { feed: feed.feed, consumer: name }
  const shownName = <Name>{name}</Name>
  const moveTo = (to: bigint) => ({
    work: () => ask(operations.moveCursor, { path, body: { cursor: to, force: to < cursor } }),
    said: (moved: Pick<Consumer, 'cursor'>) => sentence`${name} continues after ${moved.cursor}.`,
  })
  const about = { class: 'plain', scope: 'feed', onDone } as const
  return (
    <>
      <Act
        {...{ ...about, ...moveTo(feed.lastSyncId), label: 'Skip …', title: 'Skip to the newest?', action: 'Skip' }}
        name={`Set ${name} to the newest`}
        isDanger={lag > 0}
      >
        <p>
          {shownName} skips {lag === 0 ? 'nothing' : sentence`up to ${counted(lag, 'change')}`} that it has not read,
          and continues after <Num value={feed.lastSyncId} />.
        </p>
      </Act>
      <Act
        {...{ ...about, ...moveTo(0n), label: 'Start over …', title: 'Start over?', action: 'Start over' }}
        name={`Set ${name} to the beginning`}
      >
        <p>{sentence`${shownName} reads all ${counted(feed.entries, 'entry', 'entries')} again, from the beginning.`}</p>
      </Act>
      <Act
        {...{ ...about, label: 'Delete …', title: 'Delete the consumer?', action: 'Delete', isDanger: true }}
        name={`Delete ${name}`}
        work={() => ask(operations.dropCursor, { path })}
        said={`${name} is deleted.`}
      >
        <p>{sentence`The cursor of ${shownName} is deleted. If it comes back, it starts at the beginning.`}</p>
      </Act>
    </>
  )
}
