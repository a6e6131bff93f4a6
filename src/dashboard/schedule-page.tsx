/** One schedule: when it ticks, what it sends, and the buttons that change and end it. */
import * as operations from '../client/operations'
import type { Schedule } from '../shared/schedule-types'
import { Act } from './action'
import { goTo, link } from './address'
import { ask } from './api'
import { ReadOnlyNote } from './may'
import { Facts, LoadState, Name, NameLink, PageHead } from './parts'
import { usePolled } from './polled'
import { ChangeSchedule } from './schedule-forms'
import { timingOf } from './schedules-page'
import { exactDuration } from './time'
import { BodyAndAttributes } from './value'

const EVERY_MS = 3000

export function SchedulePage({ schedule }: { schedule: string }) {
  const { data, error, refresh } = usePolled(
    (signal) => ask(operations.getSchedule, { path: { schedule } }, signal),
    schedule,
    EVERY_MS,
  )
  return (
    <>
      <PageHead over={<a href={link(['schedules'])}>Schedules</a>} title={<Name>{schedule}</Name>}>
        {data !== null && <Buttons schedule={data} onDone={refresh} />}
      </PageHead>
      <LoadState data={data} error={error} />
      {data !== null && <Details schedule={data} />}
    </>
  )
}

function Details({ schedule }: { schedule: Schedule }) {
  const { lastError } = schedule
  return (
    <>
      <Facts of={factsOf(schedule)} />
      {lastError !== null && (
        <section aria-labelledby="error">
          <h2 id="error">Why the next tick cannot be sent</h2>
          <pre class="panel error">{lastError}</pre>
        </section>
      )}
      <BodyAndAttributes of={schedule} />
    </>
  )
}

function factsOf(schedule: Schedule) {
  const { queue, missed, priority, delaySeconds, messageGroup } = schedule
  return {
    Queue: <NameLink to={['queues', queue]}>{queue}</NameLink>,
    Ticks: timingOf(schedule),
    'Next tick': schedule.nextTickAt,
    'Last tick': schedule.lastTickAt,
    Sent: schedule.lastSentAt,
    'Missed ticks': missed === 'skip' ? 'skipped' : 'the newest is sent late',
    Delay: delaySeconds > 0 ? exactDuration(delaySeconds) : null,
    Priority: priority,
    'Message group': messageGroup && <Name>{messageGroup}</Name>,
  }
}

function Buttons({ schedule, onDone }: { schedule: Schedule; onDone(): void }) {
  const { schedule: name } = schedule
  return (
    <div class="actions">
      <div class="buttons">
        <ChangeSchedule schedule={schedule} onDone={onDone} />
        <Act
          label="End …"
          title="End the schedule?"
          action="End"
          isDanger
          work={() => ask(operations.deleteSchedule, { path: { schedule: name } })}
          said="The schedule has ended."
          onDone={() => goTo(['schedules'])}
        >
          <p>
            <Name>{name}</Name> sends nothing more. Messages that it has sent stay. An app that creates the schedule
            when it starts makes it again.
          </p>
        </Act>
      </div>
      <ReadOnlyNote />
    </div>
  )
}
