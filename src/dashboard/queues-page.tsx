/** The queues, by name: what they hold, how old it is, and how it went while one was looking. */
import { api } from './api'
import { grouped } from './numbers'
import { Badge, Loading, Name, Pager, Problem, Search, Stale } from './parts'
import { link } from './place'
import { usePolled } from './polled'
import { record, samplesOf } from './samples'
import { Spark } from './spark'
import { duration } from './time'
import type { Queue } from './types'

const EVERY_MS = 3000
const PARTS = ['queues']

async function load(prefix: string, after: string | null, signal: AbortSignal) {
  const page = await api.queues({ prefix, after, signal })
  record(page.queues)
  return page
}

export function QueuesPage({ prefix, after }: { prefix: string; after: string | null }) {
  const key = JSON.stringify([prefix, after])
  const { data, error } = usePolled((signal) => load(prefix, after, signal), key, EVERY_MS)
  return (
    <>
      <div class="head">
        <h1 tabIndex={-1}>Queues</h1>
        <Search parts={PARTS} value={prefix} label="Names that begin with …" />
      </div>
      {data === null && (error === null ? <Loading /> : <Problem error={error} />)}
      {data !== null && <Stale error={error} />}
      {data !== null && <Queues queues={data.queues} prefix={prefix} />}
      {data !== null && <Pager parts={PARTS} query={{ prefix, after }} nextAfter={data.nextAfter} />}
    </>
  )
}

function Queues({ queues, prefix }: { queues: readonly Queue[]; prefix: string }) {
  if (queues.length === 0) {
    return (
      <p class="empty panel">
        {prefix === '' ? 'There are no queues yet. PUT /v1/queues/{queue} makes one.' : 'No queue begins with this.'}
      </p>
    )
  }
  return (
    <div class="panel">
      <table>
        <thead>
          <tr>
            <th scope="col">Queue</th>
            <th scope="col" class="wide spark">
              Ready, last minutes
            </th>
            <th scope="col" class="number">
              Ready
            </th>
            <th scope="col" class="number wide">
              In flight
            </th>
            <th scope="col" class="number wide">
              Delayed
            </th>
            <th scope="col" class="number">
              Dead
            </th>
            <th scope="col" class="number">
              Oldest
            </th>
          </tr>
        </thead>
        <tbody>
          {queues.map((queue) => (
            <Row key={queue.queue} queue={queue} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Row({ queue: { queue, paused, deadLetterQueue, counts, oldestAgeSeconds } }: { queue: Queue }) {
  return (
    <tr>
      <th scope="row">
        <a href={link(['queues', queue])}>
          <Name>{queue}</Name>
        </a>{' '}
        {paused && <Badge kind="warn">paused</Badge>}
        {deadLetterQueue !== null && (
          <div class="muted small">
            dead letters to{' '}
            <a href={link(['queues', deadLetterQueue])}>
              <Name>{deadLetterQueue}</Name>
            </a>
          </div>
        )}
      </th>
      <td class="wide spark">
        <Spark samples={samplesOf(queue)} />
      </td>
      <Count value={counts.ready} />
      <Count value={counts.inFlight} isWide />
      <Count value={counts.delayed} isWide />
      <Count value={counts.dead} isBad />
      <td class="number">{oldestAgeSeconds === null ? <span class="muted">–</span> : duration(oldestAgeSeconds)}</td>
    </tr>
  )
}

function Count({ value, isWide, isBad }: { value: number; isWide?: boolean; isBad?: boolean }) {
  const kind = value === 0 ? 'muted' : isBad ? 'bad' : ''
  return <td class={`number ${isWide ? 'wide' : ''} ${kind}`}>{grouped(value)}</td>
}
