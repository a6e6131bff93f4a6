/** The queues: chosen by their state, and sorted by a number. A dead-letter queue is folded into the queues that it serves. */
import * as operations from '../client/operations'
import type { QueueListOptions, QueueStatus } from '../shared/queue-types'
import type { PageQuery } from './address'
import { ask } from './api'
import { countsOf, diedOf, StateTabs } from './counts'
import { ListPage } from './list-page'
import { Badge, NameLink, sentence } from './parts'
import { NewQueue } from './queue-forms'
import type { Column } from './table'
import { duration } from './time'

const TITLES = { dead: 'Dead', growing: 'Growing', stuck: 'Stuck', blocked: 'Blocked', paused: 'Paused' } as const
const STATES = Object.keys(TITLES) as (keyof typeof TITLES)[]

export function QueuesPage({ listed }: { listed: PageQuery }) {
  // A search finds dead-letter queues too.
  const all = listed.contains === null && listed.prefix === null ? 'main' : 'all'
  const sort = COLUMNS.find((column) => column.sort !== undefined && column.sort === listed.sort)?.sort
  const state = STATES.find((each) => each === listed.state)
  const chosen = { state: state ?? all, sort: sort as QueueListOptions['sort'] } as const
  return (
    <ListPage
      listed={listed}
      part="queues"
      make={<NewQueue />}
      load={(query, signal) => ask(operations.listQueues, { query: { ...query, ...chosen } }, signal)}
      empty="There are no queues yet."
      unmatched={listed.state === null ? undefined : 'No queue is in this state.'}
      above={({ states }) =>
        states !== null && (
          <StateTabs
            label="Queues by state"
            to={['queues']}
            query={{ ...listed, after: null }}
            titles={{ '': 'All', ...TITLES }}
            counts={{ '': states[all], ...states }}
            current={listed.state ?? ''}
            isBad={(each) => each === 'dead'}
          />
        )
      }
      columns={COLUMNS}
    />
  )
}

const COLUMNS: readonly Column<QueueStatus>[] = [
  {
    ...{ title: 'Queue', isName: true },
    cell: ({ queue, paused, isDeadLetterQueue }) => (
      <>
        <NameLink to={['queues', queue]}>{queue}</NameLink> {isDeadLetterQueue && <Badge>dead-letter queue</Badge>}
        {paused && <Badge kind="warn">paused</Badge>}
      </>
    ),
  },
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

const changeOf = (growth: number | null) => (growth ? sentence`${growth > 0 ? '+' : '−'}${Math.abs(growth)}` : '')
