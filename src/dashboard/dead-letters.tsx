/** The errors that the messages of a queue died of, wherever they are: a row for each error, which can be retried or deleted. */
import * as operations from '../client/operations'
import type { DeadErrors, QueueStatus } from '../shared/queue-types'
import { link } from './address'
import { ask } from './api'
import { DeadButtons } from './dead-actions'
import { LoadState, NameLink, Num } from './parts'
import { type Asked, SELDOM_MS, usePolled } from './polled'
import { type Column, Table } from './table'

interface DeadPlace {
  /** The queue that has the messages. */
  holder: string
  /** The queue that they died in; all when left out. */
  from?: string
  /** In which the list of the messages shows them. */
  state: string
}

/** The queues that have messages which died in this one. */
export function deadPlaces({ queue, deadLetterQueue, isDeadLetterQueue, counts, died }: QueueStatus): DeadPlace[] {
  const places: DeadPlace[] = []
  if (counts.dead > 0 || isDeadLetterQueue) places.push({ holder: queue, state: isDeadLetterQueue ? 'ready' : 'dead' })
  if (deadLetterQueue !== null && died > 0) places.push({ holder: deadLetterQueue, from: queue, state: 'ready' })
  return places
}

export const errorsOf = ({ holder, from }: DeadPlace): Asked<DeadErrors> => ({
  address: JSON.stringify(['errors', holder, from]),
  load: (signal) => ask(operations.queueErrors, { path: { queue: holder }, query: { from } }, signal),
})

type DeadInProps = DeadPlace & { onDone(): void }

export function DeadIn({ onDone, ...place }: DeadInProps) {
  const { holder, from } = place
  const { address, load } = errorsOf(place)
  const { data, error, refresh } = usePolled(load, address, SELDOM_MS, address)
  const done = () => {
    refresh()
    onDone()
  }
  if (error === null && !data?.counted) return null
  return (
    <section aria-label={`Dead letters in ${holder}`}>
      <div class="head">
        <h2>
          {from === undefined ? 'Why they died' : 'Dead letters in '}
          {from !== undefined && <NameLink to={['queues', holder]}>{holder}</NameLink>}
        </h2>
        <DeadButtons queue={holder} chosen={{ from }} what="all" onDone={done} />
      </div>
      <LoadState data={data} error={error} />
      {data !== null && (
        <Table columns={columnsOf({ ...place, onDone: done })} rows={data.errors} keyOf={(one) => one.error} />
      )}
      {data?.isExact === false && (
        <p class="muted small note">
          Of the last <Num value={data.counted} /> that were looked at. There are older ones.
        </p>
      )}
    </section>
  )
}

const columnsOf = ({ holder, from, state, onDone }: DeadInProps): readonly Column<DeadErrors['errors'][number]>[] => [
  {
    ...{ title: 'Error', isName: true, kind: 'what' },
    cell: ({ error }) => (
      <a href={link(['queues', holder], { state, error, from: from ?? null })}>
        <code class="line">{error === '' ? 'no error' : error}</code>
      </a>
    ),
  },
  { title: 'Number', kind: 'number', isBad: () => true, cell: ({ count }) => count },
  { title: 'First', kind: 'number wide muted', cell: ({ firstDeadAt }) => firstDeadAt },
  { title: 'Last', kind: 'number wide muted', cell: ({ lastDeadAt }) => lastDeadAt },
  {
    ...{ title: 'Actions', isSilent: true, kind: 'number' },
    cell: ({ error }) => <DeadButtons queue={holder} chosen={{ error, from }} what="" onDone={onDone} />,
  },
]
