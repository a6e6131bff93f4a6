/** A queue in figures: what waits in it and how fast that changes, and the chart of the last hour or week. */
import { useState } from 'preact/hooks'
import * as operations from '../client/operations'
import type { HistoryPeriod, QueueHistory, QueueStatus } from '../shared/queue-types'
import { ask } from './api'
import { countsOf, diedOf } from './counts'
import { Fact, sentence } from './parts'
import { type Asked, usePolled } from './polled'
import { QueueChart } from './queue-chart'
import { duration } from './time'

const EVERY_MS = 15_000
/** Rates are those of this time. */
const RATE_SECONDS = 300

export function QueueFigures({ queue }: { queue: QueueStatus }) {
  const [period, setPeriod] = useState<HistoryPeriod>('hour')
  const hour = useHistory(queue.queue, 'hour')
  const drawn = useHistory(queue.queue, period)
  return (
    <>
      <Strip queue={queue} history={hour} />
      {drawn !== null && (drawn.points.length > 1 || period === 'week') && (
        <figure class="chart panel">
          <figcaption class="buttons">
            {(['hour', 'week'] as const).map((each) => (
              <button key={each} type="button" aria-pressed={each === period} onClick={() => setPeriod(each)}>
                Last {each}
              </button>
            ))}
          </figcaption>
          <QueueChart key={period} history={drawn} period={period} isDeadLetterQueue={queue.isDeadLetterQueue} />
        </figure>
      )}
    </>
  )
}

export const historyOf = (queue: string, period: HistoryPeriod): Asked<QueueHistory> => ({
  address: JSON.stringify(['history', queue, period]),
  load: (signal) => ask(operations.queueHistory, { path: { queue }, query: { period } }, signal),
})

function useHistory(queue: string, period: HistoryPeriod): QueueHistory | null {
  const { address, load } = historyOf(queue, period)
  return usePolled(load, address, EVERY_MS, address).data
}

function Strip({ queue, history }: { queue: QueueStatus; history: QueueHistory | null }) {
  const { counts, oldestAgeSeconds, isDeadLetterQueue } = queue
  const { ready, blocked } = countsOf(queue)
  const waiting = ready + blocked
  const died = diedOf(queue)
  return (
    <section class="panel" aria-label="Figures">
      <dl class="facts figures">
        <Fact term="Waiting" note={isDeadLetterQueue ? null : changeOf(queue.growthPerMinute, waiting)}>
          {waiting}
        </Fact>
        <Fact term="Oldest">{oldestAgeSeconds === null ? 0 : duration(oldestAgeSeconds)}</Fact>
        <Fact term="In flight">{counts.inFlight}</Fact>
        {history !== null && history.points.length > 0 && (
          <>
            <Fact term="Sent a minute">{perMinute(history, 'sent')}</Fact>
            <Fact term="Done a minute">{perMinute(history, 'acked')}</Fact>
            <Fact term="Failed a minute">{perMinute(history, 'failed')}</Fact>
          </>
        )}
        <Fact term="Dead" isBad={died !== 0}>
          {died}
        </Fact>
      </dl>
    </section>
  )
}

/** Such as `+150 a minute`, or `empty in 12 min`. */
function changeOf(growth: number | null, waiting: number) {
  if (growth === null || growth === 0) return null
  if (growth > 0) return sentence`+${growth} a minute`
  return waiting > 0 ? `empty in ${duration((waiting / -growth) * 60)}` : null
}

/** Over the last minutes that are known. */
function perMinute({ points, stepSeconds }: QueueHistory, what: 'sent' | 'acked' | 'failed'): number {
  const recent = points.slice(-RATE_SECONDS / stepSeconds)
  const rate = (recent.reduce((all, point) => all + point[what], 0) * 60) / (recent.length * stepSeconds)
  return rate < 10 ? Math.round(rate * 10) / 10 : Math.round(rate)
}
