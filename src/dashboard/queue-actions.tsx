/** The buttons for pause, redrive and purge. Actions that can't be undone ask for confirmation, with the number of messages. */

import * as operations from '../client/operations'
import type { QueueStatus } from '../shared/queue-types'
import { Act } from './action'
import { ask } from './api'
import { Actions } from './may'
import { counted, Name } from './parts'
import { ChangeQueue, DeleteQueue, SendMessage } from './queue-forms'

interface ActionsProps {
  queue: QueueStatus
  /** The queues whose dead letters come here. */
  from: readonly string[]
  onDone(): void
}

export function QueueActions({ queue, from, onDone }: ActionsProps) {
  const { queue: name, paused, counts, isDeadLetterQueue } = queue
  const path = { queue: name }
  const pause = {
    label: paused ? 'Resume' : 'Pause',
    work: () => ask(paused ? operations.resumeQueue : operations.pauseQueue, { path, body: {} }),
    said: paused ? 'Resumed.' : 'Paused: receives get nothing.',
  }
  return (
    <Actions>
      {(counts.dead > 0 || (isDeadLetterQueue && counts.ready > 0)) && <Redrive queue={name} onDone={onDone} />}
      <Act {...pause} onDone={onDone} />
      <Purge queue={queue} from={from} onDone={onDone} />
      <SendMessage queue={name} onDone={onDone} />
      <ChangeQueue queue={queue} onDone={onDone} />
      <DeleteQueue queue={queue} />
    </Actions>
  )
}

/** How often the messages are counted while the dialog is open. */
const EVERY_MS = 3000

function Redrive({ queue, onDone }: { queue: string; onDone(): void }) {
  const redrive = async (dryRun: boolean, signal?: AbortSignal) =>
    (await ask(operations.redriveQueue, { path: { queue }, body: { dryRun } }, signal)).moved
  return (
    <Act
      label="Redrive …"
      class="primary"
      title="Redrive the dead?"
      action={labelled('Redrive', 'message')}
      look={(signal) => redrive(true, signal)}
      everyMs={EVERY_MS}
      work={() => redrive(false)}
      said={(count) => `${counted(count, 'message')} went back.`}
      onDone={onDone}
    >
      {(count) => (
        <p>
          {count === 0
            ? 'No message can go back from '
            : `${counted(count, 'message')} ${count === 1 ? 'goes' : 'go'} `}
          {count > 0 && `back to where ${count === 1 ? 'it' : 'they'} died, from `}
          <Name>{queue}</Name>. {count > 0 && `${count === 1 ? 'It is' : 'They are'} tried again from the beginning.`}
        </p>
      )}
    </Act>
  )
}

function Purge({ queue: { queue, isDeadLetterQueue }, from, onDone }: ActionsProps) {
  const purge = async (dryRun: boolean, signal?: AbortSignal) =>
    (await ask(operations.purgeQueue, { path: { queue }, body: { dryRun } }, signal)).deleted
  return (
    <Act
      label="Purge …"
      title={isDeadLetterQueue ? 'Purge the dead letters?' : 'Purge?'}
      action={labelled('Delete', isDeadLetterQueue ? 'dead letter' : 'message')}
      isDanger
      mustType={queue}
      look={(signal) => purge(true, signal)}
      everyMs={EVERY_MS}
      work={() => purge(false)}
      said={(count) => `${counted(count, 'message')} deleted.`}
      onDone={onDone}
    >
      {(count) => (
        <>
          {count === 0 && <p>Nothing is ready or delayed: there is nothing to delete.</p>}
          {count > 0 && (isDeadLetterQueue ? <DeadLetters count={count} from={from} /> : <Waiting count={count} />)}
          <p class="muted">
            {isDeadLetterQueue ? (
              <>
                Messages that are in flight, died in <Name>{queue}</Name> itself or are archived stay.
              </>
            ) : (
              'Messages that are in flight, dead or archived stay.'
            )}
          </p>
        </>
      )}
    </Act>
  )
}

function DeadLetters({ count, from }: { count: number; from: readonly string[] }) {
  return (
    <p>
      {counted(count, 'dead letter')} {count === 1 ? 'is' : 'are'} deleted for good, and can't be redriven any more:
      what is ready or delayed here died in{' '}
      {from.length === 0
        ? 'another queue'
        : from.map((each, i) => (
            <>
              {i > 0 && ', '}
              <Name>{each}</Name>
            </>
          ))}
      , or was sent here.
    </p>
  )
}

function Waiting({ count }: { count: number }) {
  return (
    <p>
      {counted(count, 'message')} that {count === 1 ? 'is' : 'are'} ready or delayed {count === 1 ? 'is' : 'are'}{' '}
      deleted for good.
    </p>
  )
}

/** The text of the button that confirms. */
const labelled = (verb: string, what: string) => (count: number | null) =>
  count ? `${verb} ${counted(count, what)}` : verb
