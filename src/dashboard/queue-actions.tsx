/** The buttons for pause, redrive and purge. Actions that can't be undone ask for confirmation, with the number of messages. */

import { useState } from 'preact/hooks'
import * as operations from '../client/operations'
import type { QueueStatus } from '../shared/queue-types'
import { ActionResult, useAction } from './action'
import { ask } from './api'
import { AdminButton, ReadOnlyNote } from './may'
import { Ask, counted, Loaded, Name } from './parts'
import { usePolled } from './polled'
import { ChangeQueue, DeleteQueue, SendMessage } from './queue-forms'

async function pause(queue: string): Promise<string> {
  await ask(operations.pauseQueue, { path: { queue }, body: {} })
  return 'Paused: receives get nothing.'
}

async function resume(queue: string): Promise<string> {
  await ask(operations.resumeQueue, { path: { queue }, body: {} })
  return 'Resumed.'
}

async function redrive(queue: string): Promise<string> {
  const { moved } = await ask(operations.redriveQueue, { path: { queue }, body: {} })
  return `${counted(moved, 'message')} went back.`
}

async function purge(queue: string): Promise<string> {
  const { deleted } = await ask(operations.purgeQueue, { path: { queue }, body: {} })
  return `${counted(deleted, 'message')} deleted.`
}

interface ActionsProps {
  queue: QueueStatus
  /** The queues whose dead letters come here. */
  from: readonly string[]
  onDone(): void
}

export function QueueActions({ queue, from, onDone }: ActionsProps) {
  const [asking, setAsking] = useState<'redrive' | 'purge' | null>(null)
  const action = useAction()
  const { queue: name, paused, counts, isDeadLetterQueue } = queue
  const run = async (work: () => Promise<string>) => {
    await action.run(work)
    onDone()
  }
  const close = () => setAsking(null)
  return (
    <div class="actions">
      <div class="buttons">
        {(counts.dead > 0 || (isDeadLetterQueue && counts.ready > 0)) && (
          <AdminButton class="primary" isDisabled={action.isRunning} onClick={() => setAsking('redrive')}>
            Redrive …
          </AdminButton>
        )}
        <AdminButton isDisabled={action.isRunning} onClick={() => run(() => (paused ? resume : pause)(name))}>
          {paused ? 'Resume' : 'Pause'}
        </AdminButton>
        <AdminButton isDisabled={action.isRunning} onClick={() => setAsking('purge')}>
          Purge …
        </AdminButton>
        <SendMessage queue={name} onDone={onDone} />
        <ChangeQueue queue={queue} onDone={onDone} />
        <DeleteQueue queue={queue} />
      </div>
      <ReadOnlyNote />
      <ActionResult action={action} />
      {asking === 'redrive' && <RedriveQuestion queue={queue} onYes={() => run(() => redrive(name))} onClose={close} />}
      {asking === 'purge' && (
        <PurgeQuestion queue={queue} from={from} onYes={() => run(() => purge(name))} onClose={close} />
      )}
    </div>
  )
}

/** How often the messages are counted while the dialog is open. */
const EVERY_MS = 3000

interface QuestionProps {
  queue: QueueStatus
  onYes(): void
  onClose(): void
}

export function RedriveQuestion({ queue: { queue: name }, ...rest }: QuestionProps) {
  const parts = { path: { queue: name }, body: { dryRun: true } }
  const counting = usePolled((signal) => ask(operations.redriveQueue, parts, signal), name, EVERY_MS)
  const count = counting.data?.moved ?? 0
  return (
    <Ask title="Redrive the dead?" action={labelled('Redrive', count, 'message')} isReady={count > 0} {...rest}>
      <Loaded of={counting}>
        {count === 0 ? (
          <p>
            No message can go back from <Name>{name}</Name>.
          </p>
        ) : (
          <p>
            {counted(count, 'message')} {count === 1 ? 'goes' : 'go'} back to where {count === 1 ? 'it' : 'they'} died,
            from <Name>{name}</Name>. {count === 1 ? 'It is' : 'They are'} tried again from the beginning.
          </p>
        )}
      </Loaded>
    </Ask>
  )
}

export function PurgeQuestion({ queue, from, ...rest }: QuestionProps & { from: readonly string[] }) {
  const { queue: name, isDeadLetterQueue } = queue
  const parts = { path: { queue: name }, body: { dryRun: true } }
  const counting = usePolled((signal) => ask(operations.purgeQueue, parts, signal), name, EVERY_MS)
  const count = counting.data?.deleted ?? 0
  const what = isDeadLetterQueue ? 'dead letter' : 'message'
  return (
    <Ask
      title={isDeadLetterQueue ? 'Purge the dead letters?' : 'Purge?'}
      action={labelled('Delete', count, what)}
      isDanger
      isReady={count > 0}
      mustType={name}
      {...rest}
    >
      <Loaded of={counting}>
        {count === 0 && <p>Nothing is ready or delayed: there is nothing to delete.</p>}
        {count > 0 && (isDeadLetterQueue ? <DeadLetters count={count} from={from} /> : <Waiting count={count} />)}
      </Loaded>
      <p class="muted">
        {isDeadLetterQueue ? (
          <>
            Messages that are in flight, died in <Name>{name}</Name> itself or are archived stay.
          </>
        ) : (
          'Messages that are in flight, dead or archived stay.'
        )}
      </p>
    </Ask>
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
const labelled = (verb: string, count: number, what: string) => (count === 0 ? verb : `${verb} ${counted(count, what)}`)
