/** The messages of a queue in one state, looked at without claiming them. */
import { api } from './api'
import { Num } from './numbers'
import { Badge, Head, Loading, Name, Pager, Problem, Stale } from './parts'
import { link } from './place'
import { usePolled } from './polled'
import { Time } from './time'
import type { Counts, Message, State } from './types'

const EVERY_MS = 3000

const NONE: Readonly<Record<State, string>> = {
  ready: 'Nothing is ready.',
  'in-flight': 'Nothing is in flight.',
  delayed: 'Nothing is delayed.',
  dead: 'Nothing is dead here.',
  archived: 'Nothing is archived.',
}

interface MessagesProps {
  queue: string
  state: State
  after: string | null
  counts: Counts
  deadLetterQueue: string | null
  isDeadLetterQueue: boolean
}

export function QueueMessages({ queue, state, after, counts, deadLetterQueue, isDeadLetterQueue }: MessagesProps) {
  // The counts may tell of a change before the next look would.
  const key = JSON.stringify([after, counts])
  const { data, error } = usePolled((signal) => api.messages(queue, state, { after, signal }), key, EVERY_MS)
  if (data === null) return error === null ? <Loading /> : <Problem error={error} />
  return (
    <>
      <Stale error={error} />
      {data.messages.length === 0 && (
        <p class="empty panel">
          {isDeadLetterQueue && state === 'ready' ? 'There are no dead letters.' : NONE[state]}
          {state === 'dead' && deadLetterQueue !== null && (
            <>
              {' '}
              The dead messages of this queue go to{' '}
              <a href={link(['queues', deadLetterQueue])}>
                <Name>{deadLetterQueue}</Name>
              </a>
              .
            </>
          )}
        </p>
      )}
      {data.messages.length > 0 && <Table queue={queue} state={state} messages={data.messages} />}
      <Pager parts={['queues', queue]} query={{ state, after }} nextAfter={data.nextAfter} />
    </>
  )
}

function Table({ queue, state, messages }: { queue: string; state: State; messages: readonly Message[] }) {
  const hasNext = state === 'in-flight' || state === 'delayed'
  return (
    <div class="panel">
      <table>
        <thead>
          <tr>
            <Head kind="number id">Id</Head>
            <Head>Body</Head>
            <Head kind="number wide">Receives</Head>
            <Head kind="number">{hasNext ? 'Ready' : 'Sent'}</Head>
          </tr>
        </thead>
        <tbody>
          {messages.map((message) => (
            <tr key={message.id}>
              <th scope="row" class="number id">
                <a href={link(['queues', queue, 'messages', message.id])} aria-label={`Message ${message.id}`}>
                  {message.id}
                </a>
              </th>
              <td class="what">
                <code class="line">{String(message.body)}</code>
                {message.lastError !== null && <div class="error">{message.lastError}</div>}
                <Marks message={message} />
              </td>
              <td class="number wide">
                <Num value={message.receiveCount} />
                {message.maxReceives !== null && (
                  <span class="muted">
                    {' / '}
                    <Num value={message.maxReceives} />
                  </span>
                )}
              </td>
              <td class="number muted">
                <Time at={hasNext ? message.visibleAt : message.sentAt} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Marks({ message: { messageGroup, priority, deadLetterFrom } }: { message: Message }) {
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
