/** One message: its body, its attributes, its last error, and its times. */
import { useRef } from 'preact/hooks'
import * as operations from '../client/operations'
import type { WholeMessage } from '../shared/queue-types'
import { Act } from './action'
import { goTo } from './address'
import { ask } from './api'
import { DeadButtons } from './dead-actions'
import { Actions } from './may'
import { Badge, Facts, LoadState, Name, NameLink, PageHead, Section, sentence, WayUp } from './parts'
import { EVERY_MS, usePolled } from './polled'
import { Holder, Release } from './receivers'
import { type Column, Table } from './table'
import { BodyAndAttributes } from './value'

/** Whether it died in another queue: that queue may be gone, or hidden from the key. */
const isLetter = ({ state, deadAt, deadLetterFrom }: WholeMessage) =>
  deadLetterFrom !== null || (deadAt !== null && state !== 'dead' && state !== 'archived')

const isDead = (message: WholeMessage) => message.state === 'dead' || isLetter(message)

export function MessagePage({ queue, id }: { queue: string; id: bigint }) {
  const load = (signal: AbortSignal) => ask(operations.getMessage, { path: { queue, id } }, signal)
  const { data, error, refresh } = usePolled(load, '', EVERY_MS)
  const last = useRef<WholeMessage | null>(null)
  if (data !== null) last.current = data
  // A page that is being read stays as it is when the message is settled.
  const isGone = error?.status === 404 && last.current !== null
  const message = isGone ? last.current : data
  return (
    <>
      <PageHead over={<WayUp to={['queues', queue]} state={message?.state} />} title={`Message ${id}`}>
        {message !== null && !isGone && <State of={message} />}
        {message !== null && !isGone && <Buttons queue={queue} message={message} onReleased={refresh} />}
      </PageHead>
      {isGone ? (
        <p class="problem" role="alert">
          This message is no longer in the queue: it was settled or removed. Below is what it was.
        </p>
      ) : (
        <LoadState data={message} error={error} />
      )}
      {message !== null && <Details of={message} />}
    </>
  )
}

/** The state of a dead letter that is ready is left out: it says nothing about what went wrong. */
function State({ of: message }: { of: WholeMessage }) {
  const { state, deadLetterFrom: from } = message
  return (
    <span>
      {isLetter(message) && <Badge kind="bad">dead letter</Badge>}
      {from !== null && <span>{sentence`from ${<NameLink to={['queues', from]}>{from}</NameLink>} `}</span>}
      {(!isLetter(message) || state !== 'ready') && (
        <Badge kind={state === 'dead' ? 'bad' : undefined}>{state.replace('-', ' ')}</Badge>
      )}
    </span>
  )
}

function Details({ of: message }: { of: WholeMessage }) {
  const { lastError, failures } = message
  return (
    <>
      <Facts of={factsOf(message)} />
      {(isDead(message) || lastError !== null) && (
        <Section title={isDead(message) ? 'Why it died' : 'Last error'}>
          {lastError !== null && <pre class="panel error">{lastError}</pre>}
          {lastError === null && <p class="panel empty">No error was given.</p>}
        </Section>
      )}
      {failures.length > 0 && (
        <Section title="Failed attempts">
          <Table columns={COLUMNS} rows={failures} keyOf={(one) => `${one.receiveCount} ${one.failedAt.getTime()}`} />
        </Section>
      )}
      <BodyAndAttributes of={message} />
    </>
  )
}

const COLUMNS: readonly Column<WholeMessage['failures'][number]>[] = [
  { title: 'Receive', kind: 'number', cell: ({ receiveCount }) => receiveCount },
  { title: 'Error', kind: 'error', cell: ({ error }) => error },
  { title: 'Failed', kind: 'number muted', cell: ({ failedAt }) => failedAt },
]

function factsOf(message: WholeMessage) {
  const { state, receiveCount, maxReceives, visibleAt, deadAt, receiver, key, messageGroup } = message
  const hasVisible = state !== 'dead' && state !== 'archived' && visibleAt.getTime() !== deadAt?.getTime()
  return {
    'Receives before it died': isLetter(message) ? message.deadReceiveCount : null,
    [isLetter(message) ? 'Receives here' : 'Receives']:
      sentence`${receiveCount}${maxReceives && sentence` of at most ${maxReceives}`}`,
    'Held by': receiver && <Holder of={receiver} />,
    Priority: String(message.priority),
    Key: key && <Name>{key}</Name>,
    'Message group': messageGroup && <Name>{messageGroup}</Name>,
    ...{ Sent: message.sentAt, 'First received': message.firstReceivedAt, Died: deadAt },
    [visibleAt.getTime() > Date.now() ? 'Ready' : 'Ready since']: hasVisible ? visibleAt : null,
    ...{ 'Last received': message.lastReceivedAt, Archived: message.archivedAt },
  }
}

/** They end the message, its claim or its death. Then the list is opened that the message was in, unless it was released. */
function Buttons({ queue, message, onReleased }: { queue: string; message: WholeMessage; onReleased(): void }) {
  const { id, state } = message
  const path = { queue, id }
  const back = () => goTo(['queues', queue], { state })
  return (
    <Actions>
      {state === 'in-flight' && <Release queue={queue} id={id} onDone={onReleased} />}
      {isDead(message) && <DeadButtons queue={queue} chosen={{ ids: [id] }} what="" ways={['Retry']} onDone={back} />}
      <Act
        label="Remove …"
        title={`Remove message ${id}?`}
        isDanger
        look={(signal) => ask(operations.getMessage, { path }, signal)}
        work={() => ask(operations.removeMessage, { path })}
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
