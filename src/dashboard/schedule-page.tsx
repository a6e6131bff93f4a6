/** The schedules, by name; the page of one: when it ticks, and what it sends; and the forms of both. */
import * as operations from '../client/operations'
import type { Bodies } from '../client/schemas'
import type { ListedSchedule, Schedule } from '../shared/schedule-types'
import type { PageQuery } from './address'
import { ask } from './api'
import { FormButton } from './form-dialog'
import type { FormField } from './form-fields'
import { ListPage } from './list-page'
import { Actions } from './may'
import { Badge, Facts, Name, NameLink, Section, sentence } from './parts'
import type { Column } from './table'
import { DeleteButton, NewButton, ThingPage } from './thing'
import { exactDuration } from './time'
import { BodyAndAttributes } from './value'

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
  { title: 'Due', cell: ({ nextTickAt }) => nextTickAt },
  { title: 'Last tick', kind: 'wide', cell: ({ lastTickAt }) => lastTickAt },
]

const FIELDS: readonly FormField[] = [
  { name: 'queue', label: 'Queue', isRequired: true, isPrefixed: true },
  { name: 'cron', label: 'Pattern', hint: 'such as 30 2 * * *' },
  { name: 'timeZone', label: 'Time zone', empty: 'UTC' },
  { name: 'everySeconds', label: 'Or every', kind: 'seconds', least: 1, most: 315_360_000 },
  { name: 'missed', label: 'Missed ticks', kind: 'choice', choices: ['send-once', 'skip'], initial: 'send-once' },
  { name: 'body', label: 'Body', hint: 'JSON', kind: 'json', isRequired: true, initial: '{}' },
  { name: 'attributes', label: 'Attributes', hint: 'a JSON object of texts', kind: 'json' },
  { name: 'messageGroup', label: 'Message group' },
  {
    ...{ name: 'priority', label: 'Priority', hint: 'higher is first' },
    ...{ kind: 'number', least: -1000, most: 1000, isRequired: true, initial: '0' },
  },
  { name: 'delaySeconds', label: 'Delay', kind: 'seconds', least: 0, isRequired: true, initial: '0' },
]

export function SchedulesPage({ listed }: { listed: PageQuery }) {
  const save = (schedule: string, body: object, headers: Record<string, string>) =>
    ask(operations.putSchedule, { path: { schedule }, body: body as Bodies['NewSchedule'], headers })
  return (
    <ListPage
      listed={listed}
      part="schedules"
      make={<NewButton part="schedules" fields={FIELDS} save={save} said="The schedule is made." />}
      load={(query, signal) => ask(operations.listSchedules, { query }, signal)}
      empty="There are no schedules yet."
      columns={COLUMNS}
    />
  )
}

/** When it ticks: the pattern with its time zone, or the interval. */
function timingOf({ cron, timeZone, everySeconds }: ListedSchedule): string {
  return cron === null ? `every ${exactDuration(everySeconds ?? 0)}` : `${cron} (${timeZone})`
}

export function SchedulePage({ schedule: name }: { schedule: string }) {
  const path = { schedule: name }
  const load = (signal?: AbortSignal) => ask(operations.getSchedule, { path }, signal)
  return (
    <ThingPage
      up={['schedules']}
      name={name}
      load={load}
      beside={(schedule, refresh) =>
        schedule && (
          <Actions>
            <FormButton
              label="Change …"
              title="Change the schedule"
              action="Save"
              fields={FIELDS}
              settings={schedule}
              look={load}
              save={(body, headers) => ask(operations.updateSchedule, { path, body, headers })}
              said="The schedule is saved."
              onSaved={refresh}
            />
            <DeleteButton
              part="schedules"
              label="End …"
              title="End the schedule?"
              work={() => ask(operations.dropSchedule, { path })}
              said="The schedule has ended."
            >
              <p>
                {sentence`${<Name>{name}</Name>} sends nothing more. Messages that it has sent stay. An app that creates the
                  schedule when it starts makes it again.`}
              </p>
            </DeleteButton>
          </Actions>
        )
      }
    >
      {(schedule) => (
        <>
          <Facts of={factsOf(schedule)} />
          {schedule.lastError !== null && (
            <Section title="Why the next tick cannot be sent">
              <pre class="panel error">{schedule.lastError}</pre>
            </Section>
          )}
          <BodyAndAttributes of={schedule} />
        </>
      )}
    </ThingPage>
  )
}

function factsOf(schedule: Schedule) {
  const { queue, missed, priority, delaySeconds, messageGroup } = schedule
  return {
    Queue: <NameLink to={['queues', queue]}>{queue}</NameLink>,
    Ticks: timingOf(schedule),
    Due: schedule.nextTickAt,
    'Last tick': schedule.lastTickAt,
    Sent: schedule.lastSentAt,
    'Missed ticks': missed === 'skip' ? 'skipped' : 'the newest is sent late',
    Delay: delaySeconds > 0 ? exactDuration(delaySeconds) : null,
    Priority: priority,
    'Message group': messageGroup && <Name>{messageGroup}</Name>,
  }
}
