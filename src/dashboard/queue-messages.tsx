/** The messages of a queue in one state, read without claiming them. Dead ones can be ticked, to be retried or deleted. */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import * as operations from '../client/operations'
import type { PeekedMessage, QueueStatus } from '../shared/queue-types'
import { link, type PageQuery } from './address'
import { ask, pageQuery } from './api'
import { DeadButtons } from './dead-actions'
import { Badge, LoadState, Name, NameLink, Pager, sentence } from './parts'
import { EVERY_MS, usePolled } from './polled'
import { HolderName, Receivers } from './receivers'
import { type Column, Table } from './table'

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
  const query = { ...pageQuery({ after }), state, bodies: 'preview', ...filter } as const
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
  const [ticked, setTicked] = useState<readonly bigint[]>([])
  if (data === null) return <LoadState data={data} error={error} />
  const { messages, nextAfter, who } = data
  const isDead = isDeadShown(status, state)
  const { error: kind, from, after } = isDead ? query : { ...query, error: null, from: null }
  const ids = messages.map(({ id }) => id)
  const chosen = ids.filter((id) => ticked.includes(id))
  const done = () => {
    setTicked([])
    refresh()
    props.onDone()
  }
  return (
    <>
      {who !== null && <Receivers queue={queue} state={state} of={who} />}
      {(kind !== null || from !== null) && (
        <p class="row">
          <span>
            Only those
            {from !== null && sentence` from ${<Name>{from}</Name>}`}
            {kind !== null && sentence` that died of ${<code class="line">{kind}</code>}`}
          </span>
          <a href={link(['queues', queue], { state })}>Show all</a>
        </p>
      )}
      {messages.length > 0 && isDead && (
        <div class="row">
          <Tick isOn={chosen.length === ids.length} onTick={(isOn) => setTicked(isOn ? ids : [])}>
            All of this page
          </Tick>
          <DeadButtons
            queue={queue}
            chosen={{ ids: chosen }}
            what={`${chosen.length} ticked`}
            isDisabled={chosen.length === 0}
            onDone={done}
          />
        </div>
      )}
      <Table
        columns={[...columnsOf(queue, state, isDead), ...(isDead ? [ticksOf(chosen, setTicked)] : [])]}
        rows={messages}
        empty={noneText(status, state)}
        keyOf={({ id }) => String(id)}
      />
      <Pager parts={['queues', queue]} query={{ state, error: kind, from, after }} next={nextAfter} />
    </>
  )
}

function noneText({ isDeadLetterQueue, deadLetterQueue: to }: QueueStatus, state: MessageState) {
  if (isDeadLetterQueue && state === 'ready') return 'There are no dead letters.'
  if (state !== 'dead') return `Nothing is ${state.replace('-', ' ')}.`
  if (to === null) return 'Nothing is dead here.'
  const where = <NameLink to={['queues', to]}>{to}</NameLink>
  return sentence`Nothing is dead here. The dead messages of this queue go to ${where}.`
}

function Tick({ isOn, onTick, children }: { isOn: boolean; onTick(isOn: boolean): void; children: ComponentChildren }) {
  return (
    <label class="row">
      <input type="checkbox" checked={isOn} onInput={({ currentTarget }) => onTick(currentTarget.checked)} />
      {children}
    </label>
  )
}

const ticksOf = (ticked: readonly bigint[], setTicked: (ids: readonly bigint[]) => void): Column<PeekedMessage> => ({
  ...{ title: 'Ticked', isSilent: true },
  cell: ({ id }) => {
    const others = ticked.filter((each) => each !== id)
    return (
      <Tick isOn={ticked.includes(id)} onTick={(isOn) => setTicked(isOn ? [...others, id] : others)}>
        <span class="hidden">Tick message {String(id)}</span>
      </Tick>
    )
  },
})

/** Which message it is, and its content; then how often it was received, and the time that counts in its state. */
function columnsOf(queue: string, state: MessageState, isDead: boolean): readonly Column<PeekedMessage>[] {
  const isHeld = state === 'in-flight'
  const hasNext = isHeld || state === 'delayed'
  return [
    {
      ...{ title: 'Id', isName: true, kind: 'number id' },
      cell: ({ id }) => (
        <a href={link(['queues', queue, 'messages', String(id)])} aria-label={`Message ${id}`}>
          {String(id)}
        </a>
      ),
    },
    { title: 'Body', kind: 'what', cell: (message) => <Content of={message} /> },
    ...(isHeld ? [HELD_BY] : []),
    {
      ...{ title: isDead ? 'Attempts' : 'Receives', kind: 'number wide' },
      cell: ({ receiveCount, deadReceiveCount }) => (isDead ? (deadReceiveCount ?? receiveCount) : receiveCount),
    },
    {
      ...{ title: isDead ? 'Died' : isHeld ? 'Lease ends' : hasNext ? 'Ready' : 'Sent', kind: 'number muted' },
      cell: ({ deadAt, visibleAt, sentAt }) => (isDead && deadAt !== null ? deadAt : hasNext ? visibleAt : sentAt),
    },
  ]
}

const HELD_BY: Column<PeekedMessage> = {
  ...{ title: 'Held by', kind: 'wide' },
  cell: ({ receiver }) => receiver && <HolderName of={receiver} />,
}

function Content({ of: { body, lastError, messageGroup, priority, deadLetterFrom } }: { of: PeekedMessage }) {
  return (
    <>
      <code class="line">{String(body)}</code>
      {lastError !== null && <div class="error">{lastError}</div>}
      <div class="small">
        {deadLetterFrom !== null && <Badge kind="bad">{sentence`from ${<Name>{deadLetterFrom}</Name>}`}</Badge>}
        {messageGroup !== null && <Badge>{sentence`group ${<Name>{messageGroup}</Name>}`}</Badge>}
        {priority !== 0 && <Badge>priority {priority}</Badge>}
      </div>
    </>
  )
}
