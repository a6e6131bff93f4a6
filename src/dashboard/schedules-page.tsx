/** The schedules, by name: their queue, when they tick, the next tick and the last. */
import type { ListedSchedule } from '../client/wire'
import { link } from './address'
import { ask, pageQuery } from './api'
import { type Listed, ListPage } from './list-page'
import { Badge, Head, Name } from './parts'
import { exactDuration, Time } from './time'

async function load({ prefix, after, signal }: Listed & { signal: AbortSignal }) {
  const { schedules, nextAfter } = await ask('listSchedules', { query: pageQuery(after, prefix) }, signal)
  return { rows: schedules, nextAfter }
}

export function SchedulesPage(listed: Listed) {
  return (
    <ListPage
      {...listed}
      title="Schedules"
      part="schedules"
      over={<a href={link(['queues'])}>Queues</a>}
      load={load}
      empty="There are no schedules yet. PUT /v1/schedules/{schedule} makes one."
      unmatched="No schedule begins with this."
      columns={COLUMNS}
      row={(schedule) => <Row key={schedule.schedule} schedule={schedule} />}
    />
  )
}

const COLUMNS = (
  <>
    <Head>Schedule</Head>
    <Head kind="wide">Queue</Head>
    <Head kind="wide">Ticks</Head>
    <Head>Next tick</Head>
    <Head kind="wide">Last tick</Head>
  </>
)

/** When it ticks: the pattern with its time zone, or the interval. */
export function timingOf({ cron, timeZone, everySeconds }: ListedSchedule): string {
  return cron === null ? `every ${exactDuration(everySeconds ?? 0)}` : `${cron} (${timeZone})`
}

function Row({ schedule }: { schedule: ListedSchedule }) {
  const { schedule: name, queue, nextTickAt, lastTickAt, lastError } = schedule
  return (
    <tr>
      <th scope="row">
        <a href={link(['schedules', name])}>
          <Name>{name}</Name>
        </a>{' '}
        {lastError !== null && <Badge kind="bad">cannot send</Badge>}
      </th>
      <td class="wide">
        <a href={link(['queues', queue])}>
          <Name>{queue}</Name>
        </a>
      </td>
      <td class="wide">{timingOf(schedule)}</td>
      <td>
        <Time at={nextTickAt} />
      </td>
      <td class="wide muted">{lastTickAt === null ? '–' : <Time at={lastTickAt} />}</td>
    </tr>
  )
}
