/** The errors that the messages of a queue died of, wherever they are: a row for each error, which can be retried or deleted. */
import * as operations from '../client/operations'
import type { DeadErrors, QueueStatus } from '../shared/queue-types'
import { link } from './address'
import { ask } from './api'
import { DeadButtons } from './dead-actions'
import { WorkProgress } from './long-work'
import { ReadOnlyNote } from './may'
import { LoadState, Name } from './parts'
import { type Asked, usePolled } from './polled'
import { type Column, Table } from './table'

const EVERY_MS = 5000

interface DeadProps {
  queue: QueueStatus
  onDone(): void
}

export function DeadLetters({ queue, onDone }: DeadProps) {
  return (
    <>
      {deadPlaces(queue).map((place) => (
        <DeadIn key={place.from ?? ''} {...place} onDone={onDone} />
      ))}
    </>
  )
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
  load: (signal) => ask(operations.listErrors, { path: { queue: holder }, query: { from } }, signal),
})

interface DeadPlace {
  /** The queue that has the messages. */
  holder: string
  /** The queue that they died in; all when left out. */
  from?: string
  /** In which the list of the messages shows them. */
  state: string
}

type DeadInProps = DeadPlace & Pick<DeadProps, 'onDone'>

function DeadIn({ onDone, ...place }: DeadInProps) {
  const { holder, from, state } = place
  const { address, load } = errorsOf(place)
  const { data, error, refresh } = usePolled(load, address, EVERY_MS, address)
  const done = () => {
    refresh()
    onDone()
  }
  const chosen = from === undefined ? {} : { from }
  const isShown = error !== null || (data !== null && data.counted > 0)
  return (
    <section aria-label={`Dead letters in ${holder}`}>
      <WorkProgress of={holder} />
      {isShown && (
        <div class="head">
          <h2>
            {from === undefined ? 'Why they died' : 'Dead letters'}
            {from !== undefined && (
              <>
                {' in '}
                <a href={link(['queues', holder])}>
                  <Name>{holder}</Name>
                </a>
              </>
            )}
          </h2>
          <DeadButtons queue={holder} chosen={chosen} what="all" onDone={done} />
        </div>
      )}
      {isShown && <LoadState data={data} error={error} />}
      {isShown && data !== null && <Errors errors={data} holder={holder} from={from} state={state} onDone={done} />}
      {isShown && <ReadOnlyNote />}
    </section>
  )
}

function Errors({ errors: { errors, more, counted }, ...props }: DeadInProps & { errors: DeadErrors }) {
  return (
    <>
      <Table columns={columnsOf(props)} rows={errors} keyOf={({ error }) => error} />
      {more && <p class="muted small note">Of the last {counted} that were looked at. There are older ones.</p>}
    </>
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
    cell: ({ error }) => (
      <DeadButtons queue={holder} chosen={from === undefined ? { error } : { error, from }} what="" onDone={onDone} />
    ),
  },
]
