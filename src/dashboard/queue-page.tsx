/** One queue: its counts over time, its settings, its messages by state, and the actions on all of them. */
import * as operations from '../client/operations'
import type { QueueStatus } from '../shared/queue-types'
import type { PageQuery } from './address'
import { ask } from './api'
import { StateTabs } from './counts'
import { DeadIn, deadPlaces, errorsOf } from './dead-letters'
import { WorkProgress } from './long-work'
import { Badge, Facts, NameLink, sentence } from './parts'
import { askFirst, usePolled } from './polled'
import { QueueActions } from './queue-actions'
import { historyOf, QueueFigures } from './queue-history'
import { type MessageState, QueueMessages } from './queue-messages'
import { ThingPage } from './thing'
import { exactDuration, Time } from './time'

const MAX_LISTED = 1000

const TITLES: Readonly<Record<MessageState, string>> = {
  ...{ ready: 'Ready', 'in-flight': 'In flight', delayed: 'Delayed' },
  ...{ blocked: 'Blocked', dead: 'Dead', archived: 'Archived' },
}
/** In a dead-letter queue the ready messages are those that died elsewhere. */
const DEAD_LETTER_TITLES = { ...TITLES, ready: 'Dead letters', dead: 'Dead here' }

const STATES = Object.keys(TITLES) as MessageState[]

/** The history and the errors come with the queue: they are above the messages, and would move them. */
async function load(name: string, signal: AbortSignal): Promise<QueueStatus> {
  const queue = await ask(operations.getQueue, { path: { queue: name } }, signal)
  const above = [historyOf(name, 'hour'), ...deadPlaces(queue).map(errorsOf)]
  await Promise.all(above.map((asked) => askFirst(asked, signal)))
  return queue
}

/** The queues whose dead letters come here. */
async function sources(deadLetterQueue: string, signal: AbortSignal): Promise<string[]> {
  const { queues } = await ask(operations.listQueues, { query: { deadLetterQueue, limit: MAX_LISTED } }, signal)
  return queues.map(({ queue }) => queue)
}

export function QueuePage({ queue: name, query }: { queue: string; query: PageQuery }) {
  const from = usePolled((signal) => sources(name, signal), name, null).data ?? []
  const state = STATES.find((each) => each === query.state) ?? 'ready'
  return (
    <ThingPage
      up={['queues']}
      name={name}
      load={(signal) => load(name, signal)}
      beside={(queue, refresh) =>
        queue && (
          <>
            {queue.isDeadLetterQueue && <Badge>dead-letter queue</Badge>}
            {queue.paused && <Badge kind="warn">paused</Badge>}
            <QueueActions queue={queue} from={from} onDone={refresh} />
          </>
        )
      }
    >
      {(queue, refresh) => (
        <>
          <QueueFigures queue={queue} />
          <Facts label="Attributes" of={attributesOf(queue, from)} />
          {[name, queue.deadLetterQueue].map((of) => of !== null && <WorkProgress key={of} of={of} />)}
          {deadPlaces(queue).map((place) => (
            <DeadIn key={place.from} {...place} onDone={refresh} />
          ))}
          <StateTabs
            label="Messages by state"
            to={['queues', name]}
            titles={queue.isDeadLetterQueue ? DEAD_LETTER_TITLES : TITLES}
            counts={{ ...queue.counts, 'in-flight': queue.counts.inFlight }}
            current={state}
            isBad={(each) => each === 'dead' || (queue.isDeadLetterQueue && each !== 'archived')}
          />
          <QueueMessages key={state} queue={queue} state={state} query={query} onDone={refresh} />
        </>
      )}
    </ThingPage>
  )
}

function attributesOf(queue: QueueStatus, from: readonly string[]) {
  const { deadLetterQueue, retentionSeconds, maxReceives, groupConcurrency, maxMessages, limited } = queue
  const retention = retentionSeconds === null ? 'for ever' : `for ${exactDuration(retentionSeconds)}`
  return {
    Lease: exactDuration(queue.visibilityTimeoutSeconds),
    Receives: maxReceives === null ? 'no limit' : atMost(maxReceives),
    'Of one group': groupConcurrency && sentence`${atMost(groupConcurrency)} at once`,
    Messages: maxMessages && atMost(maxMessages),
    Rate: queue.rateLimit && rateOf(queue.rateLimit),
    'Rate of each group': queue.groupRateLimit && rateOf(queue.groupRateLimit),
    'Held until': queue.holdEndsAt && <Time at={queue.holdEndsAt} />,
    'Wait for a turn': limited > 0 ? limited : null,
    'Dead letters': deadLetterQueue === null ? 'stay here' : queueLink(deadLetterQueue),
    'Dead letters of': from.length > 0 ? from.map(queueLink) : null,
    'After success': queue.onAck === 'remove' ? 'deleted' : `archived ${retention}`,
  }
}

const atMost = (value: number) => sentence`at most ${value}`

const rateOf = ({ messages, perSeconds }: NonNullable<QueueStatus['rateLimit']>) =>
  sentence`${messages} in ${exactDuration(perSeconds)}`

const queueLink = (name: string) => (
  <NameLink key={name} class="block" to={['queues', name]}>
    {name}
  </NameLink>
)
