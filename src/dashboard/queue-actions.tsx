/** The buttons of a queue. Actions that can't be undone ask for confirmation, with the number of messages. */
import * as operations from '../client/operations'
import type { QueueStatus } from '../shared/queue-types'
import { Act, verbOn } from './action'
import { ask } from './api'
import { Actions } from './may'
import { counted, Name, sentence } from './parts'
import { ChangeQueue, DeleteQueue, SendMessage } from './queue-forms'

interface ActionsProps {
  queue: QueueStatus
  /** The queues whose dead letters come here. */
  from: readonly string[]
  onDone(): void
}

export function QueueActions({ queue, from, onDone }: ActionsProps) {
  const { queue: name, paused } = queue
  return (
    <Actions>
      <Act
        label={paused ? 'Resume' : 'Pause'}
        work={() => ask(paused ? operations.resumeQueue : operations.pauseQueue, { path: { queue: name }, body: {} })}
        said={paused ? 'Resumed.' : 'Paused: receives get nothing.'}
        onDone={onDone}
      />
      <Purge queue={queue} from={from} onDone={onDone} />
      <SendMessage queue={name} onDone={onDone} />
      <ChangeQueue queue={queue} onDone={onDone} />
      <DeleteQueue queue={queue} />
    </Actions>
  )
}

function Purge({ queue: { queue, isDeadLetterQueue }, from, onDone }: ActionsProps) {
  const purge = async (dryRun: boolean, signal?: AbortSignal) =>
    (await ask(operations.purgeQueue, { path: { queue }, body: { dryRun } }, signal)).deleted
  return (
    <Act
      label="Purge …"
      title={isDeadLetterQueue ? 'Purge the dead letters?' : 'Purge?'}
      action={verbOn('Delete', isDeadLetterQueue ? 'dead letter' : 'message')}
      isDanger
      mustType={queue}
      look={(signal) => purge(true, signal)}
      work={() => purge(false)}
      said={(count) => sentence`${counted(count, 'message')} deleted.`}
      onDone={onDone}
    >
      {(count) => (
        <>
          <p>{purgeText(count, isDeadLetterQueue ? from : null)}</p>
          <p class="muted">
            {isDeadLetterQueue
              ? sentence`Messages that are in flight, died in ${<Name>{queue}</Name>} itself or are archived stay.`
              : 'Messages that are in flight, dead or archived stay.'}
          </p>
        </>
      )}
    </Act>
  )
}

/** For a dead-letter queue, `from` has the queues that its dead letters are from; for another queue it is null. */
function purgeText(count: number, from: readonly string[] | null) {
  if (count === 0) return 'Nothing is ready or delayed: there is nothing to delete.'
  const are = count === 1 ? 'is' : 'are'
  if (from === null) return sentence`${counted(count, 'message')} that ${are} ready or delayed ${are} deleted for good.`
  const names = from.map((each, i) => [i > 0 && ', ', <Name>{each}</Name>])
  return sentence`${counted(count, 'dead letter')} ${are} deleted for good, and can't be redriven any more: what is ready
    or delayed here died in ${names.length > 0 ? names : 'another queue'}, or was sent here.`
}
