/** The messages of a queue in one state, read without claiming them. */
import * as operations from '../client/operations'
import type { PeekedMessage, QueueStatus } from '../shared/queue-types'
import { link } from './address'
import { ask, pageQuery } from './api'
import { Badge, LoadState, Name, NameLink, Num, Pager } from './parts'
import { usePolled } from './polled'
import { BlockedGroups, HolderName, Receivers } from './receivers'
import { type Column, Table } from './table'
import { Time } from './time'

const EVERY_MS = 3000

export type MessageState = PeekedMessage['state']

const NONE: Readonly<Record<MessageState, string>> = {
  ready: 'Nothing is ready.',
  'in-flight': 'Nothing is in flight.',
  delayed: 'Nothing is delayed.',
  blocked: 'Nothing is blocked.',
  dead: 'Nothing is dead here.',
  archived: 'Nothing is archived.',
}

interface MessagesProps {
  queue: string
  state: MessageState
  after: string | null
  counts: QueueStatus['counts']
  deadLetterQueue: string | null
  isDeadLetterQueue: boolean
}

export function QueueMessages({ queue, state, after, counts, deadLetterQueue, isDeadLetterQueue }: MessagesProps) {
  // Other counts mean other messages, which are fetched at once.
  const key = JSON.stringify([after, counts])
  const parts = { path: { queue }, query: { ...pageQuery(after), state, bodies: 'preview' } } as const
  const load = async (signal: AbortSignal) => {
    const isHeld = state === 'in-flight' || state === 'blocked'
    const [page, who] = await Promise.all([
      ask(operations.peekMessages, parts, signal),
      isHeld ? ask(operations.queueReceivers, { path: { queue } }, signal).catch(() => null) : null,
    ])
    return { page, who }
  }
  const { data, error } = usePolled(load, key, EVERY_MS)
  if (data === null) return <LoadState data={data} error={error} />
  const { messages, nextAfter } = data.page
  return (
    <>
      <LoadState data={data} error={error} />
      {data.who !== null && state === 'in-flight' && <Receivers of={data.who} />}
      {data.who !== null && state === 'blocked' && <BlockedGroups queue={queue} of={data.who} />}
      {messages.length === 0 && (
        <p class="empty panel">
          {isDeadLetterQueue && state === 'ready' ? 'There are no dead letters.' : NONE[state]}
          {state === 'dead' && deadLetterQueue !== null && (
            <>
              {' '}
              The dead messages of this queue go to{' '}
              <NameLink to={['queues', deadLetterQueue]}>{deadLetterQueue}</NameLink>.
            </>
          )}
        </p>
      )}
      {messages.length > 0 && <Messages queue={queue} state={state} messages={messages} />}
      <Pager parts={['queues', queue]} query={{ state, after }} next={nextAfter} />
    </>
  )
}

function Messages({
  queue,
  state,
  messages,
}: Pick<MessagesProps, 'queue' | 'state'> & { messages: readonly PeekedMessage[] }) {
  const hasNext = state === 'in-flight' || state === 'delayed'
  const last: Column<PeekedMessage> = hasNext
    ? { title: 'Ready', kind: 'number muted', cell: ({ visibleAt }) => <Time at={visibleAt} /> }
    : { title: 'Sent', kind: 'number muted', cell: ({ sentAt }) => <Time at={sentAt} /> }
  const columns = [...messageColumns(queue), ...(state === 'in-flight' ? [HELD_BY] : []), RECEIVES, last]
  return <Table columns={columns} rows={messages} keyOf={({ id }) => String(id)} />
}

const HELD_BY: Column<PeekedMessage> = {
  title: 'Held by',
  kind: 'wide',
  cell: ({ receiver }) => receiver && <HolderName of={receiver} />,
}

const RECEIVES: Column<PeekedMessage> = {
  title: 'Receives',
  kind: 'number wide',
  cell: ({ receiveCount, maxReceives }) => (
    <>
      <Num value={receiveCount} />
      {maxReceives !== null && (
        <span class="muted">
          {' / '}
          <Num value={maxReceives} />
        </span>
      )}
    </>
  ),
}

/** The first two columns: which message it is, and its content. */
export const messageColumns = (queue: string): readonly Column<PeekedMessage>[] => [
  {
    ...{ title: 'Id', isName: true, kind: 'number id' },
    cell: ({ id }) => (
      <a href={link(['queues', queue, 'messages', String(id)])} aria-label={`Message ${id}`}>
        {String(id)}
      </a>
    ),
  },
  {
    ...{ title: 'Body', kind: 'what' },
    cell: (message) => (
      <>
        <code class="line">{String(message.body)}</code>
        {message.lastError !== null && <div class="error">{message.lastError}</div>}
        <Marks message={message} />
      </>
    ),
  },
]

function Marks({ message: { messageGroup, priority, deadLetterFrom } }: { message: PeekedMessage }) {
  if (messageGroup === null && priority === 0 && deadLetterFrom === null) return null
  return (
    <div class="small">
      {deadLetterFrom !== null && (
        <Badge kind="bad">
          from <Name>{deadLetterFrom}</Name>
        </Badge>
      )}
      {messageGroup !== null && (
        <Badge>
          group <Name>{messageGroup}</Name>
        </Badge>
      )}
      {priority !== 0 && <Badge>priority {priority}</Badge>}
    </div>
  )
}
