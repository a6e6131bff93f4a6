/** The changes of a feed, in the order of their sync ids, and its entry of a key. */
import { useState } from 'preact/hooks'
import * as operations from '../client/operations'
import type { Changes } from '../shared/feed-types'
import { RecentnError } from '../shared/recentn-error'
import { goTo, link } from './address'
import { ask, PAGE_LENGTH } from './api'
import { submitting, textInput } from './form'
import { useMay } from './may'
import { Badge, Facts, LoadState, NameLink, Section } from './parts'
import { EVERY_MS, usePolled } from './polled'
import { type Column, Table } from './table'
import { ThingPage } from './thing'
import { Value, WholeValue } from './value'

/** After this sync id; at the end of the feed, the newest first, if it is null. */
async function load(feed: string, after: string | null, last: bigint, signal: AbortSignal): Promise<Changes> {
  const read = (from: bigint) =>
    ask(operations.getChanges, { path: { feed }, query: { after: from, limit: PAGE_LENGTH } }, signal)
  if (after !== null) return read(BigInt(/^\d+$/.test(after) ? after : 0))
  const newest = await read(last > PAGE_LENGTH ? last - BigInt(PAGE_LENGTH) : 0n).catch((error) => {
    // A tombstone after it has been removed.
    if (error instanceof RecentnError && error.code === 'cursor_expired') return read(0n)
    throw error
  })
  return { ...newest, changes: newest.changes.toReversed() }
}

export function FeedChanges({ feed, last, after }: { feed: string; last: bigint; after: string | null }) {
  const may = useMay('feed')
  const read = (signal: AbortSignal) => load(feed, after, last, signal)
  const key = JSON.stringify([may, after, after === null && String(last)])
  const { data, error } = usePolled(may ? read : undefined, key, EVERY_MS)
  return (
    <Section title="Changes">
      {may === false && <p class="empty panel">To see the entries, a key needs the scope feed.</p>}
      {may && <FindEntry feed={feed} />}
      {may && <LoadState data={data} error={error} />}
      {data !== null && (
        <Table
          class="items"
          columns={columnsOf(feed)}
          rows={data.changes}
          empty="There are no changes here."
          keyOf={({ key }) => key}
        />
      )}
      {data !== null && (
        <nav class="pager" aria-label="Pages">
          {after !== '0' && <a href={link(['feeds', feed], { after: '0' })}>From the beginning</a>}
          {after !== null && <a href={link(['feeds', feed])}>Newest</a>}
          {after !== null && data.hasMore && (
            <a href={link(['feeds', feed], { after: String(data.cursor) })} rel="next">
              Next page
            </a>
          )}
        </nav>
      )}
    </Section>
  )
}

const columnsOf = (feed: string): readonly Column<Changes['changes'][number]>[] => [
  { title: 'Sync id', kind: 'number muted wide', cell: ({ syncId }) => syncId },
  { title: 'Key', kind: 'who', cell: ({ key }) => <NameLink to={['feeds', feed, 'entries', key]}>{key}</NameLink> },
  {
    ...{ title: 'Value', kind: 'what' },
    cell: ({ deleted, value }) => (deleted ? <Badge>deleted</Badge> : <Value value={value} />),
  },
  { title: 'Version', kind: 'number muted wide', cell: ({ version }) => version },
]

const LABEL = 'An entry, by its whole key'

function FindEntry({ feed }: { feed: string }) {
  const [key, setKey] = useState('')
  return (
    <form class="member" onSubmit={submitting(() => goTo(['feeds', feed, 'entries', key]))}>
      <label>
        <span class="hidden">{LABEL}</span>
        <input required placeholder={LABEL} {...textInput(key, setKey)} />
      </label>
      <button type="submit">Open</button>
    </form>
  )
}

export function EntryPage({ feed, entry: key }: { feed: string; entry: string }) {
  return (
    <ThingPage
      up={['feeds', feed]}
      name={key}
      load={(signal) => ask(operations.getEntry, { path: { feed, key } }, signal)}
      beside={(entry) => entry?.deleted && <Badge>deleted</Badge>}
    >
      {({ value, version, syncId, updatedAt }) => (
        <>
          <Facts of={{ 'Sync id': syncId ?? 'waits for a publisher', Version: version, Updated: updatedAt }} />
          <WholeValue title="Value" value={value} />
        </>
      )}
    </ThingPage>
  )
}
