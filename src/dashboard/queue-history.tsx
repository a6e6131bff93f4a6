/** A queue in figures: what waits in it and how fast that changes, and the chart of the last hour or week. */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import * as operations from '../client/operations'
import type { HistoryPeriod, QueueHistory, QueueStatus } from '../shared/queue-types'
import { link } from './address'
import { ask } from './api'
import { countsOf, Few } from './counts'
import { Fact, Num } from './parts'
import { type Asked, usePolled } from './polled'
import { QueueChart } from './queue-chart'
import { duration } from './time'

const EVERY_MS = 15_000
/** Rates are those of this time. */
const RATE_SECONDS = 300

export function QueueFigures({ queue }: { queue: QueueStatus }) {
  const [period, setPeriod] = useState<HistoryPeriod>('hour')
  const { data } = useHistory(queue.queue, 'hour')
  const { data: drawn } = useHistory(queue.queue, period)
  return (
    <>
      <Strip queue={queue} history={data} />
      {drawn !== null && (drawn.points.length > 1 || period === 'week') && (
        <QueueChart key={period} history={drawn} period={period}>
          {(['hour', 'week'] as const).map((each) => (
            <button key={each} type="button" aria-pressed={each === period} onClick={() => setPeriod(each)}>
              Last {each}
            </button>
          ))}
        </QueueChart>
      )}
    </>
  )
}

export const historyOf = (queue: string, period: HistoryPeriod): Asked<QueueHistory> => ({
  address: JSON.stringify(['history', queue, period]),
  load: (signal) => ask(operations.queueHistory, { path: { queue }, query: { period } }, signal),
})

function useHistory(queue: string, period: HistoryPeriod) {
  const { address, load } = historyOf(queue, period)
  return usePolled(load, address, EVERY_MS, address)
}

function Strip({ queue, history }: { queue: QueueStatus; history: QueueHistory | null }) {
  const { counts, oldestAgeSeconds, growthPerMinute, died, deadLetterQueue, isDeadLetterQueue } = queue
  const waiting = countsOf(queue).ready + countsOf(queue).blocked
  const rate = (what: 'sent' | 'acked' | 'failed') => <Few value={perMinute(history, what)} />
  return (
    <section class="panel" aria-label="Figures">
      <dl class="facts figures">
        <Figure term="Waiting" note={isDeadLetterQueue ? null : changeOf(growthPerMinute, waiting)}>
          <Few value={waiting} />
        </Figure>
        <Fact term="Oldest">{oldestAgeSeconds === null ? <Few value={0} /> : duration(oldestAgeSeconds)}</Fact>
        <Fact term="In flight">
          <Few value={counts.inFlight} />
        </Fact>
        {history !== null && history.points.length > 0 && (
          <>
            <Fact term="Sent a minute">{rate('sent')}</Fact>
            <Fact term="Done a minute">{rate('acked')}</Fact>
            <Fact term="Failed a minute">{rate('failed')}</Fact>
          </>
        )}
        <Figure term="Dead" isBad={died > 0}>
          <DeadCount queue={queue} died={isDeadLetterQueue ? countsOf(queue).dead : died} to={deadLetterQueue} />
        </Figure>
      </dl>
    </section>
  )
}

/** It leads to the messages, wherever they are. */
function DeadCount({ queue, died, to }: { queue: QueueStatus; died: number; to: string | null }) {
  if (died === 0) return <Few value={0} />
  const isElsewhere = to !== null && queue.counts.dead === 0
  const state = isElsewhere || queue.isDeadLetterQueue ? 'ready' : 'dead'
  return (
    <a href={link(['queues', isElsewhere ? to : queue.queue], { state, ...(isElsewhere && { from: queue.queue }) })}>
      <Num value={died} />
    </a>
  )
}

interface FigureProps {
  term: string
  note?: string | null
  isBad?: boolean
  children: ComponentChildren
}

function Figure({ term, note = null, isBad, children }: FigureProps) {
  return (
    <div class={isBad ? 'bad' : undefined}>
      <dt>{term}</dt>
      <dd>
        {children}
        {note !== null && <span class="muted small"> {note}</span>}
      </dd>
    </div>
  )
}

/** Such as `+150 a minute`, or `empty in 12 min`. */
function changeOf(growth: number | null, waiting: number): string | null {
  if (growth === null || growth === 0) return null
  if (growth > 0) return `+${growth} a minute`
  return waiting > 0 ? `empty in ${duration((waiting / -growth) * 60)}` : null
}

/** Over the last minutes that are known. */
function perMinute(history: QueueHistory | null, what: 'sent' | 'acked' | 'failed'): number {
  if (history === null) return 0
  const recent = history.points.slice(-RATE_SECONDS / history.stepSeconds)
  const sum = recent.reduce((all, point) => all + point[what], 0)
  const rate = (sum * 60) / (recent.length * history.stepSeconds)
  return rate < 10 ? Math.round(rate * 10) / 10 : Math.round(rate)
}
