/** One message: its body, its attributes, its last error, and its times. */
import { useRef } from 'preact/hooks'
import * as operations from '../client/operations'
import type { PeekedMessage, QueueStatus, WholeMessage } from '../shared/queue-types'
import { Act } from './action'
import { link } from './address'
import { ask } from './api'
import { DeadButtons } from './dead-actions'
import { Actions } from './may'
import { Badge, Facts, LoadState, Name, NameLink, Num, PageHead, Section, WayUp } from './parts'
import { usePolled } from './polled'
import { Holder, Release } from './receivers'
import { type Column, Table } from './table'
import { BodyAndAttributes } from './value'

const EVERY_MS = 3000

interface ShownMessage {
  message: WholeMessage
  isDead: boolean
  isLetter: boolean
}

async function load(queue: string, id: bigint, signal: AbortSignal): Promise<ShownMessage> {
  const [message, status] = await Promise.all([
    ask(operations.getMessage, { path: { queue, id } }, signal),
    ask(operations.getQueue, { path: { queue } }, signal),
  ])
  const isLetter = isDeadLetter(message, status)
  return { message, isDead: message.state === 'dead' || isLetter, isLetter }
}

export function MessagePage({ queue, id }: { queue: string; id: bigint }) {
  const { data, error, refresh } = usePolled((signal) => load(queue, id, signal), '', EVERY_MS)
  const last = useRef<ShownMessage | null>(null)
  if (data !== null) last.current = data
  // A page that is being read stays as it is when the message is settled.
  const isGone = error?.status === 404 && last.current !== null
  const shown = isGone ? last.current : data
  return (
    <>
      <PageHead over={<WayUp to={['queues', queue]} state={shown?.message.state} />} title={`Message ${id}`}>
        {shown !== null && !isGone && <State {...shown} />}
        {shown !== null && !isGone && (
          <Remove queue={queue} id={id} state={shown.message.state} isDead={shown.isDead} onReleased={refresh} />
        )}
      </PageHead>
      {isGone ? (
        <p class="problem" role="alert">
          This message is no longer in the queue: it was settled or removed. Below is what it was.
        </p>
      ) : (
        <LoadState data={shown} error={error} />
      )}
      {shown !== null && <Details {...shown} />}
    </>
  )
}

/** The state of a dead letter that is ready is left out: it says nothing about what went wrong. */
function State({ message: { state, deadLetterFrom }, isLetter }: ShownMessage) {
  return (
    <span>
      {isLetter && <Badge kind="bad">dead letter</Badge>}
      {isLetter && deadLetterFrom !== null && (
        <span>
          from <NameLink to={['queues', deadLetterFrom]}>{deadLetterFrom}</NameLink>{' '}
        </span>
      )}
      {(!isLetter || state !== 'ready') && <Badge kind={state === 'dead' ? 'bad' : undefined}>{state}</Badge>}
    </span>
  )
}

function Details(shown: ShownMessage) {
  const { message, isDead } = shown
  const { lastError } = message
  return (
    <>
      <Facts of={factsOf(shown)} />
      {(isDead || lastError !== null) && (
        <Section title={isDead ? 'Why it died' : 'Last error'}>
          {lastError !== null && <pre class="panel error">{lastError}</pre>}
          {lastError === null && <p class="panel empty">No error was given.</p>}
        </Section>
      )}
      {message.failures.length > 0 && <Failures of={message} />}
      <BodyAndAttributes of={message} />
    </>
  )
}

function Failures({ of: { failures } }: { of: WholeMessage }) {
  return (
    <Section title="Failed attempts">
      <Table
        columns={FAILURE_COLUMNS}
        rows={failures}
        keyOf={(one) => `${one.receiveCount} ${one.failedAt.getTime()}`}
      />
    </Section>
  )
}

const FAILURE_COLUMNS: readonly Column<WholeMessage['failures'][number]>[] = [
  { title: 'Receive', kind: 'number', cell: ({ receiveCount }) => receiveCount },
  { title: 'Error', kind: 'error', cell: ({ error }) => error },
  { title: 'Failed', kind: 'number muted', cell: ({ failedAt }) => failedAt },
]

function factsOf({ message, isLetter }: ShownMessage) {
  const { state, receiveCount, maxReceives, deadAt, deadReceiveCount } = message
  const hasVisible = state !== 'dead' && state !== 'archived' && message.visibleAt.getTime() !== deadAt?.getTime()
  const visible = message.visibleAt.getTime() > Date.now() ? 'Ready' : 'Ready since'
  const receives = (
    <>
      <Num value={receiveCount} />
      {maxReceives !== null && ' of at most '}
      {maxReceives !== null && <Num value={maxReceives} />}
    </>
  )
  return {
    'Receives before it died': isLetter ? deadReceiveCount : null,
    [isLetter ? 'Receives here' : 'Receives']: receives,
    'Held by': message.receiver && <Holder of={message.receiver} />,
    Priority: String(message.priority),
    Key: message.key && <Name>{message.key}</Name>,
    'Message group': message.messageGroup && <Name>{message.messageGroup}</Name>,
    ...{ Sent: message.sentAt, 'First received': message.firstReceivedAt, Died: deadAt },
    ...{ [visible]: hasVisible ? message.visibleAt : null },
    ...{ 'Last received': message.lastReceivedAt, Archived: message.archivedAt },
  }
}

interface RemoveProps {
  queue: string
  id: bigint
  state: string
  isDead: boolean
  onReleased(): void
}

/** Ends the message, or its death, and leads back to the list that the message was in. */
function Remove({ queue, id, state, isDead, onReleased }: RemoveProps) {
  const back = () => {
    location.hash = link(['queues', queue], { state })
  }
  return (
    <Actions>
      {state === 'in-flight' && <Release queue={queue} id={id} onDone={onReleased} />}
      {isDead && <DeadButtons queue={queue} chosen={{ ids: [id] }} what="" ways={['Retry']} onDone={back} />}
      <Act
        label="Remove …"
        title={`Remove message ${id}?`}
        action="Remove"
        isDanger
        look={(signal) => ask(operations.getMessage, { path: { queue, id } }, signal)}
        everyMs={EVERY_MS}
        work={() => ask(operations.deleteMessage, { path: { queue, id } })}
        said="The message is removed."
        onDone={back}
      >
        {(now) => (
          <p>
            This message is {now.state.replace('-', ' ')}. It is deleted for good, and not archived.
            {now.state === 'in-flight' && " The receiver that has it can't settle it any more."}
          </p>
        )}
      </Act>
    </Actions>
  )
}

/**
 * Whether a message died in another queue. That queue may be gone, or hidden from the key, and no queue may name this one
 * as its dead-letter queue any more. A message that was never received has not died.
 */
function isDeadLetter(message: PeekedMessage, { isDeadLetterQueue }: QueueStatus): boolean {
  const { state, deadLetterFrom, lastReceivedAt } = message
  return deadLetterFrom !== null || (isDeadLetterQueue && state !== 'archived' && lastReceivedAt !== null)
}
