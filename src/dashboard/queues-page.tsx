/** The queues: chosen by their state, and sorted by a number. A dead-letter queue is folded into the queues that it serves. */
import * as operations from '../client/operations'
import type { QueueListOptions, QueuePage, QueueStatus } from '../shared/queue-types'
import { link, type PageQuery } from './address'
import { ask } from './api'
import { countsOf } from './counts'
import { ListPage } from './list-page'
import { Badge, NameLink, Num } from './parts'
import { NewQueue } from './queue-forms'
import type { Column } from './table'
import { duration } from './time'

const CHIPS = { dead: 'Dead', growing: 'Growing', stuck: 'Stuck', blocked: 'Blocked', paused: 'Paused' } as const
const STATES: Readonly<Record<string, QueueListOptions['state']>> = Object.fromEntries(
  Object.keys(CHIPS).map((state) => [state, state as keyof typeof CHIPS]),
)

export function QueuesPage({ listed }: { listed: PageQuery }) {
  // A search finds dead-letter queues too.
  const all = listed.contains === null && listed.prefix === null ? 'main' : 'all'
  const sort = COLUMNS.find((column) => column.sort !== undefined && column.sort === listed.sort)?.sort
  const chosen = { state: STATES[listed.state ?? ''] ?? all, sort: sort as QueueListOptions['sort'] }
  return (
    <ListPage
      listed={listed}
      part="queues"
      name="queue"
      make={<NewQueue />}
      load={(query, signal) => ask(operations.listQueues, { query: { ...query, ...chosen } }, signal)}
      empty="There are no queues yet."
      unmatched={listed.state === null ? undefined : 'No queue is in this state.'}
      above={({ states }) => states !== null && <Chips listed={listed} all={all} states={states} />}
      columns={COLUMNS}
    />
  )
}

interface ChipsProps {
  listed: PageQuery
  all: 'main' | 'all'
  states: NonNullable<QueuePage['states']>
}

function Chips({ listed, all, states }: ChipsProps) {
  const chip = (state: string | null, title: string, count: number) => (
    <a
      key={state}
      href={link(['queues'], { ...listed, after: null, state })}
      aria-current={listed.state === state ? 'page' : undefined}
      class={count === 0 ? 'zero' : state === 'dead' ? 'bad' : undefined}
    >
      {title}{' '}
      <b>
        <Num value={count} />
      </b>
    </a>
  )
  return (
    <nav class="tabs" aria-label="Queues by state">
      {chip(null, 'All', states[all])}
      {Object.entries(CHIPS).map(([state, title]) => chip(state, title, states[state as keyof typeof CHIPS]))}
    </nav>
  )
}

const COLUMNS: readonly Column<QueueStatus>[] = [
  { title: 'Queue', isName: true, cell: (status) => <Named status={status} /> },
  { title: 'Ready', kind: 'number', sort: 'ready', cell: (status) => countsOf(status).ready },
  {
    ...{ title: 'A minute', kind: 'number wide', sort: 'growth' },
    cell: ({ isDeadLetterQueue, growthPerMinute }) => (isDeadLetterQueue ? '' : changeOf(growthPerMinute)),
  },
  { title: 'In flight', kind: 'number wide', sort: 'in-flight', cell: (status) => countsOf(status).inFlight },
  { title: 'Delayed', kind: 'number wide', sort: 'delayed', cell: (status) => countsOf(status).delayed },
  { title: 'Blocked', kind: 'number wide', sort: 'blocked', cell: (status) => countsOf(status).blocked },
  { title: 'Dead', kind: 'number', sort: 'died', isBad: () => true, cell: diedOf },
  {
    ...{ title: 'Oldest', kind: 'number', sort: 'oldest' },
    cell: ({ oldestAgeSeconds }) => (oldestAgeSeconds === null ? null : duration(oldestAgeSeconds)),
  },
]

function Named({ status: { queue, paused, isDeadLetterQueue } }: { status: QueueStatus }) {
  return (
    <>
      <NameLink to={['queues', queue]}>{queue}</NameLink> {isDeadLetterQueue && <Badge>dead-letter queue</Badge>}
      {paused && <Badge kind="warn">paused</Badge>}
    </>
  )
}

/** Wherever they are: in the queue, or in its dead-letter queue, to which the number leads. */
function diedOf(status: QueueStatus) {
  const { queue, deadLetterQueue, isDeadLetterQueue, counts, died } = status
  if (isDeadLetterQueue) return countsOf(status).dead
  if (deadLetterQueue === null || died <= counts.dead) return died
  return (
    <a href={link(['queues', deadLetterQueue], { from: queue })} aria-label={`${died} in ${deadLetterQueue}`}>
      <Num value={died} />
    </a>
  )
}

const changeOf = (growth: number | null) => (growth ? `${growth > 0 ? '+' : '−'}${Math.abs(growth)}` : '')
