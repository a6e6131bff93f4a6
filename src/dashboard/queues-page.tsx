/** The queues, by name: their counts, the age of the oldest message, and how many were ready in the last minutes. */
import * as operations from '../client/operations'
import type { QueueStatus } from '../shared/queue-types'
import { ask, type pageQuery } from './api'
import { type Listed, ListPage } from './list-page'
import { Badge, Cell, NameLink } from './parts'
import { NewQueue } from './queue-forms'
import { type CountSample, countsOf, drawable, record, samplesOf } from './samples'
import { duration } from './time'

async function load(query: ReturnType<typeof pageQuery>, signal: AbortSignal) {
  const page = await ask(operations.listQueues, { query }, signal)
  record(page.queues)
  return page
}

export function QueuesPage(listed: Listed) {
  return (
    <ListPage
      {...listed}
      title="Queues"
      part="queues"
      beside={<NewQueue />}
      load={load}
      empty="There are no queues yet."
      unmatched="No queue has this in its name."
      columns={COLUMNS}
      row={(queue) => <Row key={queue.queue} queue={queue} />}
    />
  )
}

const COLUMNS = {
  ...{ Queue: '', 'Ready, last minutes': 'wide spark', Ready: 'number', 'In flight': 'number wide' },
  ...{ Delayed: 'number wide', Blocked: 'number wide', Dead: 'number', Oldest: 'number' },
}

function Row({ queue: status }: { queue: QueueStatus }) {
  const { queue, paused, deadLetterQueue, isDeadLetterQueue, oldestAgeSeconds } = status
  const counts = countsOf(status)
  return (
    <tr>
      <th scope="row">
        <NameLink to={['queues', queue]}>{queue}</NameLink> {isDeadLetterQueue && <Badge>dead-letter queue</Badge>}
        {paused && <Badge kind="warn">paused</Badge>}
        {deadLetterQueue !== null && (
          <div class="muted small">
            dead letters to <NameLink to={['queues', deadLetterQueue]}>{deadLetterQueue}</NameLink>
          </div>
        )}
      </th>
      <td class="wide spark">
        <Spark samples={samplesOf(queue)} />
      </td>
      <Count value={counts.ready} />
      <Count value={counts.inFlight} isWide />
      <Count value={counts.delayed} isWide />
      <Count value={counts.blocked} isWide />
      <Count value={counts.dead} isBad />
      <td class="number">{oldestAgeSeconds === null ? <span class="muted">–</span> : duration(oldestAgeSeconds)}</td>
    </tr>
  )
}

function Count({ value, isWide, isBad }: { value: number; isWide?: boolean; isBad?: boolean }) {
  const kind = value === 0 ? 'muted' : isBad ? 'bad' : ''
  return <Cell kind={`number ${isWide ? 'wide' : ''} ${kind}`}>{value}</Cell>
}

const WIDTH = 120
const HEIGHT = 24
const MINUTES = 10

export function Spark({ samples }: { samples: readonly CountSample[] }) {
  const now = Date.now()
  const recent = samples.filter(([time]) => time > now - MINUTES * 60_000)
  if (recent.length < 2) return <span class="muted">–</span>
  const from = Math.min(recent[0]?.[0] ?? now, now - 60_000)
  const most = Math.max(1, ...recent.map(([, ready]) => ready))
  const x = (time: number) => ((time - from) / (now - from)) * WIDTH
  const y = (ready: number) => HEIGHT - 2 - (ready / most) * (HEIGHT - 4)
  let path = ''
  let isDown = false
  for (const [time, ready] of drawable(recent)) {
    if (ready === null) isDown = false
    else {
      path += `${isDown ? 'L' : 'M'}${x(time).toFixed(1)} ${y(ready).toFixed(1)}`
      isDown = true
    }
  }
  return (
    <svg class="sparkline" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} width={WIDTH} height={HEIGHT} aria-hidden="true">
      <path d={path} fill="none" stroke="currentColor" stroke-width="1.5" stroke-linejoin="round" />
    </svg>
  )
}
