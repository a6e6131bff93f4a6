/** One schedule: when it ticks, what it sends, and the buttons that change and end it. */
import * as operations from '../client/operations'
import type { Schedule } from '../shared/schedule-types'
import { Act } from './action'
import { goTo, link } from './address'
import { ask } from './api'
import { ReadOnlyNote } from './may'
import { Fact, LoadState, Name, NameLink, PageHead, TimeFacts } from './parts'
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
      <Facts schedule={schedule} />
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

function Facts({ schedule }: { schedule: Schedule }) {
  const { queue, missed, priority, delaySeconds, messageGroup } = schedule
  const times = { 'Next tick': schedule.nextTickAt, 'Last tick': schedule.lastTickAt, Sent: schedule.lastSentAt }
  return (
    <dl class="facts panel">
      <Fact term="Queue">
        <NameLink to={['queues', queue]}>{queue}</NameLink>
      </Fact>
      <Fact term="Ticks">{timingOf(schedule)}</Fact>
      <TimeFacts of={times} />
      <Fact term="Missed ticks">{missed === 'skip' ? 'skipped' : 'the newest is sent late'}</Fact>
      {delaySeconds > 0 && <Fact term="Delay">{exactDuration(delaySeconds)}</Fact>}
      <Fact term="Priority">{priority}</Fact>
      {messageGroup !== null && (
        <Fact term="Message group">
          <Name>{messageGroup}</Name>
        </Fact>
      )}
    </dl>
  )
}

function Buttons({ schedule, onDone }: { schedule: Schedule; onDone(): void }) {
  const { schedule: name } = schedule
  const end = async () => {
    await ask(operations.deleteSchedule, { path: { schedule: name } })
    return 'The schedule has ended.'
  }
  return (
    <div class="actions">
      <div class="buttons">
        <ChangeSchedule schedule={schedule} onDone={onDone} />
        <Act
          label="End …"
          title="End the schedule?"
          action="End"
          isDanger
          work={end}
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
