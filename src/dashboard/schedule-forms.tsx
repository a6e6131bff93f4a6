/** The forms of schedules: for a new one, and for what one sends and when. */
import * as operations from '../client/operations'
import type { Bodies } from '../client/schemas'
import type { Schedule } from '../shared/schedule-types'
import { goTo } from './address'
import { ask } from './api'
import { FormButton } from './form-dialog'
import type { FormField } from './form-fields'
import { useAccess } from './may'

const fieldsFrom = (prefix: string): readonly FormField[] => [
  { name: 'schedule', label: 'Name', isRequired: true, isFixed: true, initial: prefix },
  { name: 'queue', label: 'Queue', isRequired: true, initial: prefix },
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

export function NewSchedule() {
  const access = useAccess()
  return (
    <FormButton
      label="New schedule"
      title="New schedule"
      action="Create"
      fields={fieldsFrom(access?.prefix ?? '')}
      settings={null}
      save={({ schedule, ...body }, headers) => {
        const path = { schedule: schedule as string }
        return ask(operations.putSchedule, { path, body: body as unknown as Bodies['NewSchedule'], headers })
      }}
      said="The schedule is made."
      onSaved={({ schedule }) => goTo(['schedules', schedule as string])}
    />
  )
}

export function ChangeSchedule({ schedule, onDone }: { schedule: Schedule; onDone(): void }) {
  const path = { schedule: schedule.schedule }
  return (
    <FormButton
      label="Change …"
      title="Change the schedule"
      action="Save"
      fields={fieldsFrom('')}
      settings={schedule}
      look={() => ask(operations.getSchedule, { path })}
      save={(body, headers) => ask(operations.updateSchedule, { path, body, headers })}
      said="The schedule is saved."
      onSaved={onDone}
    />
  )
}
