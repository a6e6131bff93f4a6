/** The feeds, by name: how far they are, what waits for a publisher, and how far the slowest consumer is behind. */
import { api } from './api'
import { counted, grouped } from './numbers'
import { Loading, Name, Pager, Problem, Search, Stale } from './parts'
import { link } from './place'
import { usePolled } from './polled'
import { duration } from './time'
import type { Feed } from './types'

const EVERY_MS = 3000
const PARTS = ['feeds']

export function FeedsPage({ prefix, after }: { prefix: string; after: string | null }) {
  const key = JSON.stringify([prefix, after])
  const { data, error } = usePolled((signal) => api.feeds({ prefix, after, signal }), key, EVERY_MS)
  return (
    <>
      <div class="head">
        <h1 tabIndex={-1}>Feeds</h1>
        <Search parts={PARTS} value={prefix} label="Names that begin with …" />
      </div>
      {data === null && (error === null ? <Loading /> : <Problem error={error} />)}
      {data !== null && <Stale error={error} />}
      {data !== null && <Feeds feeds={data.feeds} prefix={prefix} />}
      {data !== null && <Pager parts={PARTS} query={{ prefix, after }} nextAfter={data.nextAfter} />}
    </>
  )
}

function Feeds({ feeds, prefix }: { feeds: readonly Feed[]; prefix: string }) {
  if (feeds.length === 0) {
    return (
      <p class="empty panel">
        {prefix === '' ? 'There are no feeds yet. The first entry makes one.' : 'No feed begins with this.'}
      </p>
    )
  }
  return (
    <div class="panel">
      <table>
        <thead>
          <tr>
            <th scope="col">Feed</th>
            <th scope="col" class="number">
              Last sync id
            </th>
            <th scope="col" class="number wide">
              Entries
            </th>
            <th scope="col" class="number wide">
              Unpublished
            </th>
            <th scope="col" class="number wide">
              Oldest of them
            </th>
            <th scope="col" class="number">
              Greatest lag
            </th>
          </tr>
        </thead>
        <tbody>
          {feeds.map((feed) => (
            <Row key={feed.feed} feed={feed} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Row({
  feed: { feed, lastSyncId, entries, unpublished, oldestUnpublishedSeconds, consumers },
}: {
  feed: Feed
}) {
  const lag = Math.max(0, ...consumers.map((consumer) => consumer.lag))
  return (
    <tr>
      <th scope="row">
        <a href={link(['feeds', feed])}>
          <Name>{feed}</Name>
        </a>
        <div class="muted small">{counted(consumers.length, 'consumer')}</div>
      </th>
      <td class="number">{grouped(lastSyncId)}</td>
      <td class="number wide">{grouped(entries)}</td>
      <td class={`number wide ${unpublished === 0 ? 'muted' : ''}`}>{grouped(unpublished)}</td>
      <td class="number wide muted">{oldestUnpublishedSeconds === null ? '–' : duration(oldestUnpublishedSeconds)}</td>
      <td class={`number ${lag === 0 ? 'muted' : ''}`}>{consumers.length === 0 ? '–' : grouped(lag)}</td>
    </tr>
  )
}
