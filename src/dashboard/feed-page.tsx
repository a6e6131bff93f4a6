/** The feeds, by name, and the page of one: its last sync id, the cursor and the lag of each consumer, and its changes. */
import * as operations from '../client/operations'
import type { FeedStatus } from '../shared/feed-types'
import type { PageQuery } from './address'
import { ask } from './api'
import { FeedChanges } from './feed-changes'
import { Consumers } from './feed-consumers'
import { FormButton } from './form-dialog'
import type { FormField } from './form-fields'
import { ListPage } from './list-page'
import { Actions } from './may'
import { counted, Facts, Name, NameLink, Num } from './parts'
import type { Column } from './table'
import { DeleteButton, NewButton, ThingPage } from './thing'
import { duration } from './time'

const EVERY_MS = 3000

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

export function FeedsPage({ listed }: { listed: PageQuery }) {
  return (
    <ListPage
      listed={listed}
      part="feeds"
      name="feed"
      make={<NewEntry />}
      scope="feed"
      load={(query, signal) => ask(operations.listFeeds, { query }, signal)}
      empty="There are no feeds yet. The first entry makes one."
      columns={COLUMNS}
    />
  )
}

const ENTRY: readonly FormField[] = [
  { name: 'key', label: 'Key', isRequired: true },
  { name: 'value', label: 'Value', hint: 'JSON', kind: 'json', isRequired: true, initial: '{}' },
]

function NewEntry() {
  return (
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
}

export function FeedPage({ feed: name, after }: { feed: string; after: string | null }) {
  const load = (signal: AbortSignal) => ask(operations.getFeedStatus, { path: { feed: name } }, signal)
  return (
    <ThingPage
      up={['feeds']}
      name={name}
      everyMs={EVERY_MS}
      load={load}
      beside={(feed, refresh) =>
        feed && (
          <Actions>
            <Republish feed={name} onDone={refresh} />
            <Delete feed={feed} />
          </Actions>
        )
      }
    >
      {(feed, refresh) => (
        <>
          <Facts of={factsOf(feed)} />
          <Consumers feed={feed} onDone={refresh} />
          <FeedChanges feed={name} lastSyncId={feed.lastSyncId} after={after} />
        </>
      )}
    </ThingPage>
  )
}

function factsOf({ lastSyncId, entries, unpublished, oldestUnpublishedSeconds }: FeedStatus) {
  const oldest = oldestUnpublishedSeconds === null ? '' : `, the oldest for ${duration(oldestUnpublishedSeconds)}`
  const waiting = (
    <>
      <Num value={unpublished} />
      {oldest}
    </>
  )
  return { 'Last sync id': lastSyncId, Entries: entries, 'Waiting for a publisher': waiting }
}

function Delete({ feed: { feed, entries, consumers } }: { feed: FeedStatus }) {
  return (
    <DeleteButton part="feeds" mustType={feed} work={() => ask(operations.dropFeed, { path: { feed } })}>
      <p>
        <Name>{feed}</Name> is deleted with {counted(entries, 'entry', 'entries')} and{' '}
        {counted(consumers.length, 'consumer')}. Consumers that come back start over.
      </p>
    </DeleteButton>
  )
}

const SELECTION: readonly FormField[] = [
  { name: 'keys', label: 'Keys', hint: 'one a line', kind: 'lines', isOmitted: true },
  {
    name: 'prefix',
    label: 'Or all keys that begin with',
    hint: 'empty, and no keys above: all entries',
    isOmitted: true,
  },
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
      said={({ republished }) => `${counted(republished, 'entry', 'entries')} will be published again.`}
      onSaved={onDone}
    >
      <p class="muted">Every consumer reads these entries once more, unchanged.</p>
    </FormButton>
  )
}
