/** The queues, by name: their counts, the age of the oldest message, and how many were ready in the last minutes. */
import type { QueueStatus } from '../client/wire'
import { ask, pageQuery } from './api'
import { countsOf } from './dead-letters'
import { type Listed, ListPage } from './list-page'
import { Num } from './numbers'
import { Badge, Head, Name } from './parts'
import { link } from './place'
import { record, samplesOf } from './samples'
import { Spark } from './spark'
import { duration } from './time'

async function load({ prefix, after, signal }: Listed & { signal: AbortSignal }) {
  const { queues, nextAfter } = await ask('listQueues', { query: pageQuery(after, prefix) }, signal)
  record(queues)
  return { rows: queues, nextAfter }
}

export function QueuesPage(listed: Listed) {
  return (
    <ListPage
      {...listed}
      title="Queues"
      part="queues"
      load={load}
      empty="There are no queues yet. PUT /v1/queues/{queue} makes one."
      unmatched="No queue begins with this."
      columns={COLUMNS}
      row={(queue) => <Row key={queue.queue} queue={queue} />}
    />
  )
}

const COLUMNS = (
  <>
    <Head>Queue</Head>
    <Head kind="wide spark">Ready, last minutes</Head>
    <Head kind="number">Ready</Head>
    <Head kind="number wide">In flight</Head>
    <Head kind="number wide">Delayed</Head>
    <Head kind="number">Dead</Head>
    <Head kind="number">Oldest</Head>
  </>
)

function Row({ queue: status }: { queue: QueueStatus }) {
  const { queue, paused, deadLetterQueue, isDeadLetterQueue, oldestAgeSeconds } = status
  const counts = countsOf(status)
  return (
    <tr>
      <th scope="row">
        <a href={link(['queues', queue])}>
          <Name>{queue}</Name>
        </a>{' '}
        {isDeadLetterQueue && <Badge>dead-letter queue</Badge>}
        {paused && <Badge kind="warn">paused</Badge>}
        {deadLetterQueue !== null && (
          <div class="muted small">
            dead letters to{' '}
            <a href={link(['queues', deadLetterQueue])}>
              <Name>{deadLetterQueue}</Name>
            </a>
          </div>
        )}
      </th>
      <td class="wide spark">
        <Spark samples={samplesOf(queue)} />
      </td>
      <Count value={counts.ready} />
      <Count value={counts.inFlight} isWide />
      <Count value={counts.delayed} isWide />
      <Count value={counts.dead} isBad />
      <td class="number">{oldestAgeSeconds === null ? <span class="muted">–</span> : duration(oldestAgeSeconds)}</td>
    </tr>
  )
}

function Count({ value, isWide, isBad }: { value: number; isWide?: boolean; isBad?: boolean }) {
  const kind = value === 0 ? 'muted' : isBad ? 'bad' : ''
  return (
    <td class={`number ${isWide ? 'wide' : ''} ${kind}`}>
      <Num value={value} />
    </td>
  )
}
