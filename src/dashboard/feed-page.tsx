/** One feed: its last sync id, the cursor and the lag of each consumer, and its changes. */
import * as operations from '../client/operations'
import type { FeedStatus } from '../shared/feed-types'
import { Act } from './action'
import { goTo, link } from './address'
import { ask } from './api'
import { FeedChanges } from './feed-changes'
import { Consumers } from './feed-consumers'
import { FormButton } from './form-dialog'
import type { FormField } from './form-fields'
import { ReadOnlyNote, useAccess } from './may'
import { counted, Facts, LoadState, Name, Num, PageHead } from './parts'
import { usePolled } from './polled'
import { duration } from './time'

const EVERY_MS = 3000

export function FeedPage({ feed: name, after }: { feed: string; after: string | null }) {
  const {
    data: feed,
    error,
    refresh,
  } = usePolled((signal) => ask(operations.getFeedStatus, { path: { feed: name } }, signal), name, EVERY_MS)
  return (
    <>
      <PageHead over={<a href={link(['feeds'])}>Feeds</a>} title={<Name>{name}</Name>}>
        {feed !== null && <Buttons feed={feed} onDone={refresh} />}
      </PageHead>
      <LoadState data={feed} error={error} />
      {feed !== null && (
        <>
          <Facts of={factsOf(feed)} />
          <Consumers feed={feed} onDone={refresh} />
          <FeedChanges feed={name} lastSyncId={feed.lastSyncId} after={after} />
        </>
      )}
    </>
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

function Buttons({ feed, onDone }: { feed: FeedStatus; onDone(): void }) {
  const { feed: name, entries, consumers } = feed
  return (
    <div class="actions">
      <div class="buttons">
        <Republish feed={name} onDone={onDone} />
        <Act
          label="Delete …"
          title="Delete the feed?"
          action="Delete"
          isDanger
          mustType={name}
          work={() => ask(operations.dropFeed, { path: { feed: name } })}
          said="The feed is deleted."
          onDone={() => goTo(['feeds'])}
        >
          <p>
            <Name>{name}</Name> is deleted with {counted(entries, 'entry', 'entries')} and{' '}
            {counted(consumers.length, 'consumer')}. Consumers that come back start over.
          </p>
        </Act>
      </div>
      <ReadOnlyNote />
    </div>
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

const ENTRY: readonly FormField[] = [
  { name: 'key', label: 'Key', isRequired: true },
  { name: 'value', label: 'Value', hint: 'JSON', kind: 'json', isRequired: true, initial: '{}' },
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

export function NewEntry() {
  const initial = useAccess()?.prefix ?? ''
  return (
    <FormButton
      label="New entry"
      scope="feed"
      title="New entry"
      action="Put"
      fields={[{ name: 'feed', label: 'Feed', isRequired: true, initial }, ...ENTRY]}
      settings={null}
      save={({ feed, key, value }, headers) => {
        const path = { feed: feed as string, key: key as string }
        return ask(operations.putEntry, { path, body: { value }, headers })
      }}
      said="The entry is there."
      onSaved={({ feed }) => goTo(['feeds', feed as string])}
    />
  )
}
