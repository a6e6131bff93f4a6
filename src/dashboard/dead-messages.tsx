/** The dead messages of a queue, in a list of which some can be ticked, to be retried or deleted. */
import { useState } from 'preact/hooks'
import * as operations from '../client/operations'
import type { PeekedMessage } from '../shared/queue-types'
import { link } from './address'
import { ask, pageQuery } from './api'
import { DeadButtons } from './dead-actions'
import { LoadState, Name, Pager } from './parts'
import { usePolled } from './polled'
import { messageColumns } from './queue-messages'
import { type Column, Table } from './table'
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
          <Table
            columns={[...messageColumns(queue), ...COLUMNS, ticksOf(ticked, (id, isOn) => tick([id], isOn))]}
            rows={data.messages}
            keyOf={({ id }) => String(id)}
          />
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

const COLUMNS: readonly Column<PeekedMessage>[] = [
  {
    ...{ title: 'Attempts', kind: 'number wide' },
    cell: ({ deadReceiveCount, receiveCount }) => deadReceiveCount ?? receiveCount,
  },
  { title: 'Died', kind: 'number muted', cell: ({ deadAt, sentAt }) => <Time at={deadAt ?? sentAt} /> },
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
