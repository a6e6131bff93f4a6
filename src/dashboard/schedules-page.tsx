/** The schedules, by name: their queue, when they tick, the next tick and the last. */
import * as operations from '../client/operations'
import type { ListedSchedule } from '../shared/schedule-types'
import { ask } from './api'
import { type Listed, ListPage } from './list-page'
import { Badge, NameLink } from './parts'
import { NewSchedule } from './schedule-forms'
import { exactDuration, Time } from './time'

export function SchedulesPage(listed: Listed) {
  return (
    <ListPage
      {...listed}
      title="Schedules"
      part="schedules"
      beside={<NewSchedule />}
      load={(query, signal) => ask(operations.listSchedules, { query }, signal)}
      empty="There are no schedules yet."
      unmatched="No schedule has this in its name."
      columns={COLUMNS}
      row={(schedule) => <Row key={schedule.schedule} schedule={schedule} />}
    />
  )
}

const COLUMNS = { Schedule: '', Queue: 'wide', Ticks: 'wide', 'Next tick': '', 'Last tick': 'wide' }

/** When it ticks: the pattern with its time zone, or the interval. */
export function timingOf({ cron, timeZone, everySeconds }: ListedSchedule): string {
  return cron === null ? `every ${exactDuration(everySeconds ?? 0)}` : `${cron} (${timeZone})`
}

function Row({ schedule }: { schedule: ListedSchedule }) {
  const { schedule: name, queue, nextTickAt, lastTickAt, lastError } = schedule
  return (
    <tr>
      <th scope="row">
        <NameLink to={['schedules', name]}>{name}</NameLink>{' '}
        {lastError !== null && <Badge kind="bad">cannot send</Badge>}
      </th>
      <td class="wide">
        <NameLink to={['queues', queue]}>{queue}</NameLink>
      </td>
      <td class="wide">{timingOf(schedule)}</td>
      <td>
        <Time at={nextTickAt} />
      </td>
      <td class="wide muted">{lastTickAt === null ? '–' : <Time at={lastTickAt} />}</td>
    </tr>
  )
}
