/** The dead messages of a queue, in a list of which some can be ticked, to be retried or deleted. */
import { useState } from 'preact/hooks'
import * as operations from '../client/operations'
import type { PeekedMessage } from '../shared/queue-types'
import { link } from './address'
import { ask, pageQuery } from './api'
import { DeadButtons } from './dead-actions'
import { LoadState, Name, Num, Pager, Table } from './parts'
import { usePolled } from './polled'
import { MessageCells } from './queue-messages'
import { Time } from './time'

const EVERY_MS = 3000

export interface DeadMessagesProps {
  queue: string
  state: 'ready' | 'dead'
  after: string | null
  /** Of the messages that are shown; null is any. */
  error: string | null
  from: string | null
  /** Other counts mean other messages, which are fetched at once. */
  counts: object
  onDone(): void
}

export function DeadMessages({ queue, state, after, error: kind, from, counts, onDone }: DeadMessagesProps) {
  const [ticked, setTicked] = useState<ReadonlySet<bigint>>(new Set())
  const filter = { error: kind ?? undefined, from: from ?? undefined }
  const parts = { path: { queue }, query: { ...pageQuery(after), state, bodies: 'preview', ...filter } } as const
  const key = JSON.stringify([after, kind, from, counts])
  const { data, error, refresh } = usePolled((signal) => ask(operations.peekMessages, parts, signal), key, EVERY_MS)
  if (data === null) return <LoadState data={data} error={error} />
  const ids = data.messages.map(({ id }) => id)
  const chosen = ids.filter((id) => ticked.has(id))
  const done = () => {
    setTicked(new Set())
    refresh()
    onDone()
  }
  const tick = (some: readonly bigint[], isOn: boolean) => {
    const next = new Set(ticked)
    for (const id of some) isOn ? next.add(id) : next.delete(id)
    setTicked(next)
  }
  return (
    <>
      <LoadState data={data} error={error} />
      {(kind !== null || from !== null) && <Filter queue={queue} state={state} error={kind} from={from} />}
      {data.messages.length === 0 && (
        <p class="empty panel">{state === 'ready' ? 'There are no dead letters.' : 'Nothing is dead here.'}</p>
      )}
      {data.messages.length > 0 && (
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
          <Rows queue={queue} messages={data.messages} ticked={ticked} onTick={(id, isOn) => tick([id], isOn)} />
        </>
      )}
      <Pager parts={['queues', queue]} query={{ state, error: kind, from, after }} next={data.nextAfter} />
    </>
  )
}

function Filter({ queue, state, error, from }: Pick<DeadMessagesProps, 'queue' | 'state' | 'error' | 'from'>) {
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

const COLUMNS = { Id: 'number id', Body: '', Attempts: 'number wide', Died: 'number' }

interface RowsProps {
  queue: string
  messages: readonly PeekedMessage[]
  ticked: ReadonlySet<bigint>
  onTick(id: bigint, isOn: boolean): void
}

function Rows({ queue, messages, ticked, onTick }: RowsProps) {
  return (
    <Table columns={COLUMNS} beside={<th scope="col" aria-label="Ticked" />}>
      {messages.map((message) => (
        <tr key={String(message.id)}>
          <MessageCells queue={queue} message={message} />
          <td class="number wide">
            <Num value={message.deadReceiveCount ?? message.receiveCount} />
          </td>
          <td class="number muted">
            <Time at={message.deadAt ?? message.sentAt} />
          </td>
          <td>
            <input
              type="checkbox"
              aria-label={`Tick message ${message.id}`}
              checked={ticked.has(message.id)}
              onInput={({ currentTarget }) => onTick(message.id, currentTarget.checked)}
            />
          </td>
        </tr>
      ))}
    </Table>
  )
}
