/** The queues, by name: their counts, how these change, and the age of the oldest message. */
import * as operations from '../client/operations'
import type { QueueStatus } from '../shared/queue-types'
import { ask } from './api'
import { countsOf } from './counts'
import { type Listed, ListPage } from './list-page'
import { Badge, Cell, NameLink } from './parts'
import { NewQueue } from './queue-forms'
import { duration } from './time'

export function QueuesPage(listed: Listed) {
  return (
    <ListPage
      {...listed}
      title="Queues"
      part="queues"
      beside={<NewQueue />}
      load={(query, signal) => ask(operations.listQueues, { query }, signal)}
      empty="There are no queues yet."
      unmatched="No queue has this in its name."
      columns={COLUMNS}
      row={(queue) => <Row key={queue.queue} queue={queue} />}
    />
  )
}

const COLUMNS = {
  ...{ Queue: '', Ready: 'number', 'A minute': 'number wide', 'In flight': 'number wide' },
  ...{ Delayed: 'number wide', Blocked: 'number wide', Dead: 'number', Oldest: 'number' },
}

function Row({ queue: status }: { queue: QueueStatus }) {
  const { queue, paused, deadLetterQueue, isDeadLetterQueue, oldestAgeSeconds, growthPerMinute } = status
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
      <Count value={counts.ready} />
      <td class="number wide muted">{isDeadLetterQueue ? null : changeOf(growthPerMinute)}</td>
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

const changeOf = (growth: number | null) => (growth ? `${growth > 0 ? '+' : '−'}${Math.abs(growth)}` : null)
