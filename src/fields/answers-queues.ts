/** The answers about queues and their messages. */
import type * as Queue from '../shared/queue-types'
import {
  type AnswerOf,
  answer,
  anyJson,
  count,
  difference,
  id,
  list,
  type NamedComponent,
  name,
  of,
  orNull,
  shown,
  text,
  texts,
  time,
  truth,
} from './answers'
import { tag } from './answers-groups'
import { HOLDER } from './answers-receivers'
import { LIMITED, MAX_RECEIVES, MESSAGE_STATES, PRIORITY, SETTING } from './queues'
import { oneOf } from './rules'

const queue = {
  queue: name('mail'),
  visibilityTimeoutSeconds: of(SETTING.visibilityTimeoutSeconds, 60),
  maxReceives: orNull(of(SETTING.maxReceives, 5)),
  deadLetterQueue: shown('mail-dead', SETTING.deadLetterQueue.description),
  onAck: of(SETTING.onAck, 'remove'),
  retentionSeconds: orNull(of(SETTING.retentionSeconds)),
  groupConcurrency: orNull(of(SETTING.groupConcurrency)),
  maxMessages: orNull(of(SETTING.maxMessages)),
  rateLimit: orNull(of(SETTING.rateLimit)),
  groupRateLimit: orNull(of(SETTING.groupRateLimit)),
  tag: tag('W0bS1IIIXjmIVLDc0ZQdMw'),
  paused: truth(false, 'Whether `pauseQueue` has paused the queue: it accepts sends, but receives get nothing.'),
  holdEndsAt: orNull(time(), 'Until then receives get nothing: `holdQueue` has held the queue.'),
  createdAt: time('2026-11-20T08:30:00.000Z'),
}
export const QUEUE: AnswerOf<Queue.Queue> = answer('Queue', queue)

const counts: AnswerOf<Queue.MessageCounts> = answer(
  '',
  { ready: count(12), inFlight: count(3), delayed: count(1), blocked: count(0), dead: count(0), archived: count(0) },
  'At most 5 seconds old; exact once the queue has not changed for 5 seconds.',
)
export const QUEUE_STATUS: AnswerOf<Queue.QueueStatus> = answer('QueueStatus', {
  ...queue,
  isDeadLetterQueue: truth(
    false,
    'Whether another queue names it as its dead-letter queue. Messages that die there are ready here.',
  ),
  counts,
  oldestAgeSeconds: orNull(
    count(4),
    'The age of the oldest message that is ready, blocked or in flight; null if there is none.',
  ),
  limited: count(0, LIMITED),
  died: count(
    0,
    'How many of the messages that died in this queue are dead now, here and in dead-letter queues, of which each is counted up to 10,000 messages.',
  ),
  growthPerMinute: orNull(
    difference(),
    'How many more messages are ready or blocked each minute, over the last 5 minutes or so; negative if fewer. Null without ' +
      'a history of that length.',
  ),
})
const deadError: AnswerOf<Queue.DeadError> = answer('', {
  error: text(
    'SMTP 550: no mailbox #',
    'With `#` in place of each number and id, up to 200 characters; empty if they have no error.',
  ),
  count: count(689),
  firstDeadAt: time('2026-11-21T10:00:00.250Z'),
  lastDeadAt: time('2026-11-21T11:00:00.250Z'),
})
export const DEAD_ERRORS: AnswerOf<Queue.DeadErrors> = answer('DeadErrors', {
  errors: list(deadError, [deadError.example], 'The 100 most frequent ones, the most frequent first.'),
  counted: count(
    689,
    'How many dead messages were counted: up to 10,000 of each state, those that come last in the order of receives.',
  ),
  isExact: truth(true, 'False: there may be dead messages that were not counted, and the numbers are lower bounds.'),
})
const gauge = (example: number) => orNull(count(example))
const historyPoint: AnswerOf<Queue.HistoryPoint> = answer('', {
  endsAt: time('2026-11-21T11:00:00.000Z'),
  sent: count(30, 'Messages that were sent in the step that ends here.'),
  acked: count(28),
  failed: count(2, 'Messages that were nacked, or not settled before their visibility timeout ended.'),
  ready: orNull(
    count(12),
    'At that time, or the greatest number of a step of 10 minutes; null if messages were not counted.',
  ),
  inFlight: gauge(3),
  delayed: gauge(1),
  blocked: gauge(0),
  died: gauge(0),
  oldestAgeSeconds: gauge(4),
})
export const QUEUE_HISTORY: AnswerOf<Queue.QueueHistory> = answer('QueueHistory', {
  stepSeconds: count(15),
  points: list(historyPoint, [historyPoint.example], 'The oldest first. Steps in which no process wrote are missing.'),
})
const deadLetters = { queue: 'mail-dead', deadLetterQueue: null, isDeadLetterQueue: true, oldestAgeSeconds: null }
const states: AnswerOf<NonNullable<Queue.QueuePage['states']>> = answer('', {
  ...{ all: count(321), main: count(301), dead: count(7), growing: count(2) },
  ...{ stuck: count(2), blocked: count(1), paused: count(4) },
})
export const QUEUE_PAGE: AnswerOf<Queue.QueuePage> = answer('QueuePage', {
  queues: list(QUEUE_STATUS, [QUEUE_STATUS.example, { ...QUEUE_STATUS.example, ...deadLetters }]),
  nextAfter: orNull(text()),
  states: orNull(states, 'How many queues, on all pages, are in each state. Null without `state` and `sort`.'),
})
export const MOVED: AnswerOf<{ moved: number }> = answer('Moved', { moved: count(100) })
export const HELD: AnswerOf<Queue.QueueHold> = answer('Held', {
  holdEndsAt: orNull(
    time('2026-11-21T10:00:30.250Z'),
    'Until when nothing of it is handed out; null where the hold was ended.',
  ),
})
export const PROMOTED: AnswerOf<{ promoted: number }> = answer('Promoted', { promoted: count(1) })

export const SENT: AnswerOf<Queue.Sent> = answer('Sent', {
  id: id('1042'),
  sent: truth(
    true,
    'False: a message with this `dedupId` was sent before, or one with this `key` waits; `id` is that of that message.',
  ),
})
export const SENT_MANY: AnswerOf<{ messages: Queue.Sent[] }> = answer('SentMany', {
  messages: list(SENT, [SENT.example, { ...SENT.example, id: '1043' }]),
})
export const SENT_ONE_OR_MANY: NamedComponent = {
  name: 'SentOneOrMany',
  component: { oneOf: [SENT.schema, SENT_MANY.schema] },
  example: SENT_MANY.example,
}

const body = anyJson({ to: 'a@example.org' })
const maxReceives = orNull(
  of(MAX_RECEIVES, 5),
  "The limit in force: the message's own, otherwise the queue's. Null is no limit.",
)
const sentAt = time('2026-11-21T10:00:00.250Z')
const RECEIVED_AT = '2026-11-21T10:00:05.300Z'
const CLAIMED_UNTIL = '2026-11-21T10:01:05.300Z'
const life = {
  firstReceivedAt: orNull(time(RECEIVED_AT), 'When it was received for the first time, in whatever queue.'),
  deadAt: orNull(
    time(),
    'When it died, for a dead message, and for a dead letter until it is redriven; otherwise null.',
  ),
  deadReceiveCount: orNull(count(), 'How often it had been received when it died.'),
  lastError: orNull(
    text(),
    'The error of the last `nack`; for a message that died without one, that its visibility timeout ended.',
  ),
  messageGroup: orNull(name('tenant-3')),
  priority: of(PRIORITY, 0),
  attributes: texts('As they were sent; empty if there are none.', { source: 'sign-up' }),
}
const handle = text('AAAAAAAABBKcWb0SSTvJtSXJzQfPzkUvd3vZpg', 'Opaque; identifies the message and this claim.')

export const MESSAGE: AnswerOf<Queue.Message> = answer('Message', {
  id: id('1042'),
  body,
  receiveCount: count(1, 'The number of receives, including this one.'),
  receiptHandle: handle,
  sentAt,
  receivedAt: time(RECEIVED_AT, 'The beginning of the claim.'),
  visibleAt: time(CLAIMED_UNTIL, 'The end of the claim.'),
  maxReceives,
  ...life,
})
export const RECEIVED: AnswerOf<{ messages: Queue.Message[] }> = answer('Received', { messages: list(MESSAGE) })

const handles = list(text(handle.example))
const failed: AnswerOf<Queue.FailedReceipt> = answer('', {
  receiptHandle: text(handle.example),
  code: of(oneOf(['stale_receipt', 'invalid_receipt']), 'stale_receipt'),
})
const noneFailed = list(
  failed,
  [],
  '`stale_receipt`: the claim has ended. `invalid_receipt`: not a handle of this queue.',
)
export const ACKED_RECEIPTS: AnswerOf<Queue.Acked> = answer('AckedReceipts', { acked: handles, failed: noneFailed })
export const NACKED_RECEIPTS: AnswerOf<Queue.Nacked> = answer('NackedReceipts', { nacked: handles, failed: noneFailed })
export const EXTENDED_RECEIPTS: AnswerOf<Queue.Extended> = answer('ExtendedReceipts', {
  extended: { ...handles, example: [] },
  failed: { ...noneFailed, example: [failed.example] },
})

const peeked = {
  id: id('1042'),
  state: of(oneOf(MESSAGE_STATES), 'in-flight'),
  body,
  receiveCount: count(1),
  maxReceives,
  sentAt,
  visibleAt: time(CLAIMED_UNTIL, 'When the message becomes, or became, visible again.'),
  lastReceivedAt: orNull(time(RECEIVED_AT)),
  archivedAt: orNull(time()),
  key: orNull(name('index-7')),
  receiver: { ...HOLDER, example: null },
  deadLetterFrom: shown(
    null,
    'The queue in which a dead letter died; null if that queue no longer exists, if the key may not see it, or if the ' +
      'message is archived.',
  ),
  ...life,
}
export const PEEKED_MESSAGE: AnswerOf<Queue.PeekedMessage> = answer('PeekedMessage', peeked)
const failure: AnswerOf<Queue.MessageFailure> = answer('', {
  receiveCount: count(1, 'Which receive it was, counted from 1 again after a redrive.'),
  failedAt: time(RECEIVED_AT),
  error: text('503 for order 4711', 'The error of the `nack`, cut to 300 characters or less.'),
})
export const WHOLE_MESSAGE: AnswerOf<Queue.WholeMessage> = answer('WholeMessage', {
  ...peeked,
  failures: list(failure, [], 'The last 10 attempts that failed, the newest first.'),
})
const neverReceived = { state: 'ready', receiveCount: 0, firstReceivedAt: null, lastReceivedAt: null }
export const MESSAGE_PAGE: AnswerOf<Queue.MessagePage> = answer('MessagePage', {
  messages: list(PEEKED_MESSAGE, [{ ...PEEKED_MESSAGE.example, ...neverReceived }]),
  nextAfter: orNull(text()),
})
