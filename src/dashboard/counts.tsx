/** Counts of queues as they are shown, and the tabs of the states that have them. */
import type { QueueStatus } from '../shared/queue-types'
import { link, type PageQuery } from './address'
import { Num, shown } from './parts'

/**
 * The counts, with dead letters among the dead: every message of a dead-letter queue that is not archived, as the metrics and
 * `recentn doctor` count.
 */
export function countsOf({ isDeadLetterQueue, counts }: QueueStatus): QueueStatus['counts'] {
  const { ready, inFlight, delayed, blocked, dead, archived } = counts
  return isDeadLetterQueue
    ? { ready: 0, inFlight: 0, delayed: 0, blocked: 0, dead: ready + inFlight + delayed + blocked + dead, archived }
    : counts
}

/** How many died; the number leads to them, in the queue or in its dead-letter queue. */
export function diedOf(status: QueueStatus) {
  const { queue, deadLetterQueue: to, isDeadLetterQueue, counts } = status
  const died = isDeadLetterQueue ? countsOf(status).dead : status.died
  if (died === 0) return 0
  const number = <Num value={died} />
  if (isDeadLetterQueue || to === null || died <= counts.dead) {
    return <a href={link(['queues', queue], { state: isDeadLetterQueue ? 'ready' : 'dead' })}>{number}</a>
  }
  return (
    <a href={link(['queues', to], { from: queue })} aria-label={`${died} in ${to}`}>
      {number}
    </a>
  )
}

interface StateTabsProps<State extends string> {
  label: string
  /** Those of the links. */
  to: readonly string[]
  query?: Partial<PageQuery>
  titles: Readonly<Record<State, string>>
  counts: Readonly<Record<NoInfer<State>, number>>
  current: string
  isBad(state: State): boolean
}

/** A row of links, with how many there are behind each. */
export function StateTabs<State extends string>({ label, to, query, current, isBad, ...by }: StateTabsProps<State>) {
  const tabOf = (state: State) => {
    const count = by.counts[state]
    const kind = count === 0 ? 'zero' : isBad(state) ? 'bad' : undefined
    return (
      <a
        key={state}
        href={link(to, { ...query, state })}
        aria-current={state === current ? 'page' : undefined}
        class={kind}
      >
        {by.titles[state]} <b>{shown(count)}</b>
      </a>
    )
  }
  return (
    <nav class="tabs" aria-label={label}>
      {(Object.keys(by.titles) as State[]).map(tabOf)}
    </nav>
  )
}
