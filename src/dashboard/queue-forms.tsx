/** The forms of queues: for a new one, for the settings of one, and for a message to it; and the button that deletes it. */
import * as operations from '../client/operations'
import type { Bodies } from '../client/schemas'
import type { QueueStatus } from '../shared/queue-types'
import { ask } from './api'
import { FormButton } from './form-dialog'
import type { FormField } from './form-fields'
import { counted, Name, sentence } from './parts'
import { DeleteButton, NewButton } from './thing'

const RATE_HINT = 'as {"messages": 50, "perSeconds": 1}; empty: no limit'

const SETTINGS: readonly FormField[] = [
  {
    ...{ name: 'visibilityTimeoutSeconds', label: 'Lease', hint: 'a receiver has a message for itself' },
    ...{ kind: 'seconds', least: 0, most: 43_200, isRequired: true, initial: '30' },
  },
  {
    ...{ name: 'maxReceives', label: 'Receives', hint: 'then a message is dead; empty: no limit', empty: 'no limit' },
    ...{ kind: 'number', least: 1, most: 1_000_000, initial: '5' },
  },
  { name: 'deadLetterQueue', label: 'Dead-letter queue', empty: 'dead messages stay' },
  { name: 'onAck', label: 'After success', kind: 'choice', choices: ['remove', 'archive'], initial: 'remove' },
  { name: 'retentionSeconds', label: 'Archived for', empty: 'for ever', kind: 'seconds', least: 1 },
  {
    ...{ name: 'groupConcurrency', label: 'Of one group at once', empty: 'no limit' },
    ...{ kind: 'number', least: 1, most: 1000 },
  },
  {
    ...{ name: 'maxMessages', label: 'Messages at most', empty: 'no limit' },
    ...{ kind: 'number', least: 1, most: 10_000_000 },
  },
  { name: 'rateLimit', label: 'Rate', hint: RATE_HINT, kind: 'json' },
  { name: 'groupRateLimit', label: 'Rate of each group', hint: RATE_HINT, kind: 'json' },
]

export const NewQueue = () => (
  <NewButton
    part="queues"
    fields={SETTINGS}
    save={(queue, body, headers) => ask(operations.putQueue, { path: { queue }, body, headers })}
    said="The queue is there."
  />
)

export function ChangeQueue({ queue, onDone }: { queue: QueueStatus; onDone(): void }) {
  const path = { queue: queue.queue }
  return (
    <FormButton
      label="Change settings"
      title="Settings of the queue"
      action="Save"
      fields={SETTINGS}
      settings={queue}
      look={() => ask(operations.getQueue, { path })}
      save={(body, headers) => ask(operations.updateQueue, { path, body, headers })}
      said="The settings are saved."
      onSaved={onDone}
    />
  )
}

const MESSAGE: readonly FormField[] = [
  { name: 'body', label: 'Body', hint: 'JSON', kind: 'json', isRequired: true, initial: '{}' },
  { name: 'delaySeconds', label: 'Delay', kind: 'seconds', least: 0, isOmitted: true },
  {
    ...{ name: 'priority', label: 'Priority', hint: 'higher is first' },
    ...{ kind: 'number', least: -1000, most: 1000, isOmitted: true },
  },
  { name: 'messageGroup', label: 'Message group', isOmitted: true },
  { name: 'dedupId', label: 'Dedup id', isOmitted: true },
  { name: 'key', label: 'Key', hint: 'one message with it waits', isOmitted: true },
  { name: 'attributes', label: 'Attributes', hint: 'a JSON object of texts', kind: 'json', isOmitted: true },
]

export function SendMessage({ queue, onDone }: { queue: string; onDone(): void }) {
  return (
    <FormButton
      label="Send …"
      scope="queue"
      title="Send a message"
      action="Send"
      fields={MESSAGE}
      settings={null}
      save={(body) => ask(operations.sendMessages, { path: { queue }, body: body as Bodies['Sending'] })}
      said={(done) => ('id' in done ? `Message ${done.id} ${done.sent ? 'is sent' : 'was there'}.` : 'Sent.')}
      onSaved={onDone}
    />
  )
}

export function DeleteQueue({ queue: { queue, counts } }: { queue: QueueStatus }) {
  const count = Object.values(counts).reduce((sum, each) => sum + each, 0)
  const what = count === 0 ? 'no message in it' : sentence`all ${counted(count, 'message')}`
  return (
    <DeleteButton part="queues" mustType={queue} work={() => ask(operations.dropQueue, { path: { queue } })}>
      <p>{sentence`${<Name>{queue}</Name>} is deleted with ${what}. Its schedules can't send any more.`}</p>
    </DeleteButton>
  )
}
