/** One queue: its counts over time, its settings, its messages by state, and the actions on all of them. */
import * as operations from '../client/operations'
import type { QueueStatus } from '../shared/queue-types'
import { link, type PageQuery } from './address'
import { ask } from './api'
import { DeadLetters, deadPlaces, errorsOf } from './dead-letters'
import { Badge, Facts, Name, Num } from './parts'
import { askFirst, usePolled } from './polled'
import { QueueActions } from './queue-actions'
import { historyOf, QueueFigures } from './queue-history'
import { type MessageState, QueueMessages } from './queue-messages'
import { ThingPage } from './thing'
import { exactDuration, Time } from './time'

const EVERY_MS = 3000
const MAX_LISTED = 1000

/** In a dead-letter queue the ready messages are those that died elsewhere. */
const DEAD_LETTER_TABS: Partial<Record<MessageState, string>> = { ready: 'Dead letters', dead: 'Dead here' }

const TABS: Readonly<Record<MessageState, readonly [string, keyof QueueStatus['counts']]>> = {
  ready: ['Ready', 'ready'],
  'in-flight': ['In flight', 'inFlight'],
  delayed: ['Delayed', 'delayed'],
  blocked: ['Blocked', 'blocked'],
  dead: ['Dead', 'dead'],
  archived: ['Archived', 'archived'],
}

const STATES = Object.keys(TABS) as MessageState[]

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
  const shown = STATES.find((each) => each === query.state) ?? 'ready'
  return (
    <ThingPage
      up={['queues']}
      name={name}
      everyMs={EVERY_MS}
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
          <DeadLetters queue={queue} onDone={refresh} />
          <Tabs queue={queue} shown={shown} />
          <QueueMessages key={shown} queue={queue} state={shown} query={query} onDone={refresh} />
        </>
      )}
    </ThingPage>
  )
}

function Tabs({
  queue: { queue: name, counts, isDeadLetterQueue },
  shown,
}: {
  queue: QueueStatus
  shown: MessageState
}) {
  const isBad = (state: MessageState) => state === 'dead' || (isDeadLetterQueue && state !== 'archived')
  return (
    <nav class="tabs" aria-label="Messages by state">
      {STATES.map((each) => (
        <a
          key={each}
          href={link(['queues', name], { state: each })}
          aria-current={each === shown ? 'page' : undefined}
          class={isBad(each) && counts[TABS[each][1]] > 0 ? 'bad' : undefined}
        >
          {(isDeadLetterQueue && DEAD_LETTER_TABS[each]) || TABS[each][0]}{' '}
          <b>
            <Num value={counts[TABS[each][1]]} />
          </b>
        </a>
      ))}
    </nav>
  )
}

function attributesOf(queue: QueueStatus, from: readonly string[]) {
  const { deadLetterQueue, retentionSeconds, maxReceives, groupConcurrency, maxMessages, limited } = queue
  const retention = retentionSeconds === null ? 'for ever' : `for ${exactDuration(retentionSeconds)}`
  return {
    'Visibility timeout': exactDuration(queue.visibilityTimeoutSeconds),
    Receives: maxReceives === null ? 'no limit' : atMost(maxReceives),
    'Of one group': groupConcurrency === null ? null : atMost(groupConcurrency, ' at once'),
    Messages: maxMessages === null ? null : atMost(maxMessages),
    Rate: queue.rateLimit && rateOf(queue.rateLimit),
    'Rate of each group': queue.groupRateLimit && rateOf(queue.groupRateLimit),
    'Held until': queue.holdEndsAt && <Time at={queue.holdEndsAt} />,
    'Wait for a turn': limited > 0 ? limited : null,
    'Dead letters': deadLetterQueue === null ? 'stay here' : <QueueLink name={deadLetterQueue} />,
    'Dead letters of': from.length > 0 ? from.map((each) => <QueueLink key={each} name={each} />) : null,
    'When deleted': queue.onDelete === 'remove' ? 'removed' : `archived ${retention}`,
  }
}

const atMost = (value: number, rest = '') => (
  <>
    at most <Num value={value} />
    {rest}
  </>
)

const rateOf = ({ messages, perSeconds }: NonNullable<QueueStatus['rateLimit']>) => (
  <>
    <Num value={messages} /> in {exactDuration(perSeconds)}
  </>
)

function QueueLink({ name }: { name: string }) {
  return (
    <a class="block" href={link(['queues', name])}>
      <Name>{name}</Name>
    </a>
  )
}
