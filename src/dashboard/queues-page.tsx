/** The queues, by name: what they hold, how old it is, and how it went while one was looking. */
import { api } from './api'
import { asCounted } from './letters'
import { type Listed, ListPage } from './list-page'
import { Num } from './numbers'
import { Badge, Head, Name } from './parts'
import { link } from './place'
import { record, samplesOf } from './samples'
import { Spark } from './spark'
import { duration } from './time'
import type { Queue } from './types'

async function load(options: Listed & { signal: AbortSignal }) {
  const { queues, nextAfter } = await api.queues(options)
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

function Row({ queue: { queue, paused, deadLetterQueue, oldestAgeSeconds, ...rest } }: { queue: Queue }) {
  const counts = asCounted(rest)
  return (
    <tr>
      <th scope="row">
        <a href={link(['queues', queue])}>
          <Name>{queue}</Name>
        </a>{' '}
        {rest.isDeadLetterQueue && <Badge>dead-letter queue</Badge>}
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
