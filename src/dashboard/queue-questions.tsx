/** The confirmation of a redrive and of a purge, with the number of messages as the server counts them now. */
import type { QueueStatus } from '../client/wire'
import { ask } from './api'
import { counted } from './numbers'
import { Ask, Counted, Name } from './parts'
import { usePolled } from './polled'

/** How often the messages are counted while the dialog is open. */
const EVERY_MS = 3000

interface QuestionProps {
  queue: QueueStatus
  onYes(): void
  onClose(): void
}

export function RedriveQuestion({ queue: { queue: name }, ...rest }: QuestionProps) {
  const parts = { path: { queue: name }, body: { dryRun: true } }
  const counting = usePolled((signal) => ask('redriveQueue', parts, signal), name, EVERY_MS)
  const count = counting.data?.moved ?? 0
  return (
    <Ask title="Redrive the dead?" action={labelled('Redrive', count, 'message')} isReady={count > 0} {...rest}>
      <Counted of={counting}>
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
      </Counted>
    </Ask>
  )
}

/** `from` are the queues whose dead letters are in this one. */
export function PurgeQuestion({ queue, from, ...rest }: QuestionProps & { from: readonly string[] }) {
  const { queue: name, isDeadLetterQueue } = queue
  const parts = { path: { queue: name }, body: { dryRun: true } }
  const counting = usePolled((signal) => ask('purgeQueue', parts, signal), name, EVERY_MS)
  const count = counting.data?.deleted ?? 0
  const what = isDeadLetterQueue ? 'dead letter' : 'message'
  return (
    <Ask
      title={isDeadLetterQueue ? 'Purge the dead letters?' : 'Purge?'}
      action={labelled('Delete', count, what)}
      isDanger
      isReady={count > 0}
      typed={name}
      {...rest}
    >
      <Counted of={counting}>
        {count === 0 && <p>Nothing is ready or delayed: there is nothing to delete.</p>}
        {count > 0 && (isDeadLetterQueue ? <DeadLetters count={count} from={from} /> : <Waiting count={count} />)}
      </Counted>
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
