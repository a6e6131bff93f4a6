/** The messages of a queue in one state, read without claiming them. Dead ones can be ticked, to be retried or deleted. */
import { useState } from 'preact/hooks'
import * as operations from '../client/operations'
import type { PeekedMessage, QueueStatus } from '../shared/queue-types'
import { link, type PageQuery } from './address'
import { ask, pageQuery } from './api'
import { DeadButtons } from './dead-actions'
import { Badge, LoadState, Name, NameLink, Num, Pager } from './parts'
import { usePolled } from './polled'
import { BlockedGroups, HolderName, Receivers } from './receivers'
import { type Column, Table } from './table'

const EVERY_MS = 3000

export type MessageState = PeekedMessage['state']

interface MessagesProps {
  queue: QueueStatus
  state: MessageState
  /** `error` and `from` are those of the dead messages that are shown; null is any. */
  query: Pick<PageQuery, 'after' | 'error' | 'from'>
  onDone(): void
}

/** A queue that never died shows where its dead messages go. */
const isDeadShown = ({ counts, isDeadLetterQueue }: QueueStatus, state: MessageState) =>
  (state === 'dead' && counts.dead > 0) || (state === 'ready' && isDeadLetterQueue)

function useMessages({ queue: status, state, query: { after, error, from } }: MessagesProps) {
  const path = { queue: status.queue }
  const filter = isDeadShown(status, state) ? { error: error ?? undefined, from: from ?? undefined } : {}
  const query = { ...pageQuery(after), state, bodies: 'preview', ...filter } as const
  const isHeld = state === 'in-flight' || state === 'blocked'
  const load = async (signal: AbortSignal) => {
    const [page, who] = await Promise.all([
      ask(operations.peekMessages, { path, query }, signal),
      isHeld ? ask(operations.queueReceivers, { path }, signal).catch(() => null) : null,
    ])
    return { ...page, who }
  }
  // Other counts mean other messages, which are fetched at once.
  return usePolled(load, JSON.stringify([after, filter, status.counts]), EVERY_MS)
}

export function QueueMessages(props: MessagesProps) {
  const { queue: status, state, query } = props
  const { queue } = status
  const { data, error, refresh } = useMessages(props)
  if (data === null) return <LoadState data={data} error={error} />
  const { messages, nextAfter, who } = data
  const isDead = isDeadShown(status, state)
  const { error: kind, from, after } = isDead ? query : { ...query, error: null, from: null }
  const done = () => {
    refresh()
    props.onDone()
  }
  return (
    <>
      {who !== null && state === 'in-flight' && <Receivers of={who} />}
      {who !== null && state === 'blocked' && <BlockedGroups queue={queue} of={who} />}
      {(kind !== null || from !== null) && <Filter queue={queue} state={state} error={kind} from={from} />}
      {messages.length === 0 && <None queue={status} state={state} />}
      {messages.length > 0 && isDead && <DeadMessages queue={queue} messages={messages} onDone={done} />}
      {messages.length > 0 && !isDead && (
        <Table columns={columnsOf(queue, state)} rows={messages} keyOf={({ id }) => String(id)} />
      )}
      <Pager parts={['queues', queue]} query={{ state, error: kind, from, after }} next={nextAfter} />
    </>
  )
}

function None({ queue: { isDeadLetterQueue, deadLetterQueue }, state }: Pick<MessagesProps, 'queue' | 'state'>) {
  const none = `Nothing is ${state.replace('-', ' ')}${state === 'dead' ? ' here' : ''}.`
  return (
    <p class="empty panel">
      {isDeadLetterQueue && state === 'ready' ? 'There are no dead letters.' : none}
      {state === 'dead' && deadLetterQueue !== null && (
        <>
          {' '}
          The dead messages of this queue go to <NameLink to={['queues', deadLetterQueue]}>{deadLetterQueue}</NameLink>.
        </>
      )}
    </p>
  )
}

interface DeadMessagesProps {
  queue: string
  messages: readonly PeekedMessage[]
  onDone(): void
}

function DeadMessages({ queue, messages, onDone }: DeadMessagesProps) {
  const [ticked, setTicked] = useState<ReadonlySet<bigint>>(new Set())
  const ids = messages.map(({ id }) => id)
  const chosen = ids.filter((id) => ticked.has(id))
  const done = () => {
    setTicked(new Set())
    onDone()
  }
  const tick = (some: readonly bigint[], isOn: boolean) => {
    const next = new Set(ticked)
    for (const id of some) isOn ? next.add(id) : next.delete(id)
    setTicked(next)
  }
  return (
    <>
      <div class="row">
        <label class="row">
          <input
            type="checkbox"
            checked={chosen.length === ids.length}
            onInput={({ currentTarget }) => tick(ids, currentTarget.checked)}
          />
          All of this page
        </label>
        <DeadButtons
          queue={queue}
          chosen={{ ids: chosen }}
          what={`${chosen.length} ticked`}
          isDisabled={chosen.length === 0}
          onDone={done}
        />
      </div>
      <Table
        columns={[...messageColumns(queue), ...DEAD_COLUMNS, ticksOf(ticked, (id, isOn) => tick([id], isOn))]}
        rows={messages}
        keyOf={({ id }) => String(id)}
      />
    </>
  )
}

function Filter({ queue, state, error, from }: Record<'queue' | 'state', string> & Pick<PageQuery, 'error' | 'from'>) {
  return (
    <p class="row">
      <span>
        Only those
        {from !== null && (
          <>
            {' from '}
            <Name>{from}</Name>
          </>
        )}
        {error !== null && (
          <>
            {' that died of '}
            <code class="line">{error}</code>
          </>
        )}
      </span>
      <a href={link(['queues', queue], { state })}>Show all</a>
    </p>
  )
}

const DEAD_COLUMNS: readonly Column<PeekedMessage>[] = [
  {
    ...{ title: 'Attempts', kind: 'number wide' },
    cell: ({ deadReceiveCount, receiveCount }) => deadReceiveCount ?? receiveCount,
  },
  { title: 'Died', kind: 'number muted', cell: ({ deadAt, sentAt }) => deadAt ?? sentAt },
]

const ticksOf = (ticked: ReadonlySet<bigint>, tick: (id: bigint, isOn: boolean) => void): Column<PeekedMessage> => ({
  ...{ title: 'Ticked', isSilent: true },
  cell: ({ id }) => (
    <input
      type="checkbox"
      aria-label={`Tick message ${id}`}
      checked={ticked.has(id)}
      onInput={({ currentTarget }) => tick(id, currentTarget.checked)}
    />
  ),
})

function columnsOf(queue: string, state: MessageState): readonly Column<PeekedMessage>[] {
  const hasNext = state === 'in-flight' || state === 'delayed'
  const last: Column<PeekedMessage> = {
    ...{ title: hasNext ? 'Ready' : 'Sent', kind: 'number muted' },
    cell: ({ visibleAt, sentAt }) => (hasNext ? visibleAt : sentAt),
  }
  return [...messageColumns(queue), ...(state === 'in-flight' ? [HELD_BY] : []), RECEIVES, last]
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
const messageColumns = (queue: string): readonly Column<PeekedMessage>[] => [
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
