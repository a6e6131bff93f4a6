/** The feeds, by name: the last sync id, the unpublished entries, and the lag of the slowest consumer. */
import type { Feed } from '../client/wire'
import { link } from './address'
import { ask, pageQuery } from './api'
import { type Listed, ListPage } from './list-page'
import { counted, Head, Name, Num } from './parts'
import { duration } from './time'

async function load({ prefix, after, signal }: Listed & { signal: AbortSignal }) {
  const { feeds, nextAfter } = await ask('listFeeds', { query: pageQuery(after, prefix) }, signal)
  return { rows: feeds, nextAfter }
}

export function FeedsPage(listed: Listed) {
  return (
    <ListPage
      {...listed}
      title="Feeds"
      part="feeds"
      load={load}
      empty="There are no feeds yet. The first entry makes one."
      unmatched="No feed begins with this."
      columns={COLUMNS}
      row={(feed) => <Row key={feed.feed} feed={feed} />}
    />
  )
}

const COLUMNS = (
  <>
    <Head>Feed</Head>
    <Head kind="number">Last sync id</Head>
    <Head kind="number wide">Entries</Head>
    <Head kind="number wide">Unpublished</Head>
    <Head kind="number wide">Oldest of them</Head>
    <Head kind="number">Greatest lag</Head>
  </>
)

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
      <td class="number">
        <Num value={lastSyncId} />
      </td>
      <td class="number wide">
        <Num value={entries} />
      </td>
      <td class={`number wide ${unpublished === 0 ? 'muted' : ''}`}>
        <Num value={unpublished} />
      </td>
      <td class="number wide muted">{oldestUnpublishedSeconds === null ? '–' : duration(oldestUnpublishedSeconds)}</td>
      <td class={`number ${lag === 0 ? 'muted' : ''}`}>{consumers.length === 0 ? '–' : <Num value={lag} />}</td>
    </tr>
  )
}
