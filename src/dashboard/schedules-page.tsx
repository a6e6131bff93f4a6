/** The schedules, by name: their queue, when they tick, the next tick and the last. */
import * as operations from '../client/operations'
import type { ListedSchedule } from '../shared/schedule-types'
import { ask } from './api'
import { type Listed, ListPage } from './list-page'
import { Badge, NameLink } from './parts'
import { NewSchedule } from './schedule-forms'
import type { Column } from './table'
import { exactDuration, Time } from './time'

export function SchedulesPage({ listed }: { listed: Listed }) {
  return (
    <ListPage
      listed={listed}
      title="Schedules"
      part="schedules"
      name="schedule"
      make={<NewSchedule />}
      load={(query, signal) => ask(operations.listSchedules, { query }, signal)}
      empty="There are no schedules yet."
      unmatched="No schedule has this in its name."
      columns={COLUMNS}
    />
  )
}

/** When it ticks: the pattern with its time zone, or the interval. */
export function timingOf({ cron, timeZone, everySeconds }: ListedSchedule): string {
  return cron === null ? `every ${exactDuration(everySeconds ?? 0)}` : `${cron} (${timeZone})`
}

const COLUMNS: readonly Column<ListedSchedule>[] = [
  {
    title: 'Schedule',
    isName: true,
    cell: ({ schedule, lastError }) => (
      <>
        <NameLink to={['schedules', schedule]}>{schedule}</NameLink>{' '}
        {lastError !== null && <Badge kind="bad">cannot send</Badge>}
      </>
    ),
  },
  { title: 'Queue', kind: 'wide', cell: ({ queue }) => <NameLink to={['queues', queue]}>{queue}</NameLink> },
  { title: 'Ticks', kind: 'wide', cell: timingOf },
  { title: 'Next tick', cell: ({ nextTickAt }) => <Time at={nextTickAt} /> },
  { title: 'Last tick', kind: 'wide', cell: ({ lastTickAt }) => lastTickAt && <Time at={lastTickAt} /> },
]
