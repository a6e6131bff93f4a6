/** One queue: its counts over time, its settings, its messages by state, and the actions on all of them. */
import * as operations from '../client/operations'
import type { QueueStatus } from '../shared/queue-types'
import { link } from './address'
import { ask } from './api'
import { DeadLetters, deadPlaces, errorsOf } from './dead-letters'
import { DeadMessages } from './dead-messages'
import { Badge, Facts, LoadState, Name, Num, PageHead } from './parts'
import { askFirst, usePolled } from './polled'
import { QueueActions } from './queue-actions'
import { historyOf, QueueFigures } from './queue-history'
import { type MessageState, QueueMessages } from './queue-messages'
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

interface QueuePageProps {
  queue: string
  state: string | null
  /** Which dead messages are shown; null is any. */
  error: string | null
  from: string | null
  after: string | null
}

export function QueuePage({ queue: name, state, error: kind, from: diedIn, after }: QueuePageProps) {
  const { data: queue, error, refresh } = usePolled((signal) => load(name, signal), name, EVERY_MS)
  const from = usePolled((signal) => sources(name, signal), name, null).data ?? []
  const shown = STATES.find((each) => each === state) ?? 'ready'
  return (
    <>
      <PageHead over={<a href={link(['queues'])}>Queues</a>} title={<Name>{name}</Name>}>
        {queue?.isDeadLetterQueue && <Badge>dead-letter queue</Badge>}
        {queue?.paused && <Badge kind="warn">paused</Badge>}
        {queue !== null && <QueueActions queue={queue} from={from} onDone={refresh} />}
      </PageHead>
      <LoadState data={queue} error={error} />
      {queue !== null && (
        <>
          <QueueFigures queue={queue} />
          <Facts label="Attributes" of={attributesOf(queue, from)} />
          <DeadLetters queue={queue} onDone={refresh} />
          <Tabs queue={queue} shown={shown} />
          {isDeadShown(queue, shown) ? (
            <DeadMessages
              key={shown}
              queue={name}
              state={shown as 'ready' | 'dead'}
              after={after}
              error={kind}
              from={diedIn}
              counts={queue.counts}
              onDone={refresh}
            />
          ) : (
            <QueueMessages
              key={shown}
              queue={name}
              state={shown}
              after={after}
              counts={queue.counts}
              deadLetterQueue={queue.deadLetterQueue}
              isDeadLetterQueue={queue.isDeadLetterQueue}
            />
          )}
        </>
      )}
    </>
  )
}

/** A queue that never died shows where its dead messages go. */
const isDeadShown = ({ counts, isDeadLetterQueue }: QueueStatus, shown: MessageState) =>
  (shown === 'dead' && counts.dead > 0) || (shown === 'ready' && isDeadLetterQueue)

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
